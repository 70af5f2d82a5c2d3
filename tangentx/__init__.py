"""Gradients of the NumPy programs you already have, as readable Python."""

from tangentx.api import differentiate, grad, jvp, value_and_grad, vjp
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
    "grad",
    "jvp",
    "value_and_grad",
    "vjp",
]
