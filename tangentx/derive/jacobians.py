"""Jacobians: one tangent or cotangent a direction, assembled in the structure of arguments and results."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, dtype_of, varied
from tangentx.derive.emit import NONE, Emitter, motion
from tangentx.derive.leaf_values import Part, at, counted, domains, mapped, seeds, stacked
from tangentx.derive.prologue import arguments_of
from tangentx.derive.reverse.callee_pairs import as_params
from tangentx.ir.nodes import Append, Assign, Atom, Call, For, Function, Link, Lit, Make, Op, Return, Var

Joined = Callable[[Emitter, "Part", "Part"], Atom]


@dataclass(frozen=True)
class Wanted:
    """The parameters that are differentiated by, `many` of them as a tuple, and whether the result carries extras."""

    wrt: tuple[int, ...]
    many: bool
    aux: bool


class Builder:
    """A function of the arguments of `instance` that returns a Jacobian.

    `least`: there is one direction at least, of zeros where nothing can move, as members that are put together show
    their shape only where there is one.
    """

    def __init__(self, instance: Instance, wanted: Wanted) -> None:
        self.instance = instance
        self.wanted = wanted
        self.span = instance.source.span
        self.emit = Emitter(self.span)
        self.names = arguments_of(instance)
        self.xs = [Part(instance.given[i], Var(self.names[i])) for i in wanted.wrt]
        self._moving = [i in moving_of(instance, wanted.wrt) for i in wanted.wrt]
        result = instance.result
        self.result = result.region.get(0) if wanted.aux and isinstance(result, Box) else result
        self.single = False
        self.least = False

    def is_single(self) -> bool:
        """Whether there is one direction to move in, and nothing to put together."""
        return len(self.xs) == 1 and _is_double(self.xs[0].kind) and _are_double(self.result)

    def forward(self, tangent: Function) -> Function:
        """From the function of primals and tangents."""
        emit = self.emit
        total: Atom = Lit(0)
        for x in self.xs:
            total = counted(emit, x.kind, x.atom, total)
        self.single = self.is_single()

        def step(inner: Emitter, place: Atom) -> tuple[Atom, Atom]:
            before: Atom = Lit(0)
            dots: list[Atom] = []
            for x in self.xs:
                dot, before = seeds(inner, x.kind, x.atom, place, before)
                dots.append(Lit(1.0) if self.single else dot)
            made = inner.let(Call(Link(tangent.name, tangent), (*map(Var, self.names), *self._given(dots))))
            return inner.item(made, 0), inner.item(made, 1)

        path = (at(Lit(0)),) if self.wanted.aux else ()
        if self.single:
            ans, dot = step(emit, Lit(0))
            moved: Any = emit.item(dot, 0) if self.wanted.aux else dot
            return self._finished(ans, self._joined(self._value(ans), moved, self.xs, _only_column))
        ans, found = self._loop(total, step)
        y = self._value(ans)
        moved = stacked(emit, Part(self.result, y), found, path)
        return self._finished(ans, self._joined(y, moved, self.xs, _column_of))

    def at_once(self, tangent: Function) -> Function:
        """As `forward`, from the function of the number of directions, of primals, and of all tangents at once."""
        emit = self.emit
        total: Atom = Lit(0)
        for x in self.xs:
            total = counted(emit, x.kind, x.atom, total)
        total = self._at_least(total)
        before: Atom = Lit(0)
        dots: list[Atom] = []
        alone = len(self.xs) == 1 and not isinstance(self.xs[0].kind, Box) and not self.least
        for x in self.xs:
            dot, before = seeds(emit, x.kind, x.atom, None, before, None if alone else total)
            dots.append(dot)
        made = emit.let(Call(Link(tangent.name, tangent), (total, *map(Var, self.names), *self._given(dots))))
        ans, moved = emit.item(made, 0), emit.item(made, 1)
        moved = emit.item(moved, 0) if self.wanted.aux else moved
        return self._finished(ans, self._joined(self._value(ans), moved, self.xs, _column_of))

    def _given(self, dots: list[Atom]) -> list[Atom]:
        """Those tangents for which forward mode has a parameter."""
        return [dot for dot, moves in zip(dots, self._moving, strict=True) if moves]

    def reverse(self, forward: Function, back: Function) -> Function:
        """From the function of primals that gives value and state, and that of state and cotangent."""
        made = self.emit.let(Call(Link(forward.name, forward), tuple(map(Var, self.names))))
        ans, state = self.emit.item(made, 0), self.emit.item(made, 1)
        return self._rows(ans, back, (state,))

    def inside(self, primal: Function, seeded: Function) -> Function:
        """From the program, and the function of primals and cotangent: each row runs both sweeps.

        State between two functions may hold memory under several names, which a derivative of both could not follow.
        """
        names = tuple(map(Var, self.names))
        ans = self.emit.let(Call(Link(primal.name, primal), names))
        return self._rows(ans, seeded, names)

    def rows_at_once(self, primal: Function, seeded: Function) -> Function:
        """As `inside`, from the function of the number of directions, of primals, and of all cotangents at once."""
        emit, names = self.emit, tuple(map(Var, self.names))
        ans = emit.let(Call(Link(primal.name, primal), names))
        total = self._at_least(counted(emit, self.result, ans, Lit(0)))
        several = isinstance(self.result, Box) or self.least
        seed, _ = seeds(emit, self.result, ans, None, Lit(0), total if several else None)
        bars = emit.let(Call(Link(seeded.name, seeded), (total, *names, seed)))
        xs = [Part(x.kind, x.atom, emit.item(bars, i)) for i, x in enumerate(self.xs)]
        return self._finished(ans, self._joined(ans, None, xs, _row_of))

    def _at_least(self, total: Atom) -> Atom:
        """The number of directions that are moved along at once."""
        return self.emit.op(builtins.max, total, Lit(1)) if self.least and not isinstance(total, Lit) else total

    def _rows(self, ans: Atom, back: Function, given: tuple[Atom, ...]) -> Function:
        emit = self.emit
        y = self._value(ans)
        total = counted(emit, self.result, y, Lit(0))

        def step(inner: Emitter, place: Atom) -> tuple[Atom, Atom]:
            seed, _ = seeds(inner, self.result, y, place, Lit(0))
            if self.wanted.aux:
                seed = inner.let(Make(list, (seed, inner.op(arrays.zero, inner.item(ans, 1)))))
            return NONE, inner.let(Call(Link(back.name, back), (*given, seed)))

        _, found = self._loop(total, step)
        paths = [(at(Lit(i)),) for i in range(len(self.xs))]
        pairs = zip(self.xs, paths, strict=True)
        xs = [Part(x.kind, x.atom, stacked(emit, x, found, path, public=True)) for x, path in pairs]
        return self._finished(ans, self._joined(y, None, xs, _row_of))

    def _value(self, ans: Atom) -> Atom:
        return self.emit.item(ans, 0) if self.wanted.aux else ans

    def _loop(self, total: Atom, step: Callable[[Emitter, Atom], tuple[Atom, Atom]]) -> tuple[Atom, Atom]:
        """Runs `step` for each direction, or once where there is none: the value, and a list of what moves."""
        emit = self.emit
        found, place = emit.let(Make(list, ())), Var(emit.temporary())
        inner = Emitter(self.span)
        value, moved = step(inner, place)
        inner.add(Append(found, moved, self.span))
        ans: Atom = NONE
        if value != NONE:
            ans = Var(emit.temporary())
            inner.add(Assign(ans.name, value, self.span))
        trips = total if isinstance(total, Lit) else emit.op(builtins.max, total, Lit(1))
        emit.add(For(place.name, Lit(0), trips, Lit(1), False, tuple(inner.block), self.span))
        return ans, found

    def _joined(self, y: Atom, moved: Any, xs: Sequence[Part], joined: Joined) -> Atom:
        def of_result(emit: Emitter, out: Part) -> Atom:
            start: Atom = Lit(0)
            made = []
            for x in xs:
                part = Part(x.kind, x.atom, x.moved, start)
                found, start = mapped(emit, part, lambda inner, leaf: joined(inner, out, leaf))
                made.append(found)
            return emit.let(Make(tuple, tuple(made))) if self.wanted.many else made[0]

        return mapped(self.emit, Part(self.result, y, moved), of_result)[0]

    def _finished(self, ans: Atom, jacobian: Atom) -> Function:
        emit = self.emit
        if self.wanted.aux:
            extras = emit.op(arrays.entry_copy, emit.item(ans, 1))
            jacobian = emit.let(Make(tuple, (jacobian, extras)))
        emit.add(Return(jacobian, self.span))
        name = f"{self.instance.source.name}_jacobian"
        return Function(name, as_params(self.names), tuple(emit.block), self.span)


def moving_of(instance: Instance, wrt: Sequence[int]) -> list[int]:
    """Those parameters in which something may move: not one that is an empty list."""
    assert instance.link.function is not None
    params = instance.link.function.params
    return [i for i in wrt if motion(instance.kinds[params[i].name]) is not None]


def _is_double(kind: Kind) -> bool:
    return isinstance(kind, Num) and dtype_of(kind) == np.float64


def _are_double(kind: Kind) -> bool:
    """Whether the result is one number or array of doubles, or a fixed structure of them."""
    if isinstance(kind, Box):
        node = kind.region.root()
        return not node.open and all(_are_double(item) or not domains(item) for item in node.fields.values())
    return isinstance(kind, Num | Arr) and dtype_of(kind) == np.float64


def _block(emit: Emitter, fn: Callable[..., Any], moved: Atom, y: Atom, x: Atom, before: Atom) -> Atom:
    given = (moved, y, x) if before == Lit(0) else (moved, y, x, before)
    return emit.let(Op(fn, given))


def _column_of(emit: Emitter, y: Part, x: Part) -> Atom:
    if not varied(y.kind):
        return emit.op(arrays.no_slope, y.atom, x.atom)
    return _block(emit, arrays.columns, y.moved, y.atom, x.atom, x.before)


def _only_column(emit: Emitter, y: Part, x: Part) -> Atom:
    """The tangent along the one direction that there is."""
    return emit.op(arrays.clone, y.moved) if varied(y.kind) else emit.op(arrays.no_slope, y.atom, x.atom)


def _row_of(emit: Emitter, y: Part, x: Part) -> Atom:
    if not varied(y.kind):
        return emit.op(arrays.no_slope, y.atom, x.atom)
    return _block(emit, arrays.rows, x.moved, y.atom, x.atom, y.before)
