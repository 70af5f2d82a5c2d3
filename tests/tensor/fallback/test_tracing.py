"""Whole functions on Tensors: every program of the corpus is right."""

from __future__ import annotations

import array
import dataclasses
import math
import sys
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import fallback
from tangentx.dispatch.results import public_gradients
from tangentx.tensor.fallback import function_rewriting
from tangentx.tensor.fallback.function_rewriting import called
from tangentx.tensor.fallback.tracing import Trace, plain
from tests.harness import leaves
from tests.harness.guard import call
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import chosen, names, slopes
from tests.test_programs import assert_close, assert_mirrors, assert_value, size


def on_tensors(program: Program) -> Any:
    """The function that the fallback would run, whether or not the program can be compiled."""
    derivative = tx.value_and_grad(program.fn, wrt=names(program))
    (run,) = fallback._gradient(derivative._target, derivative._wrt(), derivative._spec)

    def gradient(*args: Any) -> Any:
        values = derivative._values(args, {})
        value, bars = run(*values)
        return value, public_gradients(bars, values, derivative._wrt(), isinstance(names(program), tuple))

    return gradient


@pytest.mark.share(1)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_gradient_on_tensors(program: Program) -> None:
    args = program.args()
    value, gradient = call(on_tensors(program), *args, watch=(program.fn,))
    assert_value(value, program)
    assert_mirrors(gradient, chosen(program, args))
    wanted, _ = slopes(program)
    for got, part in zip(leaves(gradient), wanted, strict=True):
        assert_close(got.value, part, program, slack=1e-8 * size(wanted))


RATE = 2.0
COUNTED = 0


def tabled(n, s):
    out = np.zeros(n)
    for i in range(n):
        out[i] = RATE * math.sin(s * i)
    return out


def by_helper(s):
    return np.sum(tabled(3, s) ** 2) + np.array([s, 2.0 * s])[1]


def by_identity(f, s):
    """`tabled` is not only called: it stays what it is, and is equal to what was passed."""
    return s * 2.0 if f is tabled else np.sum(f(2, s))


def counting(s):
    global COUNTED
    COUNTED += 1
    return s * s


def through_a_buffer(s):
    buffer = array.array("d", [1.0, 2.0])
    np.asarray(buffer)[0] = s
    return buffer[0] * s


def run(f: Any, *args: Any, wrt: int = 0) -> Any:
    trace = Trace(called(f), args, (wrt,))
    return trace.gradients([trace.result], [1.0], False)[0]


def test_arrays_that_the_function_and_its_helpers_make_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    s = 0.3
    for rate in (2.0, 5.0):
        monkeypatch.setattr(sys.modules[__name__], "RATE", rate)  # read as it is when the function runs
        wanted = sum(2.0 * rate * math.sin(s * i) * rate * i * math.cos(s * i) for i in range(3)) + 2.0
        assert run(by_helper, s) == pytest.approx(wanted)


def by_constructors(x):
    a = np.ndarray((2, 2))
    a[0] = x, x * x
    a[1] = np.fromiter((v * x for v in (1.0, 2.0, 3.0)), dtype=float, count=2)
    return np.sum(a * a)


def test_all_constructors_of_arrays_are_recorded() -> None:
    x = 0.7
    assert run(by_constructors, x) == pytest.approx(2 * x + 4 * x**3 + 10 * x)
    with pytest.raises(tx.NotDifferentiable, match="shows the memory"):
        run(lambda x: np.sum(np.ndarray((1,), buffer=np.array([x]))), x)


def test_a_name_that_is_compared_keeps_its_identity() -> None:
    assert run(by_identity, tabled, 0.5, wrt=1) == 2.0


def test_globals_that_are_bound_are_the_users_own() -> None:
    before = COUNTED
    assert run(counting, 3.0) == 6.0
    assert before + 1 == COUNTED


def test_memory_of_somebody_else_stays_plain() -> None:
    with pytest.raises(tx.NotDifferentiable, match="lost"):
        run(through_a_buffer, 3.0)


@dataclasses.dataclass
class Model:
    w: Any
    n: int


def test_results_become_plain() -> None:
    t = tx.tensor([1.0, 2.0])
    found = plain({"a": [t, (t[0], 3)], "m": Model(t, 2)})
    assert type(found["a"][0]) is np.ndarray and type(found["a"][1][0]) is np.float64 and found["a"][1][1] == 3
    assert type(found["m"]) is Model and found["m"].w.tolist() == [1.0, 2.0] and type(t) is tx.Tensor


def last(f):
    return tabled if f is None else f


def test_a_function_may_end_with_a_name() -> None:
    assert function_rewriting.on_tensors(last)(None) is tabled


def neighbours(x, a, b, c):
    """Windows on one array, one of them turned around: what is written in one is seen in all."""
    a[0] = x * x
    b *= a[0] + x
    c[::2] += b[1:].sum()
    return np.sum(a * c[0]) + b[-1] * x


def test_arguments_that_overlap_see_what_is_written_in_each_other() -> None:
    def windows(whole: Any) -> Any:
        return whole[1:4], whole[0:3][::-1], whole.reshape(2, 3)[:, 1:][1]

    def at(x: float) -> Any:
        return neighbours(x, *windows(np.arange(1.0, 7.0)))

    wanted = (at(0.7 + 1e-6) - at(0.7 - 1e-6)) / 2e-6
    assert run(neighbours, 0.7, *windows(np.arange(1.0, 7.0))) == pytest.approx(wanted)
    with pytest.raises(tx.SharedMemory):  # the gradient by one of them would be that by the others too
        run(neighbours, 0.7, *windows(np.arange(1.0, 7.0)), wrt=1)
    mixed = np.arange(1.0, 7.0)
    with pytest.raises(tx.SharedMemory):
        run(neighbours, 0.7, mixed[:3], mixed.view(np.int64)[:3], mixed[3:])


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_blocks_in_lists_of_lists():
    def f(x):
        class Unknown:
            pass

        table = np.block([[x, 2.0 * x], [3.0 * x, x]])
        return np.sum(table * np.arange(16.0).reshape(4, 4)) + table.shape[0]

    x = np.arange(4.0).reshape(2, 2)
    value, slope = tx.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(slope, [[38.0, 45.0], [66.0, 73.0]])


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_method_of_arrays_is_called_as_a_function():
    def f(x):
        class Unknown:
            pass

        return np.ndarray.sum(x * x)

    np.testing.assert_allclose(tx.grad(f)(np.array([1.0, 2.0])), [2.0, 4.0])
