"""What a pass works on: the functions of one program, each with the kinds of its variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tangentx.analysis.kinds import BOTTOM, Kind
from tangentx.analysis.program import Program, constant_kind
from tangentx.ir.nodes import Assign, Block, Ext, Function, Link, Lit, Var
from tangentx.ir.nodes import Atom as IRAtom
from tangentx.ir.walk import statement_atoms, statements, writes


@dataclass(eq=False)
class Unit:
    """A function by its link (calls refer to the link), with the kind of each of its variables.

    One that is called from outside is `outer`: its signature and its result stay. `exact`: dtypes of kinds are those
    at run time. `settled` maps a pass to what it last found nothing to do in.
    """

    link: Link
    kinds: dict[str, Kind]
    result: Kind
    outer: bool = False
    exact: bool = True
    settled: dict[object, object] = field(default_factory=dict)
    counted: tuple[Block, Counter[str], Counter[str]] | None = None

    @property
    def function(self) -> Function:
        """The function as it is now."""
        assert self.link.function is not None
        return self.link.function

    @property
    def body(self) -> Block:
        """Its statements."""
        return self.function.body

    @body.setter
    def body(self, block: Block) -> None:
        self.link.function = replace(self.function, body=block)

    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """How often each name is read and bound in the body as it is now; found once for all that ask."""
        body = self.body
        if self.counted is None or self.counted[0] is not body:
            read: Counter[str] = Counter()
            bound: Counter[str] = Counter()
            for s in statements(body):
                names = [a.name for a in statement_atoms(s) if isinstance(a, Var)]
                read.update(names if isinstance(s, Assign) else set(names))
                bound.update(writes(s))
            self.counted = body, read, bound
        return self.counted[1:]

    def kind(self, program: Program, atom: IRAtom) -> Kind:
        """The kind of an atom."""
        if type(atom) is Var:
            return self.kinds.get(atom.name, BOTTOM)
        if isinstance(atom, Ext):
            return program.external(atom)
        assert isinstance(atom, Lit)
        return constant_kind(program, atom.value)


Pass: TypeAlias = Callable[[Program, Sequence[Unit]], bool]
