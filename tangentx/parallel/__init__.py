"""Derivatives of sums over shards of the data, on many workers: threads, processes, Dask, MPI.

>>> import numpy as np, tangentx as tx
>>> from concurrent.futures import ThreadPoolExecutor
>>> def loss(w, x, y):
...     return np.mean((x @ w - y) ** 2)
>>> x, y = np.arange(12.0).reshape(6, 2), np.ones(6)
>>> shards = [(x[i : i + 2], y[i : i + 2]) for i in (0, 2, 4)]
>>> with ThreadPoolExecutor(2) as pool:
...     value, gradient = tx.parallel.value_and_grad(loss, executor=pool, shards=shards)(np.ones(2))
>>> bool(np.allclose(gradient, tx.grad(loss)(np.ones(2), x, y), rtol=1e-12))
True
"""

from tangentx.parallel.functions import Sharded, jacobian, value_and_grad

__all__ = ["Sharded", "jacobian", "value_and_grad"]
