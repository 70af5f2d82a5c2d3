"""Method calls, dispatched by the kind of the receiver."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer import members, opaque_calls
from tangentx.analysis.infer.calls import call_object, called
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.library import distributions, operator_calls
from tangentx.analysis.library.array_writes import writing
from tangentx.analysis.library.container_methods import container_method
from tangentx.analysis.types.kinds import (
    BOTTOM,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Some,
    describe,
    is_elsewhere,
    is_inexact,
    varied,
)
from tangentx.analysis.types.primitives import is_primitive
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.nodes import Apply, Assign, Attr, Block, Expr, Lit, Method, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def method(w: Walker, expr: Method) -> tuple[Expr, Kind]:
    """A call of a method."""
    return called(w, expr, lambda given: _method(w, given), lambda given, named: None)


def _method(w: Walker, expr: Method) -> tuple[Expr, Kind]:
    atom, kind = w.read(expr.base)
    match kind:
        case Bottom():
            return Lit(None), BOTTOM
        case Arr() | Num() if expr.name == "__class__":
            return expanded(w, "called", lambda: _called(w, expr))
        case Arr():
            return _array_method(w, expr, kind)
        case Num(type=t):
            fn = getattr(t, expr.name, None)
            known = templates.find(fn) is not None or templates.has_composition(fn)
            if fn is not None and (known or not kind.varied):
                return _not_as_bytes(w, fn, kind, w.walk(Op(fn, (expr.base, *expr.args), expr.kwargs)))
        case Box(cls=cls) if cls in (list, dict, tuple) and (spelled := _special(w, cls, expr)) is not None:
            return spelled
        case Box(cls=cls) if cls in (list, dict):
            return container_method(w, expr, atom, kind)
        case Box(cls=cls):
            meant = distributions.of_held(w, expr, kind)
            return members.method(w, expr, kind) if meant is None else call_object(w, *meant)
        case Obj(value=type() as cls) if expr.above is not None:
            found = members.found_in(w, cls, expr.name, expr.above.value)
            if isinstance(found, classmethod):
                return call_object(w, found.__func__, (expr.base, *expr.args), expr.kwargs)
        case Obj(value=str()) | Some(cls=builtins.str) if hasattr(str, expr.name):
            return w.walk(Op(getattr(str, expr.name), (expr.base, *expr.args), expr.kwargs))
        case Some(cls=cls):
            if opaque_calls.is_draw(w, cls, expr.name, expr.args, expr.kwargs):
                return call_object(w, getattr(cls, expr.name), (expr.base, *expr.args), expr.kwargs)
            return expanded(w, "called", lambda: _called(w, expr))
        case Obj(value=value) if hasattr(value, expr.name):
            w.program.member(value, expr.name)
            return call_object(w, getattr(value, expr.name), expr.args, expr.kwargs)
    raise NotResolved(
        f"cannot tell what method `{expr.name}` of {describe(kind)} does", w.span, "call a function instead"
    )


def _called(w: Walker, expr: Method) -> Block:
    """A method of an opaque object: looked up, then called."""
    found, result = w.temporary(), w.temporary()
    call = Apply(Var(found), expr.args, expr.kwargs)
    return (Assign(found, Attr(expr.base, expr.name), w.span), Assign(result, call, w.span))


def _special(w: Walker, cls: type, expr: Method) -> tuple[Expr, Kind] | None:
    """A special method that stands for an operator or a statement."""
    return operator_calls.taken(w, getattr(cls, expr.name, None), (expr.base, *expr.args), expr.kwargs)


def _array_method(w: Walker, expr: Method, kind: Arr) -> tuple[Expr, Kind]:
    if expr.name == "get" and not expr.args and is_elsewhere(kind):
        return w.walk(Op(arrays.to_host, (expr.base,)))
    fn = getattr(np.ndarray, expr.name, None)
    other = _other_parts(w, expr, kind) if expr.name == "view" else None
    if other is not None:
        return w.walk(Op(other, (expr.base,)))
    into = writing(w, fn, (expr.base, *expr.args), expr.kwargs) or _special(w, np.ndarray, expr)
    if into is not None:
        return into
    if fn is None or not is_primitive(fn):
        raise UnsupportedSyntax(
            f"method `{expr.name}` of an array is not differentiated",
            w.span,
            "use a function that returns its result, or write by index",
        )
    return _not_as_bytes(w, fn, kind, w.walk(Op(fn, (expr.base, *expr.args), expr.kwargs)))


def _other_parts(w: Walker, expr: Method, kind: Arr) -> Any:
    """What ``a.view(dtype)`` of real numbers as complex ones is, or the other way; None for any other view."""
    given = [a for n, a in expr.kwargs if n == "dtype"] if not expr.args else list(expr.args)
    if len(given) != 1 or len(expr.args) + len(expr.kwargs) != 1:
        return None
    atom, found = w.read(given[0])
    dtype: Any = found.value if isinstance(found, Obj) else atom.value if isinstance(atom, Lit) else None
    try:
        wanted = np.dtype(dtype) if dtype is not None else kind.dtype
    except TypeError:
        return None
    if wanted == kind.dtype:
        return np.ndarray.view if dtype is not None else None
    if kind.dtype.kind == "c" and wanted == np.empty(0, kind.dtype).real.dtype:
        return arrays.as_reals
    return arrays.as_complex if kind.dtype.kind == "f" and wanted == np.result_type(kind.dtype, 1j) else None


def _not_as_bytes(w: Walker, fn: Any, kind: Kind, found: tuple[Expr, Kind]) -> tuple[Expr, Kind]:
    """What a method gives. Raises UnsupportedSyntax for the bytes of real numbers as whole ones: a number that is made
    of those again would count as a constant."""
    if getattr(fn, "__name__", "") == "view" and varied(kind) and not is_inexact(found[1]):
        message = "the bytes of numbers that are differentiated are read as whole numbers"
        raise UnsupportedSyntax(message, w.span, "calculate with the values, as `np.frexp` and `np.ldexp` do")
    return found
