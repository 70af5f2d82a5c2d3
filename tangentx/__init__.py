"""Gradients of the NumPy programs you already have, as readable Python."""

from tangentx.api import (
    differentiate,
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    value_and_grad,
    vjp,
)
from tangentx.errors import (
    NoSource,
    NotDifferentiable,
    NoTemplate,
    NotResolved,
    SharedMemory,
    StaleSource,
    TangentxError,
    UnsupportedSyntax,
)

__version__ = "0.1.0"

__all__ = [
    "NoSource",
    "NoTemplate",
    "NotDifferentiable",
    "NotResolved",
    "SharedMemory",
    "StaleSource",
    "TangentxError",
    "UnsupportedSyntax",
    "differentiate",
    "elementwise_grad",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "value_and_grad",
    "vjp",
]
