"""Derivatives taken inside the user's program, of functions that are known at compile time."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentx import arrays
from tangentx.analysis.infer.arguments import Misfit, Named, bind
from tangentx.analysis.infer.calling_conventions import is_quiet
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external, items, unfolded, value_class
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Kind, Num, Obj, describe
from tangentx.errors import NotDifferentiable, NotResolved, UnsupportedSyntax
from tangentx.ir.functions import BoundMethod, Closure, Derived, derived, function_of, partial
from tangentx.ir.nodes import Apply, Assign, Atom, Block, Expr, Ext, Function, Lit, Make, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


class Local:
    """A function of the language in the place of a Python function; the first parameters are those it captured."""

    def __init__(self, function: Function, captured: int) -> None:
        self.function = function
        self.captured = captured
        self.__wrapped__ = function  # a function, not a container of its attributes

    @property
    def __signature__(self) -> inspect.Signature:
        kinds = {"args": inspect.Parameter.VAR_POSITIONAL, "kwargs": inspect.Parameter.VAR_KEYWORD}
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(p.name, kinds.get(p.kind, plain)) for p in self.function.params])

    @property
    def __name__(self) -> str:
        return self.function.name

    def __call__(self) -> None:
        raise AssertionError("known by its text alone, never run")

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        return self, (None,) * self.captured

    def __tangentx_primal__(self) -> Any:
        return self

    def __tangentx_order__(self, program: Any) -> Any:
        return self.function, ()

    def __tangentx_function__(self, program: Any, kinds: Any) -> Function:
        return self.function


def taken(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call of `fn` if that is a derivative, a product, or a function that makes derivatives, else None."""
    if hasattr(fn, "__tangentx_function__"):
        return _call_derivative(w, fn, args, kwargs)
    if hasattr(fn, "__tangentx_outside__"):
        raise UnsupportedSyntax(
            f"`{fn.__name__}` is called inside a differentiated function, where it has no derivative",
            w.span,
            fn.__tangentx_outside__,
        )
    if hasattr(fn, "__tangentx_product__"):
        return _product(w, fn, args, kwargs)
    return _made(w, fn, args, kwargs) if hasattr(fn, "__tangentx_static__") else None


