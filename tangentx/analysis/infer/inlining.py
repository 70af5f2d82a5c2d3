"""Models of library functions, put in the place of the call; their errors are told at the user's own call."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.library import model_bodies, standard_library
from tangentx.analysis.types.kinds import Kind
from tangentx.errors import NO_PROGRAM, NoTemplate, Span, TangentxError, UnsupportedSyntax, is_library, is_ours
from tangentx.ir.nodes import Assign, Atom, Block, Expr, Ext, Return, Var
from tangentx.ir.rewrite import map_atoms, rename, with_span
from tangentx.ir.walk import bound
from tangentx.templates import no_rule

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Inlining of library models: the model's body replaces the call.

INLINED = frozenset(
    fn
    for module in (model_bodies, standard_library, model_bodies)
    for _, fn in inspect.getmembers(module, inspect.isfunction)
    if fn.__module__ == module.__name__
)


def standin(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], tag: Any = None) -> tuple[Expr, Kind]:
    """The statements of a stand-in in place of a call; its last one returns."""

    def build() -> Block:
        function = w.program.library(fn)
        names = {name: _local(w, name) for name in sorted(bound(function.body))}
        given: list[Any] = []
        known: dict[str, Atom] = {}
        for param, atom in zip(function.params, args, strict=True):
            if param.name in names or isinstance(atom, Ext):
                names.setdefault(param.name, w.temporary())
                given.append(Assign(names[param.name], atom, w.span))
            else:
                known[param.name] = atom
        own = rename(function.body, names)
        *body, last = with_span(map_atoms(own, lambda a: known.get(a.name, a) if isinstance(a, Var) else a), w.span)
        assert isinstance(last, Return)
        return (*given, *body, Assign(w.temporary(), last.value, w.span))

    return expanded(w, ("standin", fn, tag), build)


def _local(w: Walker, name: str) -> str:
    """A new name for a local of a stand-in: `webs` gives it the part before the mark, for the reader."""
    return w.temporary() if name.startswith(("%", "_")) else f"{name}{w.temporary()}"


# Reports errors that occur inside library code at the user's own call.


def at_the_call(error: TangentxError, fn: types.FunctionType, span: Span | None, named: Any = None) -> TangentxError:
    """The error, or what it means to somebody who called a function of a library: there is no rule for that.

    `named` is what was called, where that is not the function. Why the library's own source cannot be differentiated is
    nothing that its user can change. What a function of ours refuses that stands for one of Python's is refused there
    too.
    """
    if span is not None and error.span is not None and is_ours(error.span.file) and not is_ours(span.file):
        if isinstance(error, UnsupportedSyntax) and fn.__module__ == "tangentx.nn.module":
            hint = "read parameters by their names, as in `model.first.weight`"
            return UnsupportedSyntax(f"`{fn.__name__}` of a module is not compiled", span, hint)
        return type(error)(error.message, span, error.hint)
    if span is None or is_library(span.file) or not is_library(fn.__code__.co_filename):
        return error
    if not isinstance(error, NO_PROGRAM) or (error.span is not None and not _is_of_library(error.span.file)):
        return error
    message, hint = no_rule(named or fn)
    found = NoTemplate(message, span, hint)
    found.through = error.through
    return found


def _is_of_library(file: str) -> bool:
    return is_library(file) or file.startswith("<string>")  # what a library makes by `exec`
