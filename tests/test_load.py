"""Under load: many threads that rebind what is read, processes of all kinds, calls by the thousand."""

from __future__ import annotations

import concurrent.futures
import importlib
import itertools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.api import derivative
from tangentx.common import options
from tangentx.common.scoped_state import lasting
from tangentx.compile import pipeline
from tests import soak
from tests.harness.surroundings import assert_unchanged, surroundings

THREADS = 16
COUNT = 30
RATES = (1.0, 2.5, -0.5)
HELPERS = ("squared", "cubed")
TEXT = """
import numpy as np


def squared(v):
    return v * v


def cubed(v):
    return v * v * v

"""
PART = """
rate_{n} = 1.0
helper_{n} = squared


def f_{n}(x):
    total = 0.0
    for k in range(3):
        total = total + helper_{n}(x[k]) * {n}.0
    return total * rate_{n} + np.sum(x)

"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Thirty functions, each of which reads a number and a function of the module."""
    name = f"functions_under_load_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(TEXT + "".join(PART.format(n=n) for n in range(COUNT)))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


def slopes(n: int, x: Any) -> list[Any]:
    """The gradients of one of them for all that may be bound."""
    each = {"squared": 2.0 * x, "cubed": 3.0 * x * x}
    return [each[helper] * n * rate + 1.0 for helper, rate in itertools.product(HELPERS, RATES)]


