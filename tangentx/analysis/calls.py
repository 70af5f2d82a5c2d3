"""Calls: the callee found by its kind, its arguments put in order."""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import TYPE_CHECKING, Any

from tangentx.analysis.kinds import BOTTOM, MISSING, Bottom, Box, Kind, Num, Obj, describe
from tangentx.analysis.primitives import is_primitive
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.nodes import Apply, Assign, Atom, Call, Expr, Ext, Function, Link, Lit, Make, Op, Param, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


Named = tuple[tuple[str, Atom], ...]


def apply(w: Walker, expr: Apply) -> tuple[Expr, Kind]:
    """A call of what an atom holds."""
    _, kind = w.read(expr.fn)
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    if not isinstance(kind, Obj):
        raise NotResolved(f"cannot call {describe(kind)}", w.span, "call a function that is known when it is compiled")
    return call_object(w, kind.value, expr.args, expr.kwargs)


def call_object(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of a known object."""
    if isinstance(fn, types.MethodType):
        owner = _external(w, fn.__self__, "self")
        return call_object(w, fn.__func__, (owner, *args), kwargs)
    if hasattr(fn, "__tangentx_function__"):
        return _derived(w, fn, args, kwargs)
    if hasattr(fn, "__tangentx_outside__"):
        raise UnsupportedSyntax(f"`{fn.__name__}` inside a differentiated function", w.span, fn.__tangentx_outside__)
    if hasattr(fn, "__tangentx_static__"):
        return _static(w, fn, args, kwargs)
    if hasattr(fn, "__tangentx_target__"):
        function, owner = fn.__tangentx_target__()
        objects = tuple(_external(w, value, "self") for value in owner)
        return call_python(w, function, (*objects, *args), kwargs)
    if fn in (list, tuple) or is_primitive(fn):
        return w.walk(Op(fn, args, kwargs))
    if isinstance(fn, types.FunctionType):
        return call_python(w, fn, args, kwargs)
    if isinstance(fn, type):
        return _construct(w, fn, args, kwargs)
    name = getattr(fn, "__qualname__", None)
    what = f"`{name}`" if name else f"an object of class `{type(fn).__name__}`"
    raise NotResolved(
        f"{what} has no source that can be read and no derivative rule",
        w.span,
        "write it in Python and NumPy, or compute it outside the differentiated function",
    )


def _external(w: Walker, value: Any, tag: str) -> Ext:
    key = (id(value), "object", tag)
    backs = w.program.__dict__.setdefault("objects", {})
    if key not in backs:
        backs[key] = Ext(tag, value, ("object",), value)
    result: Ext = backs[key]
    return result


def _derived(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A derivative taken inside the user's program: its derived function is called like any other."""
    order, owner = fn.__tangentx_order__(w.program)
    objects = tuple(_external(w, value, "self") for value in owner)
    atoms = bind(w, order, (*objects, *args), kwargs)
    kinds = [w.read(a)[1] for a in atoms]
    if any(isinstance(k, Bottom) for k in kinds):
        return Lit(None), BOTTOM
    function = fn.__tangentx_function__(w.program, kinds)
    return call(w, function, None, atoms)


def _static(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A function that makes functions (`tx.grad`), called while the program is compiled."""
    values = [known_value(w.read(a)[1]) for a in args]
    named = {name: known_value(w.read(a)[1]) for name, a in kwargs}
    if any(v is MISSING for v in (*values, *named.values())):
        raise NotResolved(
            f"`{fn.__name__}` of something that is not known when this is compiled", w.span, "name a function"
        )
    key = (id(w.statement), "static", tuple(map(id, values)))
    if key not in w.instance.backs:
        w.instance.backs[key] = Ext(fn.__name__, fn(*values, **named), ("object",), fn)
    return w.read(w.instance.backs[key])


def known_value(kind: Kind) -> Any:
    """The value that a kind stands for, where it is known whole; else MISSING."""
    if isinstance(kind, Obj):
        return kind.value
    if isinstance(kind, Num):
        return kind.value
    if isinstance(kind, Box) and kind.cls is tuple:
        items = [known_value(k) for k in kind.region.root().fields.values()]
        return MISSING if any(i is MISSING for i in items) else tuple(items)
    return MISSING


def call_python(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of one of the user's functions."""
    source = w.program.lift(fn)
    return call(w, source, None, bind(w, source, args, kwargs))


def call(w: Walker, source: Function, link: Link | None, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """A call with every argument by position."""
    read = [w.read(a) for a in args]
    kinds = [_argument(k) for _, k in read]
    if any(isinstance(k, Bottom) for k in kinds) and link is None:
        return Lit(None), BOTTOM
    instance = w.program.call(source, link, kinds)
    return Call(instance.link, tuple(a for a, _ in read)), instance.result


def _argument(kind: Kind) -> Kind:
    """A number's value is forgotten at a call, so that a helper is compiled once for all of them."""
    if isinstance(kind, Num) and kind.type is not bool:
        return Num(kind.type, kind.varied)
    return kind


def bind(w: Walker, source: Function, args: tuple[Atom, ...], kwargs: Named) -> tuple[Atom, ...]:
    """Arguments in the order of the parameters, defaults filled in. Raises UnsupportedSyntax where they do not fit."""
    given = dict(kwargs)
    rest = list(args)
    bound: list[Atom] = []
    for param in source.params:
        if param.kind == "args":
            extra = tuple(rest)
            rest = []
            bound.append(_gather(w, param.name, Make(tuple, extra)))
        elif param.kind == "kwargs":
            bound.append(_gather(w, param.name, Make(dict, tuple(given.values()), tuple(given))))
            given = {}
        elif rest and param.kind == "normal":
            bound.append(rest.pop(0))
            if param.name in given:
                raise _mismatch(w, source, f"`{param.name}` is given twice")
        elif param.name in given:
            bound.append(given.pop(param.name))
        else:
            bound.append(_default(w, source, param))
    if rest or given:
        raise _mismatch(w, source, "too many arguments" if rest else f"no parameter `{next(iter(given))}`")
    return tuple(bound)


def _default(w: Walker, source: Function, param: Param) -> Atom:
    if param.default is None:
        raise _mismatch(w, source, f"`{param.name}` is missing")
    return param.default


def _mismatch(w: Walker, source: Function, why: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(f"the arguments do not fit `{source.name}`: {why}", w.span, "call it as it is defined")


def _gather(w: Walker, name: str, made: Make) -> Atom:
    tag = ("gather", name)
    key = (id(w.statement), tag)
    w.expand(tag, lambda: (Assign(w.temporary(), made, w.span),))
    last = w.instance.expansions[key][-1]
    assert isinstance(last, Assign)
    return Var(last.target)


def _construct(w: Walker, cls: type, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A named tuple or dataclass made inside the program, or an object that has no part in the derivative."""
    fields: tuple[str, ...] | None = getattr(cls, "_fields", None)
    if fields is None and dataclasses.is_dataclass(cls) and not hasattr(cls, "__post_init__"):
        fields = tuple(f.name for f in dataclasses.fields(cls) if f.init)
    if fields is None:
        raise UnsupportedSyntax(
            f"an object of class `{cls.__name__}` made here", w.span, "make it outside, or use a dict"
        )
    signature = inspect.signature(cls)
    given = dict(zip(fields, args, strict=False)) | dict(kwargs)
    for name in fields:
        if name not in given:
            default = signature.parameters[name].default
            if default is inspect.Parameter.empty or not isinstance(default, int | float | str | type(None)):
                raise UnsupportedSyntax(f"`{cls.__name__}` needs `{name}` given here", w.span, "pass it")
            given[name] = Lit(default)
    items = tuple(given[name] for name in fields)
    keys = None if issubclass(cls, tuple) else fields
    return w.walk(Make(cls, items, keys))
