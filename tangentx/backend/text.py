"""A whole generated text: header, imports, functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tangentx.backend.lower import lower, name_temporaries
from tangentx.backend.printer import deep, printed
from tangentx.backend.shapes import temporary
from tangentx.backend.spelling import Scope
from tangentx.ir import walk
from tangentx.ir.nodes import Function
from tangentx.naming import Names


@dataclass(frozen=True, slots=True)
class Text:
    """The text `source`, its `imports` lines, the names of its `functions` in the order in which they were given,
    the `names` that the namespace must hold for it, objects that no import reaches, and the user's file that each
    function comes from."""

    source: str
    names: dict[str, object] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)


def write(functions: Sequence[Function], header: str = "") -> Text:
    """The text of `functions`, which are all that they call; `header` becomes a comment at the top.

    A function keeps its name unless a variable or an earlier function has it. The same functions give the same
    text. Raises KeyError for a call of a function that is not among them.
    """
    return deep(lambda: _write(functions, header))


def _write(functions: Sequence[Function], header: str) -> Text:
    taken = _user_names(functions)
    scope = Scope(taken, _function_names(functions, taken))
    trees = [lower(function, scope) for function in functions]
    for tree in trees:
        name_temporaries(tree, scope)
    imports = scope.import_lines()
    comment = [line if line.startswith("#") else f"# {line}".rstrip() for line in header.splitlines()]
    if scope.objects:
        names = ", ".join(f"`{name}`" for name in scope.objects)
        comment.append(f"# No import reaches {names}: set before this text runs anywhere else.")
    top = "\n\n".join("\n".join(part) for part in (comment, imports) if part)
    parts = [top] if top else []
    source = "\n\n\n".join(parts + [printed(tree) for tree in trees]) + "\n"
    files = {scope.functions[f]: f.span.file for f in functions}
    return Text(source, scope.objects, tuple(imports), tuple(files), files)


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
