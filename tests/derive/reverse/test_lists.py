"""Lists that are used at their end alone have cotangents in the reverse sweep only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

X = np.array([0.5, -1.25, 2.0])


def backwards(x):
    tape = []
    u = x
    for i in range(3):
        tape.append(u)
        u = np.sin(u) * x
    total = 0.0
    for i in range(3):
        v = tape.pop()
        total = total * 0.5 + np.sum(v * v * v)
    return total


def not_all_taken(x):
    tape = []
    for i in range(4):
        tape.append(x * float(i + 1))
    total = np.sum(tape.pop() ** 3)
    for i in range(2):
        total = total + np.sum(np.exp(tape.pop()) * x)
    return total + len(tape)


def in_turns(x):
    tape = []
    u = x[0]
    for i in range(6):
        if i % 3 == 2:
            u = u * tape.pop() + tape.pop()
        else:
            tape.append(u * u)
            u = u + x[i % 3]
    tape.append(u)
    return tape.pop() * u


def until_negative(x):
    tape = []
    for i in range(3):
        tape.append(x[i] * x[0])
    total = 0.0
    while True:
        v = tape.pop()
        total = total + v * v
        if v < 0.0:
            break
    return total * x[1]


def two_of_one(x):
    tape = []
    u = x * x
    tape.append(u)
    tape.append(u)
    return np.sum(tape.pop() * 3.0) + np.sum(u * x)


def two_lists(x):
    ones = []
    others = []
    for i in range(3):
        ones.append(x[i] * 2.0)
        others.append(ones.pop() * x[0])
        ones.append(x[i])
    total = 0.0
    while len(others) > 1:
        total = total + others.pop() * ones.pop()
    return total


def whole_and_real(x):
    tape = []
    tape.append(2)
    tape.append(x[0])
    tape.append(x[1] * x[0])
    return tape.pop() * tape.pop() + 0.0 * len(tape)


def depth_first(x):
    todo = []
    todo.append(x[0])
    total = 0.0
    while len(todo) > 0:
        v = todo.pop()
        total = total + v * v
        if v > 0.11:
            todo.append(v * 0.5)
            if v > 0.21:
                todo.append(v * x[2] * 0.1)
    return total


def dropped(x):
    tape = []
    tape.append(x * 2.0)
    tape.append(x * 3.0)
    tape.pop()
    return np.sum(tape.pop() * x)


STACKS = (
    backwards,
    not_all_taken,
    in_turns,
    until_negative,
    two_of_one,
    two_lists,
    whole_and_real,
    depth_first,
    dropped,
)


def read_inside(x):
    tape = []
    for i in range(3):
        tape.append(x[i] * x[0])
    return tape[0] * tape.pop()


def other_name(x):
    tape = []
    again = tape
    again.append(x[0] * x[1])
    return tape.pop() * x[2]


def in_another_list(x):
    tape = []
    both = [tape]
    tape.append(x[0] * x[1])
    return both[0].pop() * x[2]


def made_in_each_trip(x):
    total = 0.0
    for i in range(3):
        tape = []
        tape.append(x[i] * x[0])
        tape.append(total)
        total = total + tape.pop() * tape.pop()
    return total + x[2]


def items_written(x):
    tape = []
    u = x * 2.0
    tape.append(u)
    u[0] = 5.0 * x[1]
    v = tape.pop()
    return np.sum(v * v)


def left_early(x):
    tape = []
    for i in range(3):
        tape.append(x[i] * x[0])
        if x[i] < -1.0:
            return tape.pop() * 3.0
    return tape.pop()


def helped(x):
    def take(tape):
        return tape.pop() * tape.pop()

    tape = []
    for i in range(3):
        tape.append(x[i] * x[0])
    return take(tape) + tape.pop()


def first_in(x):
    tape = []
    for i in range(3):
        tape.append(x[i] * x[0])
    return tape.pop(0) * tape.pop()


def handed_out(x):
    tape = []
    tape.append(x[0] * x[1])
    tape.append(x[2] * x[1])
    tape.pop()
    return tape


def some_are_none(x):
    tape = []
    tape.append(x[0] * x[1])
    tape.append(None)
    skipped = tape.pop()
    return tape.pop() if skipped is None else x[0]


def gathered(x):
    out = []
    for i in range(3):
        x = x * 0.9 + 0.1 * np.sin(x)
        out.append(x[1])
    return np.mean((np.array(out) - 0.3) ** 2)


def rows(x):
    out = []
    for i in range(3):
        out.append(x * float(i + 1))
    table = np.stack(out, axis=1)
    return np.sum(table @ table.T)


def read_and_gathered(x):
    out = []
    total = 0.0
    for i in range(3):
        out.append(x[i] * x[0])
        total = total + out[-1] * out[i // 2] + np.sum(np.array(out)) * x[1]
    return total * sum(out)


def gathered_twice(x):
    out = []
    for v in x:
        out.append(v * v)
    total = np.sum(np.array(out) ** 2)
    out.append(total)
    return total * np.prod(np.array(out))


def of_different_shapes(x):
    out = []
    for i in range(3):
        out.append(x * float(i))
        out.append(np.sum(x) * np.ones(1))
    return np.sum(np.concatenate(out) ** 2) + np.sum(sum(out))


GATHERED = (gathered, rows, read_and_gathered, gathered_twice, of_different_shapes)

OTHERS = (read_inside, other_name, in_another_list, made_in_each_trip, items_written, left_early, helped, first_in)


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [*STACKS, *GATHERED, *OTHERS, some_are_none])
def test_derivatives_are_right(f: Any) -> None:
    check_grads(f, (X,))
    found = tx.grad(f)(X)
    with pipeline.proofs(off="stacks"):
        np.testing.assert_allclose(found, tx.grad(f)(X), rtol=1e-14)
    pull = tx.vjp(f, X)[1]
    np.testing.assert_array_equal(pull(1.0), pull(1.0))
    with tx.checked():
        np.testing.assert_allclose(tx.grad(f)(X), found, rtol=1e-14)


def test_a_list_that_is_a_result_has_its_cotangents() -> None:
    value, pull = tx.vjp(handed_out, X)
    np.testing.assert_allclose(pull([2.0]), [2.0 * X[1], 2.0 * X[0], 0.0])
    assert len(value) == 1


def _forward(f: Any) -> str:
    source: str = tx.grad(f).source_for(X)
    return source.partition("---- reverse sweep ----")[0]


@pytest.mark.parametrize("f", [backwards, not_all_taken, until_negative, two_of_one, two_lists, *GATHERED])
def test_the_forward_sweep_has_no_list_of_zeros(f: Any) -> None:
    assert "_bar" not in _forward(f).partition("forward sweep")[2]
    with pipeline.proofs(off="stacks"):
        assert "_bar" in _forward(f).partition("forward sweep")[2]


@pytest.mark.parametrize("f", [gathered, rows])
def test_what_reads_all_last_binds_the_cotangents(f: Any) -> None:
    source: str = tx.grad(f).source_for(X)
    assert "out_bar = " in source and "zero(out)" not in source and "out_bar[" not in source


def recurrence(x):
    u = x
    for i in range(3):
        if i > 0:
            u = np.tanh(u) * x + u * u
        else:
            u = np.sin(u) * x
    return np.sum(u)


def of_gradient(x):
    return np.sum(tx.grad(recurrence)(x) ** 2)


def test_what_a_gradient_records_is_emptied_for_certain() -> None:
    check_grads(of_gradient, (X,))
    source = tx.grad(of_gradient).source_for(X)
    assert "zero(" not in source and "_tape_bar = []" in source
    forward = source.partition("def recurrence_grad_forward")[2].partition("def ")[0]
    assert "_tape_bar" not in forward
