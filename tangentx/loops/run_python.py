"""Runs programs as plain Python."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tangentx.common.compiling import compiled
from tangentx.loops import print_python
from tangentx.loops.arguments import FLAGGED, Backend, Unfit, demand_fit, typed
from tangentx.loops.callbacks import called, raising
from tangentx.loops.loop_ir import Bail, Bailout, Program


def in_python(program: Program, parallel: bool = False) -> tuple[str, Backend]:
    """Its text, and what runs it."""
    text = print_python.text_of(program)
    namespace: dict[str, Any] = {"outside": [functools.partial(called, call) for call in program.outside]}
    exec(compiled(text, f"<tangentx loops {program.functions[0].name}>"), namespace)
    function = namespace[program.functions[0].name]

    def run(values: Sequence[Any]) -> Sequence[Any]:
        demand_fit(program, values)
        try:
            found: Sequence[Any] = raising(lambda: function(*values))
        except Bailout as bail:
            raise Unfit(Bail(bail.args[0]).reason) from None
        except FloatingPointError:
            raise Unfit(FLAGGED) from None
        except (ArithmeticError, ValueError, MemoryError):
            raise Unfit(Bail.DOMAIN.reason) from None
        return [typed(value, type) for value, type in zip(found, program.functions[0].results, strict=True)]

    return text, run
