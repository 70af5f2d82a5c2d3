"""Derivatives over shards of the data equal those of all of it, to the same bits whoever computes what."""

import _thread
import functools
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import tangentx as tx
from tangentx.common import progress
from tests.parallel import programs
from tests.parallel.programs import Line, between, data, deadly, divided, loss, plain_loss, residual, shards_of, slow

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
X, Y = data()


class Here:
    """An executor that does what it is given at once."""

    def submit(self, function, *args):
        future = Future()
        future.set_result(function(*args))
        return future


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no processes are started by {method} here")
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method))


def close(found, wanted, rtol=1e-12):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12)


def test_threads_give_the_gradient_of_the_whole_batch(threads):
    w = np.array([0.5, -1.0, 2.0])
    value, gradient = tx.parallel.value_and_grad(plain_loss, executor=threads, shards=shards_of(X, Y, 4))(w)
    wanted = tx.value_and_grad(plain_loss)(w, X, Y)
    close(value, wanted[0])
    close(gradient, wanted[1])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_give_the_gradient_of_the_whole_batch(method):
    line = Line(np.ones(3), 0.5)
    with processes(method) as pool:
        function = tx.parallel.value_and_grad(loss, executor=pool, shards=shards_of(X, Y, 4))
        for _ in range(3):  # the shards are sent for the first alone
            value, gradient = function(line)
        with pytest.raises(ZeroDivisionError) as caught:
            tx.parallel.value_and_grad(divided, executor=pool, shards=[(np.full(3, float(i)), 0.0) for i in range(3)])(
                np.ones(3)
            )
    wanted = tx.value_and_grad(loss)(line, X, Y)
    assert type(gradient) is Line
    close(value, wanted[0])
    close(gradient.slope, wanted[1].slope)
    close(gradient.offset, wanted[1].offset)
    assert "return np.sum(w) * (1.0 / int(limit))" in caught.value.__notes__[-1]
    assert "in shard " in caught.value.__notes__[-1]


def test_bits_do_not_depend_on_the_number_of_workers():
    w, shards = np.array([0.5, -1.0, 2.0]), shards_of(X, Y, 3)
    found = []
    for workers in (1, 2, 5):
        with ThreadPoolExecutor(workers) as pool:
            value, gradient = tx.parallel.value_and_grad(plain_loss, executor=pool, shards=shards)(w)
            found.append((float(value), gradient.tobytes()))
    value, gradient = tx.parallel.value_and_grad(plain_loss, executor=Here(), shards=shards)(w)
    found.append((float(value), gradient.tobytes()))
    assert len(set(found)) == 1


def test_weights_make_up_for_shards_of_unlike_size(threads):
    w, shards = np.ones(3), shards_of(X, Y, 7)
    assert len(shards[-1][1]) == 3
    function = tx.parallel.value_and_grad(
        plain_loss, executor=threads, shards=shards, weights=[len(y) for _, y in shards]
    )
    close(function(w)[1], tx.grad(plain_loss)(w, X, Y))


def test_parameters_stand_where_wrt_says(threads):
    w, b = np.ones(3), 0.25
    function = tx.parallel.value_and_grad(
        between, ("b", "w"), executor=threads, shards=shards_of(X, Y, 6), reduce="sum"
    )
    value, (by_b, by_w) = function(b, w)
    wanted = tx.value_and_grad(between, ("b", "w"))(X, w, Y, b)
    close(value, wanted[0])
    assert type(by_b) is float
    close(by_b, wanted[1][0])
    close(by_w, wanted[1][1])
    assert "def between_grad(" in function.source_for(b, w)
    assert function.source == function.source_for(b, w)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_dtypes_and_arrays_without_axes_stay(threads, dtype):
    def f(a, x):
        return np.real(a * x) ** 2

    a = np.array(2.0, dtype)
    function = tx.parallel.value_and_grad(f, executor=threads, shards=[(np.array(k, dtype),) for k in range(3)])
    value, gradient = function(a)
    assert type(gradient) is np.ndarray and gradient.shape == () and gradient.dtype == dtype
    assert np.asarray(value).dtype == np.real(a).dtype
    close(gradient, 20.0 / 3.0, 1e-6)


