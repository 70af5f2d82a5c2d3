"""Code that knows nothing of Tensors is not given them: refused before it runs, by its public name."""

from __future__ import annotations

import array
import concurrent.futures
import decimal
import fractions
import heapq
import json
import linecache
import logging
import math
import multiprocessing.dummy
import os
import pickle
import queue
import random
import struct
import sys
import sysconfig
import threading
import types
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.tensor.fallback.reachable import active_in
from tangentx.tensor.fallback.unknown_code import name_of
from tests.tensor.fallback.test_introspection import _on_tensors  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
POINT = np.array([0.3, 0.7, 1.9])


def threaded(v):
    out = [0.0]

    def work():
        out[0] = math.exp(v[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return out[0] + v[1]


def pooled(run):
    def f(v):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return run(pool, v)

    return f


class Worker(threading.Thread):
    def __init__(self, t):
        self.t = t
        super().__init__()

    def run(self):
        self.t = math.sin(self.t)


def by_a_class(v):
    worker = Worker(v[0])
    worker.start()
    worker.join()
    return worker.t


KEPT: dict[str, Any] = {}


def read_back(key):
    return KEPT[key] * 2.0


def by_a_global(v):
    KEPT["v"] = v[0]
    return list(concurrent.futures.ThreadPoolExecutor(1).map(read_back, ["v"]))[0]


class Callback:
    def __init__(self, w):
        self.w = w

    def __call__(self, k):
        return self.w * k


def objects_in_an_array(v):
    a = np.empty(2, dtype=object)
    a[0] = v[0]
    return a[0]


DENIED = {
    "struct.pack": lambda v: struct.unpack("d", struct.pack("d", v[0]))[0] * v[1],
    "json.dumps": lambda v: json.loads(json.dumps([v[0]]))[0] * v[1],
    "array.array": lambda v: array.array("d", [v[0]])[0] * v[1],
    "decimal.Decimal": lambda v: float(decimal.Decimal(v[0])) * v[1],
    "fractions.Fraction": lambda v: float(fractions.Fraction(v[0])) * v[1],
    "memoryview": lambda v: memoryview(v)[0] * v[1],
    "pickle.dumps": lambda v: pickle.loads(pickle.dumps({"v": v}))["v"][0],
    "queue.Queue.put": lambda v: queue.Queue().put(v[0]),
    "threading.Thread": threaded,
    "concurrent.futures.ThreadPoolExecutor.map": pooled(lambda pool, v: sum(pool.map(math.sin, [v[0], v[1]]))),
    "ThreadPoolExecutor.map": pooled(lambda pool, v: sum(pool.map(lambda i: math.sin(v[i]), range(3)))),
    "ThreadPoolExecutor.submit": pooled(lambda pool, v: pool.submit(Callback(v[0]), 2.0).result() + v[1]),
    "futures.ThreadPoolExecutor.map": by_a_global,
    "threading.Thread.__init__": by_a_class,
    "Pool": lambda v: multiprocessing.dummy.Pool(1, initializer=lambda: v[0]),
    "random.shuffle": lambda v: random.shuffle([v[0], v[1]]),
    "Random.uniform": lambda v: random.Random(0).uniform(v[0], 1.0),
    "numpy.random.Generator.beta": lambda v: np.random.default_rng(0).beta(v[0] + 1.0, 1.0),
    "array of": objects_in_an_array,
    "an array of object": lambda v: np.array([v[0], v[1]], dtype=object).sum(),
    "`data`": lambda v: v.data[0] * v[1],
    "`tobytes`": lambda v: np.frombuffer(v.tobytes())[0] * v[1],
    "`as_integer_ratio`": lambda v: v[0].as_integer_ratio()[0] * v[1],
    "float()": lambda v: v[0].__float__() * v[1],
    "array makes a plain": lambda v: v.__array__()[0],
    "vectorize": lambda v: np.sum(np.vectorize(lambda t: t * t)(v)),
}


@pytest.mark.parametrize("name", DENIED)
def test_what_would_lose_a_derivative_is_refused_by_name(name: str) -> None:
    f = DENIED[name]
    for run in (lambda: tx.grad(f)(POINT), lambda: tx.jvp(f, (POINT,), (POINT,))):
        with pytest.raises(
            tx.TangentxError, match=r"(?s)test_unknown_code\.py:\d+.*stop_gradient|array of floats|arrays of numbers"
        ) as caught:
            run()
        assert name in str(caught.value).replace("`np.", "`numpy."), str(caught.value)


scipy = pytest.importorskip("scipy")


@pytest.mark.parametrize(
    "call",
    [
        "scipy.linalg.schur(w * w.T)[0]", "scipy.linalg.funm(w * w.T, np.exp)",
        "scipy.spatial.distance.rogerstanimoto(v > 0.5, v)",
        "scipy.interpolate.KroghInterpolator(k, v)(0.5)",
        "scipy.interpolate.Rbf(k, v)(k)", "scipy.stats.skewnorm.cdf(v[0], 2)", "scipy.signal.wiener(v)",
        "scipy.ndimage.generic_filter(v, np.median, 3)", "scipy.special.jve(1, v[0])",
        "scipy.special.mathieu_cem(1, 0.5, v)[0]",
        "scipy.sparse.lil_matrix(w)", "scipy.sparse.linalg.lsqr(np.eye(3), v)[0]",
        "scipy.fft.fht(v, 0.1, 0.2)", "scipy.stats.weightedtau(v, k)", "scipy.spatial.KDTree(w)",
        "scipy.linalg.ldl(w * w.T)[1]",
        "scipy.integrate.newton_cotes(2, v[0])[1]", "scipy.optimize.rosen_der(v)", "scipy.cluster.vq.whiten(w)",
    ],
)  # fmt: skip
def test_a_library_is_not_tried(call: str, tmp_path: Any) -> None:
    import importlib
    import sys

    for part in "linalg spatial.distance integrate interpolate stats signal ndimage special sparse.linalg".split():
        importlib.import_module(f"scipy.{part}")
    for part in "optimize fft cluster.vq".split():
        importlib.import_module(f"scipy.{part}")
    module = tmp_path / "of_scipy.py"
    module.write_text(
        f"import numpy as np, scipy\ndef f(v):\n    w, k = v[:, None], np.arange(3.0)\n    return np.sum({call})\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        sys.modules.pop("of_scipy", None)
        f = importlib.import_module("of_scipy").f
    finally:
        sys.path.remove(str(tmp_path))
    with pytest.raises(tx.TangentxError) as caught:
        tx.grad(f)(POINT)
    assert "of_scipy.py:4" in str(caught.value) and "has no derivative rule" in str(caught.value)
    assert f"`{call.partition('(')[0]}" in str(caught.value) and "Instead: " in str(caught.value)


def test_nothing_of_it_has_run() -> None:
    put: list[Any] = []

    class Recording(queue.Queue):
        def _put(self, item: Any) -> None:
            put.append(item)

    def f(v: Any) -> Any:
        Recording().put(v[0])
        return v[0]

    with pytest.raises(tx.NoTemplate, match="put"):
        tx.grad(f)(POINT)
    assert put == []


def test_calls_of_constants_are_calls(caplog: Any, capsys: Any) -> None:
    def f(v: Any) -> Any:
        made = np.zeros(3) + 2.0
        row, rows = [3, 1, 2], [np.zeros(1), np.ones(1)]
        random.Random(1).shuffle(row)
        random.Random(0).shuffle(rows)
        rows[0][0] = v[1]
        heap: list[Any] = []
        heapq.heappush(heap, (v[0], 1))
        heapq.heappush(heap, (v[1], 0))
        with caplog.at_level(logging.INFO):
            logging.getLogger("t").info("%s %.1f", v[0], v[1])
        print(v[0], [v[1]])
        np.testing.assert_allclose(v, v)
        rng = np.random.default_rng(0)
        found = scipy.linalg.norm(made) * v[0] + json.loads(json.dumps([1.5]))[0] * v[1]
        return found + sum(row) * heap[0][0] + rng.choice([1.0, 1.0]) * v[2] + rows[0][0]

    plain = f(POINT.copy())
    shown = capsys.readouterr().out
    value, gradient = tx.value_and_grad(f)(POINT)
    assert value == plain and capsys.readouterr().out == shown and caplog.messages == ["0.3 0.7"] * 2
    np.testing.assert_allclose(gradient, [np.sqrt(12.0) + 6.0, 2.5, 1.0])


def test_what_a_call_reaches() -> None:
    t = tx.tensor(1.0, requires_grad=True)

    def captures() -> Any:
        return t

    held = Callback(t)
    for value in ([t], {"a": (t,)}, {t: 1}, captures, held, held.__call__, iter([t]), (x for x in [t]), map(abs, [t])):
        assert active_in(value) is t
    assert active_in([1.0, np.ones(2), math.sin, print, len, lambda: POINT, tx.tensor(1.0)]) is None


def test_public_names() -> None:
    names = (
        struct.pack, [].append, np.random.default_rng(0).normal, threading.Thread(target=print).start, decimal.Decimal
    )  # fmt: skip
    found = [name_of(f).replace("np.", "numpy.") for f in names]
    assert found == [
        "struct.pack", "list.append", "numpy.random.Generator.normal", "threading.Thread.start", "decimal.Decimal",
    ]  # fmt: skip


# ---- memory that a library keeps, or gives back ----
LIBRARY = """
KEPT = []
def same(a): return a
def view(a): return a[:1].T
def keep(a): KEPT.append(a)
def keep_part(rows): KEPT.append(rows[0])
def total(): return float(KEPT[-1].sum())
def norm(a): return float((a * a).sum())
def copied(a): return a.copy()
"""


@pytest.fixture
def library() -> Any:
    """A module that counts as installed."""
    made: Any = types.ModuleType("keeping_library")
    made.__file__ = os.path.join(sysconfig.get_paths()["purelib"], "keeping_library.py")
    linecache.cache[made.__file__] = (len(LIBRARY), None, LIBRARY.splitlines(True), made.__file__)
    exec(compile(LIBRARY, made.__file__, "exec"), made.__dict__)
    sys.modules["keeping_library"] = made
    yield made
    del sys.modules["keeping_library"], linecache.cache[made.__file__]


@pytest.mark.parametrize("name", ["same", "view"])
def test_what_a_library_gives_back_is_not_written_with_what_varies(library: Any, name: str) -> None:
    def f(v):
        a = np.ones(3)
        b = getattr(library, name)(a[1:])
        a[1] = v[0]
        return np.sum(b) * v[1]

    with pytest.raises(tx.NotDifferentiable, match=rf"test_unknown_code.*`keeping_library.{name}` may read later"):
        tx.grad(f)(POINT)


@pytest.mark.parametrize("name", ["keep", "keep_part"])
def test_nor_is_what_it_keeps(library: Any, name: str) -> None:
    def f(v):
        a = np.ones(3)
        part = a[1:]
        getattr(library, name)(a if name == "keep" else [a])
        part[0] = v[0]
        return library.total() * v[1]

    with pytest.raises(tx.NotDifferentiable, match=rf"test_unknown_code.*`keeping_library.{name}` may read later"):
        tx.grad(f)(POINT)


def test_what_it_only_reads_may_be_written(library: Any) -> None:
    def f(v):
        a = np.ones(3)
        s, b = library.norm(a), library.copied(a)
        a[1] = v[0]
        return (s + np.sum(b)) * np.sum(a) * v[1]

    assert np.allclose(tx.grad(f)(POINT), [6.0 * POINT[1], 6.0 * (2.0 + POINT[0]), 0.0])
