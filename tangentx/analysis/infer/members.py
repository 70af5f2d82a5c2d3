"""Member lookup: attributes, methods and operators, found on the object and along its class's MRO."""

from __future__ import annotations

import builtins
import functools
import operator
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import templates
from tangentx.analysis.infer import calls, constant_calls, object_classes, opaque_calls
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.infer.indexing import index
from tangentx.analysis.infer.special_methods import defined, is_object
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Some,
    Top,
    describe,
    join,
    located,
    varied,
)
from tangentx.arrays import parts_of
from tangentx.errors import NoTemplate, NotResolved, UnsupportedSyntax
from tangentx.ir.functions import bound_method
from tangentx.ir.nodes import Apply, Assign, Atom, Attr, Block, Expr, Ext, Key, Lit, Make, Method, Var
from tangentx.templates.solver_table import RECORDS

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

BINARY = {
    operator.add: ("__add__", "__radd__"), operator.sub: ("__sub__", "__rsub__"), operator.mul: ("__mul__", "__rmul__"),
    operator.truediv: ("__truediv__", "__rtruediv__"), operator.floordiv: ("__floordiv__", "__rfloordiv__"),
    operator.mod: ("__mod__", "__rmod__"), operator.pow: ("__pow__", "__rpow__"), builtins.pow: ("__pow__", "__rpow__"),
    operator.matmul: ("__matmul__", "__rmatmul__"), operator.and_: ("__and__", "__rand__"),
    operator.or_: ("__or__", "__ror__"), operator.xor: ("__xor__", "__rxor__"),
    operator.lshift: ("__lshift__", "__rlshift__"), operator.rshift: ("__rshift__", "__rrshift__"),
    operator.eq: ("__eq__", "__eq__"), operator.ne: ("__ne__", "__ne__"), operator.lt: ("__lt__", "__gt__"),
    operator.gt: ("__gt__", "__lt__"), operator.le: ("__le__", "__ge__"), operator.ge: ("__ge__", "__le__"),
    builtins.divmod: ("__divmod__", "__rdivmod__"),
}  # fmt: skip
BOUND = (types.FunctionType, functools._lru_cache_wrapper)
"""What takes the object that it is read from as its first argument."""
OF_PYTHON = (functools.cached_property, functools.partialmethod, functools.singledispatchmethod)
"""Descriptors that Python itself writes in Python."""
UNARY = {
    operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__", builtins.abs: "__abs__",
    operator.abs: "__abs__", builtins.len: "__len__", operator.contains: "__contains__", builtins.round: "__round__",
    builtins.float: "__float__", builtins.int: "__int__", builtins.bool: "__bool__",
}  # fmt: skip


def found_in(w: Walker, cls: type, name: str, above: type | None = None) -> Any:
    """What a class has under a name; with `above`, what the classes that follow that one have. MISSING if nothing."""
    if above is None:
        return w.program.member(cls, name)
    if above not in cls.__mro__:
        raise UnsupportedSyntax(
            f"super() of `{above.__name__}` for {describe(Obj(cls))} is not differentiated",
            w.span,
            "call the method of the class by its name",
        )
    for base in cls.__mro__[cls.__mro__.index(above) + 1 :]:
        if name in vars(base):
            return w.program.member(base, name)
    return MISSING


def field(w: Walker, base: Atom, atom: Atom, kind: Box, name: str) -> tuple[Expr, Kind]:
    """``base.name`` of an object."""
    if object_classes.is_mixed(kind):
        return object_classes.field(w, base, atom, kind, name)
    object_classes.demand_plain_reads(w, kind.cls)
    node = kind.region.root()
    if hasattr(kind.cls, "_fields") and name in kind.cls._fields:
        return index(w, base, Key((Lit(kind.cls._fields.index(name)),)))
    found = w.program.member(kind.cls, name)
    if parts_of(kind.cls) is not None and name not in node.fields:
        return _of_library(w, base, atom, kind, name, found)
    if isinstance(found, property) and found.fget is not None and parts_of(kind.cls) is None:
        return calls.call_object(w, found.fget, (base,), ())
    getter = _getter(w, found)
    if getter is not None and (name not in node.fields or object_classes.is_asked_first(found)):
        cls = external(w, kind.cls, kind.cls.__name__)
        return calls.call_python(w, getter, (external(w, found, name), base, cls), ())
    plain = found is not MISSING and not hasattr(type(found), "__get__")
    if name in node.fields:
        object_classes.demand_own(w, kind, kind.cls, name, found)
        return Attr(atom, name), _kind_of_field(w, kind, name, found if plain else MISSING)
    if isinstance(found, functools.cached_property) and not node.written:
        return calls.call_object(w, found.func, (base,), ())
    if name == "__class__":
        return w.read(external(w, kind.cls, kind.cls.__name__))
    if plain:
        return w.read(class_attribute(w, kind.cls, name, found))
    if isinstance(found, classmethod) or (found is not MISSING and callable(found)):
        return w.walk(Make(bound_method(name), (base,)))
    if found is not MISSING:
        message = f"`{name}` of `{kind.cls.__name__}` is neither a value nor a method: its class computes it"
        raise UnsupportedSyntax(message, w.span, "read it before, and pass it as an argument")
    if not w.program.final:
        return Lit(None), BOTTOM
    if kind.cls in RECORDS:
        known = ", ".join(f"`{each}`" for each in kind.cls._fields)  # type: ignore[attr-defined]
        message = f"`{name}` of what a solver has found has no derivative rule"
        raise NoTemplate(message, w.span, f"use {known}, or compute it from the answer")
    hint = "assign it before, or pass what it holds as an argument"
    raise NotResolved(f"{describe(kind)} has no attribute `{name}` that is followed here", w.span, hint)


