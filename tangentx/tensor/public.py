"""The public names of the runtime Tensor."""

from __future__ import annotations

import tangentx.tensor as tensor
from tangentx.tensor import autograd
from tangentx.tensor.checking import gradcheck, gradgradcheck
from tangentx.tensor.checkpoints import checkpoint
from tangentx.tensor.core import Tensor
from tangentx.tensor.drawing import graph
from tangentx.tensor.functions import Function
from tangentx.tensor.making import rand
from tangentx.tensor.methods import add_n
from tangentx.tensor.modes import enable_grad, no_grad, set_grad_enabled

__all__ = [
    "Function",
    "Tensor",
    "add_n",
    "autograd",
    "checkpoint",
    "enable_grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "no_grad",
    "rand",
    "set_grad_enabled",
    "tensor",
]
