"""Programs run: as they are, on duals, and by differences; what is not fit to test with is sent back."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from .dual import Dual, Kink
from .grammar import Program, Values, draft
from .layout import in_memory_of, laid_out
from .namespace import oracle_globals

BIG = 1e4
STEPS = (1e-5, 1e-6)


class Unfit(Exception):
    """Why a program is not used; `str` is the class of reasons."""


@dataclass(frozen=True)
class Truth:
    """What the oracle says at one point: value, slopes along r and s, and the curvature r H s."""

    value: float
    along_r: float
    along_s: float
    curvature: float


def copied(x: Any, seen: dict[int, Any] | None = None, leaf: Callable[[Any], Any] = lambda v: v) -> Any:
    """A deep copy that keeps identities, strides and shared memory; `leaf` is applied to its numbers and arrays."""
    seen = {} if seen is None else seen
    if id(x) not in seen or isinstance(x, (int, float, complex)):
        if isinstance(x, (list, tuple)):
            seen[id(x)] = type(x)(copied(item, seen, leaf) for item in x)
        elif isinstance(x, dict):
            seen[id(x)] = {key: copied(item, seen, leaf) for key, item in x.items()}
        else:
            seen[id(x)] = leaf(in_memory_of(x, seen) if isinstance(x, np.ndarray) else x)
    return seen[id(x)]


def constant(x: Any) -> bool:
    """Whether an argument has no derivative."""
    return isinstance(x, int) or (isinstance(x, np.ndarray) and x.dtype.kind == "i")


def zipped(fn: Callable[..., Any], x: Any, *others: Any) -> Any:
    """`fn` of the leaves of structures of one layout; integers have no derivative and give None."""
    if isinstance(x, (list, tuple)):
        return type(x)(zipped(fn, item, *(o[i] for o in others)) for i, item in enumerate(x))
    if isinstance(x, dict):
        return {key: zipped(fn, item, *(o[key] for o in others)) for key, item in x.items()}
    return None if constant(x) else fn(x, *others)


def leaves(x: Any) -> list[Any]:
    """The leaves of a structure in order, None left out."""
    if isinstance(x, (list, tuple, dict)):
        return [leaf for item in (x.values() if isinstance(x, dict) else x) for leaf in leaves(item)]
    return [] if x is None else [x]


def directions(program: Program, seed: int, point: Values | None = None) -> list[Values]:
    """Two random directions at `point` (the first of the program's), for the slopes and for the curvature.

    None for what the program is not differentiated by.
    """
    rng = np.random.default_rng(seed)

    def draw(x: Any) -> Any:
        if np.iscomplexobj(x):
            return draw(x.real) + 1j * draw(x.imag)
        return rng.standard_normal(x.shape) if isinstance(x, np.ndarray) else float(rng.standard_normal())

    found = [zipped(draw, program.points[0] if point is None else point) for _ in range(2)]
    return [[t if i in program.wrt else None for i, t in enumerate(direction)] for direction in found]


def scope_of(source: str) -> dict[str, Any]:
    """The globals of the program, run anew."""
    scope: dict[str, Any] = {"__name__": "drawn_program"}
    exec(compile(source, "<program>", "exec", dont_inherit=True), scope)
    return scope


def load(source: str) -> Callable[..., Any]:
    return scope_of(source)["f"]  # type: ignore[no-any-return]


def truth(program: Program, point: Values, r: Values, s: Values) -> Truth:
    """Run the program on duals with e1 along r and e2 along s.

    Raises `Kink` where a comparison is too near to a tie.
    """
    scope = oracle_globals()
    exec(compile(program.source, "<oracle>", "exec", dont_inherit=True), scope)

    memories: tuple[dict[int, Any], ...] = ({}, {}, {}, {})
    held: dict[int, Dual] = {}

    def dual(x: Any, e1: Any, e2: Any) -> Dual:
        if e1 is None and not isinstance(x, np.ndarray):
            return x
        if e1 is None:
            parts = tuple(in_memory_of(x, memory, keep=i == 0) for i, memory in enumerate(memories))
            return held.setdefault(id(x), Dual(parts))
        if isinstance(x, np.ndarray):
            return Dual((laid_out(x, x), laid_out(e1, x), laid_out(e2, x), laid_out(0.0, x)))
        return Dual((x, e1, e2, 0.0))

    args = [x if constant(x) else zipped(dual, x, e1, e2) for x, e1, e2 in zip(point, r, s, strict=True)]
    out = scope["f"](*args)
    parts = out.parts if isinstance(out, Dual) else (out, 0.0, 0.0, 0.0)
    return Truth(*(float(part) for part in parts))


def moved(point: Values, direction: Values, step: float) -> Values:
    """The point a step further, each array in the layout that it has."""

    def move(x: Any, t: Any) -> Any:
        return laid_out(x + step * t, x)

    return [x if t is None else zipped(move, x, t) for x, t in zip(point, direction, strict=True)]


def slope(f: Callable[..., Any], point: Values, direction: Values, step: float) -> float:
    """The central difference of `f` along `direction`."""
    ahead, behind = (f(*copied(moved(point, direction, h))) for h in (step, -step))
    return float(ahead - behind) / (2.0 * step)


def judge(program: Program, point: Values, seed: int) -> Truth:
    """The truth at `point`. Raises `Unfit` if the program fails, warns, is wild, has a kink, or does not depend."""
    r, s = directions(program, seed, point)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        try:
            f = load(program.source)
            value = f(*copied(point))
            slopes = [slope(f, point, r, step) for step in STEPS]
        except (ArithmeticError, Warning) as error:
            raise Unfit("arithmetic") from error
        except Exception as error:
            raise Unfit(f"invalid: {type(error).__name__}: {error}") from error
        try:
            found = truth(program, point, r, s)
        except Kink as error:
            raise Unfit("kink") from error
        except ArithmeticError as error:
            raise Unfit("arithmetic") from error
    if not isinstance(value, float):
        raise Unfit(f"invalid: result is {type(value).__name__}")
    if not np.max(np.abs([found.value, found.along_r, found.along_s, found.curvature / BIG])) < BIG:
        raise Unfit("wild")
    if found.along_r == 0.0:
        raise Unfit("constant")
    if not np.isclose(found.value, value, rtol=1e-12, atol=1e-12):
        raise Unfit(f"DISAGREES in value: {found.value!r} for {value!r}")
    if not np.isclose(np.array(slopes), found.along_r, rtol=1e-4, atol=1e-4).any():
        if not np.isclose(slopes[0], slopes[1], rtol=1e-4, atol=1e-4):
            raise Unfit("rough")
        raise Unfit(f"DISAGREES with differences: {found.along_r!r} for {slopes!r}")
    return found


def generate(rng: Random, rejected: Counter[str] | None = None, drawn: Callable[[Random], Program] = draft) -> Program:
    """The next fit program; `rejected` counts why others were not. Its further points are those that are fit."""
    while True:
        program = drawn(rng)
        try:
            judge(program, program.points[0], 0)
        except Unfit as error:
            if rejected is not None:
                rejected[str(error)] += 1
            continue
        return replace(program, points=tuple(p for i, p in enumerate(program.points) if i == 0 or fit(program, p)))


def fit(program: Program, point: Values) -> bool:
    try:
        judge(program, point, 0)
    except Unfit:
        return False
    return True
