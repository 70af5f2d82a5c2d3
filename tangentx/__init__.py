"""Gradients of the NumPy programs you already have, as readable Python."""

import importlib
from typing import TYPE_CHECKING, Any

from tangentx.api.functions import (
    differentiate,
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from tangentx.arrays import stop_gradient
from tangentx.arrays.runs import Runtime, provide
from tangentx.arrays.schedules import checkpointed
from tangentx.arrays.structures import provide as provide_whole
from tangentx.common.options import checked
from tangentx.errors import (
    FallbackWarning,
    InternalError,
    JitWarning,
    NoCompiler,
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
    "FallbackWarning",
    "Function",
    "InternalError",
    "JitWarning",
    "NoCompiler",
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
    "amp",
    "autograd",
    "cache",
    "check",
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
    "jit",
    "jvp",
    "linearize",
    "nn",
    "no_grad",
    "ops",
    "optim",
    "parallel",
    "primitive",
    "rand",
    "rule",
    "set_grad_enabled",
    "stop_gradient",
    "tensor",
    "testing",
    "tree",
    "value_and_grad",
    "verify",
    "vjp",
    "vmap",
]

if TYPE_CHECKING:
    from tangentx import amp as amp
    from tangentx import nn as nn
    from tangentx import optim as optim
    from tangentx import parallel as parallel
    from tangentx import tensor as tensor
    from tangentx import testing as testing
    from tangentx.api.custom_rules import cotangent as cotangent
    from tangentx.api.custom_rules import primitive as primitive
    from tangentx.api.custom_rules import rule as rule
    from tangentx.api.disk_cache import cache as cache
    from tangentx.api.program_check import check as check
    from tangentx.templates.listing import ops as ops
    from tangentx.tensor.core.making import rand as rand
    from tangentx.tensor.core.methods import add_n as add_n
    from tangentx.tensor.core.modes import enable_grad as enable_grad
    from tangentx.tensor.core.modes import no_grad as no_grad
    from tangentx.tensor.core.modes import set_grad_enabled as set_grad_enabled
    from tangentx.tensor.core.tensor import Tensor as Tensor
    from tangentx.tensor.graph import autograd as autograd
    from tangentx.tensor.graph.checkpoints import checkpoint as checkpoint
    from tangentx.tensor.graph.drawing import graph as graph
    from tangentx.tensor.graph.functions import Function as Function
    from tangentx.tensor.graph.gradcheck import gradcheck as gradcheck
    from tangentx.tensor.graph.gradcheck import gradgradcheck as gradgradcheck
    from tangentx.testing.verification import verify as verify


def _runtime() -> Runtime:
    importlib.import_module("tangentx.tensor")  # the whole of it, which another thread may be loading
    from tangentx.tensor.fallback.runs import run

    return run


def _is_whole(value: Any) -> bool:
    from tangentx.templates import is_whole

    return is_whole(value)


provide(_runtime)
provide_whole(_is_whole)
_LATE = {
    "cache": "tangentx.api.disk_cache",
    "check": "tangentx.api.program_check",
    "cotangent": "tangentx.api.custom_rules",
    "ops": "tangentx.templates.listing",
    "primitive": "tangentx.api.custom_rules",
    "rule": "tangentx.api.custom_rules",
    "verify": "tangentx.testing.verification",
}
"""Functions that are loaded when they are first asked for: who calls compiled derivatives alone needs none of them."""


def __getattr__(name: str) -> Any:
    """The names of the runtime Tensor, which is loaded when one of them is asked for."""
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module 'tangentx' has no attribute {name!r}")
    if name in _LATE:
        found = globals()[name] = getattr(importlib.import_module(_LATE[name]), name)
        return found
    if name == "testing":
        import tangentx.testing as testing

        return testing
    if name in ("amp", "nn", "optim", "parallel", "tree"):
        importlib.import_module("tangentx.tensor")
        return importlib.import_module("tangentx.optim.tree" if name == "tree" else f"tangentx.{name}")
    from tangentx.tensor import public

    found = globals()[name] = public if name == "public" else getattr(public, name)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
