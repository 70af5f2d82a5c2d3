"""Partial evaluation of a tangent program: a half that runs once, and a half that runs for each tangent.

The second function has the control flow of the first and in each place the statements that tangents flow through. What
these read of the primal, partials above all, the first one keeps: in a variable where a place is passed once, else in a
list, one entry a passage, which the second one reads by index and never changes. So it may run any number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tangentx.analysis.batch.varying import Moving, Unbatchable
from tangentx.analysis.infer.program import Instance, Program
from tangentx.derive.emit import NONE, Emitter
from tangentx.derive.linearize.residuals import Keeper, Passage, Sides, torn
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Block,
    Break,
    Call,
    Continue,
    Delete,
    For,
    Function,
    If,
    Link,
    Loop,
    Make,
    Param,
    Raise,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, key_atoms, statements


class Half:
    """One function in the making: the statements of both of its functions."""

    def __init__(self, halves: Split, instance: Instance, is_root: bool) -> None:
        assert instance.link.function is not None
        self.halves = halves
        self.instance = instance
        self.is_root = is_root
        self.source = instance.link.function
        self.sides = Sides(halves.facts, instance, halves.both)
        self.keeper = Keeper(self.sides, instance)

    def functions(self) -> tuple[Function, Function]:
        """Both functions."""
        first, second = self.block(self.source.body, Passage(None))
        names = [p.name for p in self.source.params]
        still = [n for n in names if not self.sides.only_moves(Var(n))]
        moving = [n for n in names if self.sides.moves(Var(n))]
        span, keeper = self.source.span, self.keeper
        links = self.halves.links[self.instance]
        made = Function(links[0].name, tuple(map(Param, still)), keeper.with_saved(keeper.opened(first, span)), span)
        params = (Param(keeper.state), *map(Param, moving))
        return made, Function(links[1].name, params, keeper.restored(second, span), span)

    def block(self, block: Block, passage: Passage) -> tuple[Block, Block]:
        """The block in both functions."""
        first, second = Emitter(self.source.span), Emitter(self.source.span)
        for s in block:
            first.span = second.span = s.span
            self.statement(s, first, second, passage)
            self.keeper.passed(s, passage)
            if _has_exit(s):
                last = second.block.pop()
                self.keeper.close(passage, second)  # before it may leave
                second.add(last)
                passage = self.keeper.after_exit(passage)
        if not (block and _has_exit(block[-1])):
            self.keeper.close(passage, second)
        return tuple(first.block), tuple(second.block)

    def statement(self, s: Statement, first: Emitter, second: Emitter, passage: Passage) -> None:
        """One statement."""
        match s:
            case If() | For() | Loop():
                self._nested(s, first, second, passage)
            case Assign():
                self._assign(s, first, second, passage)
            case Return():
                self._return(s, first, second, passage)
            case Break() | Continue():
                first.add(s)
                second.add(s)
            case Store() | Accumulate() | Append() | Delete() if self.sides.moves(s.base):
                self._write(s, first, second, passage)
            case Raise():
                first.add(s)
            case _:
                self._demand_still(s)
                first.add(s)

    def _demand_still(self, s: Statement) -> None:
        """Refuses what does not move, and yet reads what does: the shape of a tangent."""
        read = atoms(s.value) if isinstance(s, Assign) else ()
        if any(self.sides.only_moves(a) for a in read):
            raise Unbatchable("what does not move asks what does", s.span)

    def _nested(self, s: If | For | Loop, first: Emitter, second: Emitter, passage: Passage) -> None:
        keeper, inside = self.keeper, list(statements((s,)))[1:]
        acting = any(self.halves.acts(self.sides, each) for each in inside)
        if not acting and not _has_exit(s):
            first.add(s)
            return
        if isinstance(s, If):
            test = keeper.kept(s.test, first, second, passage)
            one, two = self.block(s.body, keeper.branch(passage)), self.block(s.orelse, keeper.branch(passage))
            first.add(replace(s, body=one[0], orelse=two[0]))
            second.add(replace(s, test=test, body=one[1], orelse=two[1]))
            return
        inner = keeper.body(s, passage)
        if isinstance(s, Loop):
            with keeper.inside(s):
                body, moved = self.block(s.body, inner)
            first.add(replace(s, body=body))
            second.add(replace(s, body=moved))
            return
        bounds = [keeper.kept(a, first, second, passage) for a in (s.start, s.stop, s.step)]
        with keeper.inside(s), self.sides.inside(s):
            body, moved = self.block(s.body, inner)
        first.add(replace(s, body=body))
        second.add(replace(s, start=bounds[0], stop=bounds[1], step=bounds[2], body=moved))

    def _assign(self, s: Assign, first: Emitter, second: Emitter, passage: Passage) -> None:
        if isinstance(s.value, Call):
            self._call(s, s.value, first, second, passage)
            return
        if not self.sides.moves(Var(s.target)):
            self._demand_still(s)
            first.add(s)
            return
        kind = self.instance.kinds[s.target]
        moved = self.keeper.moved(s.value, kind, first, second, passage)
        if not self.sides.only_moves(Var(s.target)):
            first.add(replace(s, value=self.sides.still(s.value, s.span)))
        second.add(replace(s, value=moved))

    def _write(
        self, s: Store | Accumulate | Append | Delete, first: Emitter, second: Emitter, passage: Passage
    ) -> None:
        box = self.sides.kind(s.base)
        key = s.key if not isinstance(s, Append) else None
        if key is not None and any(self.sides.moves(a) for a in key_atoms(key)):
            raise Unbatchable("an index that moves", s.span)
        moved = replace(s)
        if not isinstance(moved, Append) and key is not None:
            moved = replace(moved, key=self.keeper.key(key, first, second, passage))
        if not isinstance(moved, Delete) and not isinstance(s, Delete):
            value = self.keeper.item(box, key, s.value, first, second, passage)
            moved = replace(moved, value=value)
        if not self.sides.only_moves(s.base):
            first.add(s if isinstance(s, Delete) else replace(s, value=self.sides.still_item(s.value)))
        second.add(moved)

    def _call(self, s: Assign, call: Call, first: Emitter, second: Emitter, passage: Passage) -> None:
        callee = self.halves.facts.of_link[call.link]
        if not self.halves.moves(callee):
            self._demand_still(s)
            first.add(s)
            return
        links = self.halves.pair(callee)
        assert callee.link.function is not None
        inner = Sides(self.halves.facts, callee, self.halves.both)
        pairs = [(Var(p.name), a) for p, a in zip(callee.link.function.params, call.args, strict=True)]
        given = [self.sides.still_item(a) for p, a in pairs if not inner.only_moves(p)]
        moving = [self.keeper.kept(a, first, second, passage) for p, a in pairs if inner.moves(p)]
        made = first.let(Call(links[0], tuple(given)))
        first.assign(s.target, first.item(made, 0))
        saved = first.item(made, 1)
        state = self.keeper.kept(saved, first, second, passage, sure=True)
        moved = second.let(Call(links[1], (state, *moving)))
        if self.sides.moves(Var(s.target)):
            second.assign(s.target, moved)

    def _return(self, s: Return, first: Emitter, second: Emitter, passage: Passage) -> None:
        value, moved = self.sides.still_item(s.value), s.value
        if self.is_root and self.sides.moves(s.value):
            value, moved = first.item(value, 0), second.item(moved, 1)
        elif self.is_root:
            moved = self.keeper.kept(first.item(s.value, 1), first, second, passage)
            value = first.item(s.value, 0)
        elif not self.sides.moves(s.value):  # a constant zero, where another return moves
            joins = self.instance in self.halves.facts.results
            moved = self.keeper.kept(s.value, first, second, passage) if joins else NONE
        first.add(Return(first.let(Make(tuple, (value, first.let(self.keeper.saved())))), s.span))
        second.add(Return(moved, s.span))


def _has_exit(s: Statement) -> bool:
    """Whether a statement may leave the block that it stands in."""
    if isinstance(s, Break | Continue | Return):
        return True
    if isinstance(s, If):
        return any(map(_has_exit, (*s.body, *s.orelse)))
    if isinstance(s, For | Loop):
        return any(isinstance(each, Return) for each in statements(s.body))
    return False


def split(program: Program, root: Instance, moving: Sequence[int], names: tuple[str, str]) -> tuple[Function, Function]:
    """Two functions of the root: ``(value, saved)`` of primals, and the tangent, of `saved` and those at `moving`.

    The root returns ``(value, tangent)``. Raises Unbatchable where what does not move reads what does.
    """
    halves = Split(program, root, moving)
    first, second = Link(names[0]), Link(names[1])
    halves.links[root] = (first, second)
    halves.pending.append(root)
    while halves.pending:
        instance = halves.pending.pop(0)
        first_, second_ = halves.links[instance]
        first_.function, second_.function = Half(halves, instance, instance is root).functions()
    assert first.function is not None and second.function is not None
    return first.function, second.function


class Split:
    """A program, what moves in it, and the two functions of each instance through which something moves."""

    def __init__(self, program: Program, root: Instance, moving: Sequence[int]) -> None:
        self.facts = Moving(program, root, moving, 1)
        if self.facts.slot(root.result, 0) or self.facts.within(root.result.region.get(0)):  # type: ignore[union-attr,arg-type]
            raise Unbatchable("the value shares memory with what moves", root.source.span)
        self.both = torn(self.facts, root)
        self.links: dict[Instance, tuple[Link, Link]] = {}
        self.pending: list[Instance] = []
        self._moves: dict[Instance, bool] = {}

    def pair(self, instance: Instance) -> tuple[Link, Link]:
        """The functions of a callee."""
        if instance not in self.links:
            name = instance.link.name.removesuffix("_tangent")
            self.links[instance] = (Link(f"{name}_kept"), Link(f"{name}_linear"))
            self.pending.append(instance)
        return self.links[instance]

    def moves(self, instance: Instance) -> bool:
        """Whether anything moves in a callee."""
        if instance not in self._moves:
            self._moves[instance] = False  # a recursive call by itself moves nothing
            sides = Sides(self.facts, instance, self.both)
            assert instance.link.function is not None
            body = instance.link.function.body
            self._moves[instance] = any(self.acts(sides, s) for s in statements(body) if not isinstance(s, Return))
            self._moves[instance] |= any(sides.moves(s.value) for s in statements(body) if isinstance(s, Return))
        return self._moves[instance]

    def acts(self, sides: Sides, s: Statement) -> bool:
        """Whether a statement by itself, without its blocks, is one of those that move."""
        match s:
            case Assign(value=Call(link=link)):
                return self.moves(self.facts.of_link[link])
            case Assign():
                return sides.moves(Var(s.target))
            case Store() | Accumulate() | Append() | Delete():
                return sides.moves(s.base)
            case Return():
                return True
        return False


def tied(first: Function, second: Function, root: Instance) -> Function:
    """A function that calls both, for their kinds: ``(value, tangent)`` of primals and tangents."""
    assert root.link.function is not None
    emit = Emitter(first.span)
    names = [p.name for p in root.link.function.params]
    primals = [p.name for p in first.params]
    moving = [Var(name) for name in names if name not in primals]
    made = emit.let(Call(Link(first.name, first), tuple(map(Var, primals))))
    last = emit.let(Call(Link(second.name, second), (emit.item(made, 1), *moving)))
    emit.add(Return(emit.let(Make(tuple, (emit.item(made, 0), last))), emit.span))
    return Function("both", tuple(map(Param, names)), tuple(emit.block), emit.span)
