"""``jit="numba"`` beside the generated Python: results, exceptions, what is kept, and a machine that has no Numba."""

import math
import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.common import cache_files
from tangentx.loops import numba_support, run_numba
from tests.jit import test_entry as programs
from tests.jit import test_forms
from tests.jit.test_entry import MATRIX, ROW, both, compiled, demand_equal, own_cache  # noqa: F401
from tests.programs import PROGRAMS

try:
    import numba  # noqa: F401

    HAS_NUMBA = True
except ImportError:
    HAS_NUMBA = False
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="no Numba")
pytestmark = needs_numba

CASES = [
    *programs.CASES,
    (programs.rows, (ROW, 3)),
    (programs.masses, (1.0, 0.5, 5)),
    (programs.shared_lists, (2.0, 3)),
    (programs.of_two_dicts, (1.5, 2)),
    (programs.written_by_a_helper, (ROW, 2.0)),
    (programs.products, (np.eye(40), np.eye(40) * 2.0, np.ones(40))),
    (programs.of_containers, ([1.0, 2.0, 3.0], {"a": 2.0, "w": ROW}, 0.5)),
]


@pytest.mark.share(15)
@pytest.mark.parametrize(("f", "args"), CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)])
def test_programs(f, args):
    both(f, "numba", *args)


@pytest.mark.share(24)
@pytest.mark.parametrize(("f", "args"), test_forms.CASES, ids=[f.__name__ for f, _ in test_forms.CASES])
def test_forms_of_programs(f, args):
    both(f, "numba", *args)


@pytest.mark.parametrize("program", [pytest.param(p, id=p.name, marks=pytest.mark.share(130)) for p in PROGRAMS])
def test_corpus(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.JitWarning)
        warnings.simplefilter("ignore", tx.FallbackWarning)
        derivative = tx.value_and_grad(program.fn, wrt=program.wrt, jit="numba")
        found = derivative(*program.args())
        notes = derivative._cache.last.notes["jit"]
        if notes is not None:
            demand_equal(
                found, tx.value_and_grad(program.fn, wrt=program.wrt, guarded=True)(*program.args()), exact=False
            )
            assert (notes.compiled is None) == (notes.program is None), notes.refusal


def every_operation(x, y, k):
    total = math.sqrt(x) + math.exp(-x) + math.log(x) + math.sin(x) * math.cos(y) + math.tan(y) + math.tanh(x)
    total += math.sinh(y) + math.cosh(y) + math.log1p(x) + math.expm1(y) + math.log2(x) + math.log10(x)
    total += math.asin(y) + math.acos(y) + math.atan(x) + math.asinh(x) + math.acosh(x + 1.0) + math.atanh(y)
    total += math.atan2(x, y) + math.hypot(x, y) + x**y + math.fabs(x - y) + x % y + x // y + float(k // 3 + k % 3)
    total += max(x, y) + min(x, y) + np.maximum(x, y) * np.minimum(x, y) + np.sign(y) * np.floor(x) + np.ceil(x)
    total += np.trunc(x) + np.rint(x) + math.floor(x) * 1.0 + math.ceil(y) + int(x) + (k - 2) * (k + 5)
    if (x > y and not math.isnan(x)) or math.isinf(y) or np.isfinite(total) ^ (k == 3):
        total += y
    return total


def short_sums(x, w):
    y = np.exp(-x) * w + np.sqrt(np.abs(x) + w) / (w + 2.0) - np.maximum(x, w) + np.hypot(x, w) + x**3
    return np.sum(y) + np.max(y) - np.min(x) + np.mean(y[::2])


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("f", "args"),
    [(every_operation, (1.7, 0.4, 7)), (short_sums, (np.linspace(-1.0, 2.0, 300, dtype=np.float32), np.float32(0.3)))],
    ids=["float64", "float32"],
)
def test_operations(f, args):
    both(f, "numba", *args)


def test_sums_are_added_in_the_order_of_numpy():
    namespace = {}
    text = numba_support.HEAD + numba_support.needed("sum2 sum1")
    exec(text.replace("cache=True", "cache=False"), namespace)
    x = np.random.default_rng(0).normal(size=4133)
    for count in (0, 1, 7, 8, 100, 128, 129, 1000, 4133):
        for y in (x[:count], x.astype(np.float32)[:count]):
            assert namespace["sum1"](y) == np.sum(y)
    for made in (np.outer(x[:20], x), np.outer(x[:20], x)[:, 5:200], np.outer(x[:20], x)[:0]):
        assert math.isclose(namespace["sum2"](made), np.sum(made), rel_tol=1e-13)


@pytest.mark.parametrize(
    ("f", "args", "error"),
    programs.FAULTS[:1] + programs.FAULTS[1:2] + programs.FAULTS[3:],
    ids=["division", "index", "domain", "raise"],
)
def test_exceptions_are_those_of_the_program(f, args, error):
    derivative = tx.grad(f, jit="numba")
    with pytest.raises(error):
        derivative(*args)
    assert compiled(derivative).gave_up


