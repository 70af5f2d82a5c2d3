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

from collections.abc import Iterator, Sequence
from typing import Any

from tangentx import arrays, templates
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Kind, Num, is_elsewhere
from tangentx.common.options import low_precision
from tangentx.derive.prologue import has_effects
from tangentx.ir.library_call_op import LibraryCall
from tangentx.ir.nodes import Assign, Op, Statement
from tangentx.ir.walk import statements
from tangentx.optimise.facts.finite_values import among

_OF_PYTHON = frozenset(("import math", "import cmath", "import operator"))
_GUARDS: frozenset[Any] = frozenset((
    arrays.guarded, arrays.over_root, arrays.careful_matmul, arrays.columns_outer, arrays.dot_left, arrays.dot_right,
    arrays.matmul_left, arrays.matmul_right, arrays.outer_left, arrays.outer_right,
))  # fmt: skip
"""In a program they are those of a derivative inside. Adjoints of products are among them: passes write them as
products, which have guards or none."""


def allowed(program: Program, root: Instance, spec: Any) -> bool:
    """Whether a gradient may do without guards first."""
    if spec.transform != "grad" or spec.guarded or spec.has_aux or spec.jit or low_precision() is not None:
        return False
    if has_effects(root) or program.on_tensors or any(map(is_elsewhere, root.params)):
        return False  # whether a result on a device is finite cannot be asked without a transfer
    return not any(s.span.around or _forbids(s) for s in _statements(program))


def is_linear(program: Program) -> bool:
    """Whether nothing but our own rules is applied to the cotangents of a program."""
    return not program.on_tensors and not any(map(_is_of_others, _statements(program)))


def _statements(program: Program) -> Iterator[Statement]:
    for instance in program.reached():
        yield from statements(instance.link.function.body) if instance.link.function is not None else ()


def _forbids(s: Statement) -> bool:
    return _is_of_others(s) or (isinstance(s, Assign) and isinstance(s.value, Op) and among(s.value.fn, _GUARDS))


def _is_of_others(s: Statement) -> bool:
    """Whether a statement calls what has a rule of the user's, or what calls back."""
    if not (isinstance(s, Assign) and isinstance(s.value, Op)):
        return False
    fn = s.value.fn
    template = templates.find(fn)
    return (
        isinstance(fn, LibraryCall) or templates.is_own(fn) or (template is not None and template.signature is not None)
    )


def is_loud(text: str, kinds: Sequence[Kind]) -> bool:
    """Whether NumPy has a part in a text, made for arguments of these kinds, so that it may warn: unless all is of
    Python, for libraries have NumPy's numbers too."""
    python = all(isinstance(kind, Num) and set(kind.exact) <= {float, int, bool} for kind in kinds)
    imports = {line for line in text.splitlines() if line.startswith(("import ", "from "))}
    return not python or not imports <= _OF_PYTHON
