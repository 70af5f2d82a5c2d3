"""Names for temporaries: what each one is, and the same name for several that never hold a value at the same time.

This is register allocation, for the reader: the live ranges of temporaries that would be called alike are compared,
and a number is added to a name only where two of them overlap. ``product`` may thus be bound in each group of the
reverse sweep, and what was put on a tape is called the same where it is taken off it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tangentx.backend.spelling import Scope
from tangentx.backend.statement_groups import temporary
from tangentx.common.syntax_trees import preorder
from tangentx.ir.value_names import ValueNames

UNREAD = "_"


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
    given = _Allocation(_overlaps(tree, stems), lambda name: name in taken or name in scope).of(stems)
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


class _Allocation:
    """Names for live ranges: each gets the first of ``y``, ``y_1``, ``y_2`` ... that no overlapping range has."""

    def __init__(self, overlaps: dict[str, set[str]], is_taken: Callable[[str], bool]) -> None:
        self.overlaps = overlaps
        self.is_taken = is_taken
        self.owners: dict[str, tuple[str, set[str]]] = {}

    def of(self, stems: dict[str, str]) -> dict[str, str]:
        """The name of each temporary, from what it is to be called."""
        return {name: self._name(name, stem) for name, stem in stems.items()}

    def _name(self, name: str, stem: str) -> str:
        count = 0
        while True:
            candidate = f"{stem}_{count}" if count else stem
            count += 1
            # A name with a number may be another's own: the second item of `x` is `x_1`, too.
            owner, members = self.owners.get(candidate, (stem, set()))
            if owner == stem and not self.is_taken(candidate) and members.isdisjoint(self.overlaps.get(name, ())):
                members.add(name)
                self.owners[candidate] = stem, members
                return candidate


def _overlaps(tree: ast.FunctionDef, stems: dict[str, str]) -> dict[str, set[str]]:
    """For each temporary those of the same stem whose values are needed where it is bound, and the reverse."""
    families: dict[str, set[str]] = {}
    for name, stem in stems.items():
        families.setdefault(stem, set()).add(name)
    crowded = {name: families[stem] for name, stem in stems.items() if len(families[stem]) > 1 and stem != UNREAD}
    if not crowded:
        return {}
    ranges = _LiveRanges(crowded)
    live = ranges.block(tree.body, set())
    parameters = {_name_of(node) for node in _names(tree.args)}
    ranges.bind(parameters, live)
    return ranges.overlaps


class _LiveRanges:
    """A backward walk of a function's text that notes which temporaries of a family are live at the same time.

    `families` has the temporaries that matter. What a nested function, or anything that the walk does not know, has
    to do with is taken to be live everywhere. Where an exception may be caught, what its handler reads is live all
    the way through the protected block: `caught` has that of the blocks in hand.
    """

    def __init__(self, families: dict[str, set[str]]) -> None:
        self.families = families
        self.overlaps: dict[str, set[str]] = {}
        self.loops: list[tuple[set[str], set[str]]] = []
        self.caught: list[set[str]] = []
        self.heads: dict[int, set[str]] = {}

    def bind(self, names: Iterable[str], live: set[str]) -> None:
        """Notes that `names` are bound at once where `live` are still to be read."""
        targets = {name for name in names if name in self.families}
        for name in targets:
            for other in self.families[name] & (live | targets) - {name}:
                self.overlaps.setdefault(name, set()).add(other)
                self.overlaps.setdefault(other, set()).add(name)

    def block(self, block: list[ast.stmt], after: set[str]) -> set[str]:
        """What is live before a block, given what is live after it."""
        live = set(after)
        for s in reversed(block):
            live = self._statement(s, live.union(*self.caught)).union(*self.caught)
        return live

    def _statement(self, s: ast.stmt, live: set[str]) -> set[str]:
        match s:
            case ast.Assign() | ast.AugAssign() | ast.Delete() | ast.Expr() | ast.Assert() | ast.Pass():
                return self._simple(s, live)
            case ast.If(test=test):
                return self.block(s.body, live) | self.block(s.orelse, live) | self._read(test)
            case ast.For() | ast.While():
                return self._loop(s, live)
            case ast.Break():
                return set(self.loops[-1][0])
            case ast.Continue():
                return set(self.loops[-1][1])
            case ast.Return() | ast.Raise():
                return self._read(s)
            case ast.Try():
                return self._try(s, live)
            case ast.With():
                return self._with(s, live)
        self._pin(s)
        return live | self._read(s)

    def _simple(self, s: ast.stmt, live: set[str]) -> set[str]:
        bound = self._bound(s)
        reads = self._read(s)
        if isinstance(s, ast.AugAssign | ast.Delete):
            live = live | reads | bound
            self.bind(bound, live)
            return live
        targets = s.targets if isinstance(s, ast.Assign) else []
        inside = {name for target in targets for name in self._read(target)}  # ``a, b[i] = ...``: read in between
        live = live - bound
        self.bind(bound, live | inside)
        return live | reads

    def _loop(self, s: ast.For | ast.While, after: set[str]) -> set[str]:
        ended = self.block(s.orelse, after)
        head = self.heads.setdefault(id(s), set())  # it only grows while the loops around are walked again
        tested = self._read(s.test) if isinstance(s, ast.While) else set()
        bound = self._bound(s.target) if isinstance(s, ast.For) else set()
        head |= ended | tested
        while True:
            before = len(head)
            self.loops.append((after, head))
            body = self.block(s.body, head)
            self.loops.pop()
            self.bind(bound, body - bound | head)
            head |= body - bound | tested
            if len(head) == before:
                return head | (self._read(s.iter) if isinstance(s, ast.For) else set())

    def _try(self, s: ast.Try, after: set[str]) -> set[str]:
        final = self.block(s.finalbody, after)
        with self._catching(final):
            handled = set(final)
            for handler in s.handlers:
                handled |= self.block(handler.body, final) | (self._read(handler.type) if handler.type else set())
            done = self.block(s.orelse, final)
        with self._catching(handled):
            return self.block(s.body, done)

    def _with(self, s: ast.With, after: set[str]) -> set[str]:
        """A context manager may swallow an exception of its block, so what is read afterwards is live in it."""
        with self._catching(after):
            live = self.block(s.body, after)
        for item in reversed(s.items):
            if item.optional_vars is not None:
                self.bind(self._bound(item.optional_vars), live)
            live = live | self._read(item)
        return live

    @contextmanager
    def _catching(self, live: set[str]) -> Iterator[None]:
        self.caught.append(live)
        yield
        self.caught.pop()

    def _read(self, node: ast.AST) -> set[str]:
        names = set()
        for inner in preorder(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in self.families:
                names.add(inner.id)
            elif isinstance(inner, ast.Lambda | ast.NamedExpr | ast.GeneratorExp):
                self._pin(inner)
        return names

    def _bound(self, node: ast.AST) -> set[str]:
        return {
            inner.id
            for inner in preorder(node)
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load) and inner.id in self.families
        }

    def _pin(self, node: ast.AST) -> None:
        """What the node has to do with shares its name with nothing else."""
        for name in {_name_of(inner) for inner in _names(node)} & set(self.families):
            self.bind(self.families[name], self.families[name])
