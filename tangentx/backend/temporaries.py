"""Names of temporaries: descriptive, and shared by temporaries that are never live together.

This is register allocation, for the reader: the live ranges of temporaries that would be called alike are compared,
and a number is added to a name only where two of them overlap. ``product`` may thus be bound in each group of the
reverse sweep, and what was put on a tape is called the same where it is taken off it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_
from typing import TypeAlias

from tangentx.backend.spelling import Scope
from tangentx.backend.statement_groups import temporary
from tangentx.common.syntax_trees import preorder
from tangentx.ir.value_names import ValueNames

UNREAD = "_"
Names: TypeAlias = int
"""A set of temporaries, a bit for each: what is live where each of thousands is bound is too much to be listed."""
MANY = 16
"""How many names of a stem are all tried for a further temporary."""


def name_temporaries(tree: ast.FunctionDef, scope: Scope, called: ValueNames) -> None:
    """Gives the temporaries of `tree` names that say what they are, in the order of the text; in place.

    >>> tree = ast.parse("def f(x):\\n    t = x + x\\n    u = t * t\\n    return u").body[0]
    >>> for node in ast.walk(tree):
    ...     if isinstance(node, ast.Name) and node.id in "tu":
    ...         node.id = f"%{node.id}:y"
    >>> name_temporaries(tree, Scope(set(), {}), ValueNames(()))
    >>> print(ast.unparse(tree))
    def f(x):
        y = x + x
        y = y * y
        return y
    """
    names = list(_names(tree))
    read = {node.id for node in names if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    stems: dict[str, str] = {}
    for node in names:
        name = _name_of(node)
        if temporary(name) and name not in stems:
            stems[name] = called.of(name) if name in read else UNREAD
    taken = {name for name in map(_name_of, names) if not temporary(name)}
    given = _Allocation(_live_ranges(tree, stems), lambda name: name in taken or name in scope).of(stems)
    for node in names:
        if isinstance(node, ast.Name):
            node.id = given.get(node.id, node.id)
        else:
            node.arg = given.get(node.arg, node.arg)
    _Plain().visit(tree)


class _Plain(ast.NodeTransformer):
    """Leaves out ``y = y``: two temporaries that have got one name, of which the one was bound to the other."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        """No statement where the name is bound to itself."""
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=name)) if target == name:
                return None
        return node

    def visit_If(self, node: ast.If) -> ast.If:
        """A branch that is left with nothing passes."""
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        """Likewise a loop."""
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


def _names(tree: ast.AST) -> Iterator[ast.Name | ast.arg]:
    """The places of names, in the order of the text."""
    return (node for node in preorder(tree) if isinstance(node, ast.Name | ast.arg))


def _name_of(node: ast.Name | ast.arg) -> str:
    return node.id if isinstance(node, ast.Name) else node.arg


@dataclass
class _Called:
    """The temporaries that have one name by now, and those that must not have it."""

    name: str
    members: Names = 0
    barred: Names = 0


class _Allocation:
    """Names for live ranges: each gets the first of ``y``, ``y_1``, ``y_2`` ... that no overlapping range has."""

    def __init__(self, ranges: _LiveRanges | None, is_taken: Callable[[str], bool]) -> None:
        self.overlaps = ranges.overlaps if ranges is not None else {}
        self.bits = ranges.bits if ranges is not None else {}
        self.is_taken = is_taken
        self.owners: set[str] = set()
        self.named: dict[str, Names] = {}
        self.given: dict[str, list[_Called]] = {}
        self.counts: dict[str, int] = {}

    def of(self, stems: dict[str, str]) -> dict[str, str]:
        """The name of each temporary, from what it is to be called."""
        return {name: self._name(name, stem) for name, stem in stems.items()}

    def _name(self, name: str, stem: str) -> str:
        bit, overlapping = self.bits.get(name, 0), self.overlaps.get(name, 0)
        found = self._free(stem, bit, overlapping) or self._new(stem)
        found.members |= bit
        found.barred |= overlapping
        self.named[stem] = self.named.get(stem, 0) | bit
        return found.name

    def _free(self, stem: str, bit: Names, overlapping: Names) -> _Called | None:
        """The first name in use that the range may have. Where there are many, and as many ranges overlap, none is
        looked for: of thousands that are live at one time each has a name of its own."""
        given = self.given.get(stem, [])
        if len(given) > MANY and (overlapping & self.named.get(stem, 0)).bit_count() >= len(given):
            return None
        return next((c for c in given if not (c.members & overlapping or c.barred & bit)), None)

    def _new(self, stem: str) -> _Called:
        """The next name of a stem. One with a number may be another's own: the second item of `x` is `x_1`, too."""
        while True:
            count = self.counts.get(stem, 0)
            self.counts[stem] = count + 1
            candidate = f"{stem}_{count}" if count else stem
            if candidate not in self.owners and not self.is_taken(candidate):
                self.owners.add(candidate)
                self.given.setdefault(stem, []).append(_Called(candidate))
                return self.given[stem][-1]


def _live_ranges(tree: ast.FunctionDef, stems: dict[str, str]) -> _LiveRanges | None:
    """Which temporaries of the same stem are bound where the value of another is needed; None if no stem has two."""
    families: dict[str, list[str]] = {}
    for name, stem in stems.items():
        families.setdefault(stem, []).append(name)
    crowded = [names for stem, names in families.items() if len(names) > 1 and stem != UNREAD]
    if not crowded:
        return None
    ranges = _LiveRanges(crowded)
    live = ranges.block(tree.body, 0)
    ranges.bind(_among(ranges.bits, (_name_of(node) for node in _names(tree.args))), live)
    return ranges


