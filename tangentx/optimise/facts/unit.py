"""The unit of optimisation: one program's functions, with the kinds of their variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Kind, Region
from tangentx.analysis.types.samples import constant_kind
from tangentx.ir.nodes import Assign, Block, Call, Ext, Function, Link, Lit, Statement, Var
from tangentx.ir.nodes import Atom as IRAtom
from tangentx.ir.walk import BINDING, statement_atoms, statements

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(eq=False)
class Unit:
    """A function as the optimiser has it, with the kind of each of its variables.

    * `link`: what calls refer to; it holds the function. `result`: the kind of what it returns.
    * `outer`: it is called from outside of the program, so its signature and its result must not change.
    * `exact`: the dtypes of kinds are those at run time.
    * `axes`: for parameters for which that is known, the axes of length one.
    * `settled`: for each pass the body in which it last found nothing to do.
    * `part_of`: of a function that was cut from another, the link of that one.
    * `origins`: where variables were given one name, the name under which `kinds` has the variable that a statement
      binds or writes, by the identity of the statement.
    * `others`: the functions of the program by their links.
    * `given`: the shapes of the arguments at each statement that calls this function; `lengths`: what they say of its
      parameters; `rooted`: these lengths in terms of those of the program's own arguments, for each chain of calls that
      leads here, None where that is not known (`derived_lengths`, which caches in `long` and `relied`).
    * `busy`: while the shape of its result is being found, how many callers wait for it: recursion ends there.
    * `asked`: results of analyses of the body as it is now (`found`).
    * `leaves`: containers of which no array has an axis of length one, whatever is written into them (`long_items`).
    * `shared`: temporaries that took the place of others, whose values are the same but whose names are not.
    """

    link: Link
    kinds: dict[str, Kind]
    result: Kind
    outer: bool = False
    exact: bool = True
    axes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    settled: dict[object, object] = field(default_factory=dict)
    part_of: Link | None = None
    origins: dict[int, str] = field(default_factory=dict)
    asked: tuple[Block, dict[object, Any]] | None = None
    busy: int = 0
    others: Mapping[Link, Unit] = field(default_factory=dict)
    given: dict[Statement, tuple[object, ...]] = field(default_factory=dict)
    lengths: dict[str, Any] = field(default_factory=dict)
    rooted: tuple[Mapping[tuple[str, int | None], object], ...] | None = None
    long: dict[object, bool] = field(default_factory=dict)
    relied: set[object] = field(default_factory=set)
    leaves: frozenset[Region] = frozenset()
    shared: set[str] = field(default_factory=set)

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

    def found(self, what: Callable[Concatenate[Unit, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What an analysis of the body as it is now finds; it is made once for all that ask."""
        body = self.body
        if self.asked is None or self.asked[0] is not body:
            self.asked = body, {}
        known = self.asked[1]
        if what not in known:
            known[what] = what(self, *args, **kwargs)
        result: T = known[what]
        return result

    def note(self, what: Callable[..., T], result: T) -> None:
        """Notes what an analysis of the body as it is now would find."""
        if self.asked is None or self.asked[0] is not self.body:
            self.asked = self.body, {}
        self.asked[1][what] = result

    def statements(self) -> tuple[Statement, ...]:
        """Every statement of the body as it is now, in the order of the text."""
        return self.found(_statements)

    def calls(self) -> tuple[tuple[Assign, Call], ...]:
        """The calls of the program's functions in the body as it is now, each with the statement that it is in."""
        return self.found(_calls)

    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """How often each name is read and bound in the body as it is now."""
        return self.found(_counts)

    def kind(self, program: Program, atom: IRAtom) -> Kind:
        """The kind of an atom."""
        if type(atom) is Var:
            return self.kinds.get(atom.name, BOTTOM)
        if isinstance(atom, Ext):
            return program.external(atom)
        assert isinstance(atom, Lit)
        return constant_kind(program.valuer, atom.value)


def _calls(unit: Unit) -> tuple[tuple[Assign, Call], ...]:
    return tuple((s, s.value) for s in unit.statements() if type(s) is Assign and type(s.value) is Call)


def _statements(unit: Unit) -> tuple[Statement, ...]:
    return tuple(statements(unit.body))


def _counts(unit: Unit) -> tuple[Counter[str], Counter[str]]:
    return counts(unit.statements())


def counts(every: Iterable[Statement]) -> tuple[Counter[str], Counter[str]]:
    """How often each name is read and bound in the statements, those of their blocks apart."""
    read: list[str] = []
    bound: list[str] = []
    for s in every:
        names = [a.name for a in statement_atoms(s) if type(a) is Var]
        read += names if type(s) is Assign else set(names)
        if type(s) in BINDING:
            bound.append(s.target)  # type: ignore[union-attr]
    return Counter(read), Counter(bound)


def write_each(units: Sequence[Unit], written: Callable[[Unit], Block]) -> bool:
    """Replaces the body of each function by the one that `written` makes of it; True if that changed any."""
    changed = False
    for unit in units:
        body = written(unit)
        if body != unit.body:
            unit.body, changed = body, True
    return changed


Pass: TypeAlias = Callable[[Program, Sequence[Unit]], bool]
