"""A project whose tests take derivatives, run by pytest-xdist: several processes with one directory of kept texts."""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tangentx as tx

MODEL = """
import numpy as np

RATE = 2.0
X = np.array([0.5, -1.25, 2.0])


def slope(k):
    return RATE * k * (np.cos(X) * X * X + 2.0 * X * np.sin(X))


def scaled(x, k):
    assert x.ndim == 1, "a vector"
    return np.sin(x) * k


def loss(x, k):
    s = scaled(x, RATE)
    for _ in range(2):
        s = s * x
    return np.sum(s) * k


def on_tensors(x):
    return np.sum(eval("x * x"))
"""
TESTS = """
import os

import model
import numpy as np
import pytest
from model import X, slope

import tangentx as tx


def of_the_tests(x):
    assert x.shape == (3,), "pytest rewrites this, and the code is not the file's"
    total = 0.0
    for item in x:
        total = total + item * item
    assert total > 0.0
    return total


@pytest.mark.parametrize("k", range(8))
def test_products(k):
    gradient = tx.grad(model.loss)
    assert np.allclose(gradient(X, float(k)), slope(k))
    assert np.allclose(tx.vjp(model.loss, X, float(k))[1](1.0)[0], slope(k))
    assert np.isclose(tx.jvp(model.loss, (X, float(k)), (X, 0.0))[1], slope(k) @ X)
    if os.environ["RUN"] == "second":
        assert "read from the directory" in gradient.explain()


@pytest.mark.parametrize("k", range(4))
def test_functions_of_the_tests(k):
    def own(x):
        assert k < 8
        return np.sum(x * x) * k

    assert np.allclose(tx.grad(of_the_tests, fallback="error")(X), 2.0 * X)
    assert np.allclose(tx.grad(own, fallback="error")(X), 2.0 * X * k)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("k", range(4))
def test_tensors(k):
    assert np.allclose(tx.grad(model.on_tensors)(X), 2.0 * X)
"""
POOLS = """
import concurrent.futures
import multiprocessing
import os
import threading
import time

import model
import numpy as np
import pytest

import tangentx as tx


def in_a_process(k):
    return tx.grad(model.loss)(model.X, float(k)).tolist()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", os.environ["METHODS"].split())
def test_a_pool_while_another_thread_compiles(method):
    '''The first test of a process: the compiler is being imported while processes are forked.'''
    stop = threading.Event()

    def compiling():
        while not stop.is_set():
            tx.grad(lambda x: x * x)(3.0)

    thread = threading.Thread(target=compiling)
    thread.start()
    time.sleep(0.02)
    pool = concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(method))
    try:
        found = [pool.submit(in_a_process, k).result(float(os.environ["PATIENCE"])) for k in range(4)]
    finally:
        stop.set()
        thread.join()
        for child in pool._processes.values():  # one that hangs would be waited for
            child.kill()
        pool.shutdown()
    assert np.allclose(found, [model.slope(k) for k in range(4)])
"""
METHODS = multiprocessing.get_all_start_methods()


def passed(home: Path, environment: dict[str, str]) -> int:
    """How many of the project's tests passed in three processes; what was printed, where one failed."""
    command = [sys.executable, "-W", "error", "-m", "pytest", "-n", "3", "-q", "-p", "no:cacheprovider", str(home)]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"^(\d+) passed in", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    return int(found[1])


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize("methods", [METHODS[:1], pytest.param(METHODS, marks=pytest.mark.thorough)])
def test_tests_that_run_side_by_side(methods: list[str], tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    home = tmp_path / "project"
    home.mkdir()
    (home / "model.py").write_text(MODEL)
    (home / "test_a_pool.py").write_text(POOLS)  # these come first
    (home / "test_model.py").write_text(TESTS)
    (home / "pytest.ini").write_text("[pytest]\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TANGENTX_"))}
    environment |= {
        "METHODS": " ".join(methods),
        "PATIENCE": "100",
        "PYTHONPATH": str(Path(tx.__file__).parents[1]),
        "TANGENTX_CACHE": str(tmp_path / "kept"),
    }
    count = 16 + len(methods)
    assert passed(home, environment | {"RUN": "first"}) == count
    texts = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert len(texts) > 4 and not [path for path in texts if path.suffix in (".tmp", ".new")]
    assert passed(home, environment | {"RUN": "second"}) == count
