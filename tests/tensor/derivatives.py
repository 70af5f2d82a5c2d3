"""Derivatives on Tensors alone, in the form that `check_grads` asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tangentx as tx
from tangentx.common.pytrees import is_differentiable, leaves, rebuild


def traced(f: Callable[..., Any], primals: tuple[Any, ...], wrt: tuple[int, ...]) -> tuple[Any, list[list[Any]]]:
    """The result on Tensors, and for each of `wrt` the leaves that it was differentiated by."""
    found: list[list[Any]] = []
    args = list(primals)
    for i in wrt:
        mine: list[Any] = []

        def leaf(x: Any, mine: list[Any] = mine) -> Any:
            if not is_differentiable(x):
                return x
            data = tx.tensor(x, requires_grad=True) if isinstance(x, np.ndarray) else number(x)
            mine.append(data)
            return data * 1.0 if isinstance(x, np.ndarray) else data

        args[i] = rebuild(args[i], leaf)
        found.append(mine)
    return f(*args), found


def number(x: Any) -> Any:
    t = tx.tensor(x, requires_grad=True)
    t._primal = x
    return t


def finished(primal: Any, bars: Any) -> Any:
    given = iter(bars)

    def one(x: Any) -> Any:
        if not is_differentiable(x):
            return None
        bar = next(given).detach()
        return bar.numpy() if isinstance(x, np.ndarray) else type(x)(bar)

    return rebuild(primal, one)


class OnTensors:
    """`grad` gives a function that can be differentiated again; `vjp` works on it."""

    def grad(self, f: Callable[..., Any], wrt: Any) -> Callable[..., Any]:
        many = isinstance(wrt, tuple)
        places = wrt if many else (wrt,)

        def gradient(*args: Any) -> Any:
            value, found = traced(f, args, places)
            every = [t for mine in found for t in mine]
            bars = iter(tx.autograd.grad(value, every, materialize_grads=True))
            result = tuple(finished(args[i], [next(bars) for _ in mine]) for i, mine in zip(places, found, strict=True))
            return result if many else result[0]

        gradient.of, gradient.places, gradient.many = f, places, many  # type: ignore[attr-defined]
        return gradient

    def jvp(self, f: Any, primals: Any, tangents: Any) -> Any:
        raise NotImplementedError

    def vjp(self, g: Any, *primals: Any) -> Any:
        value, found = traced(g.of, primals, g.places)
        every = [t for mine in found for t in mine]
        bars = tx.autograd.grad(value, every, create_graph=True, materialize_grads=True)

        def pullback(seed: Any) -> Any:
            seeds = [leaf for _, leaf in leaves("", seed) if is_differentiable(leaf)]
            total: Any = 0.0
            for bar, s in zip(bars, seeds, strict=True):
                total = total + (bar * s).sum() if np.ndim(s) else total + bar * s
            if type(total) is tx.Tensor and total.requires_grad:
                second = iter(tx.autograd.grad(total, every, materialize_grads=True))
            else:
                second = iter([tx.tensor(np.zeros(np.shape(t.detach()))) for t in every])
            by_place = dict(zip(g.places, found, strict=True))
            result = tuple(
                finished(p, [next(second) for _ in by_place[i]]) if i in by_place else None
                for i, p in enumerate(primals)
            )
            return result if len(primals) > 1 else result[0]

        return None, pullback


ON_TENSORS: Any = OnTensors()
