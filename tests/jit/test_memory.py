"""Memory that compiled programs keep for the next call."""

import sys
import threading

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import HAS_C, own_cache  # noqa: F401

pytestmark = pytest.mark.skipif(not HAS_C, reason="no C compiler")


def wave(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] -= 1e-4 * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="faults are counted otherwise")
def test_the_second_call_touches_few_new_pages():
    import resource

    gradient, u = tx.grad(wave, jit="c"), np.sin(np.arange(1000.0))
    gradient(u, 500)  # 500 records of 8 kB, a thousand pages
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    gradient(u, 500)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 200


def test_memory_of_any_size_is_used_again():
    gradient, plain = tx.grad(wave, jit="c"), tx.grad(wave)
    for size in (3, 127, 128, 129, 160, 161, 1000, 1024, 1025, 128, 600_000, 5, 1000):
        u = np.sin(np.arange(float(size)))
        assert np.allclose(gradient(u, 2), plain(u, 2), rtol=0, atol=1e-14)
    u = np.ones(8_500_000)  # more than is kept
    assert np.array_equal(gradient(u, 0), 2.0 * u)


def test_threads_take_each_other_no_memory_away():
    gradient, u = tx.grad(wave, jit="c"), np.sin(np.arange(600.0))
    wanted, wrong = gradient(u, 40), []

    def calls():
        wrong.extend(k for k in range(200) if not np.array_equal(gradient(u, 40), wanted))

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_small_arrays_are_free_when_the_call_ends():
    def turned(x, n):
        rows = []
        for _ in range(n):
            x = x * x[::-1] + 0.1
            rows.append(x * 0.5)
        return np.sum(rows[n // 2] * x)

    gradient, plain = tx.grad(turned, jit="c"), tx.grad(turned)
    for size, n in ((2, 3000), (100, 900), (3, 1), (700, 20), (2, 3000)):
        x = np.linspace(0.1, 0.6, size)
        assert np.allclose(gradient(x, n), plain(x, n), rtol=0, atol=1e-14)