def test_whole_numbers_beyond_64_bits():
    derivative = tx.grad(programs.whole, jit="numba")
    assert derivative(1.0, 18) == float(10**18 % 7)
    assert not compiled(derivative).gave_up
    assert derivative(1.0, 40) == float(10**40 % 7)
    assert compiled(derivative).gave_up


def test_floating_point_events_warn_as_the_program_does():
    def inverse(x):
        return np.sum(1.0 / x)

    derivative = tx.grad(inverse, jit="numba")
    for x, message in ((0.0, "divide by zero"), (1e-200, "overflow")):
        with pytest.warns(RuntimeWarning, match=message):
            derivative(np.array([1.0, x]))
    assert compiled(derivative).gave_up == {"a floating-point event": 2}


def test_events_before_a_call_of_python_are_told_behind_it():
    def ordered(x):
        return np.sum(np.sort(1.0 / x) * (x + 1.0))

    derivative = both(ordered, "numba", ROW + 2.0)
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        derivative(np.array([1.0, 0.0]))
    assert "divide by zero" in str(met[0].message)
    assert compiled(derivative).gave_up


def test_arguments_that_may_not_be_written_and_whose_elements_lie_apart():
    frozen = ROW.copy()
    frozen.flags.writeable = False
    derivative = both(programs.smooth, "numba", frozen, 0.7)
    for x in (ROW[::-1], ROW[::3], np.frombuffer(b"\0" + ROW.tobytes(), offset=1)):
        demand_equal(derivative(x, 0.7), tx.value_and_grad(programs.smooth)(x, 0.7), exact=False)
    assert not compiled(derivative).gave_up
    assert not frozen.flags.writeable


def long(x, n):
    for _ in range(n):
        for _ in range(n):
            x = x * 0.999 + 1e-3
    return x


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")
def test_signals_end_a_long_loop():
    def stop(*_):
        raise KeyboardInterrupt("enough")

    derivative = both(long, "numba", 0.3, 3)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt, match="enough"):
            derivative(0.3, 2**30)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert derivative(0.3, 0)[0] == 0.3


def test_other_threads_run_meanwhile():
    derivative = both(long, "numba", 0.3, 3)
    met = []
    thread = threading.Thread(target=lambda: (derivative(0.3, 6_000), met.append(True)))
    thread.start()
    while not met:  # an interpreter that is locked would come here when the program has ended
        met.append(thread.is_alive())
    thread.join()
    assert met[0]


def cube(x):
    return x * x * x


def test_what_was_compiled_is_found_again_and_what_is_damaged_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("TANGENTX_CACHE", str(tmp_path))
    program = programs.scalarised(cube, (2.0,))
    assert run_numba.in_numba(program)[1]([2.0, 1.0]) == [12.0]
    (text,) = tmp_path.glob("*.py")
    kept = list(tmp_path.glob("__pycache__/*"))
    assert {path.suffix for path in kept} == {".nbi", ".nbc"}
    sizes = {path: path.stat().st_mtime_ns for path in kept}
    assert run_numba.in_numba(program)[1]([2.0, 1.0]) == [12.0]
    assert {path: path.stat().st_mtime_ns for path in kept} == sizes
    for path in (*kept, text):
        path.write_bytes(b"damaged")
        assert run_numba.in_numba(program)[1]([2.0, 1.0]) == [12.0]
    monkeypatch.setenv("TANGENTX_CACHE", "/proc/nowhere")
    assert run_numba.in_numba(program)[1]([2.0, 1.0]) == [12.0]


def test_a_machine_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)  # importing it fails
    with pytest.raises(tx.NoCompiler, match='jit="numba" needs Numba') as caught:
        tx.grad(cube, jit="numba")(2.0)
    assert "pip install" in str(caught.value)


def test_true_takes_numba_where_there_is_no_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    derivative = tx.grad(cube, jit=True)
    assert derivative(2.0) == 12.0
    assert compiled(derivative).how == "numba"
    assert "compiled as Python that Numba compiles" in derivative.explain()


def test_what_numba_does_not_take_runs_as_python(monkeypatch):
    def refuse(*_):
        raise run_numba.NotCompiled("Numba does not take it: why")

    monkeypatch.setattr(run_numba, "_compiled", refuse)
    derivative = tx.grad(lambda x: x * x, jit="numba")
    with pytest.warns(tx.JitWarning, match="Numba does not take it: why"):
        assert derivative(2.0) == 4.0
    assert "runs as Python, though jit='numba': Numba does not take it: why" in derivative.explain()


def test_numba_is_imported_only_when_asked_for():
    code = "import sys, tangentx as tx; tx.grad(lambda x: x * x, jit='python'); print('numba' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert told.stdout.strip() == "False"


def test_directories():
    assert cache_files.is_own(cache_files.directory())


def test_products_of_matrices():
    def bent(a, v):
        return np.sum((a @ v) ** 2)

    derivative = both(bent, "numba", MATRIX[::-1], ROW[:3])
    large = np.outer(np.arange(300.0), np.arange(200.0)) % 7.0
    demand_equal(derivative(large, large[5]), tx.value_and_grad(bent)(large, large[5]), exact=False)
    assert not compiled(derivative).gave_up
