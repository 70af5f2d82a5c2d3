"""A compiled program as a Python function: as plain Python, or with the generated text as a fallback."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tangentx.common.recursion import compiled
from tangentx.errors import NotResolved
from tangentx.loops import print_python
from tangentx.loops.arguments import (
    FLAGGED,
    OTHER,
    Backend,
    Telling,
    Unfit,
    demand_fit,
    put_together,
    taken_apart,
    typed,
)
from tangentx.loops.callbacks import called, raising
from tangentx.loops.loop_ir import Bail, Bailout, Program
from tangentx.loops.run_c import in_c
from tangentx.loops.run_numba import in_numba

# Runs programs as plain Python.


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


# A compiled program as a Python function, with the generated text as a fallback.

_TITLES = {"python": "loops in Python", "c": "C", "numba": "Python that Numba compiles"}
BACKENDS: dict[str, Callable[[Program, bool], tuple[str, Backend]]] = {
    "python": in_python,
    "c": in_c,
    "numba": in_numba,
}


class Compiled:
    """A derivative that is compiled. What it has no answer for, `plain` has, from the beginning.

    `gave_up` counts why it was asked. `current` gives what an object from outside is now.
    """

    def __init__(
        self,
        program: Program,
        how: str,
        plain: Callable[..., Any],
        defaults: Sequence[Any],
        current: Callable[[Any], Any],
        parallel: bool = False,
    ) -> None:
        self.program, self.how, self.plain, self.current = program, how, plain, current
        self.parallel = parallel
        self.text, self.run = BACKENDS[how](program, parallel)
        self.gave_up: Counter[str] = Counter()
        self._missing = tuple(defaults)
        count = len(program.functions[0].params)
        self._as_given = not program.read and program.arguments == tuple(range(count))

    def told(self) -> list[str]:
        """What was compiled, and how often the generated Python was run instead."""
        threads = ", on several threads where loops are long" if self.parallel and self.how == "c" else ""
        lines = [f"compiled as {_TITLES[self.how]}, {self.text.count(chr(10))} lines{threads}", *self.program.report]
        if isinstance(self.run, Telling):
            lines += self.run.told()
        for reason, count in self.gave_up.most_common():
            lines.append(f"  ran as Python {count} time{'' if count == 1 else 's'}: {reason}")
        return lines

    def __call__(self, *values: Any) -> Any:
        program = self.program
        missing = len(program.arguments) - len(values)
        given = (*values, *self._missing[len(self._missing) - missing :]) if missing else values
        try:
            found = self.run(given if self._as_given else taken_apart(program, given, self._read()))
        except Unfit as unfit:
            self.gave_up[unfit.reason] += 1
        else:
            return found[0] if program.shape == 0 else put_together(program.shape, found)
        return self.plain(*values)

    def _read(self) -> list[Any]:
        """What the program reads from outside. Raises Unfit."""
        try:
            return [self.current(atom) for atom in self.program.read]
        except NotResolved:
            raise Unfit(OTHER) from None
