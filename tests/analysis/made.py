"""Programs analysed for the kinds of given arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import vary
from tangentx.analysis.types.samples import Valuer
from tangentx.compile import pipeline
from tangentx.ir.show import show


def analysed(fn: Callable[..., Any], *values: Any, wrt: tuple[int, ...] = (0,)) -> tuple[Program, Instance]:
    program = pipeline.new_program()
    valuer = Valuer(program.world)
    kinds = [vary(valuer.kind(v)) if i in wrt else valuer.kind(v) for i, v in enumerate(values)]
    return program, pipeline.analyse(program.lift(fn), kinds, program)


def text(fn: Callable[..., Any], *values: Any) -> str:
    """The closed form."""
    function = analysed(fn, *values)[1].link.function
    assert function is not None
    return show(function)


def kind(fn: Callable[..., Any], name: str, *values: Any) -> Any:
    """The kind of one variable of the closed form."""
    return analysed(fn, *values)[1].kinds[name]


def in_order(found: str, *pieces: str) -> bool:
    """Whether the pieces stand in the text one after the other."""
    at = 0
    for piece in pieces:
        at = found.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True
