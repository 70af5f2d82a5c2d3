"""Gradients without guards, run first; what is not finite, or raises, is computed again with them.

A product of a cotangent that is 0 with a slope that is infinite has to be 0, so it is guarded, which costs several
times the product. Nearly no call meets such a slope. So the text that runs is the plain one (`unguarded_products` has
the proof), in which NumPy raises where it would warn, and its results are looked at; only where something is amiss the
program is run once more, by the text with guards, under the caller's own settings: its warnings and errors are those of
the program. An entry that is amiss again and again begins with the guards.

The program must be one that nobody can see run twice, in which nothing but our own rules is applied to cotangents:

* no effects, draws, ``try`` or ``with np.errstate``, no calls of libraries that call back;
* no rules of the user's, which need not be linear; no derivative inside, whose cotangents become values.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Kind, Num
from tangentx.common.options import low_precision
from tangentx.derive.prologue import has_effects
from tangentx.dispatch.entries import Entry
from tangentx.dispatch.tracebacks import traced
from tangentx.errors import TangentxError
from tangentx.ir.library_call_op import LibraryCall
from tangentx.ir.nodes import Assign, Op, Statement
from tangentx.ir.walk import statements
from tangentx.optimise.facts.finite_values import among

LIMIT_MISSES = 2
_OF_PYTHON = frozenset(("import math", "import cmath", "import operator"))
_MISSES = frozenset((ZeroDivisionError, FloatingPointError, OverflowError, ValueError, np.linalg.LinAlgError))
"""What Python and NumPy raise for numbers: the program's own, or for a product without its guard. A refusal may be one
of a cotangent that is only without its guard no number."""
_GUARDS = frozenset((arrays.guarded, arrays.over_root))
"""In a program they are those of a derivative inside."""


def allowed(program: Program, root: Instance, spec: Any) -> bool:
    """Whether a gradient may do without guards first."""
    if spec.transform != "grad" or spec.guarded or spec.has_aux or spec.jit or low_precision() is not None:
        return False
    if has_effects(root) or program.on_tensors:
        return False
    return not any(s.span.around or _forbids(s) for s in _statements(program))


def _statements(program: Program) -> Iterator[Statement]:
    for instance in program.reached():
        yield from statements(instance.link.function.body) if instance.link.function is not None else ()


def _forbids(s: Statement) -> bool:
    if not (isinstance(s, Assign) and isinstance(s.value, Op)):
        return False
    fn = s.value.fn
    template = templates.find(fn)
    of_user = templates.is_own(fn) or (template is not None and template.signature is not None)
    return isinstance(fn, LibraryCall) or of_user or among(fn, _GUARDS)


class PlainSweep:
    """The entry of a gradient that has lost its guards; `guarded` finds the one that has them for the same values."""

    def __init__(self, plain: Callable[..., Any], loud: bool, guarded: Callable[[tuple[Any, ...]], Entry]) -> None:
        self.plain = plain
        self.guarded = guarded
        self.loud = loud
        self.misses = 0

    def __call__(self, *values: Any) -> Any:
        if self.misses < LIMIT_MISSES:
            try:
                found = self._strictly(values) if self.loud else self.plain(*values)
                if self.loud or finite(found):
                    return found
            except (ArithmeticError, ValueError, TangentxError) as error:
                if type(error) not in _MISSES and not isinstance(error, TangentxError):
                    raise
            self.misses += 1
        return traced(self.guarded(values), 0, *values)

    def _strictly(self, values: tuple[Any, ...]) -> Any:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            found = self.plain(*values)
            if not finite(found):
                raise FloatingPointError
            return found


def is_loud(text: str, kinds: Sequence[Kind]) -> bool:
    """Whether NumPy has a part in a text, made for arguments of these kinds, so that it may warn: unless all is of
    Python, for libraries have NumPy's numbers too."""
    python = all(isinstance(kind, Num) and set(kind.exact) <= {float, int, bool} for kind in kinds)
    imports = {line for line in text.splitlines() if line.startswith(("import ", "from "))}
    return not python or not imports <= _OF_PYTHON


def finite(x: Any) -> bool:
    """Whether all numbers of a structure are finite; False, too, of one whose parts are not known."""
    kind = type(x)
    if kind is np.ndarray:
        return x.dtype.kind in "biu" or (x.dtype.kind in "fc" and bool(np.isfinite(np.add.reduce(x, axis=None))))
    if isinstance(x, float):
        return math.isfinite(x)
    if kind is tuple or kind is list:
        return all(map(finite, x))
    if kind is dict:
        return all(map(finite, x.values()))
    if isinstance(x, complex):
        return cmath.isfinite(x)
    if isinstance(x, np.generic):
        return x.dtype.kind in "biu" or (x.dtype.kind in "fc" and bool(np.isfinite(x)))
    return x is None or kind is int or kind is bool
