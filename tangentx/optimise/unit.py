"""What a pass works on: the functions of one program, each with the kinds of its variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tangentx.analysis.kinds import BOTTOM, Kind
from tangentx.analysis.program import Program, constant_kind
from tangentx.ir.nodes import Atom as IRAtom
from tangentx.ir.nodes import Block, Ext, Function, Link, Lit, Var


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

    def kind(self, program: Program, atom: IRAtom) -> Kind:
        """The kind of an atom."""
        if isinstance(atom, Var):
            return self.kinds.get(atom.name, BOTTOM)
        if isinstance(atom, Ext):
            return program.external(atom)
        assert isinstance(atom, Lit)
        return constant_kind(program, atom.value)


Pass: TypeAlias = Callable[[Program, Sequence[Unit]], bool]
