"""Printed expressions with their effects, which decide whether an expression may move."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tangentx.ir.nodes import Atom, Ext, Var

_TEMPORARY, _USUAL = re.compile(r"%[\w.:%]+"), "_" * 8
_MOST = 40  # more waiting expressions than a line can take only cost time


@dataclass(frozen=True, slots=True)
class Effect:
    """What evaluation does: the names it `reads`, whether it looks into memory (`content`), whether it is `impure`.

    What is impure writes, consumes or calls unknown code, and keeps its place among all that looks into memory.
    """

    reads: frozenset[str] = frozenset()
    content: bool = False
    impure: bool = False

    def __or__(self, other: Effect) -> Effect:
        return Effect(self.reads | other.reads, self.content or other.content, self.impure or other.impure)

    def clashes(self, other: Effect) -> bool:
        """Whether the two must stay in order."""
        if self.impure:
            return other.content or other.impure
        return other.impure and self.content


BARRIER = Effect(content=True, impure=True)


@dataclass(frozen=True, slots=True)
class Piece:
    """A printed expression, its effect and its width in characters."""

    tree: ast.expr
    effect: Effect
    width: int


def measure(tree: ast.expr) -> int:
    """Width of the expression on one line."""
    return width(ast.unparse(tree))


def measure_line(tree: ast.stmt) -> int:
    """Width of the statement's first line."""
    tree.lineno = 1  # `ast` looks there for a comment on types
    return width(ast.unparse(tree).partition("\n")[0])


def width(text: str) -> int:
    """Width of a line whose temporaries get their names later: each counts as a name of usual length."""
    return len(_TEMPORARY.sub(_USUAL, text))


class Waiting:
    """The temporaries of one block that wait to be nested, in the order of their definition."""

    def __init__(self) -> None:
        self.pieces: dict[str, Piece] = {}

    def choose(self, order: Sequence[Atom | None]) -> set[str]:
        """Those that may be nested into a statement that evaluates the atoms `order`; None stands for a look
        into memory by the statement itself, before what follows it."""
        position: dict[str, int] = {}
        looks = len(order)
        for place, atom in enumerate(order):
            if isinstance(atom, Var) and atom.name in self.pieces:
                position[atom.name] = place
            elif (atom is None or isinstance(atom, Ext)) and looks == len(order):
                looks = place
        chosen = set(position)
        while (bad := self._misplaced(chosen, position, looks)) is not None:
            chosen.discard(bad)
        return chosen

    def restrict(self, chosen: set[str], order: Sequence[Atom | None], without: str) -> set[str]:
        """`chosen` less `without`, and less what must then have a name too."""
        return self.choose([a for a in order if not isinstance(a, Var) or a.name in chosen - {without}])

    def _misplaced(self, chosen: set[str], position: dict[str, int], looks: int) -> str | None:
        """One of `chosen` that nesting would move past something that it must not pass."""
        later: list[tuple[str, Effect]] = []
        for name, piece in reversed(self.pieces.items()):
            if name in chosen:
                if piece.effect.impure and looks < position[name]:
                    return name
                for other, effect in later:
                    if (other not in chosen or position[other] < position[name]) and piece.effect.clashes(effect):
                        return name
            later.append((name, piece.effect))
        return None

    def leave(
        self, effect: Effect, binds: frozenset[str], barrier: bool, read: Collection[str] = ()
    ) -> list[tuple[str, Piece]]:
        """Takes out, in order, what may not wait beyond a statement of that effect which binds and reads those
        names."""
        leaving: list[str] = []
        passed = Effect()
        for name, piece in reversed(self.pieces.items()):
            held = barrier or name in read or piece.effect.clashes(effect) or piece.effect.reads & binds
            if held or piece.effect.clashes(passed):
                leaving.append(name)
                passed = passed | piece.effect
        return [(name, self.pieces.pop(name)) for name in reversed(leaving)]

    def overflow(self) -> list[tuple[str, Piece]]:
        """Takes out the oldest where too many wait."""
        if len(self.pieces) <= _MOST:
            return []
        name = next(iter(self.pieces))
        return [(name, self.pieces.pop(name))]
