"""What ``jit="cuda"`` asks for: statements that go element by element, next to one another, as one kernel.

They become a function of the generated text, which is called where they stood, with the source of CUDA that does as it
does (`arrays.kernels`). All else stays the statements of the array library that they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Region, is_elsewhere
from tangentx.arrays.kernels import Kernel
from tangentx.common.naming import Names
from tangentx.compile.fallback import warn_of_jit
from tangentx.ir import walk
from tangentx.ir.markers import FORWARD, REVERSE
from tangentx.ir.nodes import (
    Accumulate,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Ext,
    For,
    Function,
    If,
    Index,
    Key,
    Link,
    Lit,
    Loop,
    Make,
    Note,
    Op,
    Param,
    Return,
    Statement,
    Var,
)
from tangentx.ir.value_names import ValueNames
from tangentx.loops import kernels, print_cuda
from tangentx.loops.builder import literal
from tangentx.loops.kernels import Step
from tangentx.loops.loop_ir import Array, Const, Local, Scalar, Type
from tangentx.loops.operators import Refused
from tangentx.loops.types import array_type, scalar_type
from tangentx.optimise.facts.unit import Unit

RUNS = "gets no kernels from jit and runs as the statements that it is"
LEAST = 2
"""Of one statement alone a library makes a kernel itself."""
MOST_OPERANDS = 48
"""Of a kernel: what it is given has 4096 bytes."""


@dataclass(frozen=True)
class Member:
    """A statement that may be part of a kernel."""

    statement: Assign
    step: Step
    rank: int
    library: str
    operands: tuple[Atom, ...]  # arrays and numbers


@dataclass
class Group:
    """Statements that become one kernel, and those that stood between them, which come behind it."""

    start: int
    first: Member
    members: list[Member] = field(default_factory=list)
    notes: dict[int, list[Note]] = field(default_factory=dict)  # by the number of the member that they stand before
    every: list[Statement] = field(default_factory=list)
    between: list[Statement] = field(default_factory=list)
    pending: list[Note] = field(default_factory=list)
    names: set[str] = field(default_factory=set)  # that are read or bound in between
    written: set[Region] = field(default_factory=set)

    def add(self, member: Member) -> None:
        """Takes a statement in, with the remarks before it."""
        self.notes[len(self.members)] = self.pending
        self.pending = []
        self.members.append(member)
        self.every.append(member.statement)

    def read(self) -> tuple[dict[str, Atom], Counter[str]]:
        """What it is given, by name; and how often it reads each name that it has bound itself."""
        given: dict[str, Atom] = {}
        inside: Counter[str] = Counter()
        bound: set[str] = set()
        for member in self.members:
            for atom in member.operands:
                name = name_of(atom)
                if name in bound:
                    inside[name] += 1
                else:
                    given[name] = atom
            bound.add(member.statement.target)
        return given, inside

    def pass_by(self, s: Statement, written: Region | None) -> None:
        """Goes on behind a statement that is none of its own."""
        self.every.append(s)
        self.between.append(s)
        self.names |= walk.reads(s) | walk.writes(s)
        if isinstance(s, Note):
            self.pending.append(s)
        if written is not None:
            self.written.add(written)


class Outliner:
    """Rewrites one function; `made` are the kernels, as functions of the program."""

    def __init__(self, program: Program, unit: Unit, names: Names) -> None:
        self.program, self.unit, self.names = program, unit, names
        self.made: list[Unit] = []
        self.reasons: Counter[tuple[int, str]] = Counter()  # why statements of arrays are none of a kernel
        self.results: dict[str, str] = {}  # what temporaries are called that kernels give
        self.statements = self.spared = 0
        self.reads, _ = unit.counts()
        self.called = ValueNames(unit.body, unit.function.notes.get("called"), unit.function.notes.get("items"))

    def block(self, block: Block) -> Block:
        """The block with calls of kernels."""
        out: list[Statement] = []
        group: Group | None = None
        for s in block:
            member = self._member(s)
            if member is not None:
                if group is not None and not self._joins(group, member):
                    self._close(group, out)
                    group = None
                if group is None:
                    group = Group(len(out), member)
                group.add(member)
            elif group is not None and self._may_stand_behind(s):
                group.pass_by(s, self._written(s))
            else:
                if group is not None:
                    self._close(group, out)
                    group = None
                out.append(self._inside(s))
        if group is not None:
            self._close(group, out)
        return tuple(out)

    def _inside(self, s: Statement) -> Statement:
        if isinstance(s, If):
            return replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
        return replace(s, body=self.block(s.body)) if isinstance(s, For | Loop) else s

    # ---- what goes together ----

    def _member(self, s: Statement) -> Member | None:
        """The statement as part of a kernel; None for any other."""
        if not isinstance(s, Assign) or not isinstance(s.value, Op) or s.span.around:
            return None
        kind = self.unit.kinds.get(s.target)
        if not isinstance(kind, Arr) or kind.library == "numpy":
            return None
        try:
            return self._taken(s, s.value, kind)
        except Refused as refused:
            self.reasons[s.span.line, refused.reason] += 1
            return None

    def _taken(self, s: Assign, op: Op, kind: Arr) -> Member:
        """Raises Refused."""
        type = array_type(kind)
        if op.kwargs:
            raise Refused(f"`{getattr(op.fn, '__name__', op.fn)}` with arguments by name")
        types = [self._type(atom, kind, type) for atom in op.args]
        elements = [t if isinstance(t, Const) else Local("x", _element(t)) for t in types]
        kernels.element(op.fn, elements, type.element)
        if max((t.rank for t in types if isinstance(t, Array)), default=-1) != type.rank:
            raise Refused("an array of more axes than what it is made of")
        args = tuple(t if isinstance(t, Const) else name_of(a) for a, t in zip(op.args, types, strict=True))
        operands = tuple(a for a, t in zip(op.args, types, strict=True) if not isinstance(t, Const))
        return Member(s, Step(s.target, op.fn, args, type.element), type.rank, kind.library, operands)

    def _type(self, atom: Atom, kind: Arr, result: Array) -> Array | Scalar | Const:
        """The type of an operand. Raises Refused."""
        if isinstance(atom, Lit):
            if not isinstance(atom.value, bool | int | float):
                raise Refused("a constant that is no number")
            return literal(atom.value)
        own = self.unit.kind(self.program, atom)
        if isinstance(own, Num):
            return scalar_type(own)
        if not isinstance(own, Arr) or own.library != kind.library or not isinstance(atom, Var):
            raise Refused("an operand that is no array of the device, and no number")
        type = array_type(own)
        if type.rank > result.rank:
            raise Refused("an operand of more axes than the result")
        return type

    def _joins(self, group: Group, member: Member) -> bool:
        """Whether a statement may be done where the group stands, as part of it."""
        first, target = group.first, member.statement.target
        if (member.rank, member.library) != (first.rank, first.library):
            return False
        if target in group.names or any(each.step.target == target for each in group.members):
            return False
        names = {name_of(atom) for each in group.members for atom in each.operands}
        own = {atom.name for atom in member.operands if isinstance(atom, Var)}
        if own & {name for s in group.between for name in walk.writes(s)} or len(names | own) > MOST_OPERANDS:
            return False
        kinds = (self.unit.kinds.get(name) for name in own)
        return not any(isinstance(kind, Arr) and kind.region.root() in group.written for kind in kinds)

    def _may_stand_behind(self, s: Statement) -> bool:
        """Whether it makes no difference that a statement is done after those that stand behind it: it cannot raise."""
        match s:
            case Note(text):
                return text not in (FORWARD, REVERSE)
            case Assign(value=Attr(name=name)):
                return name in ("shape", "ndim", "size", "dtype", "T")
            case Accumulate(key=Key(parts=(Lit(value=part),))) if part is Ellipsis:
                return True
        return False

    def _written(self, s: Statement) -> Region | None:
        if not isinstance(s, Accumulate):
            return None
        kind = self.unit.kind(self.program, s.base)
        assert isinstance(kind, Arr | Box)
        return kind.region.root()

    # ---- what becomes of it ----

    def _close(self, group: Group, out: list[Statement]) -> None:
        """Writes a group: as a call of its kernel, or as it stood."""
        _, inside = group.read()
        gives = [m for m in group.members if self.reads[m.statement.target] > inside[m.statement.target]]
        if len(group.members) < LEAST or not gives:
            out += group.every
            return
        self.statements += len(group.members)
        self.spared += len(group.members) - len(gives)
        out += [*self._call(group, gives), *group.between]

    def _call(self, group: Group, gives: Sequence[Member]) -> Iterator[Statement]:
        span = group.first.statement.span
        operands, _ = group.read()
        targets = [m.statement.target for m in gives]
        self.results |= {each: self.called.of(each) for each in targets if each.startswith("%")}
        unit = self._unit(group, operands, targets)
        self.made.append(unit)
        call = Call(unit.link, tuple(operands.values()))
        if len(gives) == 1:
            yield Assign(gives[0].statement.target, call, span)
            return
        whole = f"%kernel{len(self.made)}"
        self.unit.kinds[whole] = unit.result
        yield Assign(whole, call, span)
        for place, m in enumerate(gives):
            yield Assign(m.statement.target, Index(Var(whole), Key((Lit(place),))), m.statement.span)

    def _unit(self, group: Group, operands: Mapping[str, Atom], gives: Sequence[str]) -> Unit:
        """The function of a kernel."""
        name = self.names.fresh(f"{self.unit.function.name}_kernel{len(self.made) + 1}")
        span = group.members[-1].statement.span
        kinds: dict[str, Kind] = {each: self.unit.kind(self.program, atom) for each, atom in operands.items()}
        kinds |= {m.statement.target: self.unit.kinds[m.statement.target] for m in group.members}
        body: list[Statement] = []
        for number, m in enumerate(group.members):
            body += [*group.notes[number], _inside_of_kernel(m.statement)]
        result = kinds[gives[0]]
        given: Atom = Var(gives[0])
        if len(gives) > 1:
            node = self.program.world.region()
            node.fields.update({place: kinds[each] for place, each in enumerate(gives)})
            result, given = Box(tuple, node), Var("%result")
            kinds["%result"] = result
            body.append(Assign("%result", Make(tuple, tuple(map(Var, gives))), span))
        body.append(Return(given, span))
        stems = {each: self.called.of(each) for each in kinds}
        notes: dict[str, Any] = {"called": {each: stem for each, stem in stems.items() if each.startswith("%")}}
        notes["kernel"] = self._source(name, group, operands, gives, stems)
        params = tuple(Param(each) for each in operands)
        function = Function(name, params, tuple(body), group.first.statement.span, notes=notes)
        return Unit(Link(name, function), kinds, result, exact=self.unit.exact, others=self.unit.others)

    def _source(
        self, name: str, group: Group, operands: Mapping[str, Atom], gives: Sequence[str], stems: Mapping[str, str]
    ) -> tuple[str, str, str]:
        """The source of CUDA, and what the kernel takes and gives, in words."""
        types: dict[str, Type] = {}
        for each, atom in operands.items():
            kind = self.unit.kind(self.program, atom)
            types[each] = array_type(kind) if isinstance(kind, Arr) else scalar_type(kind)  # type: ignore[arg-type]
        steps = [m.step for m in group.members]
        source = print_cuda.text_of(kernels.nest_of(name, steps, types, gives, stems))
        takes = " ".join(f"{t.code}[{t.rank}]" if isinstance(t, Array) else t.code for t in types.values())  # type: ignore[union-attr]
        places: dict[str, set[int]] = {
            each: {place} for place, each in enumerate(types) if isinstance(types[each], Array)
        }
        words = []
        for step in steps:
            read = [places.get(arg, set()) for arg in step.args if isinstance(arg, str)]
            places[step.target] = set().union(*read)
            if step.target in gives:
                words.append(f"{step.element.code}({','.join(map(str, sorted(places[step.target])))})")
        return source, takes, " ".join(words)


def name_of(atom: Atom) -> str:
    """What an operand is called in a kernel."""
    assert isinstance(atom, Var | Ext)
    return atom.name if isinstance(atom, Var) else f"%outside:{atom.name.replace('.', '_')}"


def _element(type: Array | Scalar) -> Scalar:
    return type.element if isinstance(type, Array) else type


def _inside_of_kernel(s: Assign) -> Assign:
    """A statement of a kernel, which is given what is outside of the program."""
    assert isinstance(s.value, Op)
    args = tuple(Var(name_of(atom)) if isinstance(atom, Ext) else atom for atom in s.value.args)
    return replace(s, value=replace(s.value, args=args))


class Kernels:
    """How one derivative gets kernels, and what has become of that; as `Jit` for the processor."""

    loops = False
    text = None

    def __init__(self, target: Any, plain: Callable[..., Any] | None = None) -> None:
        self.target, self.plain = target, plain
        self.refusal = ""
        self.report: list[str] = []
        self.kernels: list[Kernel] = []

    @property
    def is_compiled(self) -> bool:
        """Whether there is anything that is compiled."""
        return not self.refusal

    def take(self, program: Program, units: Sequence[Unit]) -> list[Unit]:
        """Puts kernels into functions; those of the kernels."""
        taken = {name for unit in units for name in (unit.function.name, *unit.kinds)}
        names, made = Names(taken), []
        reasons: Counter[tuple[int, str]] = Counter()
        statements = spared = 0
        for unit in units:
            outliner = Outliner(program, unit, names)
            body = outliner.block(unit.body)
            if outliner.made:
                called = {**(unit.function.notes.get("called") or {}), **outliner.results}
                unit.link.function = replace(unit.function, body=body, notes={**unit.function.notes, "called": called})
            made += outliner.made
            reasons += outliner.reasons
            statements, spared = statements + outliner.statements, spared + outliner.spared
        place = units[0].function.span
        file = place.file.rpartition("/")[2]
        if not any(is_elsewhere(kind) for unit in units for kind in unit.kinds.values()):
            self.refusal = f'its arrays are NumPy\'s, and jit="cuda" is for arrays of CuPy ({file}:{place.line})'
        elif not made:
            line, why = next(iter(sorted(reasons)), (place.line, "nothing in it goes element by element"))
            self.refusal = f"no statements of arrays that become a kernel: {why} ({file}:{line})"
        count = f"{len(made)} kernel{'' if len(made) == 1 else 's'} of CUDA"
        self.report = [f"{count}, of {statements} statements; {spared} arrays never made"]
        self.report += [f"  line {line} stays as it is: {why}" for line, why in sorted(reasons)]
        return made

    def entry(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """What is called for the derivative, which is said once to have no kernels where it has none."""
        if self.refusal:
            self.refuse(self.refusal)
            return plain if self.plain is None else self.plain
        self.kernels = [each for each in plain.__globals__.values() if isinstance(each, Kernel)]
        return plain

    def refuse(self, reason: str) -> None:
        """Says once why there are no kernels."""
        self.refusal = reason
        warn_of_jit(self.target, reason, itself=self.plain is not None, way=RUNS)

    def told(self) -> list[str]:
        """What a reader of `explain` wants to know."""
        if self.refusal:
            return [f'runs without kernels, though jit="cuda": {self.refusal}']
        left = sum((each.left for each in self.kernels), Counter[str]())
        lines = [f"  ran as it stands {n} time{'' if n == 1 else 's'}: {why}" for why, n in left.most_common()]
        return [*self.report, *lines]
