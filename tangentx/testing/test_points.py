"""A function at a point: the differentiable leaves, and directions between them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tangentx.arrays.copies import STOPPED
from tangentx.common import pytrees
from tangentx.common.scoped_state import lasting

Function: TypeAlias = Callable[..., Any]
Vector: TypeAlias = NDArray[Any]
Wrt: TypeAlias = int | str | tuple[int | str, ...]

MOST_ELEMENTS = 64


class Derivatives(Protocol):
    """What a differentiator offers to be checked: these three functions of `tangentx`, or an imitation of them."""

    def grad(self, f: Function, wrt: Any) -> Function: ...

    def jvp(self, f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]: ...

    def vjp(self, f: Function, *primals: Any) -> tuple[Any, Function]: ...


@dataclass(frozen=True)
class Case:
    """A function at a point, and the leaves there that it is differentiated by."""

    f: Function
    args: tuple[Any, ...]
    wrt: Wrt
    positions: tuple[int, ...]
    names: tuple[str, ...]
    paths: tuple[str, ...]
    point: tuple[Any, ...]
    using: Derivatives

    @classmethod
    def of(cls, f: Function, args: tuple[Any, ...], wrt: Wrt, using: Derivatives) -> Case:
        names = _parameter_names(f, len(args))
        wanted = wrt if isinstance(wrt, tuple) else (wrt,)
        if missing := [w for w in wanted if w not in (names if isinstance(w, str) else range(len(args)))]:
            raise ValueError(f"wrt names {missing[0]!r}; the arguments given are {', '.join(names)}")
        positions = tuple(names.index(w) if isinstance(w, str) else w for w in wanted)
        chosen = [
            pair for p in positions for pair in pytrees.leaves(names[p], args[p]) if pytrees.is_differentiable(pair[1])
        ]
        paths, point = tuple(path for path, _ in chosen), tuple(leaf for _, leaf in chosen)
        return cls(f, args, wrt, positions, names, paths, point, using)

    def fresh(self) -> tuple[Any, ...]:
        return self.with_leaves(self.point)

    def with_leaves(self, new: Sequence[Any]) -> tuple[Any, ...]:
        """Copies of the arguments, with `new` for the leaves of `point`."""
        given = iter(new)
        args = [pytrees.rebuild(arg, _copy) for arg in self.args]
        for p in self.positions:
            args[p] = pytrees.rebuild(self.args[p], lambda x: _copy(next(given) if pytrees.is_differentiable(x) else x))
        return tuple(args)

    def tangents(self, direction: Sequence[Any]) -> tuple[Any, ...]:
        """`direction` in the structure of the arguments, None where nothing moves."""
        given = iter(direction)
        out: list[Any] = [None] * len(self.args)
        for p in self.positions:
            out[p] = pytrees.rebuild(
                self.args[p], lambda x: _copy(next(given)) if pytrees.is_differentiable(x) else None
            )
        return tuple(out)

    def along(self, direction: Sequence[Any], f: Function | None = None) -> Function:
        """What `f` (by default the function itself) gives where the point is moved by a number times the direction.

        What `stop_gradient` gives the function stays what it is at the point: it is a constant. A derivative of it asks
        for the same, and for what stands still in rules of ours, which is found anew at each point.
        """
        stopped = self._stopped(self.f)
        if f is not None and stopped:
            stopped = _among(self._stopped(f), stopped)
        f = f or self.f

        def moved_by(h: Any) -> Any:
            given = iter(stopped)
            args = self.with_leaves(moved(self.point, direction, h))
            return lasting(STOPPED, lambda value: _held(next(given, value), value), lambda: f(*args))

        return moved_by if stopped else lambda h: f(*self.with_leaves(moved(self.point, direction, h)))

    def _stopped(self, f: Function) -> list[Any]:
        """What `stop_gradient` gives at the point, in the order of its calls."""
        found: list[Any] = []

        def record(value: Any) -> Any:
            found.append(_copy(value))
            return value

        with suppress(ArithmeticError, ValueError):
            lasting(STOPPED, record, lambda: f(*self.fresh()))
        return found

    def gradient(self) -> Function:
        return self.using.grad(self.f, wrt=self.wrt)

    def flat(self, gradient: Any, label: str) -> list[Vector]:
        """The gradient's leaves in the order of `point`; a wrong structure, dtype or shape is an `AssertionError`."""
        parts = gradient if isinstance(self.wrt, tuple) else (gradient,)
        if not isinstance(parts, tuple) or len(parts) != len(self.positions):
            raise AssertionError(f"{label}: the gradient is no tuple of {len(self.positions)}, as wrt asks for")
        out: list[Vector] = []
        for p, part in zip(self.positions, parts, strict=True):
            try:
                triples = list(pytrees.leaves(self.names[p], self.args[p], part))
            except ValueError as error:
                raise AssertionError(f"{label}: {error}") from None
            for path, leaf, found in triples:
                out.extend(_matching(path, leaf, found, label))
        return out


