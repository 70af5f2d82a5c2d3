"""A script whose functions are its own: ``script.py spawn``, ``script.py loky``, ``mpiexec ... script.py mpi``.

It prints what two functions give on the workers of an engine, and how far they are from the whole batch.
"""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

import tangentx as tx


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
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(name))


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


if __name__ == "__main__":
    main(sys.argv[1])
