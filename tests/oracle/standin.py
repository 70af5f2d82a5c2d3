"""A stand-in for tangentx made of the oracle, right at both orders unless told otherwise: for testing the harness."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from .grammar import Program, Values
from .screen import Truth, copied, leaves, truth, zipped


def unravel(point: Values, vector: Any, unit: complex = 1j) -> Values:
    """The numbers of `vector` in the structure of `point`, two for each complex one; `unit` is that of the second."""
    used = 0

    def take(x: Any) -> Any:
        nonlocal used
        two, count = np.iscomplexobj(x), np.size(x)
        part = vector[used : used + count]
        part = part + unit * vector[used + count : used + 2 * count] if two else part
        used += 2 * count if two else count
        return part.reshape(x.shape).copy() if isinstance(x, np.ndarray) else part[0].item()

    return zipped(take, point)  # type: ignore[no-any-return]


class StandIn:
    """`grad`, `vjp` and `jvp` as tangentx has them.

    `spoil` changes each leaf of a gradient, `before` meets the arguments.
    """

    def __init__(
        self, spoil: Callable[[Any], Any] = lambda g: g, before: Callable[..., None] = lambda *args: None
    ) -> None:
        self.spoil, self.before = spoil, before

    def slopes(self, f: Any, args: Values, other: Values, which: Callable[[Truth], float]) -> Values:
        """For each number among the arguments, what the truth says with e1 along it and e2 along `other`."""
        source = "".join(linecache.getlines(f.__code__.co_filename))
        program = Program(source, (args,), (), Counter())
        size = sum(np.size(leaf) * (2 if np.iscomplexobj(leaf) else 1) for leaf in leaves(zipped(lambda x: x, args)))
        found = [
            which(truth(program, args, unshared(args, unravel(args, basis)), unshared(args, other)))
            for basis in np.eye(size)
        ]
        return unravel(args, np.array(found), -1j)

    def grad(self, f: Any, wrt: tuple[int, ...], fallback: str) -> Callable[..., Any]:
        def gradient(*args: Any) -> Any:
            self.before(*args)
            given = list(args)
            run_primal(f, given)
            other, which = given, slope
            if f.__name__ == "weigh":
                given, other, which = given[:-1], full(given[:-1], args[-1], wrt), curvature
            found = self.slopes(f, given, other, which)
            return tuple(zipped(self.spoil, found[i]) for i in wrt)

        vars(gradient).update(primal=f, wrt=wrt)
        return gradient

    def vjp(self, f: Any, *primals: Any, fallback: str = "error") -> Any:
        args = list(copied(primals))
        value, _ = self.jvp(f, args, args)
        found = self.slopes(f, args, args, slope)
        every = tuple(zipped(self.spoil, part) for part in found)
        return value, lambda seed: copied(every if len(every) > 1 else every[0])

    def jvp(self, f: Any, primals: Any, tangents: Any, fallback: str = "error") -> Any:
        args, along = list(primals), list(tangents)
        if hasattr(f, "primal"):
            second = self.slopes(f.primal, args, along, curvature)
            return f(*args), tuple(zipped(self.spoil, second[i]) for i in f.wrt)
        run_primal(f, args)
        source = "".join(linecache.getlines(f.__code__.co_filename))
        along = unshared(args, along)
        found = truth(Program(source, (args,), (), Counter()), args, along, along)
        return found.value, self.spoil(found.along_r)


def unshared(args: Values, direction: Values) -> Values:
    """`direction` with None for each argument that shares memory with another: nothing is differentiated by it."""
    arrays = [[leaf for leaf in leaves(arg) if isinstance(leaf, np.ndarray)] for arg in args]

    def meets(i: int, j: int) -> bool:
        return i != j and any(np.shares_memory(x, y) for x in arrays[i] for y in arrays[j])

    shared = [any(meets(i, j) for j in range(len(args))) for i in range(len(args))]
    return [None if held else part for held, part in zip(shared, direction, strict=True)]


def run_primal(f: Any, args: Values) -> None:
    """What a derivative call does to state outside the arguments: one call of the program."""
    primal = f.__globals__["f"]
    primal(*copied(args)[: primal.__code__.co_argcount])


def slope(found: Truth) -> float:
    return found.along_r


def curvature(found: Truth) -> float:
    return found.curvature


def full(args: Values, weights: Any, wrt: tuple[int, ...]) -> Values:
    """Weights of the parameters in `wrt` as a direction for all."""
    given = dict(zip(wrt, weights, strict=True))
    return [given.get(i) for i in range(len(args))]
