"""SciPy distributions: a call of one makes an object that holds its parameters.

What holds parameters is a function value: where the program runs it is a plain tuple of them, and a method of it is the
method of the distribution, given the parameters behind its own arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tangentx import templates
from tangentx.analysis.infer import functions
from tangentx.analysis.types.kinds import Box, Kind, varied
from tangentx.common.naming import public_name
from tangentx.errors import NoTemplate
from tangentx.ir.functions import Frozen, frozen
from tangentx.ir.nodes import Atom, Expr, Lit, Make, Method
from tangentx.templates.refusals import advice

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]
Meant = tuple[Any, tuple[Atom, ...], Named]


def held(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of a distribution, which holds its parameters; None for a call of anything else."""
    if not templates.is_distribution(fn):
        return None
    return w.walk(Make(frozen(fn, len(args), tuple(name for name, _ in kwargs)), (*args, *(a for _, a in kwargs))))


def meant(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> Meant | None:
    """The call of a method of a frozen distribution from outside, as one of the distribution; None for any other."""
    found = templates.thawed(fn)
    if found is None or not templates.has_composition(found.method):
        return None
    given = tuple(_outside(w, value, f"parameter{i + 1}") for i, value in enumerate(found.args))
    named = tuple((name, _outside(w, value, name)) for name, value in found.kwargs.items())
    return found.method, (*args, *given), (*kwargs, *named)


def demand_constant(w: Walker, fn: Any, given: tuple[Atom, ...]) -> None:
    """Refuses what varies at a method of a distribution that has no rule."""
    found = templates.thawed(fn)
    method = fn if found is None else found.method
    if templates.is_distribution(getattr(method, "__self__", None)) and any(varied(w.read(a)[1]) for a in given):
        raise NoTemplate(f"`{public_name(method)}` has no derivative rule", w.span, advice(method))


def _outside(w: Walker, value: Any, name: str) -> Atom:
    plain = type(value) in (bool, int, float) or value is None
    return Lit(value) if plain else functions.external(w, value, name)


def of_held(w: Walker, expr: Method, kind: Box) -> Meant | None:
    """The call of a method of a distribution that was frozen in the program; None for one of anything else."""
    cls = kind.cls
    if not issubclass(cls, Frozen):
        return None
    method = getattr(cls.distribution, expr.name, None)
    if method is None or not templates.has_composition(method):
        name = f"{public_name(cls.distribution)}.{expr.name}"
        raise NoTemplate(f"`{name}` has no derivative rule", w.span, advice(method or cls.distribution))
    items = functions.items(w, expr.base, cls.positional + len(cls.names))
    named = tuple(zip(cls.names, items[cls.positional :], strict=True))
    return method, (*expr.args, *items[: cls.positional]), (*expr.kwargs, *named)
