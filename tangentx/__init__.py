"""Gradients of the NumPy programs you already have, as readable Python."""

from typing import TYPE_CHECKING, Any

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
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from tangentx.arrays import stop_gradient
from tangentx.arrays.schedules import checkpointed
from tangentx.errors import (
    FallbackWarning,
    InternalError,
    NoSource,
    NotDifferentiable,
    NoTemplate,
    NotResolved,
    SharedMemory,
    StaleSource,
    TangentxError,
    UnsupportedSyntax,
)
from tangentx.opaque import cotangent, primitive
from tangentx.switches import checked

__version__ = "0.1.0"

__all__ = [
    "FallbackWarning",
    "Function",
    "InternalError",
    "NoSource",
    "NoTemplate",
    "NotDifferentiable",
    "NotResolved",
    "SharedMemory",
    "StaleSource",
    "TangentxError",
    "Tensor",
    "UnsupportedSyntax",
    "add_n",
    "autograd",
    "checked",
    "checkpoint",
    "checkpointed",
    "cotangent",
    "differentiate",
    "elementwise_grad",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "no_grad",
    "primitive",
    "rand",
    "set_grad_enabled",
    "stop_gradient",
    "tensor",
    "value_and_grad",
    "verify",
    "vjp",
    "vmap",
]

if TYPE_CHECKING:
    from tangentx import tensor as tensor
    from tangentx.tensor import autograd as autograd
    from tangentx.tensor.checking import gradcheck as gradcheck
    from tangentx.tensor.checking import gradgradcheck as gradgradcheck
    from tangentx.tensor.checkpoints import checkpoint as checkpoint
    from tangentx.tensor.core import Tensor as Tensor
    from tangentx.tensor.drawing import graph as graph
    from tangentx.tensor.functions import Function as Function
    from tangentx.tensor.making import rand as rand
    from tangentx.tensor.methods import add_n as add_n
    from tangentx.tensor.modes import enable_grad as enable_grad
    from tangentx.tensor.modes import no_grad as no_grad
    from tangentx.tensor.modes import set_grad_enabled as set_grad_enabled
    from tangentx.verification import verify as verify


def __getattr__(name: str) -> Any:
    """The names of the runtime Tensor, which is loaded when one of them is asked for."""
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module 'tangentx' has no attribute {name!r}")
    import importlib

    if name == "verify":
        found = globals()[name] = importlib.import_module("tangentx.verification").verify
        return found
    public = importlib.import_module("tangentx.tensor.public")
    found = globals()[name] = public if name == "public" else getattr(public, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
