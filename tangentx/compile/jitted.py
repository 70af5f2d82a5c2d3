"""``jit=``: compiles a derivative further, or says why it runs as Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tangentx.analysis.infer.program import Program as TypedProgram
from tangentx.analysis.types.kinds import library_in
from tangentx.common.free_variables import current
from tangentx.compile.fallback import warn_of_jit
from tangentx.errors import NoCompiler
from tangentx.ir.nodes import Function, Lit
from tangentx.loops.entry import Compiled
from tangentx.loops.loop_ir import Outside, Program, statements
from tangentx.loops.run_numba import NotCompiled
from tangentx.loops.scalarise import scalarise
from tangentx.loops.types import Refusal
from tangentx.optimise.facts.unit import Unit

BY_RULE = ("c", "numba")
"""What ``jit=True`` takes: the first that is there. C is compiled in less time, and runs in no more."""


class Jit:
    """How one derivative is to be compiled, and what has become of that.

    Without `plain` it is the generated Python that answers for what is not compiled; with it, it is the function itself
    that is compiled, and `plain` is the function as it was written.
    """

    loops = True

    def __init__(
        self, how: str | bool, target: Any, plain: Callable[..., Any] | None = None, parallel: bool = False
    ) -> None:
        self.ways = BY_RULE if how is True else (str(how),)
        self.by_rule = how is True
        self.parallel = parallel
        self.target, self.plain = target, plain
        self.program: Program | None = None
        self.derived: Function | None = None
        self.refusal = ""
        self.compiled: Compiled | None = None

    @property
    def is_compiled(self) -> bool:
        """Whether there is anything that is compiled."""
        return self.compiled is not None

    @property
    def text(self) -> str | None:
        """What is compiled, where that is another text than the generated Python."""
        return None if self.compiled is None else self.compiled.text

    def take(self, _: TypedProgram, units: Sequence[Unit]) -> tuple[()]:
        """Takes the functions as they are before they are put in words for a reader; it makes no others."""
        self.derived = units[0].function
        elsewhere = [found for unit in units for kind in unit.kinds.values() if (found := library_in(kind))]
        if elsewhere:
            file = units[0].function.span.file.rpartition("/")[2]
            place = f"{file}:{units[0].function.span.line}"
            self.refusal = f'its arrays are in {elsewhere[0].shown}: use jit="cuda" ({place})'
            return ()
        try:
            program = scalarise((units[0].function, units[0].kinds), {u.link: (u.function, u.kinds) for u in units})
        except Refusal as refusal:
            file = units[0].function.span.file.rpartition("/")[2]
            self.refusal = f"{refusal.reason} ({file}:{refusal.line})"
        else:
            if all(unit.exact for unit in units):
                self.program = program
            else:
                self.refusal = "numbers of several precisions"
        return ()

    def entry(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """What is called for the derivative; `plain` where it cannot be compiled, which is said once."""
        plain = plain if self.plain is None else self.plain
        if self.program is not None and self.by_rule and (reason := slower(self.program)):
            self.refusal = reason
            return plain
        if self.program is None or self.derived is None:
            self.refuse(self.refusal)
            return plain
        defaults = [p.default.value for p in self.derived.params if isinstance(p.default, Lit)]
        reasons: list[str] = []
        for way in self.ways:
            try:
                self.compiled = Compiled(self.program, way, plain, defaults, current, self.parallel)
            except NoCompiler as error:
                if not self.by_rule:
                    raise
                reasons.append(error.message)
            except NotCompiled as error:
                reasons.append(str(error))
            else:
                return self.compiled
        self.refuse("; ".join(reasons))
        return plain

    def refuse(self, reason: str) -> None:
        """Says once why nothing is compiled."""
        self.refusal = reason
        warn_of_jit(self.target, reason, itself=self.plain is not None)

    def told(self) -> list[str]:
        """What a reader of `explain` wants to know."""
        if self.compiled is None:
            return [f"runs as Python, though jit={True if self.by_rule else self.ways[0]!r}: {self.refusal}"]
        return self.compiled.told()


def slower(program: Program) -> str:
    """Why ``jit=True`` leaves a program to Python; empty where compiled loops are faster.

    A call of a function of Python costs about 10 µs from there, many times what it costs from Python. Products of
    matrices call one only where they are large.
    """
    found = [
        program.outside[s.place].fn.__name__
        for f in program.functions
        for s in statements(f.body)
        if isinstance(s, Outside)
    ]
    return f"compiled loops would leave `{found[0]}` to Python, which is slower" if found else ""
