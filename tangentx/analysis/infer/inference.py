"""Kind inference: functions are walked to a fixed point of their kinds, and then written in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tangentx.analysis.infer import calls, expressions, writes
from tangentx.analysis.infer.arguments import Named
from tangentx.analysis.infer.context import Walker
from tangentx.analysis.infer.control_flow import break_, continue_, for_, if_, loop, never
from tangentx.analysis.infer.functions import as_chosen, as_tuples, choose
from tangentx.analysis.infer.inlining import at_the_call
from tangentx.analysis.infer.program import DELETED, Definition, Instance, Program
from tangentx.analysis.infer.unbound_names import empty
from tangentx.analysis.infer.writes import accumulate, append, augment, augstore, delete
from tangentx.analysis.types.kind_copies import settle_copies
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Kind, Top, join, located
from tangentx.analysis.types.samples import constant_kind
from tangentx.analysis.types.selection import is_missing
from tangentx.common.naming import Names
from tangentx.errors import NotResolved, Span, TangentxError, UnsupportedSyntax, is_library, is_ours
from tangentx.ir import markers
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Augment,
    Augstore,
    Block,
    Break,
    Call,
    Continue,
    Delete,
    Expr,
    For,
    Function,
    If,
    Index,
    Link,
    Lit,
    Loop,
    Note,
    Op,
    Param,
    Raise,
    Return,
    Statement,
    Store,
    Var,
    deleted,
)
from tangentx.ir.opaque_ops import Observed
from tangentx.ir.rewrite import rename
from tangentx.ir.value_names import stem, with_stem
from tangentx.ir.walk import statements

# Web renaming: gives each web of definitions one name, then emits the closed function.


def close(instance: Instance, params: Sequence[str], body: Block, current: int) -> None:
    """Fills in the instance's closed function and the kinds of its variables."""
    source = instance.source
    present = [d for d in instance.definitions.values() if d.round == current]
    own = {_stem(d) for d in present if not d.name.startswith("%")}
    given = {param.name for param in source.params}
    names = Names(own | given)
    taken: dict[Definition, str] = {}
    kinds: dict[str, Kind] = {}
    tokens: dict[str, str] = {}
    temporaries = 0
    for definition in present:
        web = definition.web()
        if web not in taken:
            if definition.name.startswith("%"):
                temporaries += 1
                taken[web] = with_stem(f"%{temporaries}", stem(definition.name))
            elif definition.read.name in params:
                taken[web] = definition.name
            else:
                called = _stem(definition)
                taken[web] = names.fresh(called) if called in given else called
                given.add(called)
        name = taken[web]
        tokens[definition.read.name] = name
        kinds[name] = join(kinds.get(name, BOTTOM), definition.kind)
    instance.kinds.clear()
    instance.kinds.update(kinds)
    instance.link.function = Function(
        source.name,
        tuple(
            Param(tokens[token], param.default if source.origin is None else None)
            for token, param in zip(params, source.params, strict=True)
        ),
        rename(body, tokens),
        source.span,
        source.origin,
        source.doc,
        {**source.notes, "kinds": kinds, "stems": _stems(taken), "result": instance.result},
    )


def _stems(taken: dict[Definition, str]) -> dict[str, str]:
    """What the user, or derived code, calls each variable."""
    return {name: _stem(web) for web, name in taken.items()}


def _stem(definition: Definition) -> str:
    """The name of the user's, or of derived code, that the definition binds."""
    return definition.name.partition("%")[0]


# Walks a function with the kinds of its arguments and rewrites it in closed form.
#
# One round walks every reached function once; rounds repeat until no kind, region or definition changes. The last walk
# keeps what it writes: open forms are replaced, decided branches removed, and names that are bound to unrelated values
# are told apart (a *web* is a set of definitions that reach a common use; each becomes one variable with one kind).