def fast_switches() -> Callable[[], None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    return lambda: sys.setswitchinterval(before)


def under_load(module: ModuleType, calls: int, changes: int) -> list[str]:
    """What was wrong in so many calls of each of the threads, while another one rebinds what the functions read."""
    x = np.array([0.5, -1.25, 2.0])
    wanted = [slopes(n, x) for n in range(COUNT)]
    wrong: list[str] = []
    barrier, stop = threading.Barrier(THREADS + 1), threading.Event()

    def calling(number: int) -> None:
        rng = random.Random(number)
        barrier.wait()
        try:
            for k in range(calls):
                n = k if k < COUNT else rng.randrange(COUNT)  # all begin with the same
                found = tx.grad(getattr(module, f"f_{n}"), fallback="error")(x)
                if not any(np.allclose(found, one, rtol=1e-12, atol=0.0) for one in wanted[n]):
                    wrong.append(f"f_{n}: {found}")
        except Exception as error:
            wrong.append(repr(error))

    def rebinding() -> None:
        rng = random.Random(0)
        barrier.wait()
        for k in range(changes):
            n = rng.randrange(COUNT)
            setattr(module, f"rate_{n}", rng.choice(RATES))
            if k % 8 == 0:
                setattr(module, f"helper_{n}", getattr(module, rng.choice(HELPERS)))
            time.sleep(0.0005)
            if stop.is_set():
                return

    other = threading.Thread(target=rebinding)
    threads = [threading.Thread(target=calling, args=(k,)) for k in range(THREADS)]
    for thread in (other, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    other.join()
    for n in range(COUNT):  # what is bound now counts from now on
        helper, rate = getattr(module, f"helper_{n}").__name__, getattr(module, f"rate_{n}")
        now = {"squared": 2.0 * x, "cubed": 3.0 * x * x}[helper] * n * rate + 1.0
        found = tx.grad(getattr(module, f"f_{n}"), fallback="error")(x)
        if not np.allclose(found, now, rtol=1e-12, atol=0.0):
            wrong.append(f"at last f_{n}: {found}, not {now}")
    return wrong


@pytest.mark.parametrize("calls", [40, pytest.param(1000, marks=pytest.mark.thorough)])
def test_threads_that_rebind_what_is_read(module: ModuleType, calls: int) -> None:
    around, restore = surroundings(), fast_switches()
    try:
        assert under_load(module, calls, 20 * calls) == []
    finally:
        restore()
    assert_unchanged(around)


def test_threads_that_compile_one_function_at_the_same_time(module: ModuleType) -> None:
    x = np.array([0.5, -1.25, 2.0])
    barrier = threading.Barrier(THREADS)
    found: list[Any] = []

    def first() -> None:
        barrier.wait()
        found.append((tx.grad(module.f_3)(x), tx.jvp(module.f_3, (x,), (x,))[1], tx.vjp(module.f_3, x)[1](1.0)))

    threads = [threading.Thread(target=first) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    slope = 6.0 * x + 1.0
    assert len(found) == THREADS
    for gradient, tangent, pulled in found:
        assert np.array_equal(gradient, slope) and np.array_equal(pulled, slope)
        assert tangent == pytest.approx(slope @ x)


FIRST = """
import sys, threading, warnings
import numpy as np
import tangentx as tx

sys.setswitchinterval(1e-5)
warnings.simplefilter("ignore")
x = np.array([0.5, -1.25, 2.0])


def f(x):
    return np.sum(x * x)


def not_compiled(x):
    return np.sum(eval("x * x"))


calls = [
    lambda: tx.grad(f)(x),
    lambda: tx.vjp(f, x)[1](1.0),
    lambda: tx.grad(not_compiled)(x),
    lambda: tx.nn.Linear(3, 1)(x),
    lambda: np.sum(tx.tensor(x, requires_grad=True) * 2.0).backward(),
    lambda: tx.grad(tx.checkpoint(f))(x),
    lambda: tx.optim.SGD([tx.tensor(x, requires_grad=True)], lr=0.1),
    lambda: tx.vmap(tx.grad(f))(np.stack([x, x])),
]
barrier, wrong = threading.Barrier(2 * len(calls)), []


def work(call):
    barrier.wait()
    try:
        call()
    except BaseException as error:
        wrong.append(repr(error))


threads = [threading.Thread(target=work, args=(call,)) for call in calls * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert wrong == [], wrong
"""


@pytest.mark.parametrize("number", [0, *(pytest.param(k, marks=pytest.mark.thorough) for k in range(1, 20))])
def test_threads_that_load_the_package_at_the_same_time(number: int) -> None:
    """What one was loading the others met half loaded: Tensors without methods, an AttributeError in our own calls."""
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


HANDLER = """
import os, signal, sys, warnings
import numpy as np
import tangentx as tx

warnings.simplefilter("ignore")
x = np.array([1.0, 2.0])
lines, found = [int(sys.argv[1])], []


def f(x):
    return np.sum(x * x)


def not_compiled(x):
    return np.sum(eval("x * x * x"))


def handle(*_):
    for function in (lambda x: np.sum(np.sin(x)), not_compiled):
        try:
            found.append(tx.grad(function)(x))
        except tx.TangentxError as error:
            assert "handler of signals" in str(error), error


def trace(frame, event, arg):
    if frame.f_code.co_name != "<module>" or not str(frame.f_globals.get("__name__")).startswith("tangentx"):
        return None
    if event == "line" and lines:
        lines[0] -= 1
        if lines[0] < 0:
            lines.clear()
            sys.settrace(None)
            os.kill(os.getpid(), signal.SIGUSR1)
    return trace


signal.signal(signal.SIGUSR1, handle)
sys.settrace(trace)
first = tx.grad(f)(x).tolist()
second = tx.grad(not_compiled)(x).tolist()
assert not lines, "no such line is loaded"
assert not found
assert first == [2.0, 4.0] and second == [3.0, 12.0], (first, second)
handle()
assert [row.tolist() for row in found] == [np.cos(x).tolist(), [3.0, 12.0]], found
"""


@pytest.mark.parametrize(
    "line", [5, 8_000, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(500, 15_000, 500))]
)
def test_a_handler_of_signals_asks_for_a_derivative_while_modules_are_loaded(line: int) -> None:
    """It met them half loaded: an AttributeError, or a derivative that was made without the rules that were to come."""
    command = [sys.executable, "-c", HANDLER, str(line)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


LOG: list[float] = []
SEEN: set[float] = set()


class Recorder:
    entries: list[Any] = []


def logs(x, number):
    LOG.append(number)
    SEEN.add(number)
    Recorder.entries.append((number, "kept"))
    return np.sum(x * x) * 2.0


def logs_on_tensors(x, number):
    LOG.append(number)
    SEEN.add(number)
    Recorder.entries.append((number, "kept"))
    return np.sum(eval("x * x")) * 2.0


def logs_before_it_raises(x, number):
    logs(x, number)
    y = x / x[0]
    if number >= 0.0:
        raise ArithmeticError("as the program says")
    return np.sum(y)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.share(1)
@pytest.mark.parametrize("f", [logs, logs_on_tensors, logs_before_it_raises])
@pytest.mark.parametrize("calls", [25, pytest.param(500, marks=pytest.mark.thorough)])
def test_threads_that_append_to_one_list(f: Callable[..., Any], calls: int) -> None:
    """Of 8,000 updates 863 stayed, as each forward sweep worked on a copy of the list, and put it back."""
    x = np.array([0.5, -1.25, 2.0])
    wrong: list[Any] = []
    raises = f is logs_before_it_raises
    barrier, restore = threading.Barrier(THREADS), fast_switches()
    for kept in (LOG, SEEN, Recorder.entries):
        kept.clear()

    def work(number: int) -> None:
        barrier.wait()
        for k in range(calls):
            try:
                at = number + k / 1e4
                found = tx.grad(f)(x, at) if k % 2 else tx.vjp(f, x, at)[1](1.0)[0]
                if raises or not np.array_equal(found, 4.0 * x):
                    wrong.append(found)
            except ArithmeticError:
                if not raises:
                    wrong.append("raised")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        restore()
    numbers = [number + k / 1e4 for number in range(THREADS) for k in range(calls)]
    assert wrong == []
    assert sorted(LOG) == numbers and SEEN == set(numbers) and len(Recorder.entries) == len(numbers)


# ---- recording and modes in threads ----
def test_modes_of_one_thread_are_not_those_of_another() -> None:
    f = lambda x: np.sum(eval("x * x"))
    x = np.ones(3)
    wrong: list[Any] = []

    def work(number: int) -> None:
        for _ in range(30):
            if number % 2:
                with tx.no_grad():
                    if tx.jvp(f, (x,), (x,))[1] != 6.0 or tx.hvp(f, (x,), (x,)).tolist() != [2.0] * 3:
                        wrong.append("no_grad")
                    t = tx.tensor(x, requires_grad=True)
                    if np.sum(t * t).requires_grad:
                        wrong.append("recorded")
            else:
                t = tx.tensor(x, requires_grad=True)
                np.sum(t * t).backward()
                if t.grad.numpy().tolist() != [2.0] * 3 or tx.grad(f)(x).tolist() != [2.0] * 3:
                    wrong.append("not recorded")

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tx.grad(f)(x), tx.jvp(f, (x,), (x,)), tx.hvp(f, (x,), (x,))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


# ---- derivatives that are asked for while others are made ----
def test_a_derivative_is_asked_for_while_another_one_is_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a handler of signals, or by `__del__`, in the thread that holds the register."""
    whole, inner = derivative.Derivative.__init__, []

    def entered(self: Any, f: Any, spec: Any) -> None:
        whole(self, f, spec)
        if not inner:
            inner.append(0.0)
            inner[0] = tx.grad(lambda x: x * x)(3.0)

    monkeypatch.setattr(derivative.Derivative, "__init__", entered)
    assert tx.grad(lambda x: x * x * x)(2.0) == 12.0 and inner == [6.0]


def test_what_is_compiled_in_between_is_compiled_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a primitive that takes a derivative, and is tried on samples while a program is compiled whose helpers run
    on Tensors and whose calls of unknown code are observed."""
    seen: list[Any] = []
    whole = pipeline.compile_functions

    def compiled(*args: Any, **kwargs: Any) -> Any:
        seen.append((options.OBSERVING.get(), len(options.ON_TENSORS.get())))
        return whole(*args, **kwargs)

    monkeypatch.setattr(pipeline, "compile_functions", compiled)
    helpers = {cube: options.Helper(tx.TangentxError("no reason"))}
    state = options.Observing("tests")

    def inner() -> Any:
        found = tx.grad(lambda x: x * x)(3.0)
        assert options.OBSERVING.get() is state and options.ON_TENSORS.get() is helpers
        return found

    assert lasting(options.ON_TENSORS, helpers, lambda: lasting(options.OBSERVING, state, inner)) == 6.0
    assert seen == [(None, 0)]
    assert options.OBSERVING.get() is None


# ---- processes ----
def cube(x):
    return x * x * x


def slope_of(n: int) -> float:
    return float(tx.grad(cube)(float(n)))


def by_a_pickle(gradient: Any, n: int) -> float:
    return float(gradient(float(n)))


METHODS = [m for m in ("fork", "spawn", "forkserver") if m in multiprocessing.get_all_start_methods()]
FORKING = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@FORKING
@pytest.mark.parametrize("method", [m if m == "fork" else pytest.param(m, marks=pytest.mark.thorough) for m in METHODS])
def test_processes_of_a_pool(method: str) -> None:
    """While other threads of this process compile."""
    stop = threading.Event()

    def compiling() -> None:
        while not stop.is_set():
            tx.grad(lambda x: x * x)(3.0)

    threads = [threading.Thread(target=compiling) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(slope_of, range(6), timeout=120)) == [3.0 * n * n for n in range(6)]
            futures = [pool.submit(by_a_pickle, tx.grad(cube), n) for n in range(4)]
            assert [future.result(120) for future in futures] == [3.0 * n * n for n in range(4)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def serves(requests: int) -> bool:
    """What a worker of a preforking server does: what its parent has compiled, and new functions, in threads."""
    found: list[bool] = []

    def one(n: int) -> None:
        made = lambda x: x * x * n
        found.append(slope_of(n) == 3.0 * n * n and tx.grad(made)(2.0) == 4.0 * n)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(requests)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return found == [True] * requests


@FORKING
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.parametrize("workers", [3, pytest.param(40, marks=pytest.mark.thorough)])
def test_a_server_that_forks_before_it_serves(workers: int) -> None:
    """Children of a process that has compiled, of one that is compiling, and children of children."""
    slope_of(1)
    stop = threading.Event()
    thread = threading.Thread(
        target=lambda: [slope_of(2) for _ in iter(stop.is_set, True) if tx.grad(lambda x: x)(1.0)]
    )
    thread.start()
    children = []
    try:
        for k in range(workers):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                status = 1
                try:
                    inner = os.fork() if k % 3 == 0 else 0
                    good = serves(4)
                    if k % 3 == 0 and inner:
                        good = good and os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) == 0
                    status = 0 if good else 2
                finally:
                    os._exit(status)
            children.append(child)
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * workers
    finally:
        stop.set()
        thread.join()


# ---- a limit of memory ----
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
@pytest.mark.parametrize("names", [["grad, new", "fallback, new"], pytest.param([], marks=pytest.mark.thorough)])
def test_calls_at_a_limit_of_memory(names: list[str]) -> None:
    """Each is right or raises MemoryError; no segmentation fault, no SystemError, and the next call is right."""
    command = [sys.executable, "-m", "tests.memory_limits", *names]
    home = str(Path(soak.__file__).parent.parent)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_a_system_error_of_ours_is_told_from_the_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11's goes where there is more room for frames; ours stays, and has words of its own."""
    from tests import memory_limits

    lost, ours = SystemError("error return without exception set"), SystemError("unknown opcode")
    old = sys.version_info < (3, 12)
    for first, later, wrong in (
        ([lost, 1.0], [1.0, MemoryError], not old),
        ([lost, 1.0], [lost, 1.0], True),
        ([lost, 1.0], [2.0], True),
        ([ours, 1.0], [1.0], True),
        ([MemoryError, 1.0], [ours], False),
    ):
        runs = iter([first, later, later, later])
        monkeypatch.setattr(memory_limits, "limited", lambda entry, left, runs=runs: next(runs))
        assert bool(memory_limits.wrong("planted", lambda: 1.0, 0)) == wrong, (first, later)


# ---- a soak ----
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")


@LINUX
@pytest.mark.long  # it is quick where the process has not much in memory yet
@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_calls_leave_nothing() -> None:
    """A short soak: few calls of each entry, and of some with new functions."""
    known = [name for name in soak.KNOWN if name not in soak.COMPILING]
    found = [soak.soaked(name, soak.KNOWN[name], 30) for name in known]
    found += [soak.soaked(f"{name}, new", soak.FRESH[name], 3) for name in ("primitive", "fallback", "unknown code")]
    assert [str(left) for left in found if left.left.objects > 60 or left.left.texts > 0 or left.left.threads > 0] == []


@LINUX
@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("name, entry, calls", soak.entries(soak.CALLS), ids=[name for name, *_ in soak.entries(0)])
def test_ten_thousand_calls_leave_nothing(name: str, entry: Callable[[], Any], calls: int) -> None:
    left = soak.soaked(name, entry, calls)
    assert left.is_flat(), str(left)


@pytest.mark.long
def test_what_grows_is_found() -> None:
    """The measurement itself: objects and texts that stay are seen."""
    kept: list[Any] = []
    assert not soak.soaked("grows", lambda: kept.append([]), 1000).is_flat()
    assert soak.soaked("flat", lambda: [], 1000).left.objects <= 5
