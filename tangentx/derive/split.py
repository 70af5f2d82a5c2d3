"""A tangent program in two functions: what does not move, run once, and what moves, run for each tangent.

The second function has the control flow of the first and in each place the statements that tangents flow through. What
these read of the primal, partials above all, the first one keeps: in a variable where a place is passed once, else in a
list, one entry a passage, which the second one reads by index and never changes. So it may run any number of times.
"""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.analysis.batches import Moving, Unbatchable
from tangentx.analysis.program import Instance, Program
from tangentx.derive.emit import Emitter
from tangentx.derive.half import Half
from tangentx.derive.sides import Sides, torn
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Call,
    Delete,
    Function,
    Link,
    Make,
    Param,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import statements


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
