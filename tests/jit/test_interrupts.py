"""A signal ends a compiled program within a second, whatever its loops are like."""

import signal
import time

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import HAS_C, compiled, own_cache  # noqa: F401
from tests.jit.test_numba import HAS_NUMBA

WAYS = (
    pytest.param("c", marks=pytest.mark.skipif(not HAS_C, reason="no C compiler")),
    pytest.param("numba", marks=[pytest.mark.skipif(not HAS_NUMBA, reason="no Numba"), pytest.mark.thorough]),
)
pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")


def nested(x, n):
    for _ in range(n):
        for _ in range(n):
            x = x * 0.999 + 1e-3
    return x


def alone(x, n):
    for _ in range(n):
        x = x * 0.999 + 1e-3
    return x


def down(x, n):
    for k in range(n, 0, -1):
        x = x * 0.999 + 1e-12 * k
    return x


def left(x, n):
    for _ in range(n):
        x = x * 0.999 + 1e-3
        if x > 1e30:
            break
    return x


def settled(x, n):
    for _ in range(200_000):
        x = x * 0.999 + 1e-3
    return x + 0.0 * n


def called(x, n):
    for _ in range(n):
        x = settled(x, 1)
    return x


def summed(x, n):
    y = np.full(500_000, x)
    k = 0
    while k < n:
        x = np.sum(y) * 1e-6
        y[0] = x
        k = k + 1
    return x


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("f", [nested, alone, down, left, called, summed], ids=lambda f: f.__name__)
def test_signals_end_a_long_loop(f, jit):
    function = tx.jit(f, jit=jit)
    assert abs(function(0.3, 3) - f(0.3, 3)) < 1e-12
    assert not compiled(function).gave_up
    met = []

    def stop(*_):
        met.append(time.process_time())
        raise KeyboardInterrupt("enough")

    before = signal.signal(signal.SIGALRM, stop)
    begun = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt, match="enough"):
            function(0.3, 2**40)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert met[0] - begun < 1.0
    assert function(0.3, 0) == f(0.3, 0)
