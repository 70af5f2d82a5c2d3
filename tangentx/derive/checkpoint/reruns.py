"""The three versions of a checkpointed loop body: first run, repeated run, recorded run.

Run again it shows nothing (prints, log lines), and draws the same random numbers: the states of the generators are
part of each snapshot, and are what they were after the loop when the reverse sweep has left it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.opaque_calls import GENERATORS, Bound
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Kind, Obj
from tangentx.analysis.types.primitives import name_of
from tangentx.derive.emit import Emitter
from tangentx.derive.reverse import calls
from tangentx.derive.reverse.context import Reverse
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Ext,
    For,
    Function,
    If,
    Lit,
    Op,
    Statement,
    Var,
)
from tangentx.ir.observed_op import Observed
from tangentx.ir.rewrite import map_blocks, rename
from tangentx.ir.try_op import Attempt
from tangentx.ir.walk import bound, statements


class Rerun:
    """The forward sweep of one step, in its three forms, and the random generators that it draws from."""

    def __init__(self, r: Reverse, s: For, forward: Block, exits: str | None, carried: frozenset[str]) -> None:
        self.r = r
        self.span = s.span
        self.forward = forward
        self.carried = carried
        self.records = {*r.tapes, *([exits] if exits is not None else [])}
        self.generators = list(_Draws(r, s).found.values())
        self.now = r.frame.names.fresh("states") if self.generators else ""

    def plain(self) -> Block:
        """As it runs the first time: nothing is recorded."""
        return self._apart(self._changed(self.forward, records=False, shows=True))

    def again(self) -> Block:
        """As it is run again on the way to the step in hand."""
        return self._apart(self._changed(self.forward, records=False, shows=False))

    def recorded(self) -> Block:
        """As it is run again to be gone back over."""
        return self._changed(self.forward, records=True, shows=False)

    def _apart(self, block: Block) -> Block:
        """With temporaries of its own."""
        own = sorted(n for n in bound(block) if n.startswith("%") and n not in self.carried)
        return rename(block, dict(zip(own, (Emitter(self.span).temporary() for _ in own), strict=True)))

    def _changed(self, block: Block, records: bool, shows: bool) -> Block:
        out: list[Statement] = []
        for s in block:
            if not records and isinstance(s, Append) and isinstance(s.base, Var) and s.base.name in self.records:
                continue
            if not records and id(s) in self.r.primal:
                out += self.r.primal[id(s)]
            elif not shows and isinstance(s, Assign) and _shows(self.r.frame.kinds.get(s.target), s):
                out.append(Assign(s.target, Lit(None), s.span))
            else:
                inner = map_blocks(s, lambda b: self._changed(b, records, shows))
                out += [] if isinstance(inner, If) and not (inner.body or inner.orelse) else [inner]
        return tuple(out)

    def states(self, emit: Emitter) -> list[Atom]:
        """The states of the generators, for a snapshot."""
        return [emit.op(arrays.generator_states, *self.generators)] if self.generators else []

    def taken(self, emit: Emitter, snapshot: Var, place: int) -> list[Atom]:
        """Those states, from an item of a snapshot."""
        return [emit.item(snapshot, place)] if self.generators else []

    def reset(self, emit: Emitter, states: list[Atom]) -> None:
        """Gives the generators the states that a snapshot holds."""
        for each in states:
            emit.op(arrays.set_generators, each, *self.generators)

    def hold(self, emit: Emitter) -> None:
        """Before the reverse sweep of the loop: keeps the states that the generators have."""
        if self.generators:
            emit.assign(self.now, Op(arrays.generator_states, tuple(self.generators)))

    def release(self, emit: Emitter) -> None:
        """After it: gives them back."""
        if self.generators:
            emit.op(arrays.set_generators, Var(self.now), *self.generators)


def _shows(kind: Kind | None, s: Assign) -> bool:
    return isinstance(s.value, Op) and s.value.fn is operator.call and kind == Obj(None)


class _Draws:
    """The generators that a loop's body and what it calls draw from, as atoms of the function that the loop is in."""

    def __init__(self, r: Reverse, s: For) -> None:
        self.program = r.program
        self.loop = s
        self.found: dict[object, Atom] = {}
        function = r.frame.function
        for atom in self._of(r.instance, function, s.body, ()):
            if isinstance(atom, Ext):
                self.found[atom.path if atom.home is None else (atom.home, *atom.path)] = atom
            elif isinstance(atom, Var):
                self.found[atom.name] = atom

    def _of(self, instance: Instance, function: Function, block: Block, above: tuple[Instance, ...]) -> Iterator[Atom]:
        made = {s.target: s.value for s in statements(function.body) if isinstance(s, Assign)}
        outside = {p.name for p in function.params} | set(made) - bound(block) if not above else set()
        params = [p.name for p in function.params]
        for s in statements(block):
            value = s.value if isinstance(s, Assign) else None
            if isinstance(value, Op) and isinstance(value.fn, Attempt):
                raise _refused("`try`", s.span, "move it out of the loop")
            if isinstance(value, Op) and isinstance(value.fn, Observed):
                raise _refused("a call of code that may have side effects", s.span, "move the call out of the loop")
            if isinstance(value, Op) and value.fn is operator.call:
                drawn = self._drawn(instance, made, s, value, bool(above))
                if isinstance(drawn, Var) and drawn.name not in (params if above else outside):
                    raise _refused("a random generator that is made in it", s.span, "make it before the loop")
                if drawn is not None:
                    yield drawn
            if isinstance(value, Call):
                callee = calls.instance_of(self.program, value)
                inner = callee.link.function
                if inner is None or callee in above:
                    continue
                places = {p.name: a for p, a in zip(inner.params, value.args, strict=True)}
                for atom in self._of(callee, inner, inner.body, (*above, callee)):
                    given = places[atom.name] if isinstance(atom, Var) else atom
                    if isinstance(given, Var) and given.name not in (params if above else outside):
                        raise _refused("a random generator that is made in it", s.span, "make it before the loop")
                    yield given

    def _drawn(self, instance: Instance, made: dict[str, Any], s: Statement, value: Op, called: bool) -> Atom | None:
        """The generator that a call of unknown code draws from; None for one that only shows something."""
        assert isinstance(s, Assign)
        callee = value.args[0]
        kind = instance.kinds.get(callee.name) if isinstance(callee, Var) else None
        kind = self.program.external(callee) if isinstance(callee, Ext) else kind
        fn = kind.value if isinstance(kind, Obj) else None
        if instance.kinds[s.target] == Obj(None) and not _sets(fn):
            if called:
                raise _refused(f"`{name_of(fn)}` in a function that it calls", s.span, "print in the loop itself")
            return None
        if isinstance(fn, Bound) and issubclass(fn.owner, GENERATORS) and isinstance(callee, Var):
            attribute = made.get(callee.name)
            if isinstance(attribute, Attr) and isinstance(attribute.base, Var | Ext):
                return attribute.base
        if isinstance(callee, Ext) and isinstance(getattr(fn, "__self__", None), GENERATORS):
            return callee
        raise _refused("a call of code that may have side effects", s.span, "move the call out of the loop")


def _sets(fn: Any) -> bool:
    """Whether a function sets the state of a random generator."""
    return name_of(fn) in ("seed", "setstate", "set_state", "shuffle")


def _refused(what: str, span: Span, hint: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(f"a checkpointed loop contains {what}", span, hint)