def _among(bits: dict[str, Names], names: Iterable[str]) -> Names:
    """Those of the names that have a bit."""
    found = 0
    for name in names:
        found |= bits.get(name, 0)
    return found


def _each(names: Names) -> Iterator[Names]:
    """Each of a set by itself."""
    while names:
        yield names & -names
        names &= names - 1


class _LiveRanges:
    """A backward walk of a function's text that notes which temporaries of a family are live at the same time.

    `families` has the temporaries that matter. What a nested function, or anything that the walk does not know, has
    to do with is taken to be live everywhere. Where an exception may be caught, what its handler reads is live all
    the way through the protected block: `caught` has that of the blocks in hand.
    """

    def __init__(self, families: list[list[str]]) -> None:
        self.names = list(chain.from_iterable(families))
        self.bits = {name: 1 << i for i, name in enumerate(self.names)}
        self.families = {
            name: members for names in families for members in [_among(self.bits, names)] for name in names
        }
        self.overlaps: dict[str, Names] = {}
        self.loops: list[tuple[Names, int]] = []
        self.caught: list[Names] = []
        self.heads: dict[int, Names] = {}

    def bind(self, targets: Names, live: Names) -> None:
        """Notes that `targets` are bound at once where `live` are still to be read."""
        for bit in _each(targets):
            name = self.names[bit.bit_length() - 1]
            self.overlaps[name] = self.overlaps.get(name, 0) | (self.families[name] & (live | targets) & ~bit)

    def block(self, block: list[ast.stmt], after: Names) -> Names:
        """What is live before a block, given what is live after it."""
        caught = reduce(or_, self.caught, 0)
        live = after
        for s in reversed(block):
            live = self._statement(s, live | caught) | caught
        return live

    def _statement(self, s: ast.stmt, live: Names) -> Names:
        match s:
            case ast.Assign() | ast.AugAssign() | ast.Delete() | ast.Expr() | ast.Assert() | ast.Pass():
                return self._simple(s, live)
            case ast.If(test=test):
                return self.block(s.body, live) | self.block(s.orelse, live) | self._read(test)
            case ast.For() | ast.While():
                return self._loop(s, live)
            case ast.Break():
                return self.loops[-1][0]
            case ast.Continue():
                return self.heads[self.loops[-1][1]]
            case ast.Return() | ast.Raise():
                return self._read(s)
            case ast.Try():
                return self._try(s, live)
            case ast.With():
                return self._with(s, live)
        self._pin(s)
        return live | self._read(s)

    def _simple(self, s: ast.stmt, live: Names) -> Names:
        bound = self._bound(s)
        reads = self._read(s)
        if isinstance(s, ast.AugAssign | ast.Delete):
            live = live | reads | bound
            self.bind(bound, live)
            return live
        inside = 0  # ``a, b[i] = ...``: read in between
        for target in s.targets if isinstance(s, ast.Assign) else []:
            inside |= self._read(target)
        live &= ~bound
        self.bind(bound, live | inside)
        return live | reads

    def _loop(self, s: ast.For | ast.While, after: Names) -> Names:
        ended = self.block(s.orelse, after)
        head = self.heads.get(id(s), 0)  # it only grows while the loops around are walked again
        tested = self._read(s.test) if isinstance(s, ast.While) else 0
        bound = self._bound(s.target) if isinstance(s, ast.For) else 0
        head |= ended | tested
        while True:
            before = self.heads[id(s)] = head
            self.loops.append((after, id(s)))
            body = self.block(s.body, head)
            self.loops.pop()
            self.bind(bound, body & ~bound | head)
            head |= body & ~bound | tested
            if head == before:
                return head | (self._read(s.iter) if isinstance(s, ast.For) else 0)

    def _try(self, s: ast.Try, after: Names) -> Names:
        final = self.block(s.finalbody, after)
        with self._catching(final):
            handled = final
            for handler in s.handlers:
                handled |= self.block(handler.body, final) | (self._read(handler.type) if handler.type else 0)
            done = self.block(s.orelse, final)
        with self._catching(handled):
            return self.block(s.body, done)

    def _with(self, s: ast.With, after: Names) -> Names:
        """A context manager may swallow an exception of its block, so what is read afterwards is live in it."""
        with self._catching(after):
            live = self.block(s.body, after)
        for item in reversed(s.items):
            if item.optional_vars is not None:
                self.bind(self._bound(item.optional_vars), live)
            live = live | self._read(item)
        return live

    @contextmanager
    def _catching(self, live: Names) -> Iterator[None]:
        self.caught.append(live)
        yield
        self.caught.pop()

    def _read(self, node: ast.AST) -> Names:
        names = 0
        for inner in preorder(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                names |= self.bits.get(inner.id, 0)
            elif isinstance(inner, ast.Lambda | ast.NamedExpr | ast.GeneratorExp):
                self._pin(inner)
        return names

    def _bound(self, node: ast.AST) -> Names:
        places = (inner for inner in preorder(node) if isinstance(inner, ast.Name))
        return _among(self.bits, (inner.id for inner in places if not isinstance(inner.ctx, ast.Load)))

    def _pin(self, node: ast.AST) -> None:
        """What the node has to do with shares its name with nothing else."""
        for name in {_name_of(inner) for inner in _names(node)} & set(self.bits):
            self.bind(self.families[name], self.families[name])
