"""Fourier transforms: the number of points is left out where it is the length of the argument.

``cropped(t, x.shape)`` is `t` where `t` has the shape of `x` already, as it has if no number of points was given, and
an argument that is what NumPy takes anyway is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.primitives import hashable
from tangentx.ir.nodes import Assign, Lit, Op, Statement
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import Rules, run_each

_DEFAULTS: dict[Callable[..., Any], tuple[object, ...]] = {
    **dict.fromkeys((np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft), (None, -1, None)),
    **dict.fromkeys((np.fft.fftn, np.fft.ifftn), (None, None, None)),
    **dict.fromkeys((np.fft.fft2, np.fft.ifft2), (None, (-2, -1), None)),
}
"""What stands for the arguments after the first where they are not given."""


class Spectra(Rules):
    """Transforms and what undoes their other lengths, in the reverse sweep."""

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The plainer statement."""
        if op.fn is arrays.cropped:
            shape = self.shape(op.args[0])
            there = shape is not None and self.shape(op.args[1]) == ("shape of", shape)
            plain = self.same(s, op.args[0]) if there else None
            return (plain,) if plain is not None else None
        if op.kwargs or op.fn not in hashable(frozenset(_DEFAULTS), op.fn):
            return None
        given = list(op.args)
        for place, default in reversed(list(enumerate(_DEFAULTS[op.fn], 1))):
            if len(given) != place + 1 or given[place] != Lit(default):
                break
            given.pop()
        return (replace(s, value=Op(op.fn, tuple(given))),) if len(given) < len(op.args) else None


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes transforms more plainly."""
    return run_each(program, units, Spectra)
