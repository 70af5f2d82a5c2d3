"""A function itself, compiled as its derivatives are by ``jit=``; what cannot be compiled runs as it was written."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region, reached
from tangentx.arrays.signatures import storages
from tangentx.common.axes import Taken
from tangentx.common.generated_text import Text
from tangentx.compile import pipeline
from tangentx.compile.dependencies import guard_of
from tangentx.compile.device_kernels import Kernels
from tangentx.compile.gradients import (
    Pairs,
    analysed,
    found_for,
    header_of,
    jit_of,
    kinds_of,
    kinds_of_arguments,
    never_returns,
    noted,
)
from tangentx.compile.jitted import Jit
from tangentx.derive import products
from tangentx.derive.prologue import has_effects
from tangentx.dispatch.entries import Cache, Entry, Target
from tangentx.dispatch.validation import gives_given, writes_arguments
from tangentx.errors import NoCompiler, TangentxError


def entry(
    target: Target, cache: Cache, values: tuple[Any, ...], spec: Any, parameters: Iterable[inspect.Parameter]
) -> Entry:
    """The compiled function for these arguments, or the function as it was written. Raises NoCompiler."""

    def again(values: tuple[Any, ...]) -> Entry:
        return entry(target, cache, values, spec, parameters)

    def make(pairs: Pairs) -> Entry:
        plain = functools.partial(as_written, target, tuple(parameters))
        jit = jit_of(spec, target, plain)
        if jit is None:
            return _refused(target, Jit(spec.jit, target.function, plain), "checked mode checks Python")
        try:
            return _compiled(target, values, pairs, jit)
        except NoCompiler:
            raise
        except TangentxError as error:
            return _refused(target, jit, error.message)

    return found_for(target, cache, values, (), "primal", make, None, again)


def as_written(target: Target, parameters: Iterable[inspect.Parameter], *values: Any) -> Any:
    """What the function gives for the values of its parameters."""
    placed: list[Any] = []
    named: dict[str, Any] = {}
    for param, value in zip(parameters, values, strict=True):
        if param.kind is param.VAR_KEYWORD:
            named |= value
        elif param.kind is param.KEYWORD_ONLY:
            named[param.name] = value
        else:
            placed += value if param.kind is param.VAR_POSITIONAL else [value]
    owned = len(target.owner)
    function: Any = target.function
    if hasattr(function, "__tangentx_target__"):
        function, placed = function._bound_to(tuple(placed[:owned])), placed[owned:]
    return function(*placed, **named)


def _compiled(target: Target, values: Sequence[Any], pairs: Pairs, jit: Jit | Kernels) -> Entry:
    """Raises located errors where the analysis does not understand the function, and NoCompiler."""
    program, second = pipeline.new_pair(values)
    root = analysed(target, program, kinds_of_arguments(target, program, values, pairs), ())
    if reason := _beyond_values(target, program, root, values):
        return _refused(target, jit, reason)
    again = kinds_of(second.world, values, pairs)
    header = header_of(target, root, (), "primal")
    functions, text, filename = pipeline.compile_functions(products.primal(root), again, second, header, jit=jit)
    notes = noted(header, program, second) | {"value": None, "jit": jit}
    if not jit.is_compiled:
        return _refused(target, jit, "")
    return Entry(functions, text, filename, guard_of((program, second), text), False, notes)


def _beyond_values(target: Target, program: Program, root: Instance, values: Sequence[Any]) -> str:
    """What a function does but compute a value of memory of its own; empty where it does nothing else."""
    if never_returns(target, root):
        return "it never returns a value"
    if writes_arguments(program):
        return "it writes into its arguments"
    if has_effects(root):
        return "it acts on something outside, or answers otherwise when it is called again"
    given = set(reached(root.params))
    if gives_given(root) or any(node.external or node in given for node in reached((root.result,))):
        return "its result may be memory of an argument, or from outside"
    if len(set(found := list(_storages(root.result, ())))) < len(found):
        return "parts of its result may share memory"
    if len(storages(tuple(values))) != len({id(x) for x in storages(tuple(values))}):
        return "one of its arguments is in two places"
    return ""


def _storages(kind: Kind, above: tuple[Region, ...]) -> list[Region]:
    """The regions of a result's arrays and containers, one for each place."""
    if isinstance(kind, Arr):
        return [kind.region.root()]
    if not isinstance(kind, Box) or kind.region.root() in above:
        return []
    node = kind.region.root()
    inside = [*(node.get(key) for key in node.fields), node.elt]
    own = [] if kind.cls is tuple else [node]
    return [*own, *(region for item in inside for region in _storages(item, (*above, node)))]


def _refused(target: Target, jit: Jit | Kernels, reason: str) -> Entry:
    """The function as it was written, which is said once."""
    if reason:
        jit.refuse(reason)
    text = Text(f"# `{getattr(target.function, '__name__', 'the function')}` runs as written: {jit.refusal}\n")
    signature = text.source.strip()
    notes = {"signature": signature, "outside": (), "axes": None, "taken": Taken(), "jit": jit, "value": None}
    return Entry((jit.plain,), text, "<tangentx nothing>", lambda: True, False, notes)
