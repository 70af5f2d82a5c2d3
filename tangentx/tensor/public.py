"""The public names of the runtime Tensor."""

from __future__ import annotations

import tangentx.tensor as tensor
from tangentx.tensor.core.making import rand
from tangentx.tensor.core.methods import add_n
from tangentx.tensor.core.modes import enable_grad, no_grad, set_grad_enabled
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.graph import autograd
from tangentx.tensor.graph.checkpoints import checkpoint
from tangentx.tensor.graph.drawing import graph
from tangentx.tensor.graph.functions import Function
from tangentx.tensor.graph.gradcheck import gradcheck, gradgradcheck

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
