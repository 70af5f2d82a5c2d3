"""Common subexpression elimination: the reverse sweep does not compute again what either sweep has computed already.

Cotangents are left as they are: they are seldom alike, and keep their names. Operands and result are out of reach of
every write, and no operand was bound anew since. What the user computes among tangents is treated alike, where nobody
can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Num
from tangentx.analysis.types.primitives import has_effect, is_hashable
from tangentx.ir.nodes import Assign, Atom, Ext, Op, Statement, Var
from tangentx.ir.value_names import stem
from tangentx.ir.walk import atoms, reads, statements, writes
from tangentx.optimise.facts.aliasing import passed_on
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import Rewriter, Rules, run_each

Key: TypeAlias = tuple[Any, ...]


class Common(Rules):
    """`computed` lists the names that were bound to an expression, whether or not they still are; `asked` has the
    operation that was looked for last, with its key, for it is often the one that is computed next."""

    notes = True
    exact = True

    def __init__(self, walk: Rewriter) -> None:
        super().__init__(walk)
        self.computed: dict[Key, list[str]] = {}
        self.asked: tuple[Op | None, Key | None] = None, None
        self.bars = self.unit.found(_bars)

    def note(self, s: Assign, op: Op) -> None:
        """Notes what was computed."""
        key = self.asked[1] if self.asked[0] is op else self._key(op)
        if key is not None:
            names = self.computed.setdefault(key, [])
            if s.target not in names:
                names.append(s.target)

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The name that holds the value in the place of the expression."""
        key = self._key(op)
        self.asked = op, key
        for name in self.computed.get(key, ()) if key is not None else ():
            held = self.expr(Var(name))
            if name != s.target and isinstance(held, Op) and self._key(held) == key:
                kinds = self.unit.kinds.get(name), self.unit.kinds.get(s.target)
                if self.still(Var(name)) and type(kinds[0]) is type(kinds[1]) and self._may_share(s.target, name):
                    new = self.same(s, Var(name))
                    if new is not None and stem(name) != stem(s.target) and name.startswith("%"):
                        self.unit.shared.add(name)
                    return None if new is None else (new,)
        return None

    def _may_share(self, target: str, name: str) -> bool:
        """Whether nobody can tell that two arrays are one: what the user computes may be asked, ``a is b``."""
        number = isinstance(self.unit.kinds.get(target), Num)
        return self.walk.ours or number or not {target, name} & self.unit.found(passed_on)

    def _is_cotangent(self, atom: Atom) -> bool:
        return type(atom) is Var and atom.name in self.bars

    def _key(self, op: Op) -> Key | None:
        if not is_hashable(op.fn) or has_effect(op) or not op.args:
            return None
        for a in atoms(op):
            if type(a) is Ext or self._is_cotangent(a) or not self.still(a):
                return None
        return (op.fn, *map(_shown, op.args), *((name, _shown(a)) for name, a in op.kwargs))


def _bars(unit: Unit) -> frozenset[str]:
    """Names of cotangents, and of what is computed from them."""
    _, reverse = sweeps(unit.function)
    every = list(statements(reverse))
    found = {name for s in every for name in (*writes(s), *reads(s)) if "_bar" in name}
    made_of: dict[str, set[str]] = {}
    for s in every:
        if isinstance(s, Assign):
            for name in reads(s):
                made_of.setdefault(name, set()).update(writes(s))
    todo = list(found)
    while todo:
        more = made_of.get(todo.pop(), set()) - found
        found |= more
        todo.extend(more)
    return frozenset(found)


def _shown(atom: Atom) -> str:
    return atom.name if isinstance(atom, Var) else repr(atom)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Uses again what was computed."""
    return run_each(program, units, Common)
