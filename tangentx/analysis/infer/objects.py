"""Objects constructed by the program: each is represented as a container of its attributes."""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import TYPE_CHECKING, Any

from tangentx import templates
from tangentx.analysis.infer.arguments import Misfit, Named, bind, message_of
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.types.kinds import Kind
from tangentx.errors import NoTemplate, UnsupportedSyntax
from tangentx.ir.nodes import (
    Apply,
    Assign,
    Atom,
    Attr,
    Block,
    Expr,
    Ext,
    Function,
    Lit,
    Make,
    Method,
    Return,
    Statement,
    Store,
    Var,
    attribute_of,
)
from tangentx.ir.rewrite import rename
from tangentx.ir.walk import blocks, bound, reads, statements

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

_SIMPLE = (bool, int, float, complex, str, type(None))


def construct(w: Walker, cls: type, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of a class. Raises UnsupportedSyntax for one that makes its objects in a way of its own."""
    if templates.refusal(cls) is not None:
        message, hint = templates.no_rule(cls)
        raise NoTemplate(message, w.span, hint)
    init = w.program.member(cls, "__init__")
    if type(cls).__call__ is not type.__call__:
        raise UnsupportedSyntax(f"the class of `{cls.__name__}` makes its objects itself", w.span, "make it outside")
    if hasattr(cls, "__del__"):
        message = f"an object of class `{cls.__name__}` is made here, which runs its `__del__` in the end"
        raise UnsupportedSyntax(message, w.span, "make it outside, or call what it does where it is to be done")
    names: tuple[str, ...] | None = getattr(cls, "_fields", None)
    if names is not None and issubclass(cls, tuple):
        if not only_gathers(cls):
            message = f"`{cls.__name__}` is a named tuple with a `__new__` or an `__init__` of its own"
            raise UnsupportedSyntax(message, w.span, "make it in a function, of all its fields")
        given = _by_signature(w, cls, inspect.signature(cls), f"{cls.__name__}.__new__", args, kwargs)
        return w.walk(Make(cls, tuple(given[name] for name in names)))
    if dataclasses.is_dataclass(cls) and _is_generated(init):
        return _record(w, cls, init, args, kwargs)
    if init is object.__init__ and not args and not kwargs:
        return w.walk(Make(cls, (), ()))
    if not isinstance(init, types.FunctionType):
        raise UnsupportedSyntax(
            f"an object of class `{cls.__name__}` is made here, in a way that is not differentiated",
            w.span,
            "make it outside, or use a dict",
        )
    source = w.program.lift(init)
    plan = _display(source)
    plan = plan if plan is not None and _is_plain(w, cls, plan[1]) else None
    if plan is not None:
        return _displayed(w, cls, source, plan, args, kwargs)
    return _initialised(
        w, ("made", cls), Make(cls, (), ()), Ext(f"{cls.__name__}_init", init, ("object",), cls), args, kwargs
    )


def only_gathers(cls: type) -> bool:
    """Whether a class of named tuples makes them as `namedtuple` has written it, and does nothing else."""
    generated = next(each for each in cls.__mro__ if "_fields" in vars(each))
    return cls.__new__ is generated.__new__ and cls.__init__ is object.__init__  # type: ignore[misc]


def _is_generated(init: Any) -> bool:
    """Whether `dataclass` has written an `__init__`."""
    return isinstance(init, types.FunctionType) and init.__code__.co_filename == "<string>"


def _by_signature(
    w: Walker, cls: type, signature: inspect.Signature, name: str, args: tuple[Atom, ...], kwargs: Named
) -> dict[str, Atom]:
    """Arguments by parameter, defaults filled in but for those that a factory makes. Raises Misfit."""
    try:
        given = signature.bind(*args, **dict(kwargs)).arguments
    except TypeError:
        raise Misfit(message_of(signature, name, args, kwargs, own=1)) from None
    for param in signature.parameters.values():
        if param.name not in given and _is_value(param.default):
            given[param.name] = _value(w, cls, param.name, param.default)
    return given


def _is_value(default: Any) -> bool:
    """Whether a default is itself the value, and not the mark that `dataclass` leaves for a factory."""
    return type(default).__module__ != "dataclasses"


def _value(w: Walker, cls: type, name: str, value: Any) -> Atom:
    """A default as an atom."""
    if type(value) in _SIMPLE:
        return Lit(value)
    key = (id(w.statement), "default", cls, name)
    known: Ext = w.instance.backs.setdefault(key, Ext(name, value, ("object",), cls))
    return known


def _record(w: Walker, cls: type, init: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A dataclass with the `__init__` that `dataclass` writes."""
    signature = inspect.signature(cls)
    given = _by_signature(w, cls, signature, init.__qualname__, args, kwargs)
    made: list[Assign] = []
    fields = dataclasses.fields(cls)
    if len([f for f in fields if f.init]) != len(signature.parameters):
        raise UnsupportedSyntax(f"`{cls.__name__}` has fields that are only for `__init__`", w.span, "make it outside")
    items: dict[str, Atom] = {}
    for f in fields:
        factory = f.default_factory
        if factory is not dataclasses.MISSING and f.name not in given:
            made.append(Assign(w.temporary(), Apply(_value(w, cls, f.name, factory), ()), w.span))
            items[f.name] = Var(made[-1].target)
        elif f.init:
            items[f.name] = given[f.name]
        elif f.default is not dataclasses.MISSING:
            items[f.name] = _value(w, cls, f.name, f.default)
    value = Make(cls, tuple(items.values()), tuple(items))
    after = hasattr(cls, "__post_init__")
    if not made and not after:
        return w.walk(value)

    def build() -> Block:
        whole, last = w.temporary(), w.temporary()
        more = (Assign(w.temporary(), Method(Var(whole), "__post_init__", ()), w.span),) if after else ()
        return (*made, Assign(whole, value, w.span), *more, Assign(last, Var(whole), w.span))

    return expanded(w, ("record", cls, args, kwargs), build)


def _initialised(
    w: Walker, tag: Any, empty: Make, init: Ext, args: tuple[Atom, ...], kwargs: Named
) -> tuple[Expr, Kind]:
    """A new object without attributes, which `__init__` writes."""

    def build() -> Block:
        made, last = w.temporary(), w.temporary()
        call = Apply(init, (Var(made), *args), kwargs)
        return (
            Assign(made, empty, w.span),
            Assign(w.temporary(), call, w.span),
            Assign(last, Var(made), w.span),
        )

    return expanded(w, (tag, args, kwargs), build)


def _is_plain(w: Walker, cls: type, names: dict[str, Atom]) -> bool:
    """Whether objects of the class just take what is written to them under these names."""
    described = any(isinstance(w.program.member(cls, name), property) for name in names)
    return w.program.member(cls, "__setattr__") is object.__setattr__ and not described


def _display(source: Function) -> tuple[list[Statement], dict[str, Atom]] | None:
    """What an `__init__` does before it has all attributes, and these, where it does nothing with the object but that.

    Such an object is made at once: nothing sees it half made.
    """
    if not source.params or source.params[0].kind not in ("normal", "positional"):
        return None
    own = source.params[0].name
    body: list[Statement] = []
    values: dict[str, Atom] = {}
    copies = 0
    for s in source.body[:-1]:
        match s:
            case Store(base=Var(name), key=key, value=value) if name == own and key.attribute and value != Var(own):
                copies += 1
                body.append(Assign(f"%init{copies}", value, s.span))
                values[attribute_of(key)] = Var(f"%init{copies}")
            case Assign(value=Attr(base=Var(name), name=read)) if name == own and read in values and s.target != own:
                body.append(Assign(s.target, values[read], s.span))
            case _:
                body.append(s)
    inside = [*body, *(inner for s in body for block in blocks(s) for inner in statements(block))]
    last = source.body[-1]
    ends = isinstance(last, Return) and last.value == Lit(None) and not any(isinstance(s, Return) for s in inside)
    seen = any(own in reads(s) for s in inside) or own in bound(tuple(body))
    return (body, values) if ends and not seen else None


def _displayed(
    w: Walker,
    cls: type,
    source: Function,
    plan: tuple[list[Statement], dict[str, Atom]],
    args: tuple[Atom, ...],
    kwargs: Named,
) -> tuple[Expr, Kind]:
    """An object made at once, with what its `__init__` computes in the place of the call."""
    body, values = plan
    given = bind(w, source, (Lit(None), *args), kwargs)

    def build() -> Block:
        names = {name: w.temporary() for name in sorted({*bound(tuple(body)), *(p.name for p in source.params)})}
        start = [Assign(names[p.name], atom, w.span) for p, atom in zip(source.params[1:], given[1:], strict=True)]
        items = tuple(Var(names[atom.name]) if isinstance(atom, Var) else atom for atom in values.values())
        made = Assign(w.temporary(), Make(cls, items, tuple(values)), w.span)
        return (*start, *rename(tuple(body), names), made)

    return expanded(w, ("displayed", cls, given), build)
