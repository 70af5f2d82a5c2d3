"""The runtime Tensor beside autograd and MyGrad, where installed, and beside NumPy where nothing is recorded."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import tangentx as tx
from benchmarks.measure import demand_equal, interleaved, undisturbed

CHAIN = np.array([0.3, 0.5, 0.7, 0.9, 1.1])


def chain(numpy: Any, x: Any) -> Any:
    """Thirty-six operations on five numbers."""
    for _ in range(7):
        x = numpy.sin(x) * x + numpy.exp(-x) * 0.5
    return numpy.sum(x)


def network(numpy: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Two layers and the mean of the squares of what is missed."""
    missed = numpy.tanh(x @ w1 + b1) @ w2 + b2 - y
    return numpy.mean(missed * missed)


def network_arguments() -> tuple[Any, ...]:
    """Four parameters, then 32 samples."""
    random = np.random.default_rng(0)
    shapes = ((8, 16), (16,), (16, 1), (1,), (32, 8), (32, 1))
    return tuple(random.standard_normal(shape) for shape in shapes)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "chain": (chain, (CHAIN,), 1),
    "small network": (network, network_arguments(), 4),
}
"""A function of NumPy and of its arguments, of which the first few are differentiated by."""


def by_tensor(f: Callable[..., Any], args: tuple[Any, ...], count: int) -> list[Any]:
    """Forward and backward on Tensors."""
    leaves = [tx.Tensor(a, requires_grad=True) for a in args[:count]]
    f(np, *leaves, *args[count:]).backward()
    return [leaf.grad.numpy() for leaf in leaves]


def by_autograd(f: Callable[..., Any], args: tuple[Any, ...], count: int) -> list[Any]:
    """The same by HIPS autograd."""
    autograd, numpy = importlib.import_module("autograd"), importlib.import_module("autograd.numpy")
    found = autograd.grad(lambda leaves: f(numpy, *leaves, *args[count:]))(tuple(args[:count]))
    return list(found)


def by_mygrad(f: Callable[..., Any], args: tuple[Any, ...], count: int) -> list[Any]:
    """The same by MyGrad."""
    mygrad = importlib.import_module("mygrad")
    leaves = [mygrad.tensor(a) for a in args[:count]]
    f(mygrad, *leaves, *args[count:]).backward()
    return [leaf.grad for leaf in leaves]


_PEERS = {"autograd": by_autograd, "mygrad": by_mygrad}


def _written(a: Any) -> None:
    a[1] = 1.0


def _added(a: Any) -> None:
    a += 1.0


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "product": lambda a: a * a,
    "sum": np.sum,
    "element": lambda a: a[1],
    "part": lambda a: a[1:],
    "where": lambda a: np.where(CHAIN > 0.6, a, a),
    "sum by axis": lambda a: np.sum(a, axis=0),
    "max by axis": lambda a: a.max(axis=0),
    "mean": np.mean,
    "concatenate": lambda a: np.concatenate([a, a]),
    "stack": lambda a: np.stack([a, a]),
    "dot": lambda a: np.dot(a, a),
    "matmul": lambda a: a @ a,
    "clip": lambda a: np.clip(a, 1.0, 3.0),
    "reshape": lambda a: np.reshape(a, (5, 1)),
    "method reshape": lambda a: a.reshape(5, 1),
    "transpose": lambda a: a.T,
    "broadcast_to": lambda a: np.broadcast_to(a, (2, 5)),
    "astype": lambda a: a.astype(np.float32),
    "argmax": np.argmax,
    "comparison": lambda a: a < 1.0,
    "write": _written,
    "sum in place": _added,
}
"""Of one array of five numbers."""

MEMBERS = 64


def layers() -> tuple[Any, Any]:
    """A point, and the sixty-four results of two layers of a network there, whose derivatives by it are asked for."""
    random = np.random.default_rng(1)
    weights: list[Any] = [
        tx.Tensor(random.standard_normal((MEMBERS, MEMBERS)) / 8.0, requires_grad=True) for _ in range(2)
    ]
    w1, w2 = weights
    x: Any = tx.Tensor(random.standard_normal(MEMBERS), requires_grad=True)
    h = np.tanh(w1 @ x)
    return x, np.sqrt(1.0 + (w2 @ (h / (1.0 + np.exp(-h)))) ** 2)


def batch(seconds: float) -> tuple[float, float]:
    """Seconds of a pass back for sixty-four cotangents at once, and of as many passes."""
    x, y = layers()
    seeds = np.eye(MEMBERS)

    def at_once() -> Any:
        return tx.autograd.grad(y, x, seeds, retain_graph=True, is_grads_batched=True)[0].numpy()

    def one_by_one() -> Any:
        return np.stack([tx.autograd.grad(y, x, seed, retain_graph=True)[0].numpy() for seed in seeds])

    demand_equal("a batch of cotangents", [at_once()], [one_by_one()])
    once, each = interleaved([at_once, one_by_one], seconds)
    return once, each


PASSES = 5


class Nothing:
    """What NumPy hands a function to at once: what a call of it takes is NumPy's share of a call with a Tensor."""

    def __array_function__(self, *call: Any) -> None:
        """Does nothing."""


def installed() -> tuple[str, ...]:
    """Those of the peers that can be imported."""
    return tuple(name for name in _PEERS if importlib.util.find_spec(name) is not None)


def ratios(seconds: float) -> Iterator[tuple[str, str, float, float]]:
    """(program, peer, seconds of the peer, seconds on Tensors), the same gradients demanded first."""
    for name, (f, args, count) in PROGRAMS.items():
        for peer in installed():
            calls = [partial(run, f, args, count) for run in (_PEERS[peer], by_tensor)]
            demand_equal(f"{name} by {peer}", calls[1](), calls[0]())
            theirs, ours = interleaved(calls, seconds)
            yield name, peer, theirs, ours


def overheads(seconds: float) -> Iterator[tuple[str, float, float]]:
    """(operation, seconds on a Tensor, seconds on an array), where nothing is recorded."""
    found: dict[str, list[float]] = {}
    for _ in range(PASSES):  # a machine may be slow for as long as one of them takes
        for name, operation in OPERATIONS.items():
            x = np.arange(5.0)
            calls = [partial(operation, a) for a in (tx.Tensor(x, requires_grad=True), x)]
            with tx.no_grad():
                times = undisturbed(calls, seconds / PASSES)
            found[name] = list(map(min, times, found.get(name, times)))
    for name, (ours, plain) in found.items():
        yield name, ours, plain


def handed_over(seconds: float) -> float:
    """Seconds that NumPy takes to hand a function to its argument, which no Tensor can save."""
    (found,) = undisturbed((partial(np.reshape, Nothing(), (5, 1)),), seconds)
    return found
