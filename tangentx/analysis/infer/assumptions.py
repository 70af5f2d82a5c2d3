"""Assumptions that kinds make about values, and which operations would notice a violation.

``x ** 0.5`` of a Python number is taken for a float, though it is complex where `x` is negative; ``sum(rows)`` is taken
for an array, though it is the int 0 where there are no rows; `np.cross` for an array, though that of vectors in a plane
is a number. Python goes on with what there is, and so does the text:
numbers and arrays mostly answer for themselves. But what kinds decide once for all is decided wrongly then: the
imaginary part of a float, which has no derivative, the sign in that of `abs`, `isinstance`. In a program that does any
of this, and in checked mode, the operations whose kinds are such an assumption check it while the program runs.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, dtype_of, varied
from tangentx.analysis.types.number_joins import may_be_empty
from tangentx.analysis.types.primitives import hashable
from tangentx.common.options import is_checked
from tangentx.errors import is_ours
from tangentx.ir.nodes import Atom, Lit

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

_POWERS: frozenset[Any] = frozenset({operator.pow, builtins.pow})
_NOTICING: frozenset[Any] = frozenset({
    builtins.abs, operator.abs, np.absolute, np.sign, np.real, np.imag, np.conjugate, np.angle,
    np.iscomplexobj, np.isrealobj, np.iscomplex, np.isreal, np.real_if_close,
})  # fmt: skip
"""Of reals they are other functions than of complex numbers."""
_REALS = frozenset((bool, int, float))


def checked(w: Walker, fn: Callable[..., Any], args: Sequence[Atom], kinds: Sequence[Kind]) -> Callable[..., Any]:
    """The operation; one that checks what its kind takes for granted, where the program would notice."""
    if w.program.derived:
        return fn
    if fn in hashable(_POWERS, fn) and _is_asked(w, "complex") and _may_be_complex(args, kinds):
        return arrays.real_power
    if fn is builtins.sum and _is_asked(w, "array") and may_be_empty(kinds[0]) and _has_arrays(kinds[0]):
        return arrays.sum_of_some
    if fn is np.cross and _is_asked(w, "array"):
        return arrays.cross_of_space
    return fn


def _has_arrays(kind: Kind) -> bool:
    """Whether the items of an iterable may be arrays; those of a list that has none yet, or never, are not."""
    if not isinstance(kind, Box):
        return True
    node = kind.region.root()
    return any(isinstance(item, Arr) for item in (*node.fields.values(), node.elt))


def _is_asked(w: Walker, what: str) -> bool:
    """Whether the program would notice, or checked mode."""
    return what in w.program.noticed or is_checked()


def _may_be_complex(args: Sequence[Atom], kinds: Sequence[Kind]) -> bool:
    """Whether the power of two numbers of Python's may be complex, though they are real."""
    if len(kinds) != 2 or not all(isinstance(k, Num) and _REALS.intersection(k.exact) for k in kinds):
        return False
    x, y = args
    base, exponent = (a.value if isinstance(a, Lit) else None for a in (x, y))
    if isinstance(base, int | float) and base >= 0 or isinstance(exponent, float) and exponent.is_integer():
        return False
    return isinstance(kinds[1], Num) and float in kinds[1].exact


def notice(w: Walker, fn: Callable[..., Any], kinds: Sequence[Kind], result: Kind) -> None:
    """Notes an operation that depends on whether a number is complex."""
    if fn in hashable(_NOTICING, fn) or _is_complex(result):
        if any(varied(k) and not _is_complex(k) for k in kinds):
            note(w, "complex")


def asked(w: Walker, kind: Kind) -> None:
    """Notes that the class of a value is asked, and that its kind decides."""
    if isinstance(kind, Num) and float in kind.exact:
        note(w, "complex")
    elif isinstance(kind, Arr):
        note(w, "array")


def axes_counted(w: Walker) -> None:
    """Notes that the number of axes is asked, by the user's own code, and that a kind decides."""
    span = w.instance.source.span
    if span is not None and not is_ours(span.file):
        note(w, "array")


def note(w: Walker, what: str) -> None:
    """What is noticed from the next round on, in all functions."""
    if what not in w.program.noticed and not w.program.derived:
        w.program.noticed.add(what)
        w.program.world.changed = True


def _is_complex(kind: Kind) -> bool:
    return isinstance(kind, Num | Arr) and dtype_of(kind).kind == "c"