def _call_derivative(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A derivative taken inside the user's program: its derived function is called like any other."""
    order, owner = fn.__tangentx_order__(w.program)
    objects = tuple(external(w, value, "self") for value in owner)
    return _call(w, bind(w, order, (*objects, *args), kwargs), fn.__tangentx_function__)


def _call(w: Walker, atoms: tuple[Atom, ...], function: Callable[[Any, list[Kind]], Function]) -> tuple[Expr, Kind]:
    """A call of the function that is derived for the kinds of the arguments."""
    kinds = [w.read(a)[1] for a in atoms]
    if any(isinstance(k, Bottom) for k in kinds):
        return Lit(None), BOTTOM
    return w.call(function(w.program, kinds), None, atoms)


def _made(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A function that makes functions (`tx.grad`), called while the program is compiled."""
    named = {name: known_value(w.read(a)[1]) for name, a in kwargs if name != "f"}
    given = (*(a for name, a in kwargs if name == "f"), *args)
    values = [known_value(w.read(a)[1]) for a in given]
    local = value_class(w.read(given[0])[1]) if given else None
    if any(v is MISSING for v in (*values[1:], *named.values())) or (local is None and MISSING in values[:1]):
        raise NotResolved(
            f"`{fn.__name__}` of something that is not known when this is compiled", w.span, "name a function"
        )
    if local is not None:
        return w.walk(Make(derived(fn, tuple(values[1:]), tuple(named.items())), given[:1]))
    key = (id(w.statement), "static", tuple(map(_identity, (*values, *named.values()))))
    if key not in w.instance.backs:
        w.instance.backs[key] = Ext(fn.__name__, _maker(fn)(*values, **named), ("object",), fn)
    return w.read(w.instance.backs[key])


def _maker(fn: Any) -> Any:
    """What makes one and the same function each time, in the place of one that the user calls."""
    return getattr(fn, "__tangentx_inside__", fn)


def _identity(value: Any) -> Any:
    """What tells a value from others, made anew or not."""
    if type(value) is tuple:
        return tuple(map(_identity, value))
    return (type(value), value) if isinstance(value, int | float | str | None) else id(value)


def call_made(w: Walker, cls: type[Derived], expr: Apply) -> tuple[Expr, Kind]:
    """A call of a derivative of one of the program's own functions."""
    function, captured, makers = _local(w, expr.fn)
    atoms = bind(w, function, (*captured, *expr.args), expr.kwargs)
    f, atoms = _plain(w, function, len(captured), atoms)
    return _call(w, atoms, _made_of(f, makers).__tangentx_function__)


def _local(w: Walker, atom: Atom) -> tuple[Function, tuple[Atom, ...], tuple[type[Derived], ...]]:
    """A function that the program has made, the atoms of what it captured, and what is taken of it, one by one."""
    kind = w.read(atom)[1]
    cls = value_class(kind)
    if cls is not None and issubclass(cls, Derived):
        function, captured, makers = _local(w, items(w, atom, 1)[0])
        return function, captured, (*makers, cls)
    if cls is not None and issubclass(cls, Closure):
        return function_of(cls), items(w, atom, cls.captured), ()
    if cls is not None and issubclass(cls, BoundMethod):
        (owner,) = items(w, atom, 1)
        held = w.read(owner)[1]
        found = w.program.member(held.cls, cls.name) if isinstance(held, Box) else None
        if inspect.isfunction(found):
            return w.program.lift(found), (owner,), ()
    hint = "define a function that calls it, with def or lambda, and take the derivative of that"
    raise NotResolved(f"the derivative of {describe(kind)} cannot be taken here", w.span, hint)


def _made_of(f: Any, makers: tuple[type[Derived], ...]) -> Any:
    for cls in makers:
        f = _maker(cls.maker)(f, *cls.options, **dict(cls.named))
    return f


def stand_in(w: Walker, function: Function, captured: int) -> Local:
    """The one object that stands for a function of the language."""
    key = ("local", id(function))
    if key not in w.program.locals:
        w.program.locals[key] = Local(function, captured)
    found: Local = w.program.locals[key]
    return found


def _plain(w: Walker, function: Function, captured: int, atoms: tuple[Atom, ...]) -> tuple[Local, tuple[Atom, ...]]:
    """The function and its arguments without functions among them: what these capture is passed in their place."""
    plain, given, _ = unfolded(w, w.program.quiet(function) if is_quiet(w.instance.source) else function, atoms)
    return stand_in(w, plain, captured + len(given) - len(atoms)), given


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


def _product(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``tx.jvp(f, primals, tangents)``, ``tx.hvp`` of the same, ``tx.vjp(f, *primals)``."""
    named = {name: a for name, a in kwargs if name not in ("fallback", "jit")}
    names = ("f", "primals", "tangents")
    first = dict(zip(names, args[:1] if fn.__name__ == "vjp" else args, strict=False)) | named
    primals = args[1:] if fn.__name__ == "vjp" else _items(w, first.get("primals"), "primals")
    if "f" not in first:
        raise Misfit(f"{fn.__name__}() missing 1 required positional argument: 'f'")
    kind = w.read(first["f"])[1]
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    if isinstance(kind, Obj) and callable(kind.value):
        derivative = fn.__tangentx_product__(kind.value)
        order, owner = derivative.__tangentx_order__(w.program)
        atoms = bind(w, order, (*(external(w, value, "self") for value in owner), *primals), ())
        own = len(owner)
        _demand_parameters(w, fn, order, own + len(primals))
    else:
        function, captured, makers = _local(w, first["f"])
        bound = bind(w, function, (*captured, *primals), ())
        _demand_parameters(w, fn, function, len(captured) + len(primals))
        f, atoms = _plain(w, function, len(captured), bound)
        own = len(captured) + len(atoms) - len(bound)
        derivative = fn.__tangentx_product__(_made_of(f, makers))
    span = range(own, own + len(primals))  # parameters that are left to their defaults stand behind these
    if fn.__name__ == "vjp":
        return _pulled(w, derivative, atoms, span)
    tangents = _items(w, first.get("tangents"), "tangents")
    if len(tangents) != len(primals):
        message = f"there are {len(primals)} primals, but the number of tangents is {len(tangents)}"
        raise NotDifferentiable(message, w.span, "give one for each, None for a constant")
    active = [i for i, a in enumerate(tangents) if w.read(a)[1] != Obj(None)]
    places = tuple(own + i for i in active)
    given = (*atoms, *(tangents[i] for i in active))
    return _call(w, given, lambda program, kinds: derivative.along(program, kinds, places, span))


def _demand_parameters(w: Walker, fn: Any, function: Function, count: int) -> None:
    """Raises NotDifferentiable where one of so many arguments has no parameter of its own."""
    if any(param.kind in ("args", "kwargs", "keyword") for param in function.params[:count]):
        message = f"tx.{fn.__name__} of a function that takes *args, inside of a differentiated function"
        raise NotDifferentiable(
            message, w.span, "take it of a function with a parameter for each primal: `lambda x, y: f(x, y)`"
        )


def _items(w: Walker, atom: Atom | None, what: str) -> tuple[Atom, ...]:
    kind = w.read(atom)[1] if atom is not None else Obj(None)
    if isinstance(kind, Bottom):
        return ()
    node = kind.region.root() if isinstance(kind, Box) and kind.cls in (tuple, list) else None
    if node is None or node.open or atom is None:
        raise NotDifferentiable(f"{what} must be a tuple", w.span, "write jvp(f, (x,), (v,))")
    return items(w, atom, len(node.fields))


def _pulled(w: Walker, product: Any, atoms: tuple[Atom, ...], primals: range) -> tuple[Expr, Kind]:
    """The value, and the pullback as a function that holds copies of the primals."""
    kinds = [w.read(a)[1] for a in atoms]
    if any(isinstance(k, Bottom) for k in kinds):
        return Lit(None), BOTTOM
    primal, back = product.pullback(w.program, kinds, primals)

    def build() -> Block:
        held, copies = list(atoms), list[Assign]()
        for i, kind in enumerate(kinds):
            if isinstance(kind, Arr | Box):
                copies.append(Assign(w.temporary(), Op(arrays.entry_copy, (atoms[i],)), w.span))
                held[i] = Var(copies[-1].target)
        value, pull, both = (w.temporary() for _ in range(3))
        call = Apply(external(w, stand_in(w, primal, 0), "primal"), atoms)
        kept = (external(w, stand_in(w, back, 0), "pullback"), *held)
        return (
            *copies,
            Assign(value, call, w.span),
            Assign(pull, Make(partial(len(held), ()), kept), w.span),
            Assign(both, Make(tuple, (Var(value), Var(pull))), w.span),
        )

    return expanded(w, ("pulled", id(back)), build)
