"""Statements in the making."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.analysis.types.kinds import Arr, Box, Num, World
from tangentx.derive.emit import SHADOW, VALUE, Emitter, mode
from tangentx.errors import Span
from tangentx.ir.nodes import Assign, Key, Lit, Make, Op, Slice, Var


@pytest.mark.parametrize("fact, how", [("written", SHADOW), ("indexed", SHADOW), ("external", VALUE)])
def test_an_array_that_is_written_or_indexed_has_a_shadow(fact, how) -> None:
    kind = Arr(np.dtype(float), 1, World().region())
    assert mode(kind) is None
    kind.region.mark("varied", fact)
    assert mode(kind) == how


def test_numbers_are_values_and_containers_are_not() -> None:
    assert mode(Num(float, True)) == VALUE and mode(Num(float)) is None and mode(Num(int, True)) is None
    box = Box(list, World().region())
    box.region.put_any(Num(float, True))
    assert mode(box) == SHADOW


def test_temporaries_are_fresh_and_statements_in_order() -> None:
    emit = Emitter(Span("flight.py", 3))
    first, second = emit.let(Lit(1)), emit.let(Lit(2))
    assert first != second
    assert [s.target for s in emit.block if isinstance(s, Assign)] == [first.name, second.name]
    assert {s.span.line for s in emit.block} == {3}


def test_a_key_as_one_value() -> None:
    emit = Emitter(Span("flight.py", 3))
    assert emit.key_atom(Key((Var("i"),))) == Var("i") and not emit.block
    emit.key_atom(Key((Slice(), Var("i")), True))
    first, second = emit.block
    assert first.value == Op(slice, (Lit(None),) * 3)
    assert second.value == Make(tuple, (Var(first.target), Var("i")))
