"""Engines of all kinds: pools, loky, a cluster of Dask's, processes of MPI."""

import asyncio
import importlib.util
import multiprocessing
import multiprocessing.pool
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tangentx as tx
from tangentx.parallel import engines, worker
from tangentx.parallel.engines import LIMIT_SENT, Distant, Pool
from tangentx.parallel.worker import Missing, Program
from tests.parallel.programs import Odd, data, deadly, loss, odd, plain_loss, shards_of

ROOT = Path(__file__).parent.parent.parent
X, Y = data()
W = np.array([0.5, -1.0, 2.0])
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


class Elsewhere:
    """An executor of so many workers, drawn by lot for each task, of which each knows what it was sent."""

    def __init__(self, workers):
        self.kept, self.lots, self.tasks = [worker.Bounded(4) for _ in range(workers)], np.random.default_rng(2), []

    def submit(self, function, task, *brought):
        self.tasks.append(task)
        future = Future()
        here, worker._HELD = worker._HELD, self.kept[self.lots.integers(len(self.kept))]
        try:
            future.set_result(function(task, *brought))
        finally:
            worker._HELD = here
        return future


def test_data_go_once_to_each_worker():
    executor = Elsewhere(2)
    function = tx.parallel.value_and_grad(plain_loss, executor=executor, shards=shards_of(X, Y, 8))
    first = function(W)
    assert [task.shard is not None for task in executor.tasks] == [True, True, True]
    assert [task.program is not None for task in executor.tasks] == [True, True, True]
    for _ in range(20):
        again = function(W)
    executor.tasks.clear()
    again = function(W)  # by now each worker has met each shard
    assert [task.shard for task in executor.tasks] == [None] * 3
    assert [task.program for task in executor.tasks] == [None] * 3
    assert again[0] == first[0] and again[1].tobytes() == first[1].tobytes()


def test_a_large_program_goes_to_those_who_ask_for_it():
    table = np.ones(LIMIT_SENT)
    if importlib.util.find_spec("cloudpickle") is None:
        pytest.skip("cloudpickle is not installed")
    executor = Elsewhere(1)
    function = tx.parallel.value_and_grad(
        lambda w, k: np.sum(w * table[:3]) * k, executor=executor, shards=[(1.0,)] * 4
    )
    assert function(W)[1].tolist() == [1.0, 1.0, 1.0]
    assert [task.program is not None for task in executor.tasks] == [False] * 4 + [True] * 4
    assert [task.shard is not None for task in executor.tasks] == [True] * 4 + [False] * 4


def test_what_cannot_be_sent_is_refused():
    executor = Elsewhere(1)
    with pytest.raises(tx.NotDifferentiable, match="cannot be sent to another process"):
        tx.parallel.value_and_grad(plain_loss, executor=executor, shards=[(X, Stuck())])(W)


class Stuck:
    def __reduce__(self):
        raise TypeError("it stays here")


def test_an_exception_that_cannot_travel_comes_as_its_text():
    with pytest.raises(RuntimeError, match="^Odd: first$") as caught:
        tx.parallel.value_and_grad(odd, executor=Elsewhere(1), shards=[(np.ones(2),)])(W)
    assert "in odd" in str(caught.value.__cause__)
    assert "in shard 0 of 1" in str(caught.value.__cause__)
    assert not isinstance(caught.value, Odd)


@pytest.mark.parametrize("make", [multiprocessing.pool.ThreadPool, multiprocessing.get_context("spawn").Pool])
def test_pools_with_apply_async(make):
    with make(2) as pool:
        value, gradient = tx.parallel.value_and_grad(plain_loss, executor=pool, shards=shards_of(X, Y, 8))(W)
        with pytest.raises(RuntimeError, match="Odd"):
            tx.parallel.value_and_grad(odd, executor=pool, shards=[(np.ones(2),)])(W)
    wanted = tx.value_and_grad(plain_loss)(W, X, Y)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted[1], rtol=1e-12)


class RayActorError(Exception):
    """As Ray calls it."""


class ActorDiedError(RayActorError):
    """As Ray says that a worker died."""


class Mortal(multiprocessing.pool.ThreadPool):
    """A pool of which a worker dies with its first call, as Ray's says it."""

    def apply_async(self, function, args=(), callback=None, error_callback=None):
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 1:
            error_callback(ActorDiedError("gone"))
        else:
            super().apply_async(function, args, callback=callback, error_callback=error_callback)