class FunctionWalker(Walker):
    """One walk of one instance."""

    def run(self) -> None:
        """Walks the body; on the final round leaves the closed function in the instance's link."""
        params = []
        self.env = {}
        for param, kind in zip(self.instance.source.params, self.instance.params, strict=True):
            params.append(self.bind(param.name, kind, ("param", param.name)))
        body = self.block(self.instance.source.body)
        if self.program.final:
            close(self.instance, params, body, self.program.round)

    def block(self, block: Block) -> Block:
        """Walks statements in order; those that cannot be reached are dropped."""
        saved, self.out = self.out, []
        self.inline(block)
        written, self.out = self.out, saved
        return tuple(written)

    def inline(self, block: Block) -> None:
        """Walks statements, adding to the block in hand."""
        outer = self.statement
        for statement in block:
            if self.env is None:
                break
            self.statement = statement
            if self.program.problems is None:
                _STATEMENTS[type(statement)](self, statement)
            else:
                self._noting(statement, self.program.problems)
        self.statement = outer

    def _noting(self, statement: Statement, problems: list[TangentxError]) -> None:
        """A statement whose refusal is noted, and what it binds has no kind: what follows is walked all the same.

        What is refused in a library's source is told by those who called it."""
        try:
            _STATEMENTS[type(statement)](self, statement)
        except TangentxError as error:
            if is_library(file := self.instance.source.span.file) or is_ours(file):
                raise
            problems.append(error)
            if isinstance(statement, Return | Raise):
                self.env = None
            elif isinstance(statement, Assign | Augment):
                self.bind(statement.target, BOTTOM)

    def read(self, atom: Atom) -> tuple[Atom, Kind]:
        """The atom in closed form and its kind here."""
        if isinstance(atom, Var):
            return self._read_name(atom)
        if isinstance(atom, Lit):
            return atom, constant_kind(self.program.valuer, atom.value)
        return atom, self.program.external(atom)

    def _read_name(self, atom: Var) -> tuple[Atom, Kind]:
        assert self.env is not None
        known = self.env.get(atom.name, ())
        if len(known) == 1 and (only := known[0]) is not None and only.lost is None and only.choice is None:
            if type(only.kind) is Top:
                raise located(only.kind, self.span)
            return only.read, only.kind
        definitions = [d for d in known if d is not None and d.choice is None]
        for definition in definitions:
            if definition.lost is not None:
                raise definition.lost(atom.name, self.span)
        if not definitions and not self.program.final:
            return atom, BOTTOM
        if not definitions:
            raise NotResolved(f"`{atom.name}` is read before it is bound", self.span, "bind it first")
        if choose(self, definitions):
            return atom, BOTTOM
        kind, web = definitions[0].kind, definitions[0].web()
        for definition in definitions[1:]:
            if definition.parent is not web:
                web.unite(definition)
            if definition.kind is not kind:
                kind = join(kind, definition.kind)
        if isinstance(kind, Top):
            raise located(kind, self.span)
        return definitions[0].read, kind

    def walk(self, expr: Expr) -> tuple[Expr, Kind]:
        """An expression in closed form, and its kind here."""
        return expressions.walk(self, expr)

    def call(self, source: Function, link: Link | None, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
        """A call of a function of the language, every argument by position."""
        return calls.call(self, source, link, args)

    def call_object(self, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
        """A call of a known object."""
        return calls.call_object(self, fn, args, kwargs)


def _assign(w: Walker, s: Assign) -> None:
    if type(s.value) is Op and s.value.fn is deleted:
        w.read(Var(s.target))
        assert w.env is not None
        w.env[s.target] = (DELETED,)
        return
    if type(s.value) is Op and s.value.fn is markers.emptied:
        empty(w, s)
        return
    known = w.instance.definitions.get((id(s), s.target))
    if known is not None and known.choice is not None:
        as_chosen(w, s, *known.choice)
        return
    expr, kind = w.walk(s.value)
    if w.env is None or (type(s.value) is Op and s.value.fn in markers.ASKING and type(expr) is Lit):
        return
    target = w.bind(s.target, kind)
    w.out.append(Assign(target, expr, s.span))
    raises = is_missing(w, s.value) if isinstance(s.value, Index) else isinstance(expr, Call) and w.program.final
    raises = raises or (isinstance(expr, Op) and isinstance(expr.fn, Observed))
    if raises and isinstance(kind, Bottom) and not (w.program.final and w.program.problems):
        never(w, Var(target))


def _return(w: Walker, s: Return) -> None:
    value, kind = w.read(s.value)
    joined = join(w.instance.result, kind)
    if isinstance(joined, Top):
        raise located(joined, s.span)
    if joined != w.instance.result:
        w.instance.result = joined
        w.program.world.changed = True
    w.env = None
    w.out.append(Return(value, s.span))


def _raise(w: Walker, s: Raise) -> None:
    value, cause = w.read(s.value)[0], None if s.cause is None else w.read(s.cause)[0]
    w.env = None
    w.out.append(Raise(value, s.span, cause))


_STATEMENTS: dict[type, Callable[[Walker, Any], None]] = {
    Assign: _assign,
    Augment: augment,
    Store: writes.store,
    Augstore: augstore,
    Accumulate: accumulate,
    Append: append,
    Delete: delete,
    If: if_,
    For: for_,
    Loop: loop,
    Break: break_,
    Continue: continue_,
    Return: _return,
    Raise: _raise,
    Note: lambda w, s: w.out.append(s),
}


# Kind inference to a fixed point: all reachable functions are walked, round after round, until no kind changes.

LIMIT_ROUNDS = 200


class Inference(Program):
    """The analysis of a root function and of all that it calls, to a fixed point."""

    def analyse(self, source: Function, kinds: Sequence[Kind]) -> Instance:
        """The root instance, with every instance that it reaches closed. Raises located errors."""
        self.final = False
        settled = False  # the round before found nothing, so an error of this one is no want of knowledge
        root = self.make(source, None, kinds)
        for _ in range(LIMIT_ROUNDS):
            self.world.changed = False
            try:
                self._walk_all(root)
            except TangentxError:
                if settled or not self.final:
                    raise
                self.final = False
                continue
            if self.final and not self.world.changed:
                break
            # What is known now may well be all: the next round is the last, unless it finds something.
            settled = not self.world.changed
            self.final = True
        else:
            raise NotResolved("the kinds of this function do not settle", source.span, "give names one kind each")
        if self.problems is not None:
            return root  # nothing is closed where something was refused
        self._check_links()
        settle_copies(self.world)
        as_tuples(self, root)
        return root

    def walk(self, instance: Instance) -> None:
        """Walks an instance with the kinds that its arguments have so far."""
        FunctionWalker(self, instance).run()

    def _walk_all(self, root: Instance) -> None:
        self.round += 1
        if self.problems is not None:
            self.problems.clear()
        self.world.links, self.world.copies, self.world.given = [], [], []
        self.pending, self.met, self.depth = [root], [root], 0
        root.round = self.round
        taken: dict[Instance, Kind] = {}
        while self.pending:
            self._walk_postponed(self.pending.pop())
            taken.update((instance, instance.result) for instance in self.pending if instance not in taken)
        # Callers of what was postponed walked with the result of the round before: where that was another, once more,
        # callees first, so that results pass through all levels of calls in one round.
        if any(instance.result != result for instance, result in taken.items()):
            for instance in reversed(self.met):
                self.walk(instance)

    def _walk_postponed(self, instance: Instance) -> None:
        """Walks an instance that was met very deep, or is the root; what a library refuses is told by its caller."""
        self.called = instance.called
        try:
            self.walk(instance)
        except TangentxError as error:
            if instance.called is None:
                raise
            raise at_the_call(error, *instance.called) from None

    def _check_links(self) -> None:
        for view, base, span in self.world.links:
            if view.root().written or base.root().written:
                hint = "copy the view, or write before it is taken"
                message = "a read-only view of an array that is written elsewhere"
                raise UnsupportedSyntax(message, self._at_the_users(span), hint)

    def _at_the_users(self, span: Span) -> Span:
        """The place itself, or of one in a function of a library the place where the user called that."""
        if not (is_library(span.file) or is_ours(span.file)):
            return span
        inside = (i for i in self.met if i.called and any(s.span == span for s in statements(i.source.body)))
        instance = next(inside, None)
        return span if instance is None or instance.called is None else instance.called[1]
