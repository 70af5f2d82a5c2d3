"""Collects every reason why a program cannot be compiled, without running it.

The analysis goes on behind each statement that is refused, with names of no kind; of a function whose text is refused
it reads what the rest means (`approximate_lift`). Where nothing is found, the derivation is asked, too.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from tangentx.analysis.infer.inference import Inference
from tangentx.analysis.types.kinds import Bottom
from tangentx.analysis.types.samples import fill
from tangentx.common import source
from tangentx.compile import pipeline
from tangentx.compile.gradients import analysed, kinds_of_arguments, order
from tangentx.dispatch.entries import Target
from tangentx.errors import TangentxError, UnsupportedSyntax, is_library
from tangentx.frontend import parse, unsupported
from tangentx.frontend.approximate_lift import loosely
from tangentx.frontend.lift import lift
from tangentx.ir.nodes import Function


class _Reader:
    """Lifts functions, and notes what of their text is refused."""

    def __init__(self) -> None:
        self.found: list[TangentxError] = []
        self.lifted: dict[Any, Function] = {}

    def lift(self, function: types.FunctionType) -> Function:
        """The function's version in the language, as far as its text can be read."""
        if function not in self.lifted:
            try:
                self.lifted[function] = lift(function)
            except UnsupportedSyntax as error:
                if is_library(function.__code__.co_filename):
                    raise  # told by those who call it
                self.found += self._every(function, error)
                self.lifted[function] = loosely(function)
        return self.lifted[function]

    def _every(self, function: types.FunctionType, error: TangentxError) -> list[TangentxError]:
        """All constructs of a text that are refused; the one that was met first where it is told by its context."""
        text = source.find(function)
        return [*unsupported.every(parse.parse(text), text)] or [error]


def of_program(target: Target, values: Sequence[Any], wrt: tuple[int, ...]) -> list[TangentxError]:
    """What is refused in the function and in all that it reaches, each once, in the order of the text."""
    reader = _Reader()
    program = Inference(reader.lift, None, loosely)
    program.problems = problems = []
    try:
        kinds = kinds_of_arguments(target, program, values, ())
        varied = [fill(kind) if i in wrt else kind for i, kind in enumerate(kinds)]
        program.analyse(order(target, program), varied)
    except TangentxError as error:
        problems.append(error)
    found = {str(error): error for error in (*reader.found, *problems)}
    if not found:
        found = {str(error): error for error in _of_derivation(target, values, wrt)}
    return sorted(found.values(), key=_place)


def _of_derivation(target: Target, values: Sequence[Any], wrt: tuple[int, ...]) -> list[TangentxError]:
    """What is refused where the program itself can be read: the first that is met."""
    program = pipeline.new_program()
    try:
        root = analysed(target, program, kinds_of_arguments(target, program, values, ()), wrt)
        if not isinstance(root.result, Bottom):
            pipeline.derive_sweeps(program, root, wrt)
    except TangentxError as error:
        return [error]
    return []


def _place(error: TangentxError) -> tuple[str, int, int]:
    span = error.span
    return ("", 0, 0) if span is None else (span.file, span.line, span.column)
