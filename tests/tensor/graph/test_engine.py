"""The reverse sweep: long graphs, cycles, threads, anomalies, drawings."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tangentx as tx


def test_a_graph_of_a_million_nodes() -> None:
    x = tx.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = -y
    y.backward()
    assert float(x.grad) == 1.0
    del y  # a graph that long is taken apart without recursion


def test_a_wide_graph() -> None:
    x = tx.tensor(np.arange(2000.0), requires_grad=True)
    total: Any = 0.0
    for i in range(2000):
        total = total + x[i] * x[i]
    total.backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2.0 * np.arange(2000.0))


def test_a_cycle_is_an_error() -> None:
    x = tx.tensor(1.0, requires_grad=True)
    y = x * 2
    z = y * 3
    y.grad_fn.edges = (*y.grad_fn.edges, z.edge)
    with pytest.raises(tx.NotDifferentiable, match="cycle"):
        (z * 1.0).backward()


def test_modes_belong_to_their_thread() -> None:
    seen: list[bool] = []

    def run() -> None:
        seen.append((tx.tensor(1.0, requires_grad=True) * 2).requires_grad)

    with tx.no_grad():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert seen == [True]


def test_sixteen_threads_at_once() -> None:
    found: dict[int, list[float]] = {}

    def run(k: int) -> None:
        x = tx.tensor(np.full(5, float(k)), requires_grad=True)
        for _ in range(20):
            x.grad = None
            (np.sin(x) * x).sum().backward()
        found[k] = x.grad.tolist()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(16):
        np.testing.assert_allclose(found[k], np.full(5, np.sin(k) + k * np.cos(k)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_first_cotangent_that_is_not_finite_is_found() -> None:
    x = tx.tensor([0.0, 1.0], requires_grad=True)
    y = np.sqrt(x) * 2.0
    with tx.autograd.detect_anomaly(), pytest.raises(tx.NotDifferentiable, match=r"(?s)SqrtBackward.*y = np\.sqrt"):
        y.sum().backward()


def test_gradients_of_two_inputs_share_no_memory() -> None:
    x, y = tx.tensor([1.0, 2.0], requires_grad=True), tx.tensor([1.0, 2.0], requires_grad=True)
    seed = np.array([1.0, 1.0])
    (x + y).backward(seed)
    x.grad.add_(5.0)
    assert y.grad.tolist() == [1.0, 1.0] and seed.tolist() == [1.0, 1.0]


def test_complex_gradients_follow_our_convention() -> None:
    z = tx.tensor(np.array([1.0 + 2.0j, 0.5 - 1.0j]), requires_grad=True)
    np.sum(np.abs(z) ** 2).backward()
    # x*x + y*y: the derivative by x, minus i times that by y; PyTorch gives the conjugate.
    np.testing.assert_allclose(z.grad.numpy(), 2.0 * np.conj(z.detach().numpy()))
    assert tx.gradcheck(lambda z: np.abs(z * z), z)
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    (x * (1.0 + 2.0j)).imag.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and x.grad.dtype == np.float64


def test_drawings() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    drawing = tx.graph((x * x).sum())
    line = (x * x).grad_fn.line - 1
    assert drawing.dot == (
        f'digraph {{\n  n0 [label="Sum (line {line})"]\n  n1 [label="Mul (line {line})"]\n  n2 [label="leaf (2,)"]\n'
        "  n1 -> n0\n  n2 -> n1\n  n2 -> n1\n}\n"
    )
    assert drawing.mermaid.splitlines()[0] == "graph TD" and "n1 --> n0" in drawing.mermaid


UNRECORDED: list[Any] = [
    np.sum, lambda t: t.max(), lambda t: t[1], lambda t: t[0, 1], np.exp, lambda t: t.reshape(3, 2),
    lambda t: np.where([True, False, True], t, 0.0), lambda t: np.sum(t, axis=1),
    lambda t: np.concatenate([t, t * 2.0], axis=1),
]  # fmt: skip


@pytest.mark.parametrize("f", UNRECORDED, ids=range(len(UNRECORDED)))
def test_what_is_not_recorded_is_as_numpy_has_it_and_says_where_it_was_made(f: Any) -> None:
    data = np.arange(6.0).reshape(2, 3)
    x = tx.tensor(data, requires_grad=True)
    with tx.no_grad():
        y = f(x)
        assert not f(x.detach()).requires_grad
    np.testing.assert_array_equal(y.numpy(), f(data))
    assert type(y.item() if np.ndim(y) == 0 else 0.0) is float
    with pytest.raises(tx.NotDifferentiable, match=r"made without gradient at .*test_engine\.py:\d+"):
        y.backward()


def test_views_that_are_not_recorded_are_views() -> None:
    x = tx.tensor(np.ones((2, 3)), requires_grad=True) * 1.0
    with tx.no_grad():
        views = [x.reshape(-1), np.transpose(x), *np.split(x, 3, axis=1), np.broadcast_to(x, (2, 2, 3))]
        x[0, 0] = 5.0
        views[1][2, 1] = 7.0
    assert [v.tolist() for v in views[:2]] == [[5.0, 1.0, 1.0, 1.0, 1.0, 7.0], [[5.0, 1.0], [1.0, 1.0], [1.0, 7.0]]]
    assert views[2].tolist() == [[5.0], [1.0]] and views[4].tolist() == [[1.0], [7.0]] and views[5][1, 1, 2] == 7.0


def test_elements_and_sums_follow_writes_through_views() -> None:
    x = tx.tensor(np.zeros((2, 2)))
    row = x[1]
    x[1, 0] = 5.0
    assert float(row[0]) == 5.0 == float(row.sum()) == float(np.sum(row))
    x = tx.tensor(np.ones((2, 2)), requires_grad=True) * 1.0
    row = x[1]
    x[1, 0] = 7.0
    with tx.no_grad():
        assert float(row[0]) == 7.0 and float(row.sum()) == 8.0
    (row[0] + row[1] * 3.0).backward()


def test_a_switch_of_a_generator_is_that_of_its_body() -> None:
    closed: list[Any] = []

    @tx.no_grad
    def steps(x: Any) -> Any:
        try:
            while True:
                try:
                    x = x * (yield x * 2.0)
                except KeyError:
                    x = x * 10.0
                if x.item() > 50.0:
                    return x
        finally:
            closed.append((x * 1.0).requires_grad)

    x = tx.tensor(1.0, requires_grad=True)
    running = steps(x)
    assert not next(running).requires_grad and (x * 1.0).requires_grad
    assert running.send(3.0).item() == 6.0
    assert running.throw(KeyError()).item() == 60.0
    with pytest.raises(StopIteration) as end:
        running.send(2.0)
    assert end.value.value.item() == 60.0 and closed == [False]
    other = steps(x)
    next(other)
    other.close()
    assert closed == [False, False] and (x * 1.0).requires_grad