def _parameter_names(f: Function, count: int) -> tuple[str, ...]:
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    return tuple(names[i] if i < len(names) else f"{rest}[{i - len(names)}]" for i in range(count))


def _among(found: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
    """Of what was found that which is wanted, in whatever order; None for the rest."""
    return [value if any(np.array_equal(value, each, equal_nan=True) for each in wanted) else None for value in found]


def _held(constant: Any, value: Any) -> Any:
    """The constant in the place of a value, unless there is none, or another branch has come to another place."""
    return _copy(constant) if constant is not None and np.shape(constant) == np.shape(value) else value


def _copy(leaf: Any) -> Any:
    return leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf


def _matching(path: str, leaf: Any, found: Any, label: str) -> list[Vector]:
    if not pytrees.is_differentiable(leaf):
        if found is not None:
            raise AssertionError(f"{label}: argument {path} has no derivative, yet there is {found!r}")
        return []
    want, got = np.asarray(leaf), np.asarray(found)
    if found is None or got.shape != want.shape or got.dtype != want.dtype:
        is_ = "None" if found is None else f"shape {got.shape}, {got.dtype}"
        raise AssertionError(f"{label}: argument {path} has shape {want.shape}, {want.dtype}; its gradient is {is_}")
    return [got]


def moved(point: Sequence[Any], direction: Sequence[Any], h: Any) -> list[Any]:
    """The point plus h times the direction; each leaf keeps its type, made complex if h is."""
    out = []
    for leaf, step in zip(point, direction, strict=True):
        if isinstance(leaf, np.ndarray):
            new = leaf.astype(np.result_type(leaf.dtype, type(h)) if isinstance(h, complex) else leaf.dtype, order="K")
            new += (h * step).astype(new.dtype)
            out.append(new)
        else:
            out.append(leaf + h * step if isinstance(h, complex) else type(leaf)(leaf + h * step))
    return out


def _direction(leaf: Any, numbers: Any) -> Any:
    """`numbers` with the type of `leaf`."""
    return np.asarray(numbers, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(numbers)


def random_direction(case: Case, rng: np.random.Generator) -> list[Any]:
    out = []
    for leaf in case.point:
        numbers = rng.uniform(0.5, 1.0, np.shape(leaf)) * rng.choice([-1.0, 1.0], np.shape(leaf))
        if np.iscomplexobj(leaf):
            numbers = numbers * np.exp(1j * rng.uniform(0.0, 6.0, np.shape(leaf)))
        out.append(_direction(leaf, numbers))
    return out


def places(case: Case) -> list[tuple[str, tuple[int, ...]]]:
    pairs = zip(case.paths, case.point, strict=True)
    return [(path, index) for path, leaf in pairs for index in np.ndindex(np.shape(leaf))]


def elements(case: Case, rng: np.random.Generator) -> list[tuple[str, list[Any]]]:
    """Directions along single elements, real and imaginary, with the words that name them."""
    spots = [(k, index) for k, leaf in enumerate(case.point) for index in np.ndindex(np.shape(leaf))]
    if len(spots) > MOST_ELEMENTS:
        spots = [spots[i] for i in np.sort(rng.choice(len(spots), MOST_ELEMENTS, replace=False))]
    out = []
    for k, index in spots:
        for unit in (1.0, 1.0j) if np.iscomplexobj(case.point[k]) else (1.0,):
            direction = [_direction(leaf, np.zeros(np.shape(leaf))) for leaf in case.point]
            one = np.zeros(np.shape(case.point[k]), np.result_type(type(unit)))
            one[index] = unit
            direction[k] = _direction(case.point[k], one)
            out.append((f"argument {case.paths[k]}, index {index}" + ", imaginary" * (unit != 1.0), direction))
    return out


def joined(parts: list[Vector]) -> Vector:
    return np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0)