def test_a_worker_of_rays_pool_that_dies_has_its_shard_run_here():
    shards = shards_of(X, Y, 8)
    with (
        Mortal(2) as pool,
        pytest.warns(RuntimeWarning, match=r"a worker died \(ActorDiedError: gone\).*shard 0 is run"),
    ):
        value, gradient = tx.parallel.value_and_grad(plain_loss, executor=pool, shards=shards)(W)
    with ThreadPoolExecutor(2) as threads:
        wanted = tx.parallel.value_and_grad(plain_loss, executor=threads, shards=shards)(W)
    assert value == wanted[0] and np.all(gradient == wanted[1])


def test_a_pool_is_given_no_more_than_it_can_begin():
    release, begun = threading.Event(), []

    def wait(number):
        begun.append(number)
        release.wait(20.0)
        return number

    with multiprocessing.pool.ThreadPool(2) as pool:
        engine = Pool(pool)
        futures = [engine.submit(wait, number) for number in range(40)]
        cancelled = [future for future in futures if future.cancel()]
        assert len(cancelled) == 36
        release.set()
        assert [future.result(20.0) for future in futures[:4]] == [0, 1, 2, 3]
        assert engine.submit(wait, 40).result(20.0) == 40
    assert sorted(begun) == [0, 1, 2, 3, 40]


def test_missing_is_what_a_worker_says():
    engine = Distant(Program(tx.value_and_grad(plain_loss), (0,)), shards_of(X, Y, 12), Elsewhere(1))
    engine.begin((W,))
    engine._sent = {0, 1}
    assert engine.submit(0).result() == Missing(True, True)


def ran(*command, **more):
    """What a script prints: the differences from the whole batch."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return [float(number) for number in re.findall(r"off by (\S+)", done.stdout)]


SCRIPT = str(Path(__file__).with_name("script.py"))


def test_functions_of_a_script_are_found_by_processes_that_import_it():
    more = [] if importlib.util.find_spec("cloudpickle") else ["nowhere"]
    found = ran(sys.executable, SCRIPT, "spawn", *more)
    assert len(found) == 2 - len(more) and max(found) < 1e-12


@needs("loky")
def test_loky():
    found = ran(sys.executable, SCRIPT, "loky")
    assert len(found) == 2 and max(found) < 1e-12


@needs("ray")
def test_a_pool_of_rays():
    found = ran(sys.executable, SCRIPT, "ray")
    assert len(found) == 2 and max(found) < 1e-12


@needs("mpi4py", "cloudpickle")
def test_processes_of_mpi():
    found = ran(*mpiexec(), SCRIPT, "mpi")
    assert len(found) == 2 and max(found) < 1e-12


def mpiexec():
    """The command that begins three processes of MPI."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("there is no mpiexec")
    known = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    more = ["--oversubscribe"] if "Open MPI" in known or "OpenRTE" in known else []
    return [found, *more, "-n", "3", sys.executable, "-m", "mpi4py.futures"]


ENGINES = [
    "pool",
    "spawn",
    pytest.param("loky", marks=needs("loky")),
    pytest.param("dask", marks=needs("distributed")),
    pytest.param("mpi", marks=needs("mpi4py", "cloudpickle")),
    pytest.param("ray", marks=needs("ray")),
]


def begun(name, what, folder):
    """A script whose shards are hindered, in a session of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    before = mpiexec() if name == "mpi" else [sys.executable]
    command = [*before, SCRIPT, name, what, str(folder)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=env, start_new_session=True, **pipes)


@pytest.mark.share(1)
@pytest.mark.parametrize("name", ENGINES)
def test_an_exception_in_another_process_names_shard_and_line(name, tmp_path):
    out, shown = begun(name, "fails", tmp_path).communicate(timeout=120)
    assert re.search(r"ZeroDivisionError in shard 2 of 4 .*programs.py:\d+: return np.sum\(w\)", out), out + shown


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ENGINES)
def test_a_process_that_dies(name, tmp_path):
    """Its shard is run again; of MPI's processes none outlives another."""
    script = begun(name, "dies", tmp_path)
    out, shown = script.communicate(timeout=120)
    assert (tmp_path / "died").exists()
    if name == "mpi":
        assert script.returncode != 0, out + shown
    else:
        assert "off by 0.0" in out, out + shown
        assert ("RuntimeWarning: a worker died" in shown) == (name not in ("pool", "dask"))


