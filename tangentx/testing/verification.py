"""`tx.verify`: compares derivatives at a point with the function, with one another and with differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tangentx.api import functions
from tangentx.arrays.copies import fresh_copies
from tangentx.common import pytrees
from tangentx.common.options import checked
from tangentx.compile.checked_reference import agree, difference
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.validation import differentiable
from tangentx.errors import InternalError, NotDifferentiable
from tangentx.testing.differences import DOUBLE, Precision, extrapolated, precision, shown_precision
from tangentx.testing.test_points import Case, random_direction


@dataclass(frozen=True)
class Check:
    """One thing that was checked: what, in what it failed (nothing, where it holds), and what could not be checked."""

    what: str
    fault: str = ""
    left_out: str = ""

    def __str__(self) -> str:
        lines = (f"{'FAILED' if self.fault else 'ok    '}  {self.what}", self.fault, self.left_out)
        return "\n".join(line for line in lines if line).replace("\n", "\n        ")


@dataclass(frozen=True)
class Report:
    """What `verify` found; true where everything holds, and readable text."""

    name: str
    checks: tuple[Check, ...]

    def __bool__(self) -> bool:
        return not any(check.fault for check in self.checks)

    def __str__(self) -> str:
        failed = sum(bool(check.fault) for check in self.checks)
        head = f"`{self.name}`: " + (f"{failed} of {len(self.checks)} checks failed" if failed else "verified")
        return "\n".join([head, *map(str, self.checks)])

    __repr__ = __str__


@shallow
def verify(f: Any, *args: Any, wrt: Any = None, fallback: str = "tensor") -> Report:
    """Checks the derivatives of `f` at `args` by all parameters that have one, or those that `wrt` names.

    In checked mode the value with its pullback and forward mode are taken; then reverse mode is held against forward
    mode, forward mode against differences, the pullback against itself (called again, for twice the cotangent, for its
    negative), and the arguments against what they were. Returns a report, true where all of it holds.

    Differences are as exact as the function is: where it computes in single or half precision, they are held to that.
    What `tx.stop_gradient` gives they take for a constant. Where the function is not finite around the point, they say
    nothing, and the report says so.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> report = tx.verify(lambda x, y: np.sum(np.sin(x) * y), np.array([0.3, 1.2]), 2.0)
    >>> bool(report)
    True
    >>> print(report)
    `<lambda>`: verified
    ok      reverse mode in checked mode
    ok      forward mode in checked mode
    ok      the value is that of the function
    ok      the pullback is linear, and the same when it is called again
    ok      reverse mode against forward mode
    ok      forward mode against differences
    ok      the arguments are as they were

    `f` is called several times, with copies of the arguments: where it draws random numbers or acts on something
    outside, differences mean nothing. Raises what taking the derivatives raises, but for `InternalError`.
    """
    places = differentiable(args, range(len(args))) if wrt is None else wrt
    case = Case.of(f, args, places, functions)
    if not case.point:
        raise NotDifferentiable("nothing to verify: no real or complex number in the arguments", hint="pass a float")
    name = getattr(f, "__name__", type(f).__name__)
    return Report(name, tuple(_Verification(case, fallback).checks()))


class _Verification:
    """The checks at one case, in order; what one finds the next may use."""

    def __init__(self, case: Case, fallback: str) -> None:
        self.case, self.fallback = case, fallback
        self.given = fresh_copies(*case.args)
        self.rng = np.random.default_rng(0)
        self.direction = random_direction(case, self.rng)
        self.left_out = ""  # by the last check

    @cached_property
    def along(self) -> Callable[[float], NDArray[Any]]:
        """The numbers of the result, where the arguments are moved by a number times the direction."""
        move = self.case.along(self.direction)

        def numbers(h: float) -> NDArray[Any]:
            parts = [np.ravel(leaf) for _, leaf in pytrees.leaves("", move(h)) if pytrees.is_differentiable(leaf)]
            return np.concatenate(parts) if parts else np.zeros(0)

        return numbers

    @cached_property
    def shown(self) -> Precision:
        """The precision in which the function computes, as far as its values tell."""
        return shown_precision(self.along)

    def checks(self) -> list[Check]:
        """All of them; those that need what an earlier one did not find are left out."""
        steps: tuple[tuple[str, Callable[[], str]], ...] = (
            ("reverse mode in checked mode", self.reverse),
            ("forward mode in checked mode", self.forward),
            ("the value is that of the function", self.value),
            ("the pullback is linear, and the same when it is called again", self.linear),
            ("reverse mode against forward mode", self.modes),
            ("forward mode against differences", self.differences),
            ("the arguments are as they were", self.untouched),
        )
        found: list[Check] = []
        for what, step in steps:
            try:
                found.append(Check(what, step(), self.left_out))
            except InternalError as error:
                found.append(Check(what, str(error)))
                return [*found, Check(steps[-1][0], self.untouched())]
        return found

    def reverse(self) -> str:
        """Takes value and pullback."""
        with checked():
            self.result, self.pullback = functions.vjp(self.case.f, *self.case.args, fallback=self.fallback)
            self.seed = _weights(self.result, self.rng)
            self.bars = self.pull(1.0)
        return ""

    def pull(self, factor: float) -> list[Any]:
        """Cotangents of the leaves that are moved, for a multiple of the seed."""
        bars = self.pullback(pytrees.rebuild(self.seed, lambda leaf: _times(factor, leaf)))
        every = bars if len(self.case.args) > 1 else (bars,)
        pairs = [pytrees.leaves("", self.case.args[p], every[p]) for p in self.case.positions]
        return [bar for group in pairs for _, leaf, bar in group if pytrees.is_differentiable(leaf)]

    def forward(self) -> str:
        """Takes value and tangent."""
        with checked():
            tangents = self.case.tangents(self.direction)
            self.again, self.tangent = functions.jvp(self.case.f, self.case.args, tangents, fallback=self.fallback)
        return ""

    def value(self) -> str:
        """Whether both modes give the value of the function."""
        wanted = self.case.f(*self.case.fresh())
        return difference(wanted, self.result) or difference(wanted, self.again) or ""

    def linear(self) -> str:
        """Whether the pullback is, and leaves nothing behind that changes what it gives next."""
        for factor in (1.0, 2.0, -1.0):
            wanted = [_times(factor, bar) for bar in self.bars]
            found = agree(self.pull(factor), wanted, self.bound(1e-9))
            if found is not None:
                return f"for {factor} times the cotangent it gives {found}"
        return ""

    def bound(self, share: float) -> float:
        """What counts as equal: a share of the largest number at hand."""
        every = [*self.case.point, *self.bars, *(leaf for _, leaf in pytrees.leaves("", self.tangent))]
        leaves = [np.asarray(leaf) for leaf in every if pytrees.is_differentiable(leaf)]
        sizes = [np.max(np.abs(leaf), initial=1.0, where=np.isfinite(leaf)) for leaf in leaves]
        narrow = any(leaf.dtype.itemsize < 8 for leaf in leaves)
        return float(max(sizes, default=1.0)) * (max(share, 1e-3) if narrow else share)

    def modes(self) -> str:
        """Whether the products of seed and tangent, and of cotangents and direction, are one number."""
        pairs = pytrees.leaves("", self.seed, self.tangent)
        forward = sum(_product(a, b) for _, a, b in pairs if pytrees.is_differentiable(a))
        reverse = sum(_product(a, b) for a, b in zip(self.bars, self.direction, strict=True))
        count = sum(np.size(leaf) for leaf in self.case.point)
        if _near(forward, reverse, self.bound(1e-9) * count):
            return ""
        if self.shown is not DOUBLE and _near(forward, reverse, self.bound(self.shown.rtol / 5.0) * count):
            return ""
        return f"reverse mode gives {reverse}, forward mode {forward}"

    def differences(self) -> str:
        """Whether the tangent is that by differences."""
        limits = precision(*self.case.point)
        fault = self.compared(limits)
        return self.compared(self.shown) if fault and self.shown.machine > limits.machine else fault

    def compared(self, limits: Precision) -> str:
        """The first number of the tangent that is not that by differences of such a precision."""
        wanted = extrapolated(self.along, limits)
        parts = [
            np.ravel(t) for _, v, t in pytrees.leaves("", self.result, self.tangent) if pytrees.is_differentiable(v)
        ]
        found = np.concatenate(parts) if parts else np.zeros(0)
        bound = limits.atol * self.bound(1.0) + limits.rtol * np.abs(wanted)
        with np.errstate(all="ignore"):
            far = ~(np.abs(found - wanted) <= bound) & (found != wanted) & ~np.isnan(wanted)
        if np.any(np.isnan(wanted)):
            places = ", ".join(map(str, np.flatnonzero(np.isnan(wanted))))
            self.left_out = f"but for what is not finite around the point, number {places} of the result"
        if not np.any(far):
            return ""
        at = int(np.argmax(far))
        return f"number {at} of the result moves by {found[at]}, by differences by {wanted[at]}"

    def untouched(self) -> str:
        """Whether nothing that was given has changed."""
        self.left_out = ""
        return difference(self.given, self.case.args, exact=True) or ""


def _times(factor: float, leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return np.asarray(factor * leaf, leaf.dtype)
    cls: Any = type(leaf)
    return leaf if leaf is None else cls(factor * leaf)


def _product(seed: Any, moved: Any) -> float:
    """What a cotangent makes of a tangent: real, as only the real part of a result counts."""
    return float(np.sum(np.real(np.asarray(seed) * np.asarray(moved))))


def _near(one: float, other: float, bound: float) -> bool:
    return bool(abs(one - other) <= bound or one == other or (np.isnan(one) and np.isnan(other)))


def _weights(value: Any, rng: np.random.Generator) -> Any:
    """Random cotangents of a value, None for what has none."""

    def weight(leaf: Any) -> Any:
        if not pytrees.is_differentiable(leaf):
            return None
        numbers = rng.uniform(0.5, 1.0, np.shape(leaf))
        return np.asarray(numbers, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(numbers)

    return pytrees.rebuild(value, weight)
