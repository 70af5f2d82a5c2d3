"""The state that the rules of reverse mode share: the function, its names, tapes and shadows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tangentx import arrays
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr, Kind, is_inexact
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, Frame, mode
from tangentx.derive.reverse.accumulate import give
from tangentx.derive.reverse.lists import Stack
from tangentx.derive.reverse.rematerialise import Again
from tangentx.derive.reverse.tuple_results import Parts, Results
from tangentx.ir.nodes import Assign, Atom, Block, Link, Lit, Statement, Var


@dataclass(eq=False)
class Turn:
    """A loop in hand: the list of its exits, one entry a trip."""

    exits: str | None


def nothing(emit: Emitter) -> None:
    """Restores nothing."""
    return None


@dataclass(eq=False)
class Pair:
    """The derived functions of a callee; `params` and `result` are modes.

    The backward function is given again what the callee never binds anew: the caller has it, as it has all that it had
    at the call. `again` says which parameters these are.
    """

    forward: Link
    backward: Link
    params: tuple[str | None, ...]
    again: tuple[bool, ...]
    result: str | None

    def given_again(self, atoms: Sequence[Atom], shadows: Sequence[Atom]) -> tuple[Atom, ...]:
        """Of the arguments of the forward function those that the backward function gets too, in its order."""
        left = iter(shadows)
        found: list[Atom] = []
        for atom, how, again in zip(atoms, self.params, self.again, strict=True):
            both = [atom, next(left)] if how == SHADOW else [atom]
            found += both if again else []
        return tuple(found)


class Derivation(Protocol):
    """The derivation of a whole program: `exact` says that its arrays have the dtypes of their kinds."""

    fits: frozenset[tuple[int, str]]
    exact: bool
    results: Results
    pairs: dict[Instance, Pair]

    def proves(self, name: str) -> bool:
        """Whether a proof is to be made."""

    def pair(self, instance: Instance) -> Pair:
        """The two derived functions of a callee."""


@dataclass(eq=False)
class Reverse(ABC):
    """The two sweeps of one instance: what rules for statements go by, and write to."""

    program: Program
    instance: Instance
    derive: Derivation
    paired: bool = False
    frame: Frame = field(init=False)
    again: Again = field(default_factory=Again)
    parts: Parts = field(default_factory=Parts)
    seeds: tuple[str, ...] = ()
    tapes: list[str] = field(default_factory=list)
    unbound: dict[str, None] = field(default_factory=dict)
    loops: list[Turn] = field(default_factory=list)
    exits: int = 0
    last: int = 0
    code: str | None = None
    seed: str = "ans_bar"
    named: str = ""
    local: frozenset[str] = frozenset()
    primal: dict[int, tuple[Statement, ...]] = field(default_factory=dict)
    filling: dict[int, Atom] = field(default_factory=dict)
    fresh: frozenset[int] = frozenset()
    stacks: Mapping[str, Stack] = field(default_factory=dict)

    @abstractmethod
    def block(self, block: Block) -> tuple[list[Statement], list[Statement], int]:
        """Both sweeps of a block, and the number of the last exit in it that leaves it (0 where none does)."""

    def shadows(self) -> dict[str, str]:
        """The names of the user's storages by those of their shadows."""
        pairs = ((n, k) for n, k in self.frame.kinds.items() if not n.startswith("%") and mode(k) == SHADOW)
        return {self.frame.other(name): name for name, _ in pairs}

    def tape(self, name: str) -> str:
        """A new tape, named after what it records."""
        called = self.frame.called.known(name) if name.startswith("%") else name
        tape = self.frame.names.fresh(f"{called}_tape" if called else "tape")
        self.tapes.append(tape)
        return tape

    def other(self, atom: Atom) -> Var:
        """The cotangent variable or shadow of a name."""
        assert isinstance(atom, Var)
        return Var(self.frame.other(atom.name))

    def how(self, name: str) -> str | None:
        """The mode of a name; a result that is taken apart has none of its own."""
        return None if name in self.parts else mode(self.frame.kinds[name])

    def shadow(self, emit: Emitter, atom: Atom) -> Atom:
        """The shadow of a storage; what has none (a constant, inactive data) gets one that nobody reads."""
        if self.frame.mode(atom) == SHADOW:
            return self.other(atom)
        kind = self.frame.kind(atom)
        if isinstance(kind, Arr) and not is_inexact(kind):  # whole numbers, where reals stand otherwise
            return emit.op(arrays.real_zero, atom)
        return atom if atom == NONE else emit.zero(atom, kind)

    def is_alike(self, made: Kind, given: Kind) -> bool:
        """Whether both are arrays of one rank and dtype for certain."""
        if not (isinstance(made, Arr) and isinstance(given, Arr) and self.are_of_one_dtype(made, given)):
            return False
        return made.rank == given.rank and given.rank is not None

    def are_of_one_dtype(self, made: Kind, given: Kind) -> bool:
        """Whether both are arrays of one dtype for certain."""
        if not (isinstance(made, Arr) and isinstance(given, Arr) and made.sure and given.sure):
            return False
        if made.dtypes or given.dtypes:
            return False
        return self.derive.exact and self.derive.proves("fits") and made.dtype == given.dtype

    def give(self, emit: Emitter, atom: Atom, cotangent: Atom, fits: bool = False) -> None:
        """Adds a cotangent to that of an operand; `fits`: it is known to have the operand's shape and dtype."""
        if self.frame.mode(atom) is not None:
            give(emit, self.frame.kind(atom), self.other(atom), atom, cotangent, fits)

    def record(self, forward: Emitter, name: str) -> Callable[[Emitter], None]:
        """Records what `name` (and its shadow) is bound to, before it is bound anew; returns what restores it."""
        if name not in self.frame.rebound:
            return nothing
        kind = self.frame.kinds[name]
        how = self.how(name)
        if name in self.local:
            return nothing
        if name in self.again.names:
            return self._back_to_zero(name) if how == VALUE else nothing
        tape = self.tape(name)
        self.unbound[name] = None
        forward.append(tape, Var(name))
        shadow_tape: str | None = None
        other = self.frame.other(name) if how else ""
        if how == SHADOW:
            shadow_tape = self.tape(other)
            self.unbound[other] = None
            forward.append(shadow_tape, Var(other))

        def restore(emit: Emitter) -> None:
            emit.assign(name, emit.pop(tape))
            if shadow_tape is not None:
                emit.assign(other, emit.pop(shadow_tape))
            elif how == VALUE:
                emit.assign(other, self.frame.zero_value(Var(name), kind))

        return restore

    def once_more(self, forward: Emitter, name: str) -> Callable[[Emitter], Atom]:
        """Records what only the reverse of the statement in hand asks for, bound just now; returns what reads it."""
        if not self.loops:
            return lambda emit: Var(name)
        tape = self.tape(name)
        forward.append(tape, Var(name))
        return lambda emit: emit.pop(tape)

    def _back_to_zero(self, name: str) -> Callable[[Emitter], None]:
        """For what is formed again: its cotangent is zero before it is bound; that of an array when it is formed."""
        zero = Assign(self.frame.other(name), Lit(0.0), self.frame.function.span)
        later = isinstance(self.frame.kinds[name], Arr)
        return lambda emit: emit.add(*[] if later else [replace(zero, span=emit.span)])
