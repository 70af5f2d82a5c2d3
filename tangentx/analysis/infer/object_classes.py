"""Objects that belong to one of several classes: member access branches on the class at run time."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer import calls
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.infer.special_methods import is_object
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Bottom, Box, Kind, Top, describe, located
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.functions import Mixed, classes_of
from tangentx.ir.nodes import Apply, Assign, Atom, Attr, Block, Expr, If, Lit, Method, Op, Raise, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Group = tuple[Any, tuple[type, ...]]
"""What several of the classes have under a name."""


def is_mixed(kind: Kind) -> bool:
    """Whether a value is an object of one of several classes."""
    return isinstance(kind, Box) and issubclass(kind.cls, Mixed)


def demand_plain_reads(w: Walker, cls: type) -> None:
    """Raises UnsupportedSyntax for a class that says what reading any of its attributes means."""
    if isinstance(w.program.member(cls, "__getattribute__"), types.FunctionType):
        message = f"`{cls.__name__}` has a say in how its attributes are read, by `__getattribute__`"
        raise UnsupportedSyntax(message, w.span, "make it a property, or a method")


def is_asked_first(found: Any) -> bool:
    """Whether a descriptor has precedence over what is in the object itself."""
    return hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")


def demand_own(w: Walker, kind: Box, cls: type, name: str, found: Any) -> None:
    """Refuses to read an attribute that some object may not have yet, where its class computes one of that name.

    `found` is what the class has by the name.
    """
    node = kind.region.root()
    if not node.written or (node.always is not None and name in node.always and not node.resized):
        return
    computed = hasattr(type(found), "__get__") and not is_asked_first(found)
    if computed or (found is MISSING and w.program.member(cls, "__getattr__") is not MISSING):
        message = f"`{name}` is written in objects of `{cls.__name__}`, whose class computes it where they have none"
        raise UnsupportedSyntax(message, w.span, f"set `self.{name}` once, in `__init__`, or use another name")


def field(w: Walker, base: Atom, atom: Atom, kind: Box, name: str) -> tuple[Expr, Kind]:
    """``base.name`` of an object of one of several classes."""
    groups = _groups(w, kind, name)
    known = kind.region.root().fields.get(name)
    if known is not None and all(found is MISSING or not hasattr(type(found), "__get__") for found, _ in groups):
        if any(found is not MISSING for found, _ in groups):
            raise _refused(w, kind, name, f"set `self.{name}` in the `__init__` of each")
        if isinstance(known, Top):
            raise located(known, w.span)
        for cls in classes_of(kind.cls):
            demand_own(w, kind, cls, name, MISSING)
        return Attr(atom, name), known
    found = groups[0][0]
    if len(groups) == 1 and found is MISSING:
        if not w.program.final:
            return Lit(None), BOTTOM
        hint = "assign it before, or pass what it holds as an argument"
        raise NotResolved(f"{describe(kind)} has no attribute `{name}` that is followed here", w.span, hint)

    def asked(found: Any) -> Expr:
        if isinstance(found, property) and found.fget is not None:
            return Apply(external(w, found.fget, name), (base,))
        if hasattr(type(found), "__get__"):
            raise _refused(w, kind, name, "call it where it is read, or make it a property of each")
        return external(w, found, name)

    return _by_class(w, kind, name, base, groups, asked)


def method(w: Walker, expr: Method, kind: Box) -> tuple[Expr, Kind]:
    """``base.name(...)`` of an object of one of several classes."""
    groups = _groups(w, kind, expr.name, None if expr.above is None else expr.above.value)
    if expr.name in kind.region.root().fields:
        raise _refused(w, kind, expr.name, "call it in a branch for each class")

    def called(found: Any) -> Expr:
        if isinstance(found, types.FunctionType) or hasattr(found, "__tangentx_target__"):
            return Apply(external(w, found, expr.name), (expr.base, *expr.args), expr.kwargs)
        if isinstance(found, staticmethod):
            return Apply(external(w, found.__func__, expr.name), expr.args, expr.kwargs)
        raise _refused(w, kind, expr.name, "define it as a method of each")

    if all(found is MISSING for found, _ in groups):
        if not w.program.final:
            return Lit(None), BOTTOM
        raise NotResolved(f"{describe(kind)} has no method `{expr.name}` here", w.span, "check the name")
    if len(groups) == 1 and isinstance(groups[0][0], types.FunctionType) and not kind.none:
        return calls.call_object(w, groups[0][0], (expr.base, *expr.args), expr.kwargs)
    return _by_class(w, kind, expr.name, expr.base, groups, called)


def operated(w: Walker, names: Sequence[str], args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """An operator or a builtin of one of the objects, by the method that each class has for it; None where none has.

    `names` are the methods by the place of the object among the operands.
    """
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    place = next(i for i, kind in enumerate(kinds) if is_mixed(kind))
    kind = kinds[place]
    assert isinstance(kind, Box)
    if place >= len(names):
        return None
    groups = _groups(w, kind, names[place])
    users = [isinstance(found, types.FunctionType) for found, _ in groups]
    if not any(users):
        return None
    if not all(users) or any(map(is_object, kinds[:place] + kinds[place + 1 :])):
        raise _refused(w, kind, names[place], "call a method of a name of its own")
    others = args[:place] + args[place + 1 :]
    return method(w, Method(args[place], names[place], others), kind)


def _groups(w: Walker, kind: Box, name: str, above: type | None = None) -> list[Group]:
    """What the classes have under a name, each once, in the order in which they are asked for."""
    found: list[tuple[Any, list[type]]] = []
    for cls in classes_of(kind.cls):
        demand_plain_reads(w, cls)
        member = w.program.member(cls, name) if above is None else _above(w, cls, name, above)
        same = next((classes for known, classes in found if known is member), None)
        if same is None:
            found.append((member, [cls]))
        else:
            same.append(cls)
    return [(member, tuple(classes)) for member, classes in found]


def _above(w: Walker, cls: type, name: str, above: type) -> Any:
    """What the classes have that follow `above` in the order of a class."""
    order = cls.__mro__
    for base in order[order.index(above) + 1 :] if above in order else ():
        if name in vars(base):
            return w.program.member(base, name)
    return MISSING


def _refused(w: Walker, kind: Box, name: str, hint: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(f"`{name}` is not of one sort in all classes of {describe(kind)}", w.span, hint)


def _by_class(
    w: Walker, kind: Box, name: str, base: Atom, groups: list[Group], asked: Callable[[Any], Expr]
) -> tuple[Expr, Kind]:
    """A branch for each class, the last without a test; what has nothing under the name has an error."""
    named = [(cls, asked(found)) for found, classes in groups if found is not MISSING for cls in classes]
    order = classes_of(kind.cls)
    named.sort(key=lambda pair: order.index(pair[0]))
    lacking = [cls.__name__ for found, classes in groups if found is MISSING for cls in classes]
    lacking += ["NoneType"] if kind.none else []

    def build() -> Block:
        result = w.temporary()
        block: Block = _raising(w, lacking[0], name) if lacking else ()
        for cls, expr in reversed(named):
            bound: Block = (Assign(result, expr, w.span),)
            test = w.temporary()
            asking = Assign(test, Op(builtins.isinstance, (base, external(w, cls, cls.__name__))), w.span)
            block = (asking, If(Var(test), bound, block, w.span)) if block else bound
        return (*block, Assign(w.temporary(), Var(result), w.span))

    return expanded(w, ("by class", base, name, kind.cls, kind.none), build)


def _raising(w: Walker, cls: str, name: str) -> Block:
    error = w.temporary()
    made = Op(AttributeError, (Lit(f"'{cls}' object has no attribute '{name}'"),))
    return (Assign(error, made, w.span), Raise(Var(error), w.span))