def _getter(w: Walker, found: Any) -> types.FunctionType | None:
    """What a descriptor written in Python is asked with: its `__get__`."""
    if found is MISSING or isinstance(found, OF_PYTHON) or hasattr(found, "__tangentx_target__"):
        return None
    getter = w.program.member(type(found), "__get__")
    return getter if isinstance(getter, types.FunctionType) else None


def _of_library(w: Walker, base: Atom, atom: Atom, kind: Box, name: str, found: Any) -> tuple[Expr, Kind]:
    """``base.name`` of an object of a library that is followed: by a rule, or as it is where nothing varies."""
    if isinstance(found, property) and templates.has_composition(found.fget):
        return calls.call_object(w, found.fget, (base,), ())
    if templates.has_composition(found):
        return w.walk(Make(bound_method(name), (base,)))
    if name == "__class__":
        return w.read(external(w, kind.cls, kind.cls.__name__))
    if varied(kind):
        raise without_rule_of_member(w, kind.cls, name)
    if isinstance(found, types.FunctionType):
        return Attr(atom, name), Obj(opaque_calls.bound(kind.cls, name))
    if constant_calls.active(w):
        return constant_calls.attribute(w, atom, Some(kind.cls), name)
    raise without_rule_of_member(w, kind.cls, name)


def without_rule_of_member(w: Walker, cls: type, name: str) -> NoTemplate:
    """The error for a method or attribute of a library's object that has no rule."""
    message, hint = templates.no_rule_of_member(cls, name)
    return NoTemplate(message, w.span, hint)


def _kind_of_field(w: Walker, kind: Box, name: str, default: Any) -> Kind:
    """The kind of an attribute, which may be that of the class where the object has none of its own yet."""
    found = kind.region.root().fields[name]
    if (
        default is not MISSING
        and kind.region.root().written
        and name not in getattr(kind.cls, "__dataclass_fields__", ())
    ):
        if varied(found):
            raise UnsupportedSyntax(
                f"`{name}` is an attribute of the class `{kind.cls.__name__}`, and written in its objects",
                w.span,
                f"set `self.{name}` in `__init__` too",
            )
        found = join(found, w.program.valuer.kind(default))
    if isinstance(found, Top):
        raise located(found, w.span)
    return found


def class_attribute(w: Walker, cls: type, name: str, value: Any) -> Ext:
    """An attribute of a class, as an object from outside."""
    key = (id(w.statement), "class", cls, name)
    if key not in w.instance.backs:
        w.instance.backs[key] = Ext(f"{cls.__name__}.{name}", value, ("object", name), cls)
    result: Ext = w.instance.backs[key]
    return result


def module_attribute(w: Walker, module: types.ModuleType, name: str) -> Ext:
    """What a module has by a name, of which it is noticed where it is replaced."""
    w.program.member(module, name)
    backs = w.program.__dict__.setdefault("objects", {})
    key = (module, "module", name)
    if key not in backs:
        home = w.instance.source.origin
        found = home is not None and sys.modules.get(module.__name__) is module
        path = ("import", module.__name__, name) if found else ("object",)
        backs[key] = Ext(name, getattr(module, name), path, home if found else module)
    result: Ext = backs[key]
    return result


