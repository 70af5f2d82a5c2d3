"""Whether linear equations and inequalities have an integer solution, by Fourier-Motzkin elimination.

Every inequality that comes out is divided by the common divisor of its coefficients and its constant rounded down, so
more systems are found impossible than over the rationals; not all of them are. "Possible" is the answer in doubt.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

Unknown: TypeAlias = tuple[str, int, int]
"""What it is, which one, and of which execution; whole numbers of which nothing else is known."""
Form: TypeAlias = dict[Unknown, int]
"""A sum of unknowns with whole coefficients, none of them 0, and a constant at `ONE`."""

ONE: Unknown = ("one", 0, 0)
_OPPOSITES = {
    operator.lt: operator.ge, operator.ge: operator.lt, operator.gt: operator.le, operator.le: operator.gt,
    operator.ne: operator.eq,
}  # fmt: skip
_LIMIT = 300  # inequalities at a time


def plus(a: Form, b: Form, times: int = 1) -> Form:
    """``a + times * b``"""
    found = dict(a)
    for unknown, n in b.items():
        found[unknown] = found.get(unknown, 0) + times * n
    return {unknown: n for unknown, n in found.items() if n}


def number(n: int) -> Form:
    """The form of a constant."""
    return {ONE: n} if n else {}


def compared(fn: Any, one: Form, other: Form, taken: bool) -> Iterator[Form]:
    """What is 0 or more where a comparison has been found true, or not."""
    fn = fn if taken else _OPPOSITES.get(fn)
    if fn in (operator.lt, operator.le, operator.eq):
        yield plus(plus(other, one, -1), number(-1 if fn is operator.lt else 0))
    if fn in (operator.gt, operator.ge, operator.eq):
        yield plus(plus(one, other, -1), number(-1 if fn is operator.gt else 0))


def is_possible(zero: Iterable[Form], positive: Iterable[Form]) -> bool:
    """False only where no whole numbers make every form of `zero` 0 and every form of `positive` 0 or more."""
    solved = _solved(list(zero), list(positive))
    forms = None if solved is None else _tidied(solved)
    return forms is not None and all(map(_eliminated, _apart(forms)))


def _solved(zero: list[Form], positive: list[Form]) -> list[Form] | None:
    """The inequalities without the equations; None where these have no solution."""
    while zero:
        form = zero.pop()
        unknowns = [x for x in form if x != ONE]
        divisor = math.gcd(*(form[x] for x in unknowns))
        if form.get(ONE, 0) % divisor if divisor else ONE in form:
            return None
        if not unknowns:
            continue
        form = {x: n // divisor for x, n in form.items()}
        x = next((x for x in unknowns if abs(form[x]) == 1), None)
        if x is None:
            positive += [form, plus({}, form, -1)]
            continue
        zero = [plus(f, form, -f[x] * form[x]) if x in f else f for f in zero]
        positive = [plus(f, form, -f[x] * form[x]) if x in f else f for f in positive]
    return positive


def _apart(forms: Sequence[Form]) -> Iterable[list[Form]]:
    """The inequalities in groups that have no unknown in common: of loops inside of one another, mostly one each."""
    groups: dict[Unknown, list[Form]] = {}
    for form in forms:
        unknowns = [x for x in form if x != ONE]
        joined = {id(groups[x]): groups[x] for x in unknowns if x in groups}
        whole = max(joined.values(), key=len, default=[])
        for other in joined.values():
            if other is not whole:
                whole.extend(other)
                groups.update((x, whole) for each in other for x in each if x != ONE)
        whole.append(form)
        groups.update((x, whole) for x in unknowns)
    return {id(group): group for group in groups.values()}.values()


def _eliminated(forms: list[Form] | None) -> bool:
    """Takes one unknown after the other out of the inequalities; False where they contradict each other."""
    while forms:
        below, above = _counts(forms)
        x = min((x for form in forms for x in form if x != ONE), key=lambda x: below.get(x, 0) * above.get(x, 0))
        low = [f for f in forms if f.get(x, 0) > 0]
        high = [f for f in forms if f.get(x, 0) < 0]
        made = [plus(plus({}, a, -b[x]), b, a[x]) for a in low for b in high]
        forms = _tidied([*(f for f in forms if x not in f), *made])
        if forms is not None and len(forms) > _LIMIT:
            return True
    return forms is not None


def _counts(forms: Sequence[Form]) -> tuple[dict[Unknown, int], dict[Unknown, int]]:
    below: dict[Unknown, int] = {}
    above: dict[Unknown, int] = {}
    for form in forms:
        for x, n in form.items():
            side = below if n > 0 else above
            side[x] = side.get(x, 0) + 1
    return below, above


def _tidied(positive: Sequence[Form]) -> list[Form] | None:
    """The inequalities in lowest terms, the strictest of those that are alike; None where one is never true."""
    strictest: dict[tuple[tuple[Unknown, int], ...], int] = {}
    for form in positive:
        unknowns = [x for x in form if x != ONE]
        constant = form.get(ONE, 0)
        if not unknowns:
            if constant < 0:
                return None
            continue
        divisor = math.gcd(*(form[x] for x in unknowns))
        key = tuple((x, form[x] // divisor) for x in sorted(unknowns))
        constant //= divisor
        strictest[key] = min(constant, strictest.get(key, constant))
    return [{**dict(key), **number(constant)} for key, constant in strictest.items()]
