"""`tx.tree.ravel`: the parameters of a model, or of any structure, as one vector, for SciPy's optimisers.

>>> import tangentx as tx
>>> tx.tree.ravel(tx.nn.Linear(3, 2, generator=0))[0].shape
(8,)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.optim import parameter_trees as trees


def ravel(tree: Any, like: Any = None) -> tuple[Any, Callable[[Any], Any]]:
    """The parameters one after the other, and what makes a structure like `tree` of such a vector.

    With `like`, a model, the vector has its parameters alone, in its order: a gradient with respect to that model has
    weights that are shared at each of their places, and none for what it does not depend on (zeros here).

    >>> import numpy as np, tangentx as tx
    >>> vector, unravel = tx.tree.ravel({"w": np.array([1.0, 2.0]), "b": 3.0})
    >>> vector, unravel(2.0 * vector)
    (array([1., 2., 3.]), {'w': array([2., 4.]), 'b': 6.0})
    """
    if like is None:
        found = [(path, trees.plain(leaf)) for path, leaf in trees.leaves(tree)]
    else:
        beside = ((path, trees.plain(leaf), match) for path, leaf, match in trees.beside(like, tree))
        found = [(p, np.zeros_like(leaf) if match is None else trees.plain(match)) for p, leaf, match in beside]

    def unravel(vector: Any) -> Any:
        size = sum(np.size(leaf) for _, leaf in found)
        if np.shape(vector) != (size,):
            raise ValueError(f"the parameters are a vector of shape {(size,)}, not {np.shape(vector)}")
        values, place = {}, 0
        for path, old in found:
            part = np.reshape(vector[place : place + np.size(old)], np.shape(old))
            real = part if np.iscomplexobj(old) else np.real(part)
            values[path] = np.array(real, old.dtype) if isinstance(old, np.ndarray) else type(old)(real)
            place += np.size(old)
        return trees.replaced(tree if like is None else like, lambda path, leaf: values[path])

    return np.concatenate([np.ravel(leaf) for _, leaf in found]) if found else np.zeros(0), unravel