def test_a_model_is_a_parameter():
    model = tx.nn.Sequential(tx.nn.Linear(3, 4, generator=0), tx.nn.Tanh(), tx.nn.Linear(4, 1, generator=1))

    def squares(model, x, y):
        return np.mean((model(x)[:, 0] - y) ** 2)

    wanted = tx.value_and_grad(squares)(model, X, Y)
    with ThreadPoolExecutor(2) as pool:
        value, gradient = tx.parallel.value_and_grad(squares, executor=pool, shards=shards_of(X, Y, 8))(model)
    close(value, wanted[0])
    for ours, theirs in zip(gradient.parameters(), wanted[1].parameters(), strict=True):
        close(ours, theirs)


def test_jacobians(threads):
    p, t = np.array([2.0, -0.5]), np.linspace(0.0, 1.0, 9)
    shards = [(t[i : i + 3], np.ones(3)) for i in (0, 3, 6)]
    whole = tx.jacobian(residual)(p, t, np.ones(9))
    close(tx.parallel.jacobian(residual, executor=threads, shards=shards, reduce="concatenate")(p), whole)
    parts = whole.reshape(3, 3, 2)
    close(tx.parallel.jacobian(residual, executor=threads, shards=shards)(p), parts.mean(0))
    close(tx.parallel.jacobian(residual, executor=threads, shards=shards, reduce="sum")(p), parts.sum(0))
    several = tx.parallel.jacobian(
        between_rows, ("w", "b"), executor=threads, shards=[(X,), (X[:2],)], reduce="concatenate"
    )
    by_w, by_b = several(np.ones(3), 1.0)
    assert by_w.shape == (26, 3) and by_b.shape == (26,)


def between_rows(w, b, x):
    return x @ w * b


def test_rows_of_what_has_none_are_refused(threads):
    for f in (lambda p, t: np.sum(p * t), lambda p, t: (p * t, p)):
        with pytest.raises(tx.NotDifferentiable, match=r'reduce="sum"'):
            tx.parallel.jacobian(f, executor=threads, shards=[(np.ones(2),)], reduce="concatenate")(np.ones(2))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"shards": []}, "there are no shards"),
        ({"shards": [X]}, "shard 0 is a ndarray, and no tuple"),
        ({"shards": [(X, Y), (X,)]}, "shard 1 does not fit `plain_loss`: missing a required argument"),
        ({"shards": [(X, Y, Y)]}, "shard 0 does not fit"),
        ({"shards": [(X, np.random.default_rng(0))]}, "shard 0 holds a Generator"),
        ({"shards": [(X, {"y": iter([1.0])})]}, "shard 0 holds a list_iterator"),
        ({"reduce": "max"}, "reduce='max' is not an option"),
        ({"reduce": "concatenate"}, 'use one of "mean", "sum"$'),
        ({"weights": [1.0]}, "there are 1 weights for 2 shards"),
        ({"weights": [1.0, -1.0]}, "have no mean"),
        ({"executor": 4}, "executor=4 has no `submit`"),
        ({"executor": lambda: None}, "executor=None has no `submit`"),
    ],
)
def test_bad_input(options, message):
    given = {"executor": Here(), "shards": [(X, Y), (X, Y)], **options}
    with pytest.raises(tx.NotDifferentiable, match=message):
        tx.parallel.value_and_grad(plain_loss, **given)(np.ones(3))


def test_parameters_that_do_not_fit():
    def stars(*w):
        return np.sum(w[0])

    with pytest.raises(tx.NotDifferentiable, match="no position among"):
        tx.parallel.value_and_grad(stars, executor=Here(), shards=[()])
    function = tx.parallel.value_and_grad(plain_loss, executor=Here(), shards=[(X, Y)])
    with pytest.raises(TypeError, match="takes 1 parameter, not 2"):
        function(np.ones(3), np.ones(3))
    with pytest.raises(tx.NotDifferentiable, match="does not take Tensors"):
        function(tx.tensor(np.ones(3), requires_grad=True))


