"""A tape of one record is a name; one of several, or one that is looked at, stays a tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.ir.nodes import Append, Assign, Pop
from tangentx.optimise import tape_scalarisation
from tests.optimise.support import WAYS, differences, every, gradient, unit_of

X = np.array([0.3, 0.7, 1.1])


def recorded_once(x):
    tape = []
    tape.append(x[0])
    x[0] = 2.0
    y = tape.pop()
    return y * x[0]


def made_in_each_trip(x):
    s = 0.0
    for i in range(2):
        tape = []
        tape.append(x[i])
        s += tape.pop()
    return s


def recorded_in_a_branch(x, n):
    tape = []
    y = 0.0
    if n > 1:
        tape.append(x[0])
        y = tape.pop()
    return y


def recorded_in_a_loop(x):
    tape = []
    for i in range(3):
        tape.append(x[i])
    return tape.pop()


def recorded_twice(x):
    tape = []
    tape.append(x[0])
    tape.append(x[1])
    return tape.pop()


def counted(x):
    tape = []
    tape.append(x[0])
    n = len(tape)
    return n * tape.pop()


def looked_at(x):
    tape = []
    tape.append(x[0])
    y = tape[0]
    return y * tape.pop()


def kept_before(x):
    tape = []
    other = tape
    tape.append(x[0])
    return other.pop()


def given_back(x):
    tape = []
    tape.append(x[0])
    y = tape.pop()
    return tape, y


def tapes(unit: Any) -> int:
    return sum(isinstance(s, Append) or (isinstance(s, Assign) and isinstance(s.value, Pop)) for s in every(unit))


@pytest.mark.parametrize("f", [recorded_once, made_in_each_trip], ids=lambda f: f.__name__)
def test_one_record_is_a_name(f: Any) -> None:
    program, unit = unit_of(f, X)
    assert tape_scalarisation.run(program, [unit])
    assert not tapes(unit)


@pytest.mark.parametrize(
    "f", [recorded_in_a_loop, recorded_twice, counted, looked_at, kept_before, given_back], ids=lambda f: f.__name__
)
def test_others_stay(f: Any) -> None:
    program, unit = unit_of(f, X)
    before = tapes(unit)
    assert not tape_scalarisation.run(program, [unit])
    assert tapes(unit) == before > 0


def test_a_record_of_a_branch_stays() -> None:
    program, unit = unit_of(recorded_in_a_branch, X, 2)
    assert not tape_scalarisation.run(program, [unit])


def squared_in_place(v, w):
    v *= w
    np.exp(v, out=v)
    v[0] = v[1] * v[2]


def in_helpers(x):
    u = x.copy()
    total = 0.0
    for k in range(3):
        squared_in_place(u, x * (k + 0.1))
        total += u[0] * u[1]
    return total


def in_one_function(x):
    u = x.copy()
    u[0] = u[1] * u[2]
    first = u[0]
    u *= u
    u[1] = first * u[0]
    return np.sum(u * x)


def left_early(x):
    u = x.copy()
    for k in range(3):
        squared_in_place(u, x)
        if u[0] > 2.0:
            return u[0] * k + u[1]
        u *= 0.5
    return np.sum(u)


@pytest.mark.parametrize("f", [in_helpers, in_one_function, left_early], ids=lambda f: f.__name__)
@pytest.mark.parametrize("off", WAYS[:2], ids=str)
def test_gradients(f: Any, off: Any) -> None:
    np.testing.assert_allclose(gradient(f, (X,), off), differences(f, (X,)), rtol=1e-6)


@pytest.mark.share(1)
@pytest.mark.parametrize("off", WAYS[2:], ids=str)
def test_gradients_with_each_pass_off(off: Any) -> None:
    np.testing.assert_allclose(gradient(in_helpers, (X,), off), differences(in_helpers, (X,)), rtol=1e-6)


@pytest.mark.parametrize("f", [in_helpers, in_one_function, left_early], ids=lambda f: f.__name__)
def test_pullbacks_can_be_called_again_and_second_order(f: Any) -> None:
    value, back = tx.vjp(f, X)
    assert value == f(X)
    for seed in (1.0, 2.0):
        np.testing.assert_allclose(back(seed), seed * gradient(f, (X,)))
    np.testing.assert_allclose(
        tx.jvp(tx.grad(f), (X,), (np.ones(3),))[1], differences(lambda x: np.sum(gradient(f, (x,))), (X,)), rtol=1e-5
    )


def test_the_text_of_a_helper_has_no_tapes() -> None:
    text = tx.grad(in_helpers).source_for(X)
    helpers = text[text.index("def squared_in_place_forward") :]
    assert ".append" not in helpers and ".pop" not in helpers
