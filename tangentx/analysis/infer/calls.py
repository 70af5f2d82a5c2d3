"""Calls: resolves the callee by its kind, binds the arguments; compositions stand for library functions."""

from __future__ import annotations

import functools
import math
import operator
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentx import arrays
from tangentx.analysis.infer import constant_calls, inner_derivatives, opaque_calls, special_calls
from tangentx.analysis.infer.arguments import Called, Misfit, Room, bind, room_by_signature, room_of, spread
from tangentx.analysis.infer.calling_conventions import is_quiet
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import call_chosen, external, items, same_memory, unfolded, value_class
from tangentx.analysis.infer.inlining import INLINED, at_the_call, standin
from tangentx.analysis.infer.objects import construct
from tangentx.analysis.infer.special_methods import defines
from tangentx.analysis.library import distributions, numpy_models, operator_calls, solvers, standard_library
from tangentx.analysis.library.array_writes import writing
from tangentx.analysis.library.container_methods import made_dict
from tangentx.analysis.library.flat_iterator import numbered
from tangentx.analysis.library.higher_order import call_either, call_higher
from tangentx.analysis.library.standard_library import made
from tangentx.analysis.memory.ownership import forget_of_callee
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Either,
    Kind,
    Num,
    Obj,
    Some,
    describe,
    varied,
)
from tangentx.analysis.types.primitives import is_primitive, name_of
from tangentx.common.class_aliases import class_behind
from tangentx.common.naming import public_name
from tangentx.errors import NotDifferentiable, NotResolved, TangentxError, is_ours
from tangentx.ir.functions import BoundMethod, Chosen, Closure, Derived, Partial, function_of
from tangentx.ir.nodes import (
    Apply,
    Assign,
    Atom,
    Block,
    Call,
    Expr,
    Function,
    If,
    Link,
    Lit,
    Make,
    Method,
    Op,
    Raise,
    Statement,
    Var,
)
from tangentx.ir.walk import statements
from tangentx.templates import stands_in_place

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Calls: resolves the callee by its kind and binds the arguments.


def apply(w: Walker, expr: Apply) -> tuple[Expr, Kind]:
    """A call of what an atom holds."""
    _, kind = w.read(expr.fn)
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    cls = value_class(kind)
    if cls is not None and issubclass(cls, Chosen):
        return call_chosen(w, cls, expr)
    if cls is not None:
        return called(w, expr, lambda given: call_value(w, kind, given), _room_of_value(w, expr, kind))
    if isinstance(kind, Either):
        return call_either(w, kind, expr)
    if isinstance(kind, Some) and (kind == opaque_calls.UNKNOWN or "__call__" in dir(kind.cls)):
        return _unknown(w, expr.fn, expr.args, expr.kwargs)
    if isinstance(kind, Box):
        for name in ("__tangentx_call__", "__call__"):
            if defines(w, kind, name):
                return w.walk(Method(expr.fn, name, expr.args, expr.kwargs, expr.stars))
    if not isinstance(kind, Obj):
        raise NotResolved(f"cannot call {describe(kind)}", w.span, "call a function that is known when it is compiled")
    return called(
        w,
        expr,
        lambda given: call_object(w, kind.value, given.args, given.kwargs, given.fn),
        _room(w, expr, kind.value),
    )


