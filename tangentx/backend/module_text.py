"""The complete generated module: header, imports, functions."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.backend.lower import lower, source_of
from tangentx.backend.positions import marks_of
from tangentx.backend.printer import TooDeep, printed
from tangentx.backend.spelling import Scope
from tangentx.backend.statement_groups import temporary
from tangentx.backend.temporaries import name_temporaries
from tangentx.backend.unspellable import spelled
from tangentx.common.generated_text import Text
from tangentx.common.naming import Names
from tangentx.common.recursion import deep
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.ir import walk
from tangentx.ir.library_call_op import handed_over
from tangentx.ir.nodes import Function
from tangentx.ir.value_names import ValueNames


def write(functions: Sequence[Function], header: str = "") -> Text:
    """The text of `functions`, which are all that they call; `header` becomes a comment at the top.

    A function keeps its name unless a variable or an earlier function has it. The same functions give the same
    text. Raises KeyError for a call of a function that is not among them.
    """
    try:
        return deep(lambda: _write(functions, header))
    except RecursionError:
        raise too_deep(functions[0].span) from None


def too_deep(place: Span | None) -> UnsupportedSyntax:
    """The error for a program whose derivative Python does not read."""
    message = "loops and branches are nested so deeply that Python cannot read the text of the derivative"
    return UnsupportedSyntax(message, place, "move the inner ones into a function of their own")


def _write(functions: Sequence[Function], header: str) -> Text:
    functions = [*functions, *handed_over(functions)]
    taken = _user_names(functions)
    scope = Scope(taken, _function_names(functions, taken))
    trees = [spelled(lower(function, scope), scope) for function in functions]
    for tree, function in zip(trees, functions, strict=True):
        notes = function.notes
        name_temporaries(tree, scope, ValueNames(function.body, notes.get("called"), notes.get("items")))
    imports = scope.import_lines()
    comment = [line if line.startswith("#") else f"# {line}".rstrip() for line in header.splitlines()]
    if scope.objects:
        names = ", ".join(f"`{name}`" for name in scope.objects)
        comment.append(f"# No import reaches {names}: set before this text runs anywhere else.")
    top = "\n\n".join("\n".join(part) for part in (comment, imports) if part)
    parts = [top] if top else []
    for tree, function in zip(trees, functions, strict=True):
        try:
            parts.append(_source(function, scope) + printed(tree))
        except TooDeep:
            raise too_deep(function.span) from None
    source = "\n\n\n".join(parts) + "\n"
    files = {scope.functions[f]: f.span.file for f in functions}
    marks = {tree.name: marks_of(tree, f.span) for tree, f in zip(trees, functions, strict=True)}
    copied = functions[0].notes.get("copied", ())
    reads = tuple(scope.reads.values())
    return Text(source, scope.objects, tuple(imports), tuple(files), files, copied, marks, functions[0].span, reads)


def _source(function: Function, scope: Scope) -> str:
    """The source of the kernel that a function is, to stand before it; nothing for any other function."""
    if "kernel" not in function.notes:
        return ""
    return f'{source_of(function, scope)} = r"""\n{function.notes["kernel"][0]}"""\n\n\n'


def _user_names(functions: Sequence[Function]) -> set[str]:
    found: set[str] = set()
    for function in functions:
        found |= {param.name for param in function.params}
        found |= walk.bound(function.body) | walk.used(function.body)
    return {name for name in found if not temporary(name)}


def _function_names(functions: Sequence[Function], taken: set[str]) -> dict[Function, str]:
    names = Names(taken)
    given: dict[Function, str] = {}
    for function in functions:
        free = function.name not in taken and function.name not in given.values()
        given[function] = function.name if free else names.fresh(function.name)
        names.take(given[function])
    return given
