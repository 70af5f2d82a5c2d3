"""``try`` statements: the kinds of what they bind, and the proof that they do not take part in the derivative."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import value_class
from tangentx.analysis.infer.opaque_calls import UNKNOWN
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Box, Kind, Num, Obj, Some, join, varied
from tangentx.analysis.types.primitives import acts
from tangentx.errors import NotResolved, Span, UnsupportedSyntax
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Call,
    Delete,
    Expr,
    Function,
    Lit,
    Make,
    Op,
    Pop,
    Raise,
    Store,
    Var,
)
from tangentx.ir.opaque_ops import NOTE, TRIAL, Attempt, live
from tangentx.ir.walk import atoms, reads, statements

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

HINT = "test the condition before with if, or move the statement into a function that is marked @tx.primitive"


def attempt(w: Walker, tried: Attempt, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """A ``try`` statement: given all the names in it that have values here, it gives what it binds.

    One that binds what is differentiated is a trial and branches from the next round on.
    """
    active = ("active", tried.span)
    if not tried.trial and active in w.instance.backs:
        return expanded(w, active, lambda: _otherwise(w, tried))
    if tried.given is None:
        assert w.env is not None
        known = tuple(n for n in tried.names() if any(d is not None for d in w.env.get(n, ())))
        tried, args = tried.with_given(known), tuple(Var(n) for n in known)
    read = [w.read(a) for a in args]
    kinds = [_any(k) for _, k in read]
    _demand_no_functions(tried, kinds)
    paths = w.instance.backs.setdefault(("attempt", tried), tried.paths())
    result: Kind = BOTTOM
    for path in paths:
        result = join(result, w.program.call(path, None, [*kinds, Num(int), UNKNOWN]).result)
    if varied(result):
        if not tried.otherwise:
            raise UnsupportedSyntax("a try statement binds a value that is differentiated", tried.span, HINT)
        w.instance.backs[active] = tried
        w.program.world.changed = True
        return Lit(None), BOTTOM
    return Op(tried, tuple(a for a, _ in read)), result


def _otherwise(w: Walker, tried: Attempt) -> Block:
    """The trial and the branches, and what they bind as the statement does."""
    made, results = w.temporary(), tuple(Var(name) for name in tried.results)
    whole = results[0] if len(results) == 1 else Make(tuple, results)
    return (*tried.otherwise, Assign(made, whole, tried.span))


def _demand_no_functions(tried: Attempt, kinds: list[Kind]) -> None:
    """Refuses a statement that reads a function defined in a function: its text would call what is a tuple there."""
    for name, kind in zip(tried.given or (), kinds, strict=True):
        if value_class(kind) is not None:
            message = f"a try statement that uses `{name}`, a function that is defined while this one runs"
            hint = "define it at the top of the module and pass it what it needs, or test the condition before with if"
            raise UnsupportedSyntax(message, tried.span, hint)


def _any(kind: Kind) -> Kind:
    """The kind without the value of a number or a text: what is tried may fail for one and not for another."""
    if isinstance(kind, Num) and kind.type is not bool:
        return replace(kind, value=MISSING)
    return Some(str) if isinstance(kind, Obj) and isinstance(kind.value, str) else kind


def demand_apart(program: Program) -> None:
    """Refuses a ``try`` statement that writes into what others hold. Raises `UnsupportedSyntax`."""
    for instance in program.reached():
        span = instance.source.notes.get(NOTE)
        if span is None:
            continue
        error = None
        if _writes(program, instance, set()):
            error = UnsupportedSyntax("a try statement writes into a list, a dict or an array", span, HINT)
        elif instance.source.notes[TRIAL] and _has_effects(program, instance, set()):
            what = "a try statement that has effects, and binds what is differentiated or is left from inside"
            error = UnsupportedSyntax(what, span, "do what has effects before or after it")
        if error is not None:
            error.through = _around(program, span)
            raise error


def demand_unread(program: Program) -> None:
    """Refuses to read an exception that is made of what is differentiated, or raised where a function runs on Tensors:
    it may end the program or be caught, but what stands in it has no derivative. Raises `NotResolved`."""
    alone = next((helper.error for helper in program.on_tensors.values() if helper.met), None)
    if not (program.world.exceptions or alone):
        return
    functions = [(i, i.link.function) for i in program.reached() if i.link.function is not None]
    asked = any(_asks(tried) for _, function in functions for tried in _attempts(function))
    if asked and alone is not None:
        raise alone
    message = "what stands in an exception is not differentiated, and here it depends on what is"
    hint = "give the exception a text, and return the number beside it"
    for instance, function in functions:
        assigned = [s for s in statements(function.body) if isinstance(s, Assign)]
        made = {s.target: s.span for s in assigned if _makes_exception(instance, s.value)}
        for span in made.values() if asked else _kept(function, made):
            error = NotResolved(message, span, hint)
            error.through = () if asked else _around(program, span)
            raise error


def _attempts(function: Function) -> list[Attempt]:
    """The ``try`` statements of a function."""
    values = (s.value for s in statements(function.body) if isinstance(s, Assign))
    return [value.fn for value in values if isinstance(value, Op) and isinstance(value.fn, Attempt)]


def _asks(tried: Attempt) -> bool:
    """Whether a handler reads the exception that it catches."""
    return any(handler.name in live(handler.block, set()) for handler in tried.handlers)


def _makes_exception(instance: Instance, value: Expr) -> bool:
    """Whether it makes an exception of what varies."""
    if not (isinstance(value, Op) and isinstance(value.fn, type) and issubclass(value.fn, BaseException)):
        return False
    return any(varied(instance.kinds[a.name]) for a in atoms(value) if isinstance(a, Var))


def _kept(function: Function, made: dict[str, Span]) -> list[Span]:
    """Where the exceptions of these names are made, of which there is another use than that they are raised."""
    read = (name for s in statements(function.body) if not isinstance(s, Raise) for name in reads(s)) if made else ()
    return [made[name] for name in read if name in made]


def _has_effects(program: Program, instance: Instance, seen: set[Instance]) -> bool:
    """Whether the function, or one that it calls, does what may be seen where it is done twice."""
    if instance in seen or instance.link.function is None:
        return False
    seen.add(instance)
    links = {other.link: other for other in program.reached()}
    values = [s.value for s in statements(instance.link.function.body) if isinstance(s, Assign)]
    inside = (links[value.link] for value in values if isinstance(value, Call))
    return any(map(acts, values)) or any(_has_effects(program, other, seen) for other in inside)


def _around(program: Program, span: Span) -> tuple[Any, ...]:
    """The functions in whose text the place is, the innermost first."""
    found = [
        function
        for function, code, lifted in program.lifted.values()
        if lifted.span.file == span.file and lifted.span.line <= span.line <= max(n for *_, n in code.co_lines() if n)
    ]
    return tuple(sorted(found, key=lambda function: -function.__code__.co_firstlineno))


def _writes(program: Program, instance: Instance, seen: set[Instance]) -> bool:
    """Whether anything that was not made in the function, or in one that it calls, is written there."""
    if instance in seen or instance.link.function is None:
        return False
    seen.add(instance)
    links = {other.link: other for other in program.reached()}
    for s in statements(instance.link.function.body):
        base: Atom | None = s.base if isinstance(s, Store | Accumulate | Append | Delete) else None
        if isinstance(s, Assign) and isinstance(s.value, Pop):
            base = s.value.base
        if isinstance(s, Assign) and isinstance(s.value, Call) and _writes(program, links[s.value.link], seen):
            return True
        kind = instance.kinds.get(base.name) if isinstance(base, Var) else None
        if base is not None and not (isinstance(kind, Arr | Box) and _own(instance, kind)):
            return True
    return False


def _own(instance: Instance, kind: Arr | Box) -> bool:
    """Whether memory of the kind can only have been made in the function itself."""
    node = kind.region.root()
    given = [k.region.root() for k in (*instance.params, instance.result) if isinstance(k, Arr | Box)]
    return not node.external and node not in given and any(r.root() is node for r in instance.regions.values())
