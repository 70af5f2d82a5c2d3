"""Data of others that is changed while a function runs, by what it calls or by a thread: right, or refused."""

from __future__ import annotations

import ctypes
import io
import logging
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import tangentx as tx

X = np.array([0.5, 1.5, 2.0])
FIRST = np.array([1.0, 2.0, 3.0])
W = FIRST.copy()
HELD = X.copy()
SCALE = 2.0
LOG = logging.getLogger("tests.still")
LOG.propagate = False
ACT: list[Callable[[], None]] = []


class Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        for act in ACT:
            act()


class Stream:
    def write(self, text: str) -> None:
        for act in ACT:
            act()

    def flush(self) -> None:
        pass


STREAM = Stream()
LOG.addHandler(Handler())
BEGUN, WRITTEN = threading.Event(), threading.Event()
ADDRESS = W.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
FILL = W.fill
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def as_before() -> None:
    global SCALE
    W[:] = FIRST
    HELD[:] = X
    SCALE = 2.0
    ACT.clear()
    for event in (BEGUN, WRITTEN):
        event.clear()


def overwrite() -> None:
    W[0] = 100.0


def logged(x):
    y = np.sum(x * x * W)
    LOG.warning("half way")
    return y * 3.0


def printed(x):
    y = np.sum(x * x * W)
    print("half way", file=STREAM)
    return y * 3.0


def waited(x):
    y = np.sum(x * x * W)
    BEGUN.set()
    WRITTEN.wait()
    return y * 3.0


def set_in_memory(x):
    y = np.sum(x * x * W)
    ctypes.memset(ADDRESS, 0, 8)
    return y * 3.0


def filled(x):
    y = np.sum(x * x * W)
    FILL(7.0)
    return y * 3.0


def helper(x):
    y = x * W
    LOG.warning("inside")
    return y * y


def in_a_helper(x):
    return np.sum(helper(x)) * 2.0


def several_returns(x):
    y = np.sum(x * W)
    LOG.warning("half way")
    if y > 1e6:
        return y
    return y * y


def by_element(x):
    total = 0.0
    for i in range(3):
        total = total + x[i] * x[i] * W[i]
        LOG.warning("row %d", i)
    return total


def scaled(x):
    y = np.sum(x * x) * SCALE
    LOG.warning("half way")
    return y * y


def of_the_argument(x):
    y = np.sum(x * x)
    LOG.warning("half way")
    return y * y


PROGRAMS = [logged, printed, set_in_memory, filled, in_a_helper, several_returns]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("fallback", ["error", "tensor"])
def test_what_is_changed_meanwhile_is_refused(program: Any, fallback: str) -> None:
    ACT.append(overwrite)
    with pytest.raises(tx.NotDifferentiable, match="`W` is changed while the function runs.*test_data_guards.py:"):
        tx.grad(program, fallback=fallback)(X)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_pullback_too(program: Any) -> None:
    ACT.append(overwrite)
    with pytest.raises(tx.NotDifferentiable, match="`W` is changed while the function runs"):
        tx.vjp(program, X, fallback="error")


def test_elements_that_are_recorded_may_change() -> None:
    ACT.append(overwrite)
    np.testing.assert_allclose(tx.grad(by_element, fallback="error")(X), 2.0 * X * FIRST)


@pytest.mark.parametrize("program", [logged, printed, in_a_helper, several_returns, by_element, scaled])
def test_what_stays_is_differentiated(program: Any) -> None:
    def slope(h: float) -> float:
        return float(program(X + h * np.array([0.3, -0.2, 0.5])))

    wanted = (slope(1e-6) - slope(-1e-6)) / 2e-6
    for gradient in (
        tx.grad(program, fallback="error")(X),
        tx.vjp(program, X, fallback="error")[1](1.0),
        tx.jacrev(program, fallback="error")(X),
    ):
        assert gradient @ np.array([0.3, -0.2, 0.5]) == pytest.approx(wanted, rel=1e-6)


def test_another_thread_that_is_waited_for() -> None:
    def other() -> None:
        BEGUN.wait()
        overwrite()
        WRITTEN.set()

    thread = threading.Thread(target=other)
    thread.start()
    with pytest.raises(tx.NotDifferentiable, match="`W` is changed"):
        tx.grad(waited, fallback="error")(X)
    thread.join()


def touched(*given: Any) -> Any:
    overwrite()
    return given[0]


class Shown:
    def __str__(self) -> str:
        overwrite()
        return "shown"


SHOWN, LINES = Shown(), io.StringIO()


def called_for_each(x):
    y = np.sum(x * x * W)
    np.frompyfunc(touched, 1, 1)(np.zeros(2))
    return y * 3.0


OPERATOR = LinearOperator((2, 2), matvec=touched)


def called_by_an_object(x):
    y = np.sum(x * x * W)
    OPERATOR.matvec(np.zeros(2))
    return y * 3.0


def called_by_an_operator(x):
    y = np.sum(x * x * W)
    OPERATOR @ np.zeros(2)
    return y * 3.0


def shown(x):
    y = np.sum(x * x * W)
    print(SHOWN, file=LINES)
    return y * 3.0


@pytest.mark.parametrize("program", [called_for_each, called_by_an_object, called_by_an_operator, shown])
def test_code_of_the_user_that_is_called_from_elsewhere(program: Any) -> None:
    with pytest.raises(tx.TangentxError, match="chang"):
        tx.grad(program, fallback="error")(X)


def test_a_number_that_is_bound_anew() -> None:
    def rebind() -> None:
        global SCALE
        SCALE = 5.0

    ACT.append(rebind)
    with pytest.raises(tx.NotDifferentiable, match="`SCALE` is changed"):
        tx.grad(scaled, fallback="error")(X)


def test_an_argument_that_others_hold() -> None:
    ACT.append(lambda: HELD.fill(9.0))
    with pytest.raises(tx.NotDifferentiable, match="`x` is changed"):
        tx.grad(of_the_argument, fallback="error")(HELD)


def test_second_order_too() -> None:
    ACT.append(overwrite)
    for second in (
        lambda: tx.hvp(logged, (X,), (X,), fallback="error"),
        lambda: tx.grad(lambda x: np.sum(tx.grad(in_a_helper)(x) * X), fallback="error")(X),
    ):
        W[:] = FIRST
        with pytest.raises(tx.TangentxError):
            second()


def drawn_into(x):
    y = np.sum(x * x * W)
    RNG.standard_normal(out=W)
    return y


def drawn_by_position(x):
    buffer = np.zeros(3)
    RNG.standard_normal(3, np.float64, buffer)
    y = np.sum(x * x * buffer)
    RNG.standard_normal(3, np.float64, buffer)
    return y


@pytest.mark.parametrize("program", [drawn_into, drawn_by_position])
def test_draws_into_an_array_are_not_compiled(program: Any) -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="may write into what it is given"):
        tx.grad(program, fallback="error")(X)


def test_nothing_is_compared_where_all_is_known() -> None:
    def plain(x):
        print("half way")
        return np.sum(x * x * W) + RNG.standard_normal()

    gradient = tx.grad(plain, fallback="error")
    np.testing.assert_allclose(gradient(X), 2.0 * X * W)
    assert "as_seen" not in gradient.source


def test_what_nobody_reads_again_may_change() -> None:
    def linear(x):
        y = np.sum(x) * 2.0 + np.sum(W)
        LOG.warning("half way")
        return y

    ACT.append(overwrite)
    gradient = tx.grad(linear, fallback="error")
    np.testing.assert_allclose(gradient(X), 2.0)
    assert "as_seen" not in gradient.source
