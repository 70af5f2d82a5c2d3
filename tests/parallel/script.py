"""A script whose functions are its own: ``script.py spawn``, ``script.py loky``, ``mpiexec ... script.py mpi``.

It prints what two functions give on the workers of an engine, and how far they are from the whole batch. With `fails`
a shard raises, with `dies` a worker ends, with `waits` shards take long; each is followed by a folder for marks.
"""

import contextlib
import multiprocessing
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

import tangentx as tx
from tests.parallel.programs import deadly, divided, slow


@dataclass
class Model:
    w: np.ndarray
    b: float


def predicted(model, x):
    return np.tanh(x @ model.w) + model.b


def loss(model, x, y):
    return np.mean((predicted(model, x) - y) ** 2)


def engine(name):
    if name == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        return MPIPoolExecutor()
    if name == "loky":
        from loky import ProcessPoolExecutor as Loky

        return Loky(2)
    if name == "dask":
        return cluster()
    if name == "pool":
        return multiprocessing.get_context("spawn").Pool(2)
    if name == "ray":
        from ray.util.multiprocessing import Pool

        return Pool(2)
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(name))


@contextlib.contextmanager
def cluster():
    """A client of a cluster of Dask's, which says at the end how many tasks are left there."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as workers,
        Client(workers) as client,
    ):
        yield client
        end = time.monotonic() + 10.0
        while (left := client.run_on_scheduler(tasks_left)) and time.monotonic() < end:
            time.sleep(0.1)
        print(f"{left} tasks left", flush=True)


def tasks_left(dask_scheduler):
    return len(dask_scheduler.tasks)


def main(name):
    draw = np.random.default_rng(1)
    x, y, model = draw.normal(size=(12, 3)), draw.normal(size=12), Model(np.ones(3), 0.5)
    shards = [(x[i : i + 3], y[i : i + 3]) for i in range(0, 12, 3)]
    value, gradient = tx.value_and_grad(loss)(model, x, y)
    with engine(name) as executor:
        function = tx.parallel.value_and_grad(loss, executor=executor, shards=shards)
        for _ in range(2):
            found, slope = function(model)
        assert type(slope) is Model
        print("off by", max(abs(found - value), abs(slope.b - gradient.b), *np.abs(slope.w - gradient.w)))
        if "nowhere" not in sys.argv:
            scale = 3.0
            scaled = tx.parallel.value_and_grad(
                lambda model, x, y: scale * loss(model, x, y), executor=executor, shards=shards
            )
            print("off by", abs(scaled(model)[0] - scale * value))


def hindered(name, what, folder):
    """Shards of which one raises, ends its process, or all of which take long."""
    if what == "waits":
        function, parameter, shards = slow, 2.0, [(float(i), folder) for i in range(200)]
    elif what == "dies":
        function, parameter, shards = (
            deadly,
            np.ones(3),
            [(np.full(3, float(i)), f"{folder}/died", 1.0) for i in range(4)],
        )
    else:
        function, parameter, shards = divided, np.ones(1), [(np.array([float(i)]), 0.0) for i in (0, 0, 1, 0)]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are begun without it
    with engine(name) as executor:
        made = tx.parallel.value_and_grad(function, executor=executor, shards=shards, reduce="sum")
        try:
            print("off by", abs(made(parameter)[0] - 18.0))
        except (ZeroDivisionError, KeyboardInterrupt) as error:
            print(type(error).__name__, *getattr(error, "__notes__", ()), flush=True)
        del made


if __name__ == "__main__":
    if len(sys.argv) > 3:
        hindered(*sys.argv[1:])
    else:
        main(sys.argv[1])
