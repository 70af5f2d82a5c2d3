"""The shape of what an operation gives is the one that NumPy gives it, or is not known."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from tangentx.analysis.types.samples import Valuer, fill
from tangentx.compile import pipeline
from tangentx.ir.nodes import Index, Key, Lit, Op, Slice, Var
from tangentx.optimise.facts.shape_arithmetic import lengths
from tangentx.optimise.facts.shape_rules import ShapeRules, swaps_sides

FULL = Slice(Lit(None), Lit(None), Lit(None))


def rules_for(arrays: dict[str, Any]) -> ShapeRules:
    valuer = Valuer(pipeline.new_program().world)
    kinds = {name: fill(valuer.kind(value)) for name, value in arrays.items()}

    def shape(atom: Any) -> Any:
        return lengths(arrays[atom.name].shape) if isinstance(atom, Var) else lengths(())

    def kind(atom: Any) -> Any:
        return kinds[atom.name] if isinstance(atom, Var) else fill(valuer.kind(atom.value))

    return ShapeRules(kind, (shape, shape), lambda atom: None, lambda found: None, lambda found: found, lambda n: None)


A, B, SQUARE, STACK = np.ones((2, 3)), np.ones((3, 4)), np.eye(3), np.ones((5, 2, 3))
KNOWN = {
    "by element": (np.sin, (A,)),
    "broadcast": (operator.add, (A, STACK)),
    "product": (operator.matmul, (A, B)),
    "product with a row": (operator.matmul, (A, np.ones(3))),
    "outer": (np.outer, (np.ones(2), np.ones(3))),
    "inverse": (np.linalg.inv, (SQUARE,)),
    "solution": (np.linalg.solve, (SQUARE, B)),
    "solution of a row": (np.linalg.solve, (SQUARE, np.ones(3))),
    "transpose": (np.transpose, (A,)),
    "triangle": (np.tril, (A,)),
    "transform": (np.fft.fft, (A,)),
}


@pytest.mark.parametrize("fn, values", KNOWN.values(), ids=KNOWN.keys())
def test_a_shape_that_is_known_is_that_of_the_result(fn: Any, values: tuple[Any, ...]) -> None:
    names = [f"x{n}" for n in range(len(values))]
    rules = rules_for(dict(zip(names, values, strict=True)))
    assert rules.of(Op(fn, tuple(map(Var, names)))) == lengths(np.shape(fn(*values)))


@pytest.mark.parametrize("fn", [np.sum, np.mean, np.max, np.var, np.std])
@pytest.mark.parametrize("settings", [{"axis": 0}, {"axis": -1}, {"axis": 1, "keepdims": True}])
def test_reductions_leave_out_their_axis(fn: Any, settings: dict[str, Any]) -> None:
    for extra in ({}, {"ddof": 1}) if fn in (np.var, np.std) else ({},):
        named = settings | extra
        found = rules_for({"a": STACK}).of(Op(fn, (Var("a"),), tuple((k, Lit(v)) for k, v in named.items())))
        assert found == lengths(fn(STACK, **named).shape)


def test_the_triangle_of_a_row_is_not_known() -> None:
    assert rules_for({"a": np.ones(3)}).of(Op(np.tril, (Var("a"),))) is None


def test_an_item_along_the_first_axis() -> None:
    rules = rules_for({"a": STACK})
    assert rules.of(Index(Var("a"), Key((Lit(0),)))) == lengths((2, 3))
    assert rules.of(Index(Var("a"), Key((FULL, Lit(1))))) == lengths((5, 3))


def test_what_is_contracted_is_equally_long() -> None:
    assert rules_for({"a": A, "b": B}).agreed(Op(np.matmul, (Var("a"), Var("b")))) == [(3, 3)]
    assert rules_for({"a": A, "b": B}).agreed(Op(np.outer, (Var("a"), Var("b")))) == []


def test_only_the_last_two_axes_are_sides() -> None:
    assert swaps_sides(np.swapaxes, (Var("a"), Lit(-1), Lit(-2)))
    assert not swaps_sides(np.swapaxes, (Var("a"), Lit(0), Lit(1)))
    assert not swaps_sides(np.moveaxis, (Var("a"), Lit(-1), Lit(-2)))
