"""Checkpointed calls: not recorded, but executed again in the reverse sweep."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.arguments import bind
from tangentx.analysis.infer.functions import external, items, value_class
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Kind, Obj, describe
from tangentx.arrays.schedules import checkpointed
from tangentx.common import user_rules
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.functions import Closure, function_of
from tangentx.ir.nodes import Atom, Call, Expr, Function, Lit

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]


def taken(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of ``tx.checkpoint``, or of a function that it wrapped; None for the call of another function."""
    if fn is checkpointed:
        hint = "write `for t in tx.checkpointed(range(n)):`"
        raise UnsupportedSyntax("`checkpointed` is for what a `for` statement iterates over", w.span, hint)
    found = user_rules.checkpointed(fn)
    if not found:
        return None
    (inner,) = found
    if inner is not None:
        return _of_object(w, inner, args, kwargs)
    if len(args) < 2 or kwargs:
        hint = "call it with the arguments: `tx.checkpoint(f, x)`, or wrap the function where it is defined"
        raise UnsupportedSyntax(
            "`checkpoint` is called without the arguments of its function inside a differentiated function",
            w.span,
            hint,
        )
    kind = w.read(args[0])[1]
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    if isinstance(kind, Obj):
        return _of_object(w, kind.value, args[1:], ())
    cls = value_class(kind)
    if cls is None or not issubclass(cls, Closure):
        hint = "give it a function that is written with `def`, or a lambda: `lambda x: model.step(x)`"
        raise UnsupportedSyntax(f"`checkpoint` of {describe(kind)} is not differentiated", w.span, hint)
    source = function_of(cls)
    return _call(w, source, bind(w, source, (*items(w, args[0], cls.captured), *args[1:]), ()))


def _of_object(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    owner: tuple[Any, ...] = ()
    while any(user_rules.checkpointed(fn)):
        (fn,) = user_rules.checkpointed(fn)  # run again once, however often it is wrapped
    if hasattr(fn, "__tangentx_target__"):
        fn, owner = fn.__tangentx_target__()
    elif isinstance(fn, types.MethodType):
        fn, owner = fn.__func__, (fn.__self__,)
    if not isinstance(fn, types.FunctionType):
        return w.call_object(fn, args, kwargs)  # one operation, which keeps no more than its arguments
    source = w.program.lift(fn)
    return _call(w, source, bind(w, source, (*(external(w, x, "self") for x in owner), *args), kwargs))


def _call(w: Walker, source: Function, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    called, kind = w.call(w.program.checkpoints.source(source), None, args)
    if isinstance(called, Call):
        w.program.checkpoints.links[called.link] = None
    return called, kind
