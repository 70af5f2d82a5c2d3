"""Whether the dtype of a kind is exact, that is, the dtype at run time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, dtype_of
from tangentx.optimise.facts import memory


def dtypes(program: Program) -> bool:
    """Whether all reals and complex numbers of the program have one dtype, Python's numbers aside.

    Kinds that meet are joined: float32 on one way and float64 on the other is float64. With one dtype there is
    nothing to join, so where two kinds have equal dtypes the values have.
    """
    found = {d for kind in _kinds(program) if (d := _dtype(kind)) is not None}
    return len(found) <= 1


def _kinds(program: Program) -> Iterator[Kind]:
    """The kinds of all definitions, before those of one variable were joined, and of all that they hold."""
    roots: list[Kind] = [kind for _, kind in program.externals.values()]
    for instance in program.reached():
        roots += [*instance.params, instance.result]
        roots += [d.kind for d in instance.definitions.values() if d.round == program.round]
    yield from roots
    for node in memory.reach(kind for kind in roots if isinstance(kind, Box)):
        yield from (*node.fields.values(), node.elt)


def _dtype(kind: Kind) -> np.dtype[np.generic] | None:
    """The inexact dtype of arrays and scalars of NumPy, and of Python's complex numbers."""
    if not isinstance(kind, Num | Arr) or (isinstance(kind, Num) and kind.type is float):
        return None
    dtype = dtype_of(kind)
    return dtype if dtype.kind in "fc" else None