def method(w: Walker, expr: Method, kind: Box) -> tuple[Expr, Kind]:
    """``base.name(...)`` of an object."""
    if object_classes.is_mixed(kind):
        return object_classes.method(w, expr, kind)
    object_classes.demand_plain_reads(w, kind.cls)
    above = expr.above.value if expr.above is not None else None
    found = found_in(w, kind.cls, expr.name, above)
    if expr.name in kind.region.root().fields and above is None and not isinstance(found, property):
        found = MISSING
    if isinstance(found, types.FunctionType) and parts_of(kind.cls) is not None:
        if not templates.has_composition(found):
            return expanded(w, ("field called", expr.base, expr.name), lambda: _called(w, expr))
    if isinstance(found, BOUND) or hasattr(found, "__tangentx_target__"):
        return calls.call_object(w, found, (expr.base, *expr.args), expr.kwargs)
    if isinstance(found, staticmethod):
        return calls.call_object(w, found.__func__, expr.args, expr.kwargs)
    if isinstance(found, classmethod):
        cls = external(w, kind.cls, kind.cls.__name__)
        return calls.call_object(w, found.__func__, (cls, *expr.args), expr.kwargs)
    if found is object.__init__:
        return Lit(None), Obj(None)
    if found is object.__setattr__:
        return calls.call_object(w, found, (expr.base, *expr.args), expr.kwargs)
    if isinstance(found, types.WrapperDescriptorType | types.MethodDescriptorType):
        what = f"`{kind.cls.__name__}.{expr.name}`"
        raise UnsupportedSyntax(f"{what} is called by its name", w.span, "use the operator or the builtin")
    if above is not None:
        raise NotResolved(f"nothing above `{above.__name__}` has a method `{expr.name}`", w.span, "check the name")
    return expanded(w, ("field called", expr.base, expr.name), lambda: _called(w, expr))


def _called(w: Walker, expr: Method) -> Block:
    """What stands under a name is read, then called."""
    fn, result = w.temporary(), w.temporary()
    called = Assign(result, Apply(Var(fn), expr.args, expr.kwargs), w.span)
    return (Assign(fn, Attr(expr.base, expr.name), w.span), called)


def operated(w: Walker, fn: Any, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """An operator, or a builtin like `len`, where the class of an operand defines what it means; else None."""
    if any(map(object_classes.is_mixed, kinds)):
        names = (UNARY[fn],) if fn in UNARY else BINARY.get(fn, ())
        return object_classes.operated(w, names, args, kinds)
    if fn in UNARY and args and is_object(kinds[0]):
        found = defined(w, kinds[0], UNARY[fn])
        return _by_method(w, found, kinds[0], args) if found is not None else None
    if fn not in BINARY or len(args) != 2 or not (is_object(kinds[0]) or is_object(kinds[1])):
        return None
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    names = BINARY[fn]
    order = [(kinds[0], names[0], args), (kinds[1], names[1], (args[1], args[0]))]
    if _is_derived(kinds[1], kinds[0]):
        order.reverse()
    known = [(found, kind, given) for kind, name, given in order if (found := defined(w, kind, name)) is not None]
    leaves = isinstance(kinds[1], Box) and parts_of(kinds[1].cls) is not None
    if (isinstance(kinds[0], Arr) and not leaves) or (_is_numpys(kinds[0]) and takes_for_array(kinds[1])):
        raise UnsupportedSyntax(
            f"numpy applies the operator to {describe(kinds[1])} element by element", w.span, "write the object first"
        )
    for found, whose, given in known:
        expr, kind = _by_method(w, found, whose, given)
        if kind != Obj(NotImplemented):
            return expr, kind
    return None


def _by_method(w: Walker, found: Any, kind: Kind, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """An operator by the method of a class."""
    if isinstance(kind, Box) and parts_of(kind.cls) is not None:
        if not templates.has_composition(found):
            raise without_rule_of_member(w, kind.cls, found.__name__)
        return calls.call_object(w, found, args, ())
    return calls.call_object(w, found, args, ())


def _is_numpys(kind: Kind) -> bool:
    """Whether it is, or may be, a number of NumPy's."""
    return isinstance(kind, Num) and any(issubclass(t, np.generic) for t in kind.exact)


def takes_for_array(kind: Kind) -> bool:
    """Whether NumPy's numbers take an object for an array, and do not leave the operator to its class."""
    if not isinstance(kind, Box) or any(hasattr(kind.cls, name) for name in ("__array_ufunc__", "__array_priority__")):
        return False
    known = any(hasattr(kind.cls, name) for name in ("__array__", "__array_interface__", "__array_struct__"))
    return known or (hasattr(kind.cls, "__len__") and hasattr(kind.cls, "__getitem__"))


def _is_derived(kind: Kind, other: Kind) -> bool:
    both = isinstance(kind, Box) and isinstance(other, Box) and kind.cls is not other.cls
    return both and issubclass(kind.cls, other.cls)  # type: ignore[union-attr]
