"""L-BFGS, by SciPy's implementation (the package's extra ``scipy``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable
from tangentx.optim import parameter_trees as trees
from tangentx.optim.optimizer import Optimizer, put


class LBFGS(Optimizer):
    """The quasi-Newton method of Liu and Nocedal (1989) with line search: one `step` is a minimisation of its own.

    ``step(closure)`` runs at most `max_iter` iterations; the closure clears the gradients, computes the loss, calls
    ``backward`` and gives the loss. Compiled: ``minimize(tx.value_and_grad(loss), params, *args)``. There is no
    learning rate: the line search finds the length of each step. For float64 alone: SciPy's routine is.

    >>> import numpy as np, tangentx as tx
    >>> bowl = lambda p: np.sum((p["x"] - 3.0) ** 2)
    >>> params, loss = tx.optim.LBFGS().minimize(tx.value_and_grad(bowl), {"x": np.zeros(2)})
    >>> np.round(params["x"], 6)
    array([3., 3.])
    """

    def __init__(
        self,
        params: Any = None,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = "strong_wolfe",
        *,
        parameters: Any = None,
    ) -> None:
        if lr != 1.0 or line_search_fn != "strong_wolfe":
            raise ValueError(
                f"lr={lr!r} with line_search_fn={line_search_fn!r} is not built: SciPy's L-BFGS-B searches along each "
                'step by the strong Wolfe conditions, from a length of 1 (lr=1, line_search_fn="strong_wolfe")'
            )
        defaults = {
            "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change, "history_size": history_size,
        }  # fmt: skip
        super().__init__(params, defaults, parameters)
        if len(self.param_groups) > 1:
            raise ValueError("LBFGS takes one group of parameters")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimises what `closure` computes; gives its first value."""
        if closure is None:
            raise TypeError("LBFGS.step needs a closure that computes the loss and calls backward")
        params = self.param_groups[0]["params"]
        first: list[Any] = []

        def loss_of(values: list[Any]) -> tuple[Any, list[Any]]:
            for p, value in zip(params, values, strict=True):
                put(p, value)
            loss = closure()
            first.append(loss)
            return loss, [p.grad for p in params]

        found, _ = self.minimize(loss_of, [np.copy(p.current) for p in params])
        for p, value in zip(params, found, strict=True):
            put(p, value)
        return first[0]

    def minimize(self, value_and_grad: Callable[..., Any], params: Any, *args: Any) -> tuple[Any, float]:
        """``(params, value)`` at the end; ``value_and_grad(params, *args)`` gives the value and the gradients."""
        from scipy.optimize import minimize

        options = self.param_groups[0]
        shapes = [(path, np.shape(trees.plain(leaf)), leaf) for path, leaf in trees.leaves(params)]
        if any(np.iscomplexobj(trees.plain(leaf)) for _, _, leaf in shapes):
            raise NotDifferentiable("LBFGS takes real parameters", hint="keep real and imaginary parts apart")

        def of_vector(x: Any) -> Any:
            values, place = {}, 0
            for path, shape, leaf in shapes:
                size = int(np.prod(shape, dtype=int))
                part = x[place : place + size].reshape(shape)
                old = trees.plain(leaf)
                values[path] = np.array(part, old.dtype) if isinstance(old, np.ndarray) else type(old)(part)
                place += size
            return trees.replaced(params, lambda path, leaf: values[path])

        def run(x: Any) -> tuple[float, Any]:
            tree = of_vector(x)
            value, grads = value_and_grad(tree, *args)
            slopes = [_flat(g, np.size(trees.plain(p))) for _, p, g in trees.beside(tree, grads)]
            return float(trees.plain(value)), np.concatenate(slopes)

        settings = {
            "maxiter": options["max_iter"], "maxcor": options["history_size"], "gtol": options["tolerance_grad"],
            "ftol": options["tolerance_change"] * np.finfo(float).eps * 1e7, "maxfun": options["max_eval"] or 15000,
        }  # fmt: skip
        start = np.concatenate([_flat(leaf, 0) for _, _, leaf in shapes])
        end = minimize(run, start, jac=True, method="L-BFGS-B", options=settings)
        return of_vector(end.x), float(end.fun)


def _flat(leaf: Any, size: int) -> Any:
    return np.zeros(size) if leaf is None else np.ravel(np.asarray(trees.plain(leaf), float))
