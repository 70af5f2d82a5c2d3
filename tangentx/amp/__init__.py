"""Mixed precision: products in float16, what needs range or adds up in float32, parameters as they are.

>>> import numpy as np, tangentx as tx
>>> def loss(w, x):
...     return np.sum(np.tanh(x @ w) ** 2)
>>> w, x = np.ones((3, 2), np.float32), np.ones((4, 3), np.float32)
>>> gradient = tx.grad(loss, precision="float16")
>>> gradient(w, x).dtype, "astype(np.float16)" in gradient.source
(dtype('float32'), True)
"""

from tangentx.amp.autocasting import autocast
from tangentx.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