def _unknown(w: Walker, callee: Atom, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of code that is not read."""
    kind = w.read(callee)[1]
    if is_quiet(w.instance.source) and isinstance(kind, Obj) and opaque_calls.shows(kind.value):
        return Lit(None), Obj(None)
    if constant_calls.active(w):
        return constant_calls.call(w, callee, args, kwargs)
    return opaque_calls.call(w, callee, args, kwargs)


def called(w: Walker, expr: Called, go: Callable[[Called], tuple[Expr, Kind]], room: Room) -> tuple[Expr, Kind]:
    """The call with its starred arguments taken apart; where the arguments do not fit, what Python raises."""
    try:
        given = spread(w, expr, room)
        return (Lit(None), BOTTOM) if given is None else go(given)
    except Misfit as error:
        return _misfits(w, error.reason)


def _misfits(w: Walker, reason: str) -> tuple[Expr, Kind]:
    def build() -> Block:
        error = w.temporary()
        return (Assign(error, Op(TypeError, (Lit(reason),)), w.span), Raise(Var(error), w.span))

    w.expand(("misfit", reason), build)
    return Lit(None), BOTTOM


def _room(w: Walker, expr: Apply | Method, fn: Any) -> Room:
    """How many arguments a function of the user's takes; asked only where some are starred."""
    first = 0
    if isinstance(fn, types.MethodType):
        fn, first = fn.__func__, 1
    if not expr.stars:
        return lambda given, named: None
    if not isinstance(fn, types.FunctionType):
        return room_by_signature(fn)
    lift = w.program.loosely if fn in w.program.on_tensors else w.program.lift
    return room_of(lift(fn), first)


def call_value(w: Walker, kind: Kind, expr: Apply) -> tuple[Expr, Kind]:
    """A call of a function value."""
    cls = value_class(kind)
    if cls is not None and issubclass(cls, Closure):
        source = function_of(cls)
        return call(w, source, None, bind(w, source, (*items(w, expr.fn, cls.captured), *expr.args), expr.kwargs))
    if cls is not None and issubclass(cls, BoundMethod):
        (owner,) = items(w, expr.fn, 1)
        return w.walk(Method(owner, cls.name, expr.args, expr.kwargs))
    if cls is not None and issubclass(cls, Derived):
        return inner_derivatives.call_made(w, cls, expr)
    assert cls is not None and issubclass(cls, Partial)
    inner, *held = items(w, expr.fn, 1 + cls.positional + len(cls.names))
    named = dict(zip(cls.names, held[cls.positional :], strict=True)) | dict(expr.kwargs)
    return apply(w, Apply(inner, (*held[: cls.positional], *expr.args), tuple(named.items())))


def _room_of_value(w: Walker, expr: Apply, kind: Kind) -> Room:
    cls = value_class(kind)
    if expr.stars and cls is not None and issubclass(cls, Closure):
        return room_of(function_of(cls), cls.captured)
    return lambda given, named: None


def call_object(
    w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named, callee: Atom | None = None
) -> tuple[Expr, Kind]:
    """A call of a known object, which the atom `callee` holds if there is one."""
    if (cls := class_behind(fn)) is not fn:
        return call_object(w, cls, args, kwargs)
    here = numpy_models.asked(w, fn, args) or operator_calls.spelled(w, fn, args, kwargs)
    if here is not None:
        return here
    fn = numpy_models.meant(fn, [w.read(a)[1] for a in (*args, *(a for _, a in kwargs))]) or fn
    return _call_known(w, fn, args, kwargs, callee)


def _call_known(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named, callee: Atom | None) -> tuple[Expr, Kind]:
    """As `call_object`, of a function of NumPy's, or of no library of arrays."""
    if opaque_calls.is_opaque(fn):
        return _opaque(w, fn, args, kwargs, callee or external(w, fn, name_of(fn)))
    frozen = distributions.held(w, fn, args, kwargs)
    if frozen is not None:
        return frozen
    meant = distributions.meant(w, fn, args, kwargs)
    if meant is not None:
        return call_object(w, *meant)
    if isinstance(fn, types.MethodType) and is_primitive(fn):  # a method of one object of a library, with a rule
        return w.walk(Op(fn, args, kwargs))
    distributions.demand_constant(w, fn, (*args, *(a for _, a in kwargs)))
    if isinstance(fn, types.MethodType) and callee is not None and constant_calls.applies(w, fn, args, kwargs):
        return constant_calls.call(w, callee, args, kwargs)
    if isinstance(fn, types.MethodType):
        owner = external(w, fn.__self__, "self")
        return call_object(w, fn.__func__, (owner, *args), kwargs)
    taken = special_calls.taken(w, fn, args, kwargs) or inner_derivatives.taken(w, fn, args, kwargs)
    if taken is not None:
        return taken
    if hasattr(fn, "__tangentx_target__"):
        function, owner = fn.__tangentx_target__()
        objects = tuple(external(w, value, "self") for value in owner)
        return call_python(w, function, (*objects, *args), kwargs)
    instead = _modelled(w, fn, args, kwargs)
    if instead is not None:
        return instead
    if fn in (list, tuple, set, frozenset) or is_primitive(fn):
        return w.walk(Op(fn, args, kwargs))
    return _call_code(w, fn, args, kwargs, callee)


def _modelled(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of a function of a library of which there is a model; None for any other."""
    written = call_higher(w, fn, args, kwargs) or solvers.taken(w, fn, args, kwargs)
    if written is not None:
        return written
    if fn is dict and len(args) < 2:
        return made_dict(w, args, kwargs)
    into = writing(w, fn, args, kwargs) or numbered(w, fn, args) or made(w, fn, args, kwargs)
    return into if into is not None else _standing_in(w, fn, args, kwargs)


def _opaque(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named, callee: Atom) -> tuple[Expr, Kind]:
    """A call of code that is not read: a draw by parameters that vary is made of standard numbers."""
    owner = getattr(fn, "__self__", None)
    if opaque_calls.is_draw(w, type(owner), name_of(fn), args, kwargs):
        return call_object(w, getattr(type(owner), name_of(fn)), (external(w, owner, "rng"), *args), kwargs)
    return _unknown(w, callee, args, kwargs)


def _call_code(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named, callee: Atom | None) -> tuple[Expr, Kind]:
    """A call of a function or class of which nothing is known but its code, if that."""
    if constant_calls.applies(w, fn, args, kwargs):
        return constant_calls.call(w, callee or external(w, fn, name_of(fn)), args, kwargs)
    if isinstance(fn, types.FunctionType):
        return call_python(w, fn, args, kwargs)
    if isinstance(fn, _CACHED):
        return _cached(w, fn, args, kwargs, callee or external(w, fn, name_of(fn)))
    if isinstance(fn, type):
        if not opaque_calls.is_closed(fn):
            return _constructed(w, fn, args, kwargs)
        opaque = _unknown(w, callee or external(w, fn, name_of(fn)), args, kwargs)
        return opaque or construct(w, fn, args, kwargs)
    return _unknown(w, callee or external(w, fn, name_of(fn) or "f"), args, kwargs)


def _constructed(w: Walker, cls: type, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """An object made by a call of its class."""
    try:
        return construct(w, cls, args, kwargs)
    except TangentxError as error:
        init = w.program.member(cls, "__init__")
        raise (at_the_call(error, init, w.span, cls) if isinstance(init, types.FunctionType) else error) from None


def _standing_in(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of what we have written ourselves, or of a function in whose place we have; None for any other."""
    if isinstance(fn, types.FunctionType) and fn in INLINED:
        return standin(w, fn, args)
    if fn is arrays.made_of:
        _, cls = w.read(args[0])
        assert isinstance(cls, Obj)
        return w.walk(Make(cls.value, tuple(a for _, a in kwargs), tuple(name for name, _ in kwargs)))
    if fn in (max, min) and len(args) == 1 and _is_dict(w.read(args[0])[1]):
        return _of_keys(w, fn, args[0], kwargs)
    if fn in (max, min) and len(args) > 1 and not kwargs and any(_is_written(w.read(a)[1]) for a in args):
        return _extreme(w, fn, args)
    if fn in (max, min) and "key" not in dict(kwargs) and _are_rows(w, args):
        return w.walk(Apply(external(w, fn, fn.__name__), args, (*kwargs, ("key", external(w, itself, "itself")))))
    ours: Callable[..., Any] | None = None
    if isinstance(fn, types.BuiltinMethodType) and fn == dict.fromkeys:
        ours = standard_library.from_keys
    elif fn is sum and _starts_with_box(w, args, kwargs):
        ours, kwargs = standard_library.joined, tuple((_SUM.get(name, name), a) for name, a in kwargs)
    elif fn is math.prod and any(varied(w.read(a)[1]) for a in args):
        ours = standard_library.product
    return None if ours is None else standin(w, ours, bind(w, w.program.library(ours), args, kwargs))


_SUM = {"iterable": "rows"}


def _starts_with_box(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> bool:
    """Whether a sum starts with a list or a tuple, so that it joins others to it."""
    start = dict(kwargs).get("start", args[1] if len(args) == 2 else None)
    kind = w.read(start)[1] if start is not None else BOTTOM
    return isinstance(kind, Box) and kind.cls in (list, tuple)


def _are_rows(w: Walker, args: tuple[Atom, ...]) -> bool:
    """Whether tuples or lists are compared: one of them is chosen, and equal ones do not share as numbers do."""
    kinds = [w.read(a)[1] for a in args]
    if len(kinds) == 1 and isinstance(kinds[0], Box) and kinds[0].cls in (list, tuple):
        kinds = [kinds[0].region.any()]
    return any(isinstance(kind, Box) and kind.cls in (list, tuple) for kind in kinds)


def itself(row: Any) -> Any:
    """The key by which rows are compared."""
    return row


def _is_dict(kind: Kind) -> bool:
    return isinstance(kind, Box) and kind.cls is dict


def _of_keys(w: Walker, fn: Any, table: Atom, kwargs: Named) -> tuple[Expr, Kind]:
    """A call of ``max`` or ``min`` that is given a dict goes over its keys."""

    def build() -> Block:
        found = Assign(w.temporary(), Op(list, (table,)), w.span)
        call = Apply(external(w, fn, fn.__name__), (Var(found.target),), kwargs)
        return found, Assign(w.temporary(), call, w.span)

    return expanded(w, ("keys", fn.__name__, table), build)


def _is_written(kind: Kind) -> bool:
    return isinstance(kind, Arr) and kind.region.root().written


def _extreme(w: Walker, fn: Any, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """A call of ``max`` or ``min`` gives one of its arguments itself: of arrays that are written, which one counts."""

    def build() -> Block:
        found, last = w.temporary(), w.temporary()
        out: list[Statement] = [Assign(found, args[0], w.span)]
        for a in args[1:]:
            better = w.temporary()
            out.append(Assign(better, Op(operator.gt if fn is max else operator.lt, (a, Var(found))), w.span))
            out.append(If(Var(better), (Assign(found, a, w.span),), (), w.span))
        return (*out, Assign(last, Var(found), w.span))

    return expanded(w, ("extreme", fn.__name__, args), build)


_CACHED = type(functools.lru_cache(abs))


def _cached(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named, callee: Atom) -> tuple[Expr, Kind]:
    """A function with a cache: asked as it is where no derivative is wanted and it answers with a plain value."""
    given = [w.read(a) for a in (*args, *(a for _, a in kwargs))]
    kinds = [k for _, k in given]
    read = isinstance(fn.__wrapped__, types.FunctionType)
    if not read or w.program.aside or any(varied(k) or isinstance(k, Arr | Box | Bottom) for k in kinds):
        return call_object(w, fn.__wrapped__, args, kwargs)
    source = w.program.lift(fn.__wrapped__)
    kind = w.program.result_aside(source, [_argument(w.read(a)[1]) for a in bind(w, source, args, kwargs)])
    if not isinstance(kind, Num | Obj | Some):
        return call_object(w, fn.__wrapped__, args, kwargs)
    named = tuple((name, w.read(a)[0]) for name, a in kwargs)
    return Op(operator.call, (w.read(callee)[0], *(a for a, _ in given[: len(args)])), named), kind


def call_python(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of one of the user's functions."""
    if fn in w.program.on_tensors:
        return special_calls.call(w, fn, args, kwargs)
    try:
        source = w.program.lift(fn)
        given = bind(w, source, args, kwargs)
        with w.program.calling(fn, source.span.file, w.span):
            return call(w, source, None, given)
    except TangentxError as error:
        error.through = (*error.through, fn)
        raise at_the_call(error, fn, w.span) from None


def call(w: Walker, source: Function, link: Link | None, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """A call with every argument by position.

    Numbers are forgotten, but for whole ones that are given to functions of ours: an axis decides what these do.
    """
    if link is None and is_quiet(w.instance.source):
        source = w.program.quiet(source)
    source, args, functions = unfolded(w, source, args) if link is None else (source, args, {})
    read = [w.read(a) for a in args]
    exact = source.span is not None and is_ours(source.span.file)
    kinds = [k if exact and isinstance(k, Num) and k.type is int else _argument(k) for _, k in read]
    if any(isinstance(k, Bottom) for k in kinds) and link is None:
        return Lit(None), BOTTOM
    instance = w.program.call(source, link, kinds)
    forget_of_callee(w, instance)
    if link in w.program.checkpoints.links:  # it was closed before, and is walked again
        w.program.checkpoints.links[instance.link] = None
    same_memory(w, instance, source, functions)
    return Call(instance.link, tuple(a for a, _ in read)), instance.result


def _argument(kind: Kind) -> Kind:
    """A number's value is forgotten at a call, so that a helper is compiled once for all of them."""
    if isinstance(kind, Num) and kind.type is not bool:
        return replace(kind, value=MISSING)
    return kind


# Calls of library functions that are defined by compositions; refusals inside one point at the user's call.

Named = tuple[tuple[str, Atom], ...]


def in_terms_of(
    w: Walker, body: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named, fn: Any = None
) -> tuple[Expr, Kind]:
    """The call of a composition's `body`, which stands for `fn`. Raises at the call what is raised inside, whatever the
    arguments' values."""
    if stands_in_place(body):
        return standin(w, body, bind(w, w.program.library(body), args, kwargs))
    try:
        call, result = call_python(w, body, args, kwargs)
    except TangentxError as error:
        if error.span is None or error.span.file != body.__code__.co_filename:
            raise
        raise type(error)(_of(w, fn, error.message), w.span, error.hint) from None
    given = [w.read(a)[1] for a in (*args, *(a for _, a in kwargs))]
    if w.program.final and isinstance(result, Bottom) and not any(isinstance(k, Bottom) for k in given):
        raise _refusal(w, body, call, fn)
    return call, result


def _of(w: Walker, fn: Any, message: str) -> str:
    """The message, with the name of the function that the user called if it speaks of another."""
    span = w.instance.source.span
    name = public_name(fn) if fn is not None and span is not None and not is_ours(span.file) else ""
    return message if not name or name.rpartition(".")[2] in re.findall(r"\w+", message) else f"`{name}`: {message}"


def _refusal(w: Walker, body: Callable[..., Any], call: Expr, fn: Any) -> NotDifferentiable:
    """What a body says that always raises, itself or by a function that it calls."""
    for raised in _raised(call, []):
        texts = [str(a.value) for a in (*raised.args, *(a for _, a in raised.kwargs)) if isinstance(a, Lit)]
        return NotDifferentiable(_of(w, fn, texts[0]), w.span, texts[1])
    return NotDifferentiable(f"`{body.__name__}` has no derivative for these arguments", w.span, "write it out")


def _raised(call: Expr, seen: list[Function]) -> Iterator[Op]:
    """The errors that a called function makes, in order."""
    function = call.link.function if isinstance(call, Call) else None
    if function is None or any(function is each for each in seen):
        return
    seen.append(function)
    for s in statements(function.body):
        if isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn is NotDifferentiable:
            yield s.value
        elif isinstance(s, Assign):
            yield from _raised(s.value, seen)
