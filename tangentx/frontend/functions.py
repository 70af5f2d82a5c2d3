"""Nested functions, by closure conversion: variables that they share are cells."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from tangentx.common.naming import Names
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.frontend import resolve, scopes
from tangentx.frontend.displays import Displays
from tangentx.frontend.expressions import Steps
from tangentx.frontend.generators import is_generator
from tangentx.ir import markers, walk
from tangentx.ir import nodes as ir
from tangentx.ir.functions import Closure, closure, function_of
from tangentx.ir.opaque_ops import Attempt
from tangentx.ir.rewrite import map_atoms, map_blocks

# Cells: variables shared between functions, as lists of one item.
#
# A function that captures a variable may be given its value only where the variable is not bound again while the
# function lives. Elsewhere, and where a function inside binds it (``nonlocal``), all of them hold the same list. A
# comprehension has other variables each time that it is evaluated: where it begins, `markers.renewed` makes new lists.

_ITEM = ir.Key((ir.Lit(0),))


def with_cells(function: ir.Function, captured: Iterable[str], rebound: frozenset[str]) -> ir.Function:
    """`function` with a cell for each of its own variables that needs one.

    `captured` are the parameters that belong to an enclosing function, `rebound` the names that a function inside
    binds.
    """
    if not rebound and not any(map(walk.made_closure, walk.statements(function.body))):
        return function
    params = frozenset(param.name for param in function.params)
    own = (walk.bound(function.body) | params).difference(captured)
    late = _unbound(function.body, params)
    shared = rebound | (_unsettled(function.body) & own) | late
    if not shared:
        return replace(function, body=_unmarked(function.body)) if _renewed(function.body) else function
    cells = _Cells(shared, function.body, {}, frozenset(), late | _emptied(function.body))
    opened: list[ir.Statement] = []
    for name in sorted(shared - _renewed(function.body)):
        if name in params:
            opened.append(ir.Assign(name, ir.Make(list, (ir.Var(name),)), function.span))
        else:
            opened.extend(cells.open(name, function))
    return replace(function, body=(*opened, *cells.block(function.body)))


def _renews(stmt: ir.Statement) -> bool:
    """Whether the name of the statement is another variable from here on."""
    return isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Op) and stmt.value.fn is markers.renewed


def _renewed(body: ir.Block) -> frozenset[str]:
    return frozenset(name for stmt in walk.statements(body) if _renews(stmt) for name in walk.writes(stmt))


def _unmarked(body: ir.Block) -> ir.Block:
    """The block where no variable is shared."""
    return tuple(map_blocks(stmt, _unmarked) for stmt in body if not _renews(stmt))


def _unsettled(body: ir.Block) -> frozenset[str]:
    """The variables that may be bound after a function has captured them."""
    found: set[str] = set()

    def visit(block: ir.Block, later: frozenset[str]) -> None:
        """`later`: what may be bound after the block."""
        for stmt in reversed(block):
            inside = later | walk.bound((stmt,)) if isinstance(stmt, ir.For | ir.Loop) else later
            for inner in walk.blocks(stmt):
                visit(inner, inside)
            cls = walk.made_closure(stmt)
            if cls is not None:
                found.update(_captured(stmt, cls) & (later | walk.writes(stmt)))
            later = later | walk.bound((stmt,))

    visit(body, frozenset())
    return frozenset(found)


def _unbound(body: ir.Block, params: frozenset[str]) -> frozenset[str]:
    """The variables that may have no value yet where a function captures them."""
    found: set[str] = set()

    def visit(block: ir.Block, known: frozenset[str]) -> frozenset[str] | None:
        """What is bound after the block if it is before; None if control never comes there."""
        for stmt in block:
            cls = walk.made_closure(stmt)
            if cls is not None:
                found.update(_captured(stmt, cls) - known)
            after = [visit(inner, known | walk.writes(stmt)) for inner in walk.blocks(stmt)]
            if isinstance(stmt, ir.If):
                ways = [way for way in after if way is not None]
                if not ways:
                    return None
                known = frozenset.intersection(*ways)
            elif isinstance(stmt, ir.Break | ir.Continue | ir.Return | ir.Raise):
                return None
            elif walk.empties(stmt):
                known = known - walk.writes(stmt)
            elif not isinstance(stmt, ir.For):
                known = known | walk.writes(stmt)
        return known

    visit(body, params)
    return frozenset(found)


def _emptied(body: ir.Block) -> frozenset[str]:
    """The names that statements leave without a value, once functions may share them."""
    return frozenset(name for stmt in walk.statements(body) if walk.empties(stmt) for name in walk.writes(stmt))


def _captured(stmt: ir.Statement, cls: type[Closure]) -> set[str]:
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Make)
    return {atom.name for atom in stmt.value.items[: cls.variables] if isinstance(atom, ir.Var)}


class _Cells:
    """Writes the blocks of function `body` again with the variables `names` in cells of these names.

    `done`: the functions that were given cells already, by the parameters that are cells in them. `asked` are the
    cells that may hold no value where they are read here, `late` those where they are read in a function inside.
    """

    def __init__(
        self,
        names: Iterable[str],
        body: ir.Block,
        done: dict[type[Closure], frozenset[str]],
        asked: frozenset[str],
        late: frozenset[str],
    ) -> None:
        self.names = frozenset(names)
        self.asked, self.late = asked, late
        # By cells of the function's own too, where an enclosing one has some.
        self.taken = walk.bound(body) | walk.used(body)
        self.done = done
        self.opens: dict[int, str] = {}
        self.count = 0

    def open(self, name: str, function: ir.Function) -> ir.Block:
        """What makes the cell of `name`: the first statement that has to do with it, or one at the top."""
        for stmt in function.body:
            if name in walk.bound((stmt,)) | walk.used((stmt,)):
                if isinstance(stmt, ir.Assign) and stmt.target == name and name not in walk.reads(stmt):
                    self.opens[id(stmt)] = name
                    return ()
                break
        return (ir.Assign(name, ir.Make(list, (ir.Lit(ir.UNBOUND),)), function.span),)

    def block(self, block: ir.Block) -> ir.Block:
        """The block with cells; the functions that are made in it get them too."""
        out: list[ir.Statement] = []
        for stmt in block:
            self._statement(stmt, out)
        return tuple(out)

    def _statement(self, stmt: ir.Statement, out: list[ir.Statement]) -> None:
        if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Op) and isinstance(stmt.value.fn, Attempt):
            tried = self._tried(stmt.value.fn, stmt.span, out)
            opens = self.opens.get(id(stmt))
            stmt = replace(stmt, value=ir.Op(tried, ()))
            if opens is not None:
                self.opens[id(stmt)] = opens
        if _renews(stmt):
            assert isinstance(stmt, ir.Assign)
            if stmt.target in self.names:
                out.append(replace(stmt, value=ir.Make(list, (ir.Lit(ir.UNBOUND),))))
            return
        blocks = [self.block(inner) for inner in walk.blocks(stmt)]
        changed = self._with_reads(_with_blocks(stmt, [() for _ in blocks]), out)
        if isinstance(changed, ir.For) and changed.target in self.names:
            held = self._temp()
            bound = ir.Store(ir.Var(changed.target), _ITEM, ir.Var(held), changed.span)
            out.append(replace(changed, target=held, body=(bound, *blocks[0])))
        elif isinstance(changed, ir.Augment) and changed.target in self.names:
            if changed.target in self.asked:
                self._read(ir.Var(changed.target), stmt.span, out)
            out.append(ir.Augstore(ir.Var(changed.target), _ITEM, changed.fn, changed.value, changed.span))
        elif isinstance(changed, ir.Assign) and changed.target in self.names:
            self._bound(changed, id(stmt) in self.opens, out)
        else:
            out.append(_with_blocks(changed, blocks))

    def _tried(self, tried: Attempt, span: Span, out: list[ir.Statement]) -> Attempt:
        """A ``try`` statement that has names of its own for what cells hold: nothing in it may write them. Where
        branches stand for it, those do."""
        inside = frozenset().union(*(walk.bound(block) | walk.used(block) for block in tried.blocks()))
        self.taken |= inside
        held = {name: self._holder(name) for name in sorted(self.names & (inside | frozenset(tried.results)))}

        def read(name: str) -> ir.Assign:
            return ir.Assign(held[name], ir.Index(ir.Var(name), _ITEM), span)

        out.extend(read(name) for name in tried.names() if name in held)
        otherwise = self.block(tried.otherwise)
        if otherwise:
            otherwise = (*otherwise, *(read(name) for name in tried.results if name in held))
        return replace(tried.renamed(held), otherwise=otherwise)

    def _bound(self, stmt: ir.Assign, first: bool, out: list[ir.Statement]) -> None:
        held = stmt.value
        gone = isinstance(held, ir.Op) and held.fn is ir.deleted
        if gone or (walk.empties(stmt) and not first):
            raise UnsupportedSyntax(
                f"`{stmt.target}` is deleted, and a function inside shares it", stmt.span, "remove the del statement"
            )
        if walk.empties(stmt):
            held = ir.Lit(ir.UNBOUND)
        if not isinstance(held, ir.Atom):
            held = ir.Var(self._temp())
            out.append(replace(stmt, target=held.name))
        if first:
            out.append(ir.Assign(stmt.target, ir.Make(list, (held,)), stmt.span))
        else:
            out.append(ir.Store(ir.Var(stmt.target), _ITEM, held, stmt.span))

    def _with_reads(self, stmt: ir.Statement, out: list[ir.Statement]) -> ir.Statement:
        """The statement with what its cells hold; a function that is made gets the cells themselves."""

        def read(atom: ir.Atom) -> ir.Atom:
            if not isinstance(atom, ir.Var) or atom.name not in self.names:
                return atom
            return self._read(atom, stmt.span, out)

        cls = walk.made_closure(stmt)
        if cls is None:
            (changed,) = map_atoms((stmt,), read)
            return changed
        assert isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Make)
        variables, defaults = stmt.value.items[: cls.variables], stmt.value.items[cls.variables :]
        self._inside(cls, variables)
        return replace(stmt, value=replace(stmt.value, items=(*variables, *map(read, defaults))))

    def _read(self, cell: ir.Var, span: Span, out: list[ir.Statement]) -> ir.Var:
        """What the cell holds, asked for where it may hold nothing."""
        held = ir.Var(self._temp())
        out.append(ir.Assign(held.name, ir.Index(cell, _ITEM), span))
        if cell.name in self.asked:
            asked = (held, ir.Lit(cell.name), ir.Lit(True))
            out.append(ir.Assign(self._temp(), ir.Op(markers.bound, asked), span))
        return held

    def _inside(self, cls: type[Closure], variables: tuple[ir.Atom, ...]) -> None:
        """Give the function of `cls` cells for those of its captured `variables` that are cells here."""
        shared = [i for i, atom in enumerate(variables) if isinstance(atom, ir.Var) and atom.name in self.names]
        if not shared or cls in self.done:
            return
        function = function_of(cls)
        names = frozenset(function.params[i].name for i in shared)
        late = frozenset(function.params[i].name for i in shared if _name(variables[i]) in self.late | self.asked)
        self.done[cls] = names
        inside = _Cells(names, function.body, self.done, late, late)
        cls.link.function = replace(function, body=inside.block(function.body))

    def _holder(self, name: str) -> str:
        """A new name for what the cell of `name` holds."""
        name = f"{name}_"
        while name in self.taken:
            name = f"{name}_"
        self.taken |= {name}
        return name

    def _temp(self) -> str:
        self.count += 1
        while f"%c{self.count}" in self.taken:
            self.count += 1
        return f"%c{self.count}"


def _name(atom: ir.Atom) -> str:
    return atom.name if isinstance(atom, ir.Var) else ""


def _with_blocks(stmt: ir.Statement, blocks: list[ir.Block]) -> ir.Statement:
    match stmt:
        case ir.If():
            return replace(stmt, body=blocks[0], orelse=blocks[1])
        case ir.For() | ir.Loop():
            return replace(stmt, body=blocks[0])
    return stmt


# Nested functions, by closure conversion.
#
# Such a function is lifted as a function of its own, with what it captures as its first parameters. Python captures
# variables, not values: where the two differ, `cells` makes the variable a list of one item. A function that a plain
# ``def`` defines under a name of its own is not captured itself: whoever calls it captures what it captures and makes
# it again, so recursion and functions that call each other need no cycle.


@dataclass(frozen=True)
class Known:
    """A function of which a name is known to mean it: its class, and the variables here that it captures."""

    cls: type[Closure]
    captures: tuple[str, ...]

    def made(self) -> ir.Make:
        """The function as a value."""
        return ir.Make(self.cls, tuple(ir.Var(name) for name in self.captures))


class Functions(Displays):
    """Lifts lambdas and nested functions."""

    def __init__(self, function: Any, found: Any, tree: Any, outer: Functions | None = None) -> None:
        super().__init__(function, found, tree, outer)
        self.known: dict[str, Known] = {}
        self.slots: dict[str, str] = {}  # captured variables of the enclosing function -> parameters here
        self.defaults: list[str] = []  # parameters that hold defaults
        defined = scopes.definitions(tree)
        self.generators = {name: node for name, node in defined.items() if is_generator(node)}
        self.trees = {name: node for name, node in defined.items() if name not in self.generators}  # known functions
        self.rebound_inside = scopes.rebound_inside(tree)
        self.rebound: frozenset[str] = self.rebound_inside | (
            (frozenset() if outer is None else outer.rebound) - self.scope.names
        )
        if outer is not None:
            self._capture(outer)
        self._define()

    def _capture(self, outer: Functions) -> None:
        """Give a parameter to each variable of `outer` that is used here, or by a known function that is."""
        names = self._captured(outer)
        taken = Names(self.scope.names.union(names))
        later: list[tuple[str, Known]] = []
        for name in names:
            known = outer.known_as(name)
            if outer.defines_generator(name):
                self.generators[name] = outer.generators[name]
            elif known is None:
                variable = outer.local(name)
                assert variable is not None
                self.slots[variable] = name
            else:
                later.append((name, known))
        for name, known in later:
            for variable in known.captures:
                if variable not in self.slots:
                    self.slots[variable] = taken.fresh(variable)
            self.known[name] = Known(known.cls, tuple(self.slots[variable] for variable in known.captures))
        itself = outer.known_as(self.tree.name) if isinstance(self.tree, gast.FunctionDef) else None
        if itself is not None:  # in the order in which all who make it pass them
            self.slots = {variable: self.slots[variable] for variable in itself.captures}
        self.scope = resolve.Scope(self.scope.names.union(names, self.slots.values()), self.scope.walrus)

    def _captured(self, outer: Functions) -> list[str]:
        """The names of `outer` that are used here, and by the generators that are: their statements will stand here."""
        names = [name for name in scopes.free(self.tree) if outer.local(name) is not None]
        for name in names:  # it grows
            if not outer.defines_generator(name):
                continue
            used = scopes.free(outer.generators[name])
            clash = [each for each in used if each in self.scope.names]
            if clash:
                message = f"the generator `{name}` is looped over where `{clash[0]}` means something else than in it"
                raise self.refuse(self.tree, message, f"use another name than `{clash[0]}` in one of the two")
            names += [each for each in used if each not in names and outer.local(each) is not None]
        return names

    def defines_generator(self, name: str) -> bool:
        """Whether `name` means a generator function here."""
        return name in self.generators and self.local(name) == name

    def _define(self) -> None:
        """Enter the known functions that are defined here; what they capture is found to a fixed point."""
        free = {name: scopes.free(tree) for name, tree in (self.trees | self.generators).items()}
        direct = {name: [n for n in names if self.local(n) is not None] for name, names in free.items()}
        captures: dict[str, dict[str, None]] = {name: {} for name in free}
        changed = True
        while changed:
            changed = False
            for name, used in direct.items():
                before = len(captures[name])
                for each in used:
                    inherited = self.known[each].captures if each in self.known else (each,)
                    captures[name].update(dict.fromkeys(captures.get(each, inherited)))
                changed = changed or len(captures[name]) > before
        self.known |= {name: Known(closure(name), tuple(captures[name])) for name in self.trees}

    def known_as(self, name: str) -> Known | None:
        """The function that `name` is known to mean here."""
        return self.known.get(name) if not any(name in renamed for renamed in self.renamed) else None

    def lifted(self, name: str, params: tuple[ir.Param, ...]) -> ir.Function:
        """The function itself, with `params` of its own; what it captures comes first."""
        with self.block() as body:
            for own, known in self.known.items():
                if own in scopes.free(self.tree):
                    self.emit(ir.Assign(own, known.made(), self.span(self.tree)))
            if isinstance(self.tree, gast.Lambda):
                self.settle(self.tree.body)
                self.emit(ir.Return(self.atom(self.tree.body), self.span(self.tree.body)))
            elif not self.body(self.tree.body):
                self.emit(ir.Return(ir.Lit(None), self.span(self.tree.body[-1])))
        body[:0] = self.openings()
        first = tuple(ir.Param(slot) for slot in (*self.slots.values(), *self.defaults))
        made = ir.Function(name, (*first, *params), tuple(body), self.span(self.tree))
        return self.shared(made)

    def shared(self, function: ir.Function) -> ir.Function:
        """The lifted function, complete: functions that control never comes to are lifted too, as others name them."""
        with self.block():
            for name, tree in self.trees.items():
                if self.known[name].cls.link.function is None:
                    self._function(tree, name, {})
        return with_cells(function, self.slots.values(), self.rebound_inside)

    @abstractmethod
    def body(self, nodes: list[Any]) -> bool:
        """Emit statements."""

    def settle(self, *parts: Any) -> None:
        """Note the names that may be bound while `parts`, expressions of one statement, are evaluated: by a ``:=`` in
        them, or by a function that they call and that declares them ``nonlocal``."""
        if not (self.scope.walrus or self.rebound):
            return
        found = [inner for part in parts if isinstance(part, gast.AST) for inner in gast.walk(part)]
        bound = frozenset(inner.target.id for inner in found if isinstance(inner, gast.NamedExpr))
        self.unsettled = bound | (self.rebound if any(isinstance(inner, gast.Call) for inner in found) else frozenset())

    def _Lambda(self, node: Any) -> Steps:
        defaults: dict[str, ir.Atom] = {}
        for name, value in _defaults(node.args):
            defaults[name] = yield value
        return self._function(node, getattr(node, "name", "lambda_"), defaults)

    def _FunctionDef(self, node: Any) -> bool:
        if self.generators.get(node.name) is node:
            return False  # put in the place of the loops over it
        decorators = [self.atom(each) for each in node.decorator_list]
        defaults = {name: self.atom(value) for name, value in _defaults(node.args)}
        value: ir.Expr = self._function(node, node.name, defaults)
        for decorator in reversed(decorators):
            value = ir.Apply(decorator, (self.hold(value, node),))
        name = self.local(node.name)
        assert name is not None
        self.emit(ir.Assign(name, value, self.span(node)))
        return False

    def _function(self, node: Any, name: str, defaults: dict[str, ir.Atom]) -> ir.Make:
        """The function of `node` as a value."""
        inner = type(self)(self.resolver.function, self.found, node, self)
        known = self.known_as(name) if isinstance(node, gast.FunctionDef) else None
        cls = closure(name) if known is None else known.cls
        taken = Names(inner.scope.names)
        params, computed = [], []
        for param, kind in parameters(node.args):
            default = defaults.get(param)
            if isinstance(default, ir.Var):
                inner.defaults.append(taken.fresh(param))
                computed.append(default)
                default = ir.Var(inner.defaults[-1])
            params.append(ir.Param(param, default, kind))
        cls.variables = len(inner.slots)
        cls.captured = len(inner.slots) + len(computed)
        cls.link.function = inner.lifted(name, tuple(params))
        return ir.Make(cls, (*(ir.Var(variable) for variable in inner.slots), *computed))


def parameters(args: Any) -> Sequence[tuple[str, str]]:
    """The parameters with their kinds, in the order of the signature."""
    found = [(node.id, "positional") for node in args.posonlyargs]
    found.extend((node.id, "normal") for node in args.args)
    if args.vararg is not None:
        found.append((args.vararg.id, "args"))
    found.extend((node.id, "keyword") for node in args.kwonlyargs)
    if args.kwarg is not None:
        found.append((args.kwarg.id, "kwargs"))
    return found


def _defaults(args: Any) -> Iterable[tuple[str, Any]]:
    """The parameters that have defaults, with the expressions of those, in the order of evaluation."""
    positional = [*args.posonlyargs, *args.args]
    last = positional[len(positional) - len(args.defaults) :]
    pairs = itertools.chain(zip(last, args.defaults, strict=True), zip(args.kwonlyargs, args.kw_defaults, strict=True))
    return [(node.id, value) for node, value in pairs if value is not None]
