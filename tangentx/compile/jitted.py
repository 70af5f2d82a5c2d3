"""What ``jit=`` asks for: the derivative compiled further, or the reason why it runs as the Python that it is."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tangentx.errors import JitWarning, NoCompiler, frames_to_user
from tangentx.frontend.resolve import current
from tangentx.ir.nodes import Function, Lit
from tangentx.jit.entry import Compiled
from tangentx.jit.loop_ir import Outside, Program, statements
from tangentx.jit.run_numba import NotCompiled
from tangentx.jit.scalarise import Refusal, scalarise
from tangentx.optimise.facts.unit import Unit

BY_RULE = ("c", "numba")
"""What ``jit=True`` takes: the first that is there. C is compiled in less time, and runs in no more."""
_TOLD: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


class Jit:
    """How one derivative is to be compiled, and what has become of that."""

    def __init__(self, how: str | bool, target: Any) -> None:
        self.ways = BY_RULE if how is True else (str(how),)
        self.by_rule = how is True
        self.target = target
        self.program: Program | None = None
        self.derived: Function | None = None
        self.refusal = ""
        self.compiled: Compiled | None = None

    def take(self, units: Sequence[Unit]) -> None:
        """Takes the functions as they are before they are put in words for a reader."""
        self.derived = units[0].function
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

    def entry(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """What is called for the derivative; `plain` where it cannot be compiled, which is said once."""
        if self.program is not None and self.by_rule and (reason := slower(self.program)):
            self.refusal = reason
            return plain
        if self.program is None or self.derived is None:
            say(self.target, self.refusal)
            return plain
        defaults = [p.default.value for p in self.derived.params if isinstance(p.default, Lit)]
        reasons: list[str] = []
        for way in self.ways:
            try:
                self.compiled = Compiled(self.program, way, plain, defaults, current)
            except NoCompiler as error:
                if not self.by_rule:
                    raise
                reasons.append(error.message)
            except NotCompiled as error:
                reasons.append(str(error))
            else:
                return self.compiled
        self.refusal = "; ".join(reasons)
        say(self.target, self.refusal)
        return plain

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


def not_compiled(spec: Any, target: Any, what: str) -> None:
    """Says once that `what` runs as Python, where `spec` asks for more."""
    if spec.jit not in (None, False):
        say(target.function, f"{what} are not compiled yet")


def say(target: Any, reason: str) -> None:
    """Says once for each function and reason that a derivative of it runs as Python."""
    told = _TOLD.setdefault(target, set())
    if reason not in told:
        told.add(reason)
        name = getattr(target, "__name__", "the function")
        text = f"a derivative of `{name}` is not compiled by jit and runs as Python, which is slower: {reason}"
        warnings.warn(JitWarning(text), stacklevel=frames_to_user())