@pytest.mark.share(1)
@pytest.mark.parametrize("name", ENGINES)
def test_a_run_that_is_cancelled_leaves_nothing_behind(name, tmp_path):
    script = begun(name, "waits", tmp_path)
    end = time.monotonic() + 60.0
    while not os.listdir(tmp_path) and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(script.pid, signal.SIGINT)
    out, _ = script.communicate(timeout=60)
    while in_session(script.pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not in_session(script.pid)
    assert 0 < len(os.listdir(tmp_path)) < 40
    assert name != "dask" or "KeyboardInterrupt" in out and "\n0 tasks left" in out, out


def in_session(leader):
    """The processes, not yet ended, of the session of a process."""
    found = subprocess.run(["ps", "-o", "pid=,stat=", "-s", str(leader)], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if " Z" not in line]


@needs("distributed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_cluster_of_dask(tmp_path):
    from distributed import Client, LocalCluster

    shards = shards_of(X, Y, 4)
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        function = tx.parallel.value_and_grad(plain_loss, executor=client, shards=shards)
        found = [function(W) for _ in range(2)]
        executor = client.get_executor()
        scaled = tx.parallel.value_and_grad(lambda w, x, y: 2.0 * plain_loss(w, x, y), executor=executor, shards=shards)
        found_scaled = scaled(W)
        with pytest.raises(RuntimeError, match="Odd"):
            tx.parallel.value_and_grad(odd, executor=executor, shards=[(np.ones(2),)])(W)
        marks = [(np.full(3, float(i)), str(tmp_path / "died"), 1.0) for i in range(4)]
        died = tx.parallel.value_and_grad(deadly, executor=client, shards=marks, reduce="sum")(np.ones(3))
    wanted = tx.value_and_grad(plain_loss)(W, X, Y)
    with multiprocessing.pool.ThreadPool(3) as pool:
        here = tx.parallel.value_and_grad(plain_loss, executor=pool, shards=shards)(W)
    for value, gradient in found:
        np.testing.assert_allclose(gradient, wanted[1], rtol=1e-12)
        assert value == here[0] and gradient.tobytes() == here[1].tobytes()
    np.testing.assert_allclose(found_scaled[0], 2.0 * wanted[0], rtol=1e-12)
    assert died[0] == 18.0 and died[1].tolist() == [6.0] * 3  # by workers that Dask has started anew


def test_a_model_travels():
    model = tx.nn.Sequential(tx.nn.Linear(3, 1, generator=0))
    value, gradient = tx.parallel.value_and_grad(model_loss, executor=Elsewhere(2), shards=shards_of(X, Y, 6))(model)
    wanted = tx.value_and_grad(model_loss)(model, X, Y)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
    np.testing.assert_allclose(gradient.layers[0].weight, wanted[1].layers[0].weight, rtol=1e-12)


def model_loss(model, x, y):
    return np.mean((model(x)[:, 0] - y) ** 2)


def test_a_loss_of_a_module_is_sent_by_name():
    value, _ = tx.parallel.value_and_grad(loss, executor=Elsewhere(1), shards=shards_of(X, Y, 6))(line())
    np.testing.assert_allclose(value, loss(line(), X, Y), rtol=1e-12)


def line():
    from tests.parallel.programs import Line

    return Line(np.ones(3), 0.5)


class Dying:
    """A client of Dask's whose connection ends in the first `deaths` of its calls of `scatter`."""

    def __init__(self, deaths):
        self.deaths = deaths
        self.loop = types.SimpleNamespace(asyncio_loop=asyncio.new_event_loop())
        self.thread = threading.Thread(target=self.loop.asyncio_loop.run_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.loop.asyncio_loop.call_soon_threadsafe(self.loop.asyncio_loop.stop)
        self.thread.join()
        self.loop.asyncio_loop.close()

    async def scatter(self, data, hash, asynchronous):
        self.deaths -= 1
        if self.deaths >= 0:
            raise ConnectionResetError("a worker has died")
        return ["the future"]


@pytest.mark.parametrize("deaths", [0, 1, 3, 4])
def test_data_for_a_worker_that_dies_go_to_another(deaths, monkeypatch):
    monkeypatch.setattr(engines, "PAUSE", 0.0)
    client = Dying(deaths)
    engine = engines.Scattered.__new__(engines.Scattered)
    engine.client = client
    try:
        if deaths < engines.SCATTERS:
            assert engine._scattered(b"") == "the future"
        else:
            with pytest.raises(ConnectionResetError):
                engine._scattered(b"")
    finally:
        client.close()
