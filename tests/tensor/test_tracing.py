"""Whole functions on Tensors: every program of the corpus is right, or says that a value would leave the record."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import fallback
from tangentx.results import public_gradients
from tangentx.tensor.outcome import plain
from tests.harness import leaves
from tests.harness.guard import call
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import chosen, names, slopes
from tests.test_programs import assert_close, assert_mirrors, assert_value, size

REFUSED: list[str] = []


def on_tensors(program: Program) -> Any:
    """The function that the fallback would run, whether or not the program can be compiled."""
    derivative = tx.value_and_grad(program.fn, wrt=names(program))
    (run,) = fallback._gradient(derivative._target, derivative._wrt(), derivative._spec)

    def gradient(*args: Any) -> Any:
        values = derivative._values(args, {})
        value, bars = run(*values)
        return value, public_gradients(bars, values, derivative._wrt(), isinstance(names(program), tuple))

    return gradient


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_gradient_on_tensors(program: Program) -> None:
    args = program.args()
    try:
        value, gradient = call(on_tensors(program), *args, watch=(program.fn,))
    except (tx.NotDifferentiable, tx.NoTemplate, tx.SharedMemory) as error:
        REFUSED.append(str(error))
        return
    assert_value(value, program)
    assert_mirrors(gradient, chosen(program, args))
    wanted, _ = slopes(program)
    for got, part in zip(leaves(gradient), wanted, strict=True):
        assert_close(got.value, part, program, slack=1e-8 * size(wanted))


def test_most_programs_run_and_the_others_say_what_left_the_record() -> None:
    assert len(REFUSED) < 0.2 * len(PROGRAMS), REFUSED
    said = ("detach()", "has no derivative rule", "a Tensor first", "is not assigned", "pass a copy")
    assert [text for text in REFUSED if not any(part in text for part in said)] == []


@dataclasses.dataclass
class Model:
    w: Any
    n: int


def test_results_become_plain() -> None:
    t = tx.tensor([1.0, 2.0])
    found = plain({"a": [t, (t[0], 3)], "m": Model(t, 2)})
    assert type(found["a"][0]) is np.ndarray and type(found["a"][1][0]) is np.float64 and found["a"][1][1] == 3
    assert type(found["m"]) is Model and found["m"].w.tolist() == [1.0, 2.0] and type(t) is tx.Tensor
