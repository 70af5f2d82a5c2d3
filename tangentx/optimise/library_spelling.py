"""Functions of other libraries of arrays in place of NumPy's: of arrays of CuPy, the text has CuPy's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import is_elsewhere, library_in
from tangentx.arrays.libraries import spelled_in
from tangentx.ir.nodes import Accumulate, Assign, Block, For, If, Loop, Op, Statement
from tangentx.optimise.facts.unit import Unit, write_each


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes ``cp.sin(x)`` for ``np.sin(x)`` where `x` is an array of CuPy."""
    there = [unit for unit in units if any(is_elsewhere(kind) for kind in (*unit.kinds.values(), unit.result))]
    return bool(there) and write_each(there, lambda unit: _written(program, unit, unit.body))


def _written(program: Program, unit: Unit, block: Block) -> Block:
    new = tuple(_statement(program, unit, s) for s in block)
    return block if all(a is b for a, b in zip(block, new, strict=True)) else new


def _statement(program: Program, unit: Unit, s: Statement) -> Statement:
    match s:
        case Assign(value=Op(fn=fn, args=args, kwargs=kwargs)):
            kinds = [unit.kind(program, a) for a in (*args, *(a for _, a in kwargs))]
            library = next((each for each in map(library_in, kinds) if each is not None), None)
            found: Callable[..., Any] | None = None if library is None else spelled_in(fn, library)
            return s if found is None else replace(s, value=Op(found, args, kwargs))
        case Accumulate(base=base, repeats=True):
            into = library_in(unit.kind(program, base))
            return s if into is None else replace(s, by=spelled_in(np.add, into))
        case If():
            body, orelse = _written(program, unit, s.body), _written(program, unit, s.orelse)
            return s if body is s.body and orelse is s.orelse else replace(s, body=body, orelse=orelse)
        case For() | Loop():
            body = _written(program, unit, s.body)
            return s if body is s.body else replace(s, body=body)
    return s
