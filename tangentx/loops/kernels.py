"""Statements of arrays that go element by element, together as one nest of independent loops."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.common.naming import Names
from tangentx.loops import operators
from tangentx.loops.loop_ir import (
    INT,
    Array,
    Assign,
    Bail,
    Block,
    Const,
    Expr,
    For,
    Function,
    Local,
    Read,
    Scalar,
    Type,
    Write,
)
from tangentx.loops.operators import Refused
from tangentx.loops.print_cuda import WORDS, step_of
from tangentx.loops.simplify import tidy
from tangentx.loops.types import identifier

_NO_NEW_ARRAY = frozenset((
    builtins.max, builtins.min, builtins.float, builtins.int, builtins.bool, operator.not_, np.float64, np.float32,
    np.real, np.conjugate, arrays.alike, arrays.clone,
))  # fmt: skip
"""What gives a number of an array, the array itself, a view of it, or a copy that is made for its memory's sake."""
_OTHERWISE = frozenset((np.sign, operator.invert, np.invert))
"""What libraries of arrays on a device do not all do as NumPy does."""


class _NoEvents:
    """Checks in a kernel, which cannot give up: what needs one is no part of it."""

    def check(self, test: Expr, bail: Bail) -> None:
        """Raises Refused."""
        raise Refused(f"a statement where it might be that {bail.reason}")

    def bound(self, value: Expr) -> int | None:
        """None is known."""
        return None


@dataclass(frozen=True)
class Step:
    """``target = fn(args)``, an array of numbers of the type `element`."""

    target: str
    fn: Callable[..., Any]
    args: tuple[str | Const, ...]
    element: Scalar


def element(fn: Callable[..., Any], args: Sequence[Expr], result: Scalar) -> Expr:
    """An element of what `fn` gives, from those of its arguments. Raises Refused."""
    if not operators.is_scalar_operation(fn) or fn in _NO_NEW_ARRAY or getattr(math, fn.__name__, None) is fn:
        raise Refused(f"`{getattr(fn, '__name__', fn)}` does not go element by element")
    if fn in _OTHERWISE:
        raise Refused(f"`{fn.__name__}` is the library's own")
    rule = operators.OF_ARRAYS.get(fn, operators.RULES[fn])
    return rule(_NoEvents(), args, result)


def nest_of(
    name: str, steps: Sequence[Step], given: Mapping[str, Type], gives: Sequence[str], stems: Mapping[str, str]
) -> Function:
    """The kernel of some steps: of the parameters `given`, and of the arrays that become those `gives`, which have all
    the axes that there are. `stems` says what names are to be called."""
    nest = _Nest(stems, max(type.rank for type in given.values() if isinstance(type, Array)))
    params = [nest.taken(each, type) for each, type in given.items()]
    results = {step.target: found for step in steps if (found := nest.done(step, step.target in gives)) is not None}
    params += [results[each] for each in gives]
    block: Block = tuple(nest.body)
    zero, one = Const(0, INT), Const(1, INT)  # kernels go over whole axes, however long
    for place in reversed(nest.places):
        block = (For(place.name, zero, zero, one, False, block, independent=True),)
    return tidy(Function(name, tuple(params), (), nest.locals, block))


class _Nest:
    """Writes what one trip does: an element is read once, and what is given is written."""

    def __init__(self, stems: Mapping[str, str], rank: int) -> None:
        self.called = _Called(stems, rank)
        counters = ("ijklmnopq"[axis] if axis < 9 else "k" for axis in range(rank))
        self.places = [Local(self.called.names.fresh(counter), INT) for counter in counters]
        self.locals: dict[str, Type] = {place.name: INT for place in self.places}
        self.values: dict[str, Expr] = {}
        self.body: list[Assign | Write] = []

    def taken(self, name: str, type: Type) -> tuple[str, Type]:
        """The parameter for what is given."""
        own = self.called.of(name, type)
        if isinstance(type, Array):
            places = tuple(self.places[len(self.places) - type.rank :])
            self.values[name] = self._let(f"{own}_at", Read(own, places, type.element))
        else:
            assert isinstance(type, Scalar)
            self.values[name] = Local(own, type)
        return own, type

    def done(self, step: Step, kept: bool) -> tuple[str, Type] | None:
        """Writes a step; with `kept` its elements are written into the array that is the parameter."""
        args = [arg if isinstance(arg, Const) else self.values[arg] for arg in step.args]
        found = operators.converted(element(step.fn, args, step.element), step.element.code)
        if not kept:
            self.values[step.target] = self._let(self.called.stem(step.target), found)
            return None
        type = Array(step.element.code, len(self.places))
        own = self.called.of(step.target, type)
        self.values[step.target] = self._let(f"{own}_at", found)
        self.body.append(Write(own, tuple(self.places), self.values[step.target]))
        return own, type

    def _let(self, stem: str, value: Expr) -> Local:
        name = self.called.names.fresh(stem)
        self.locals[name] = value.type
        self.body.append(Assign(name, value))
        return Local(name, value.type)


class _Called:
    """What is called how in a kernel: names of C, and such that those of its steps from element to element are free."""

    def __init__(self, stems: Mapping[str, str], rank: int) -> None:
        self.stems, self.rank = stems, rank
        self.names = Names((*WORDS, *(f"n{axis}" for axis in range(rank))))

    def stem(self, name: str) -> str:
        """What a name is to be called."""
        return identifier(self.stems.get(name, name))

    def of(self, name: str, type: Type) -> str:
        """The name of a parameter."""
        own = [0] * type.rank if isinstance(type, Array) else []
        while True:
            found = self.names.fresh(self.stem(name))
            more = [step_of(found, axis) for axis in range(len(own))]
            if not any(each in self.names for each in more):
                break
        for each in more:
            self.names.take(each)
        return found
