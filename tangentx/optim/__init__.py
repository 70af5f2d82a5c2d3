"""Optimisers by PyTorch's names, for Tensors (``backward``, ``step``) and compiled gradients (``init``, ``update``).

>>> import tangentx as tx
>>> x = tx.tensor(1.0, requires_grad=True)
>>> opt = tx.optim.SGD([x], lr=0.25)
>>> (x * x).backward()
>>> opt.step()
>>> float(x)
0.5
"""

from tangentx.optim import lr_scheduler
from tangentx.optim.adaptive import Adagrad, Adam, AdamW, RMSprop
from tangentx.optim.clipping import clip_grad_norm_, clip_grad_value_
from tangentx.optim.lbfgs import LBFGS
from tangentx.optim.optimizer import Optimizer
from tangentx.optim.sgd import SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Optimizer",
    "RMSprop",
    "clip_grad_norm_",
    "clip_grad_value_",
    "lr_scheduler",
]
