"""Attributes of arrays in place of NumPy's functions: ``a.T`` for ``np.transpose(a)``, ``a.shape`` for
``np.shape(a)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr
from tangentx.ir.nodes import Assign, Attr, Block, For, If, Loop, Op, Statement
from tangentx.optimise.facts.unit import Unit, write_each

_NAMES: dict[Any, str] = {np.transpose: "T", np.shape: "shape", np.size: "size", np.ndim: "ndim"}


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes ``x.T`` for ``np.transpose(x)``, and the like."""
    return write_each(units, lambda unit: _written(program, unit, unit.body))


def _written(program: Program, unit: Unit, block: Block) -> Block:
    new = tuple(_statement(program, unit, s) for s in block)
    return block if all(a is b for a, b in zip(block, new, strict=True)) else new


def _statement(program: Program, unit: Unit, s: Statement) -> Statement:
    match s:
        case Assign(value=Op(fn=fn, args=(array,), kwargs=())) if getattr(fn, "__hash__", None) and fn in _NAMES:
            kind = unit.kind(program, array)
            plain = isinstance(kind, Arr) and kind.sure
            return replace(s, value=Attr(array, _NAMES[fn])) if plain else s
        case If():
            body, orelse = _written(program, unit, s.body), _written(program, unit, s.orelse)
            return s if body is s.body and orelse is s.orelse else replace(s, body=body, orelse=orelse)
        case For() | Loop():
            body = _written(program, unit, s.body)
            return s if body is s.body else replace(s, body=body)
    return s
