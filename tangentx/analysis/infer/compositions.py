"""Calls of library functions that are defined by compositions; refusals inside one point at the user's call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer import calls
from tangentx.analysis.infer.arguments import bind
from tangentx.analysis.infer.inlining import standin
from tangentx.analysis.types.kinds import Bottom, Kind
from tangentx.common.naming import public_name
from tangentx.errors import NotDifferentiable, TangentxError, is_ours
from tangentx.ir.nodes import Assign, Atom, Call, Expr, Function, Lit, Op
from tangentx.ir.walk import statements
from tangentx.templates import stands_in_place

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]


def in_terms_of(
    w: Walker, body: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named, fn: Any = None
) -> tuple[Expr, Kind]:
    """The call of a composition's `body`, which stands for `fn`. Raises at the call what is raised inside, whatever the
    arguments' values."""
    if stands_in_place(body):
        return standin(w, body, bind(w, w.program.library(body), args, kwargs))
    try:
        call, result = calls.call_python(w, body, args, kwargs)
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
    for made in _raised(call, []):
        texts = [str(a.value) for a in (*made.args, *(a for _, a in made.kwargs)) if isinstance(a, Lit)]
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
