"""Recording switched on and off: by its contexts, under forward mode, and where an interrupt comes in between."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.tensor.core.modes import RUNNING, STATE, during, recording

X, V = np.array([1.0, 2.0]), np.array([0.5, -1.0])


def closed(x):
    """What the compiler refuses, so that it runs on Tensors."""
    kept = {str(i): x[i] * x[i] for i in range(2)}
    exec("pass")
    return kept["0"] * kept["1"] + np.sin(x[0])


def helped(x):
    """Compiled, but for a function that is called."""
    return np.sum(x * x) * closed(x)


def squares(x):
    exec("pass")
    return x * x


FORMS: dict[str, Callable[[], Any]] = {
    "jvp": lambda: tx.jvp(closed, (X,), (V,)),
    "jvp of an array": lambda: tx.jvp(squares, (X,), (V,)),
    "jvp with a helper": lambda: tx.jvp(helped, (X,), (V,)),
    "linearize": lambda: tx.linearize(squares, X)[1](V),
    "linearize with a helper": lambda: tx.linearize(helped, X)[1](V),
    "hvp": lambda: tx.hvp(closed, (X,), (V,)),
    "hvp with a helper": lambda: tx.hvp(helped, (X,), (V,)),
    "hessian": lambda: tx.hessian(closed)(X),
    "jacfwd": lambda: tx.jacfwd(squares)(X),
    "jacrev": lambda: tx.jacrev(squares)(X),
    "grad": lambda: tx.grad(closed)(X),
    "grad of a helper": lambda: tx.grad(helped)(X),
    "vjp": lambda: tx.vjp(squares, X)[1](V),
}


@pytest.mark.filterwarnings("ignore::tangentx.errors.FallbackWarning")
@pytest.mark.parametrize("form", FORMS)
def test_derivatives_of_functions_do_not_ask_whether_tensors_are_recorded(form: str) -> None:
    wanted = FORMS[form]()
    with tx.no_grad():
        found = FORMS[form]()
        assert not recording()
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, wanted)), strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.any(np.asarray(b) != 0.0)


@pytest.mark.filterwarnings("ignore::tangentx.errors.FallbackWarning")
def test_linear_functions_and_pullbacks_may_be_called_in_another_mode() -> None:
    _, linear = tx.linearize(squares, X)
    _, pullback = tx.vjp(squares, X)
    with tx.no_grad():
        np.testing.assert_array_equal(linear(V), 2.0 * X * V)
        np.testing.assert_array_equal(pullback(V), 2.0 * X * V)


class Interrupted(BaseException):
    """Stands for a KeyboardInterrupt."""


def interrupted(run: Callable[[], Any], after: int) -> bool:
    """Whether `run` was interrupted: at that of the points at which Python looks for an interrupt.

    These are the entry of a function and the return of a call of one in C, which are what a profiler is told of.
    """
    left = after

    def profiler(frame: Any, event: str, arg: Any) -> None:
        nonlocal left
        if event in ("call", "c_return"):
            left -= 1
            if left < 0:
                sys.setprofile(None)
                raise Interrupted

    sys.setprofile(profiler)
    try:
        run()
    except Interrupted:
        return True
    finally:
        sys.setprofile(None)
    return False


def backward() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    ((x * x).sum() * x[0]).backward()


class Doubled(tx.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    def backward(ctx, bar):
        return bar * 2.0


def of_a_function() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    Doubled.apply(x).sum().backward()


def through_a_view() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    row = y[:1]
    y[0] = 3.0
    (row * row).sum().backward()


@tx.no_grad
def unrecorded() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    assert not (x * x).requires_grad


RUNS = [
    lambda: during(lambda: np.sin(1.0), grad=False),
    lambda: during(lambda: np.sin(1.0), grad=False, honest=True),
    backward,
    of_a_function,
    through_a_view,
    unrecorded,
    lambda: tx.jvp(squares, (X,), (V,)),
]


@pytest.mark.filterwarnings("ignore::tangentx.errors.FallbackWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a generator that was being closed
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_an_interrupt_leaves_recording_as_it_was(run: Callable[[], Any]) -> None:
    run()
    events = np.geterr()
    for after in range(100_000):
        stopped = interrupted(run, after)
        assert recording()
        assert np.geterr() == events
        assert not STATE.honest
        assert STATE.program is None and not RUNNING
        if not stopped:
            break
    else:
        pytest.fail("it never ended")
    assert after > 5


def test_an_interrupt_on_the_way_into_a_context_leaves_recording_as_it_was() -> None:
    def run() -> None:
        with tx.no_grad():
            assert not recording()

    for after in range(1000):
        switch = tx.no_grad()
        stopped = interrupted(switch.__enter__, after)
        if not stopped:
            switch.__exit__()
            assert recording()
            break
        assert recording()
    run()
    assert recording()


def test_modes_within_modes() -> None:
    with tx.no_grad():
        with tx.enable_grad():
            assert recording()
            assert not during(recording, grad=False)
            assert recording()
        assert not recording()
        with pytest.raises(ZeroDivisionError):
            during(lambda: 1 // 0, grad=True, honest=True)
        assert not recording()
        assert not STATE.honest
    assert recording()