def test_an_exception_names_shard_and_line(threads):
    shards = [(np.array([float(i)]), 0.0) for i in (0, 0, 1, 0)]
    with pytest.raises(ZeroDivisionError) as caught:
        tx.parallel.value_and_grad(divided, executor=threads, shards=shards)(np.ones(1))
    (note,) = caught.value.__notes__
    assert note.startswith(f"in shard 2 of 4 (the first is shard 0), at {programs.__file__}:")
    assert note.endswith("return np.sum(w) * (1.0 / int(limit))")


def test_a_worker_that_dies_has_its_shards_run_here(tmp_path):
    shards = [(np.full(2, float(i)), str(tmp_path / "died"), 1.0) for i in range(4)]
    with processes("fork") as pool:
        function = tx.parallel.value_and_grad(deadly, executor=pool, shards=shards, reduce="sum")
        with pytest.warns(RuntimeWarning, match=r"a worker died \(BrokenProcessPool.* run in this process") as caught:
            value, gradient = function(np.ones(2))
    assert caught[0].filename == __file__
    assert value == 12.0
    assert gradient.tolist() == [6.0, 6.0]


def test_an_executor_that_can_be_made_anew_goes_on(tmp_path):
    shards = [(np.full(2, float(i)), str(tmp_path / "died"), 1.0) for i in range(4)]
    made = []

    def make():
        made.append(processes("fork"))
        return made[-1]

    with tx.parallel.value_and_grad(deadly, executor=make, shards=shards, reduce="sum") as function:
        assert function(np.ones(2))[0] == 12.0
        assert function(np.ones(2))[0] == 12.0
        assert len(made) == 2
    with pytest.raises(RuntimeError, match="shutdown"):
        made[-1].submit(print)


def test_an_executor_that_was_made_here_goes_with_the_function():
    made = []

    def make():
        made.append(ThreadPoolExecutor(1))
        return made[-1]

    function = tx.parallel.value_and_grad(plain_loss, executor=make, shards=[(X, Y)])
    function(np.ones(3))
    del function
    gc.collect()
    with pytest.raises(RuntimeError, match="shutdown"):
        made[0].submit(print)


@pytest.fixture
def interruptible():
    """Where the tests run in the background of a shell, SIGINT is ignored, and an interrupt of ours would be, too."""
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, kept)


def test_an_interrupt_cancels_what_has_not_begun(tmp_path, interruptible):
    before = threading.active_count()
    shards = [(float(number), str(tmp_path)) for number in range(40)]
    function = tx.parallel.value_and_grad(slow, executor=functools.partial(ThreadPoolExecutor, 2), shards=shards)

    def interrupt():
        end = time.monotonic() + 20.0
        while not os.listdir(tmp_path) and time.monotonic() < end:
            time.sleep(0.01)
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        function(2.0)
    end = time.monotonic() + 20.0
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before
    assert len(os.listdir(tmp_path)) <= 4  # two under way, two that may have begun meanwhile


def test_a_line_says_how_far_it_is(monkeypatch):
    from tests.test_examples import Terminal

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "EVERY", -1.0)
    with ThreadPoolExecutor(1) as pool:
        tx.parallel.value_and_grad(residual_sum, executor=pool, shards=[(float(i),) for i in range(4)])(2.0)
    lines = [line.strip() for line in sys.stderr.getvalue().split("\r") if line.strip()]
    assert all(line.startswith("tangentx: computing shards of residual_sum [") for line in lines)
    assert lines[0].endswith("0 %  0 of 4")
    assert lines[-1].endswith("75 %  3 of 4")
    assert sys.stderr.getvalue().endswith("\r")


def residual_sum(w, x):
    return w * x * x


def test_it_says_what_it_is():
    function = tx.parallel.value_and_grad(plain_loss, executor=Here(), shards=[(X, Y)] * 2)
    assert repr(function) == "<mean of <value_and_grad with respect to 0 of plain_loss> over 2 shards>"
