"""The rows of PyTorch, Paddle, OneFlow and Genesis in the reference, those of the runtime Tensor, by their numbers."""

from __future__ import annotations

import functools
import gc
import inspect
import math
import operator
import re
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.dispatch.entries import compilations
from tangentx.tensor.graph import nodes as graph


def leaf(data: Any, **options: Any) -> Any:
    return tx.tensor(data, requires_grad=True, **options)


def close(t: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(t.detach() if type(t) is tx.Tensor else t), wanted, rtol=tolerance)


def grads(f: Any, *args: Any) -> list[Any]:
    leaves = [leaf(a) for a in args]
    f(*leaves).backward()
    return [None if x.grad is None else x.grad.numpy().tolist() for x in leaves]


# ---- OneFlow ----


def test_0_1_one_step_lowers_the_loss() -> None:
    x, y, w = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]), leaf([1.0])
    loss = ((w * x - y) ** 2).sum()
    loss.backward()
    assert (float(loss), w.grad.tolist(), w.grad.shape) == (14.0, [-28.0], (1,))  # row 1.3
    with tx.no_grad():
        w -= 0.01 * w.grad
    assert w.tolist() == [1.28]
    assert w.is_leaf
    assert float(((w * x - y) ** 2).sum()) == pytest.approx(7.2576)


class Exp(tx.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = np.exp(x)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (result,) = ctx.saved_tensors
        return grad_output * result


def test_0_2_and_0_7_function() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = Exp.apply(x)
    close(y, np.exp([1.0, 2.0, 3.0]))
    y.sum().backward()
    close(x.grad, np.exp([1.0, 2.0, 3.0]))
    close(Exp()(x), np.exp([1.0, 2.0, 3.0]))  # row 0.9
    close(tx.autograd.grad(Exp.apply(x), x)[0], np.exp([1.0, 2.0, 3.0]))  # row 0.10


def recorded_by(manager: Any, x: Any) -> tuple[Any, list[Any]]:
    """A result that is held on to, and weak references to all that led to it."""
    a = np.sin(x)
    b = Exp.apply(a)
    b[0] = x[1] * 2.0
    y = (b * a).sum()
    nodes = [y.grad_fn.next_functions[0][0], a.grad_fn, b.grad_fn]
    return y, [weakref.ref(thing) for thing in (a, b, *nodes)]


@pytest.mark.share(2)
@pytest.mark.parametrize("end", ["exit", "release", "exception"])
@pytest.mark.parametrize("backward", [True, False])
def test_0_4_and_0_14_grad_manager(end: str, backward: bool) -> None:
    """No way leads from what is held on to any Tensor or node of the graph, and nothing is kept for one."""
    x = tx.tensor([1.0, 2.0])
    manager = tx.autograd.GradManager().attach([x])
    manager.__enter__()
    y, gone = recorded_by(manager, x)
    if backward:
        manager.backward(y)
        (u, v), (s, t) = (1.0, 2.0), np.sin([1.0, 2.0])
        close(x.grad, [2.0 * v * np.cos(u), 2.0 * s + np.exp(t) * (t + 1.0) * np.cos(v)])
    else:
        assert manager.tape_bytes == 4 * 16  # x, exp(a), and both factors
    gc.collect()
    if not backward:
        assert all(reference() is not None for reference in gone[2:])
    if end == "release":
        manager.release()
        assert manager.attached == []
    else:
        manager.__exit__(*(ValueError, ValueError(), None) if end == "exception" else (None, None, None))
        assert manager.attached == [x]
    gc.collect()
    assert [reference() for reference in gone] == [None] * len(gone)
    assert manager.tape_bytes == 0 and y.grad_fn.saved == {} and y.grad_fn.next_functions == ()
    later = y * 2.0
    for run in (
        later.backward,
        lambda: tx.autograd.grad(later, x, materialize_grads=True),
        lambda: tx.autograd.grad(y, x, np.ones(1), is_grads_batched=True, allow_unused=True),
    ):
        with pytest.raises(tx.NotDifferentiable, match=r"(?s)a GradManager has dropped at .*test_reference.*Instead"):
            run()
    if end == "release":
        manager.__exit__(None, None, None)


def test_0_4_a_manager_in_a_loop_and_in_another() -> None:
    w = tx.tensor([1.0])
    manager = tx.autograd.GradManager().attach(w)
    for _ in range(3):
        with manager:
            manager.backward((w * w).sum())
        with tx.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    close(w, [0.8**3])
    with tx.autograd.GradManager() as outer:
        with manager:
            y = (w * w).sum()
        assert y.grad_fn.next_functions  # the outer one has still to go back through it
        outer.backward(y)
    assert y.grad_fn.next_functions == ()
    before = (w * 2.0).sum()
    with manager:
        pass
    before.backward()  # recorded before, it is none of the manager's
    assert not graph.TAPES


def test_0_4_another_thread_keeps_its_graph() -> None:
    w, made = leaf([1.0]), []
    with tx.autograd.GradManager():
        thread = threading.Thread(target=lambda: made.append((w * w).sum()))
        thread.start()
        thread.join()
    made[0].backward()
    assert w.grad.tolist() == [2.0]


def test_0_5_chain_rule() -> None:
    assert grads(lambda x: np.sin(x**2), 1.5) == [pytest.approx(3.0 * math.cos(2.25), rel=1e-15)]


def test_0_6_saved_tensors_are_freed() -> None:
    x = leaf([1.0])
    y = Exp.apply(x)
    saved = y.grad_fn.context.saved_tensors
    assert type(saved) is tuple and saved[0].tolist() == y.tolist()
    y.backward()
    with pytest.raises(tx.NotDifferentiable, match="second time"):
        y.grad_fn.context.saved_tensors


@pytest.mark.parametrize("data", [[1.0, 2.0], np.array([1.0, 2.0]), (1.0, 2.0), tx.tensor([1.0, 2.0])])
def test_0_8_what_a_tensor_is_made_of(data: Any) -> None:
    assert tx.tensor(data).tolist() == [1.0, 2.0]
    assert tx.Tensor(data, dtype=np.float32).dtype == np.float32
    assert float(tx.tensor(2.5)) == 2.5


def test_0_3_a_tensor_tracks_and_stores() -> None:
    x = leaf(3.0)
    y = x * x
    assert y.grad_fn.inputs[0] is x and x.grad is None
    y.backward()
    assert float(x.grad) == 6.0


def test_0_11_to_0_13_the_decorator_runs_the_forward_once_and_finds_its_code_again() -> None:
    calls = np.zeros(1)

    @tx.differentiate
    def f(x: Any) -> Any:
        calls[0] += 1.0
        for _ in range(3):
            x = x * x
        return x

    assert tx.value_and_grad(f)(1.1) == (pytest.approx(1.1**8), pytest.approx(15.5897368))
    assert calls[0] == 1.0
    before = compilations()
    assert tx.value_and_grad(f)(1.2)[1] == pytest.approx(8.0 * 1.2**7)
    assert compilations() == before
    assert re.search(r"records, for the reverse of\n +line \d+: x = x \* x\n +`x`", f.explain())


def test_0_15_loops() -> None:
    def eighth(x: Any) -> Any:
        for _ in range(3):
            x = x * x
        return x

    assert grads(eighth, 1.1) == [pytest.approx(15.5897368)]


def test_0_16_record_gradients() -> None:
    x = leaf(2.0)
    y = x * 2 + 3
    with tx.autograd.record_gradients() as entries:
        y.backward()
        assert [name for name, *_ in entries] == ["add", "mul"]
    assert [name for name, *_ in entries] == ["add", "mul"]
    assert all("test_reference.py" in line and "y = x * 2 + 3" in line for _, line, *_ in entries)
    assert [norms for _, _, *norms in entries] == [[(1.0,), (1.0,)], [(2.0,), (1.0,)]]


def test_0_17_a_rule_of_the_users() -> None:
    class Cube(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3.0 * x**2 * grad_output

    assert grads(Cube.apply, 2.0) == [12.0]
    x = leaf(2.0)
    (first,) = tx.autograd.grad(Cube.apply(x), x, create_graph=True)
    assert float(tx.autograd.grad(first, x)[0]) == 12.0
    (tangent,) = tx.autograd.grad(Cube.apply(x), x, grad_outputs=tx.tensor(5.0))
    assert float(tangent) == 60.0


@tx.primitive
def cube(x: Any) -> Any:
    return x**3


@cube.adjoint
def cube_adjoint(x: Any, *, ans_bar: Any) -> Any:
    x_bar = 3.0 * x**2 * ans_bar
    return x_bar


@cube.tangent
def cube_tangent(x: Any, *, x_dot: Any) -> Any:
    return 3.0 * x**2 * x_dot


def test_0_17_a_primitive_of_the_users() -> None:
    def f(x: Any) -> Any:
        return cube(x)

    assert tx.grad(f)(2.0) == 12.0 and tx.jvp(f, (2.0,), (1.0,)) == (8.0, 12.0) and tx.grad(tx.grad(f))(2.0) == 12.0
    assert grads(f, 2.0) == [12.0]


def test_2_3_seeded_numbers() -> None:
    x = tx.rand([1, 3, 224, 224], generator=7, dtype=np.float32)
    assert x.shape == (1, 3, 224, 224) and x.dtype == np.float32 and not x.requires_grad
    np.testing.assert_array_equal(x.numpy(), tx.rand(1, 3, 224, 224, generator=7, dtype=np.float32).numpy())
    assert 0.0 <= float(x.min()) < 1e-4 and 1.0 - 1e-4 < float(x.max()) < 1.0
    generator = np.random.default_rng(1)
    assert tx.rand(2, generator=generator).tolist() != tx.rand(2, generator=generator).tolist()
    assert tx.rand(2, requires_grad=True).requires_grad and np.shape(tx.rand()) == ()


def test_0_20_unused_parameters_keep_none() -> None:
    x, unused = leaf([1.0, 2.0]), leaf([1.0])
    y = (x * x).sum()
    assert tx.autograd.grad(y, [x, unused], retain_graph=True, allow_unused=True)[1] is None
    assert tx.autograd.grad(y, [unused], retain_graph=True, materialize_grads=True)[0].tolist() == [0.0]
    with pytest.raises(tx.NotDifferentiable, match="do not depend on input 1"):
        tx.autograd.grad(y, [x, unused], retain_graph=True)
    y.backward()
    assert unused.grad is None
    for zeros, wanted in ((False, None), (True, [0.0])):
        manager = tx.autograd.GradManager(materialize_zeros=zeros).attach([x, unused])
        with manager:
            manager.backward((x * x).sum())
        assert (None if unused.grad is None else unused.grad.tolist()) == wanted


# ---- PyTorch ----


def test_1_1_exact() -> None:
    (g,) = grads(lambda x: np.exp(np.sin(x)), 1.0)
    assert g == pytest.approx(math.exp(math.sin(1.0)) * math.cos(1.0), rel=1e-15)


def test_1_2_polynomial() -> None:
    assert float(leaf(2.0) ** 2 + 3 * leaf(2.0) + 1) == 11.0
    assert grads(lambda x: x**2 + 3 * x + 1, 2.0) == [7.0]


def test_1_4_gradients_have_the_shape_of_the_parameter() -> None:
    b, c = leaf(np.ones((3,))), leaf(np.ones((2, 1)))
    (b * c * np.ones((4, 2, 3))).sum().backward()
    assert (b.grad.shape, c.grad.shape) == ((3,), (2, 1))
    assert b.grad.tolist() == [8.0] * 3


def test_1_6_numpy_functions_take_tensors() -> None:
    t = leaf([0.5, 1.0])
    assert type(np.sin(t)) is tx.Tensor
    assert type(t @ np.ones((2, 2))) is tx.Tensor
    assert type(np.ones((2, 2)) @ t) is tx.Tensor
    assert type(2.0 - t) is tx.Tensor
    assert np.asarray(t.detach()).tolist() == [0.5, 1.0]
    with pytest.raises(tx.NotDifferentiable, match=r"stop_gradient"):
        np.asarray(t)


def test_1_7_requires_grad() -> None:
    x = tx.tensor([1.0])
    assert not x.requires_grad
    x.requires_grad = True
    assert (x * 2).requires_grad
    assert x.requires_grad_(False) is x and not x.requires_grad
    with pytest.raises(tx.NotDifferentiable, match="int64"):
        tx.tensor([1, 2]).requires_grad = True
    with pytest.raises(tx.NotDifferentiable, match="int64"):
        tx.tensor([1, 2], requires_grad=True)


def test_1_8_the_graph_is_a_dag_built_while_running() -> None:
    x = leaf(2.0)
    y = x * x
    z = y + np.sin(y)
    found, stack = {}, [z.grad_fn]
    while stack:
        node = stack.pop()
        found[id(getattr(node, "variable", node))] = node.name
        stack += [following for following, _ in node.next_functions]
    assert sorted(found.values()) == ["AccumulateGrad", "AddBackward", "MulBackward", "SinBackward"]


def test_1_9_grad_fn_is_shown_with_its_line() -> None:
    x = leaf(2.0)
    y = x * x
    assert "MulBackward" in repr(y.grad_fn) and "y = x * x" in repr(y.grad_fn)
    assert "test_reference.py" in y.grad_fn.source_line
    assert y.grad_fn.line == y.grad_fn.span.line


def test_1_10_backward_of_one_element() -> None:
    assert grads(lambda x: x * x, [2.0]) == [[4.0]]


def test_1_11_nothing_grows() -> None:
    w = leaf([1.0, 2.0])

    def once() -> None:
        loss = (np.tanh(w) * w).sum()
        loss.backward()
        w.grad = None

    once()
    gc.collect()
    before = len(gc.get_objects())
    gc.disable()
    try:
        for _ in range(1000):
            once()
        assert len(gc.get_objects()) <= before + 50
    finally:
        gc.enable()


def test_1_12_product() -> None:
    assert grads(lambda x, y: x * y, 1.0, 2.0) == [2.0, 1.0]


def test_1_13_the_graph_is_released() -> None:
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)second time.*test_reference.*retain_graph"):
        y.backward()


def test_1_14_no_grad() -> None:
    x = leaf(2.0)
    with tx.no_grad():
        y = x * x
    assert y.grad_fn is None and not y.requires_grad

    @tx.no_grad
    def one(x: Any) -> Any:
        return x * x

    @tx.no_grad()
    def two(x: Any) -> Any:
        return x * x

    assert not one(x).requires_grad and not two(x).requires_grad and (x * x).requires_grad


def linear() -> tuple[Any, Any, Any, Any]:
    x, w, b = leaf(1.0), leaf(2.0), leaf(3.0)
    return x, w, b, w * x + b


def test_1_15_to_1_17_accumulation() -> None:
    x, w, b, y = linear()
    loss = y - 5
    assert float(loss) == 0.0
    loss.backward(retain_graph=True)
    assert [float(t.grad) for t in (x, w, b)] == [2.0, 1.0, 1.0]
    loss.backward(retain_graph=True)
    assert [float(t.grad) for t in (x, w, b)] == [4.0, 2.0, 2.0]
    for t in (x, w, b):
        t.grad.zero_()
    loss.backward()
    assert [float(t.grad) for t in (x, w, b)] == [2.0, 1.0, 1.0]


def test_1_18_higher_order() -> None:
    x, w, b, y = linear()
    (y - 5).backward(retain_graph=True)
    z = y * y
    z.backward(create_graph=True)
    assert float(x.grad) == 22.0
    assert float(tx.autograd.grad(outputs=x.grad, inputs=x)[0]) == 8.0
    x, w, b, y = linear()  # fresh: nothing is accumulated before
    (y * y).backward(create_graph=True)
    assert float(x.grad) == 20.0
    assert float(tx.autograd.grad(outputs=x.grad, inputs=x)[0]) == 8.0


def test_1_19_grad_leaves_grad_alone() -> None:
    x = leaf(3.0)
    found = tx.autograd.grad(x * x, x)
    assert type(found) is tuple and float(found[0]) == 6.0 and x.grad is None


def test_1_20_branches() -> None:
    def halved(x: Any) -> Any:
        if x > 0:
            return x * 2
        return x / 2

    assert grads(halved, 1.0) == [2.0]
    assert grads(halved, -1.0) == [0.5]


def test_1_21_my_relu() -> None:
    class MyReLU(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (x,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[x < 0] = 0
            return grad_input

    assert grads(MyReLU.apply, [-1.0, 1.0, 2.0]) == [[0.0, 1.0, 1.0]]
    assert grads(MyReLU.apply, [0.0]) == [[1.0]]


def test_1_22_vector_jacobian_product() -> None:
    x = leaf([1.0, 2.0, 3.0])
    (x * x).backward(tx.tensor([1.0, 10.0, 1.0]))
    assert x.grad.tolist() == [2.0, 40.0, 6.0]
    with pytest.raises(tx.NotDifferentiable, match=r"shape \(2,\).*shape \(3,\)"):
        (x * x).backward(np.ones(2))
    x.grad = None
    (x * x).sum().backward(np.ones(1))
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_1_23_only_the_tracked_branch_counts() -> None:
    x = leaf([1.0, 2.0, 3.0])
    with tx.no_grad():
        y = x * 2
    (y * 0 + 3 * x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


def test_1_27_grad_and_backward_of_several() -> None:
    x = leaf([1.0, 2.0])
    outputs, seeds = (x * x, np.sin(x)), (np.array([1.0, 0.0]), tx.tensor([0.0, 2.0]))
    (found,) = tx.autograd.grad(outputs, x, seeds, retain_graph=True)
    assert x.grad is None
    tx.autograd.backward(outputs, seeds)
    assert x.grad.tolist() == found.tolist() == [2.0, 2.0 * math.cos(2.0)]


def test_1_28_jacobians_are_out_by_in() -> None:
    def f(x: Any) -> Any:
        return np.array([x[0], x[0] * x[1], np.sin(x[1])])

    x = np.array([2.0, 3.0])
    wanted = [[1.0, 0.0], [3.0, 2.0], [0.0, math.cos(3.0)]]
    close(tx.autograd.jacobian(lambda x: np.stack([x[0], x[0] * x[1], np.sin(x[1])]), leaf(x)), wanted)
    close(tx.jacobian(f)(x), wanted)


def test_1_29_detach() -> None:
    x = leaf([1.0, 2.0])
    y = x.detach()
    assert not y.requires_grad
    assert np.shares_memory(y.numpy(), x.detach().numpy())
    y[0] = 5.0
    assert x.tolist() == [5.0, 2.0]


# ---- Paddle ----


def test_2_1_the_version() -> None:
    assert tx.__version__ == "0.1.0"


def test_2_6_every_parameter_of_a_network_has_its_gradient() -> None:
    """Logits of two layers, a cross entropy: compared with the adjoint in closed form."""
    random = np.random.default_rng(3)
    x, label = random.normal(size=(4, 3)), np.array([1, 0, 4, 2])
    data = [random.normal(size=shape) for shape in ((3, 6), (6,), (6, 5), (5,))]
    w1, b1, w2, b2 = map(leaf, data)
    logits = np.tanh(x @ w1 + b1) @ w2 + b2
    loss = (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(4), label]).mean()
    loss.backward()
    h = np.tanh(x @ data[0] + data[1])
    p = np.exp(h @ data[2] + data[3])
    g = (p / p.sum(axis=1, keepdims=True) - np.eye(5)[label]) / 4.0
    inner = g @ data[2].T * (1.0 - h**2)
    for t, wanted in ((w1, x.T @ inner), (b1, inner.sum(axis=0)), (w2, h.T @ g), (b2, g.sum(axis=0))):
        close(t.grad, wanted, 1e-12)


def test_2_9_to_2_11_stop_gradient() -> None:
    a, b = tx.tensor(2.0), tx.tensor(5.0)
    assert a.stop_gradient and b.stop_gradient
    a.stop_gradient = False
    assert not a.stop_gradient
    (a * b).backward()
    assert float(a.grad) == 5.0 and b.grad is None


def test_2_12_backward_of_a_vector() -> None:
    x, y = leaf([1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0])
    (x**2 + 4 * y).backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0] and y.grad.tolist() == [4.0, 4.0, 4.0]
    tx.autograd.set_strict_backward(True)
    try:
        with pytest.raises(tx.NotDifferentiable, match="needs a gradient"):
            (x**2).backward()
    finally:
        tx.autograd.set_strict_backward(False)


def test_2_13_retain_graph() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x + 3
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_2_14_and_4_8_clearing() -> None:
    x = leaf([1.0, 2.0])
    (x * x).backward()
    x.clear_grad()
    assert x.grad.tolist() == [0.0, 0.0]
    x.zero_grad()
    assert x.grad is None
    (x * x).backward()
    x.zero_grad(set_to_none=False)
    assert x.grad.tolist() == [0.0, 0.0]
    x.grad = None
    assert x.grad is None  # row 4.21


def test_2_15_add_n() -> None:
    for total in (tx.add_n, sum):
        leaves = [leaf(np.ones((2, 2))) for _ in range(10)]
        total(leaves).backward()
        assert all(x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]] for x in leaves)


def test_2_16_and_2_17_gradient_and_dtype() -> None:
    x = leaf(np.array([1.0, 2.0], np.float32))
    assert x.gradient() is None
    (x * np.array([1.0, 2.0])).sum().backward()
    assert type(x.gradient()) is np.ndarray and x.gradient().dtype == np.float32
    assert x.grad.dtype == np.float32


def test_2_18_to_2_22_the_graph_is_inspectable() -> None:
    a, b, d = leaf(2.0), tx.tensor(5.0), leaf(4.0)
    c = a * b
    assert a.grad_fn is None
    (first, second) = c.grad_fn.next_functions
    assert first[0].variable is a and second == (None, 0)
    assert c.grad_fn.inputs == (a, None)
    assert c.grad_fn.saved == {"y": 5.0}
    b.requires_grad = True
    c = a * b
    e = c * d
    assert [float(g) for g in tx.autograd.grad(e, [a, b, c, d])] == [20.0, 8.0, 4.0, 10.0]


def test_2_23_fourth_derivative() -> None:
    x = leaf(0.7)
    y = np.sin(x)
    for _ in range(4):
        (y,) = tx.autograd.grad(y, x, create_graph=True)
    assert float(y) == pytest.approx(math.sin(0.7), rel=1e-14)


def test_2_23_the_residual_of_a_network() -> None:
    """u_xx of a network of two layers, by its input and then by a weight."""
    w1, b1, w2 = np.array([0.7, -1.2, 0.4]), np.array([0.1, 0.3, -0.2]), np.array([1.5, -0.6, 0.8])
    x, w = leaf(0.9), leaf(w1)
    u = (w2 * np.tanh(w * x + b1)).sum()
    (u_x,) = tx.autograd.grad(u, x, create_graph=True)
    (u_xx,) = tx.autograd.grad(u_x, x, create_graph=True)
    t = np.tanh(w1 * 0.9 + b1)
    slope = 1.0 - t**2
    close(u_xx, np.sum(w2 * w1**2 * -2.0 * t * slope), 1e-13)
    (by_w,) = tx.autograd.grad(u_xx, w)
    close(by_w, w2 * (-4.0 * w1 * t * slope + w1**2 * 0.9 * slope * (4.0 * t**2 - 2.0 * slope)), 1e-12)


# ---- autograd.grad of OneFlow ----


def rules_run(function: Any) -> tuple[int, int]:
    """How many pullbacks of operations a call runs, and how many lines of ours and of NumPy's in all."""
    pulls = lines = 0

    def trace(frame: Any, event: str, given: Any) -> Any:
        nonlocal pulls, lines
        pulls += event == "call" and frame.f_code.co_name == "pull_"
        lines += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
        gc.enable()
    return pulls, lines


def test_3_1_batches_of_gradients() -> None:
    """The two rules on the way back run once for the whole batch, and nothing runs more often for a larger one."""
    i = leaf([[0.0, 1.0], [2.0, 3.0]])
    o = np.exp(i).sum(1)

    def at_once(seeds: Any) -> Any:
        return tx.autograd.grad((o,), (i,), (seeds,), retain_graph=True, is_grads_batched=True)

    def one_by_one(seeds: Any) -> Any:
        return [tx.autograd.grad(o, i, seed, retain_graph=True) for seed in seeds]

    (found,) = at_once(np.eye(2))
    e = np.exp([0.0, 1.0, 2.0, 3.0])
    close(found, [[[e[0], e[1]], [0.0, 0.0]], [[0.0, 0.0], [e[2], e[3]]]])
    one_by_one(np.eye(2))
    few, many = np.ones((2, 2)), np.ones((64, 2))
    assert rules_run(lambda: at_once(few))[0] == rules_run(lambda: at_once(many))[0] == 2
    assert rules_run(lambda: at_once(few)) == rules_run(lambda: at_once(many))
    assert rules_run(lambda: one_by_one(many))[0] == 2 * 64


def test_3_2_what_is_no_batch_is_refused() -> None:
    i = leaf([[0.0, 1.0], [2.0, 3.0]])
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)\(2, 2\).*\(2,\).*is_grads_batched"):
        tx.autograd.grad(np.exp(i).sum(1), i, np.eye(2))


def test_3_3_a_jacobian_is_one_sweep() -> None:
    def func(x: Any) -> Any:
        return np.exp(x).sum(1)

    i = leaf([[0.0, 1.0], [2.0, 3.0]])
    by_batch, by_rows = tx.autograd.jacobian(func, i, vectorize=True), tx.autograd.jacobian(func, i)
    close(by_batch, by_rows.numpy())
    assert by_batch.shape == (2, 2, 2)
    large = leaf(np.ones((64, 3)))
    tx.autograd.jacobian(func, large, vectorize=True)
    assert rules_run(lambda: tx.autograd.jacobian(func, large, vectorize=True))[0] == 2
    assert rules_run(lambda: tx.autograd.jacobian(func, large))[0] == 2 * 64


def test_3_4_several_outputs_in_a_batch() -> None:
    x = leaf([1.0, 2.0, 3.0])
    outputs = (x**2, x.sum())
    seeds = (np.vstack([np.eye(3), np.zeros((1, 3))]), np.array([0.0, 0.0, 0.0, 1.0]))
    (found,) = tx.autograd.grad(outputs, x, seeds, is_grads_batched=True)
    assert found.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0], [1.0, 1.0, 1.0]]


def test_3_5_and_3_6_one_or_several_and_the_names() -> None:
    names = "outputs inputs grad_outputs retain_graph create_graph is_grads_batched allow_unused materialize_grads"
    assert list(inspect.signature(tx.autograd.grad).parameters) == names.split()
    x = leaf([1.0, 2.0])
    for wrap in (lambda t: t, lambda t: (t,), lambda t: [t]):
        found = tx.autograd.grad(outputs=wrap(x * x), inputs=wrap(x), grad_outputs=wrap(np.ones(2)))
        assert type(found) is tuple and found[0].tolist() == [2.0, 4.0]


# ---- Genesis ----


def test_4_1_to_4_4_attributes() -> None:
    x = leaf(np.ones((2, 3)))
    assert (x.shape, x.dtype, x.device, x.ndim, x.size) == ((2, 3), np.float64, "cpu", 2, 6)
    y = x * x
    assert x.is_leaf and not y.is_leaf and y.grad_fn.name == "MulBackward"
    assert [t.is_leaf for t in y.grad_fn.inputs] == [True, True]
    x.grad = np.ones((2, 3))
    assert type(x.grad) is tx.Tensor


def test_4_2_the_constructor() -> None:
    for data in ([1, 2], np.array([1, 2]), tx.tensor([1, 2])):
        assert tx.Tensor(data).dtype == np.int64
        x = tx.Tensor(data, device="cpu", dtype=np.float32, requires_grad=True)
        assert (x.dtype, x.requires_grad, x.device) == (np.float32, True, "cpu")
    assert tx.Tensor(np.ones(2, np.float32)).dtype == np.float32
    with pytest.raises(tx.NotDifferentiable, match="device"):
        tx.Tensor([1.0], device="cuda:0")


def test_4_5_and_4_7_retain_grad() -> None:
    x = leaf([1.0, 2.0])
    y = 2 * x
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0] and x.grad.tolist() == [2.0, 2.0]


def test_4_7_retain_grad_is_of_the_tensor_as_it_was_left() -> None:
    """As PyTorch has it: what keeps the gradient goes with the Tensor when it is written in place."""
    for writes in (1, 2):
        a = leaf([1.0]).clone()
        a.retain_grad()
        for _ in range(writes):
            a.mul_(2)
        a.sum().backward()
        assert a.grad.tolist() == [1.0]
    base = leaf([1.0, 5.0]).clone()
    view, other = base[:1], base[:]
    view.retain_grad()
    other.retain_grad()
    base.retain_grad()
    view.mul_(2)
    (view + other * 3.0 + base).sum().backward()
    assert (view.grad.tolist(), other.grad.tolist(), base.grad.tolist()) == ([2.0], [3.0, 3.0], [6.0, 4.0])
    a = leaf([1.0, 2.0]) * 1.0
    a.retain_grad()
    a[0] = 5.0
    a.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]
    a, seen = leaf([1.0, 2.0]) * 1.0, []
    a.register_hook(lambda g: seen.append(g.tolist()))  # hooks stay with what the Tensor was
    a.mul_(2.0)
    a.sum().backward()
    assert seen == [[2.0, 2.0]]


@pytest.mark.parametrize("write", [lambda a, v: a.copy_(v), lambda a, v: operator.setitem(a, ..., v), np.copyto])
def test_what_is_copied_into_a_tensor_has_a_gradient_of_its_own(write: Any) -> None:
    x = leaf([1.0, 2.0])
    v, a = x * 3.0, x * 1.0
    a.retain_grad()
    write(a, v)
    a.register_hook(lambda g: g * 10.0)
    (a * 5.0 + v * 7.0).sum().backward()
    assert a.grad.tolist() == [50.0, 50.0] and x.grad.tolist() == [171.0, 171.0]


def test_4_9_and_4_10_operations() -> None:
    assert grads(lambda x, y: x**y, 2.0, 3.0) == [12.0, pytest.approx(8.0 * math.log(2.0))]
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    g = np.ones((2, 4))
    found = grads(lambda a, b: (a @ b).sum(), x, y)
    np.testing.assert_array_equal(found[0], g @ y.T)
    np.testing.assert_array_equal(found[1], x.T @ g)
    at_4 = {"neg": -1.0, "abs": 1.0, "exp": 54.59815, "log": 0.25, "sqrt": 0.25, "sin": -0.653644, "cos": 0.756802}
    for name, wanted in {**at_4, "tanh": 0.00134095}.items():
        assert grads(lambda x: getattr(x, name)(), 4.0) == [pytest.approx(wanted, rel=1e-5)]
    assert grads(abs, 0.0) == [0.0]


def test_4_11_reductions() -> None:
    assert grads(lambda x: x.mean(), [1.0, 2.0]) == [[0.5, 0.5]]
    assert grads(lambda x: x.max(), [1.0, 3.0, 3.0]) == [[0.0, 0.5, 0.5]]
    assert grads(lambda x: x.min(), [1.0, 3.0, 3.0]) == [[1.0, 0.0, 0.0]]


def test_4_12_shapes() -> None:
    for f in (
        lambda x: x.reshape(3, 2), lambda x: x.transpose(1, 0), lambda x: x.unsqueeze(0).squeeze(), lambda x: x.view(6),
    ):  # fmt: skip
        x = leaf(np.ones((2, 3)))
        f(x).sum().backward()
        assert x.grad.tolist() == [[1.0] * 3] * 2
    y = tx.tensor(np.ones((2, 3)))
    y.view(6)[0] = 7.0
    assert y.tolist()[0][0] == 7.0


X = np.array([[[0.5, -1.0, 2.0, 0.1], [1.5, 0.2, -0.3, 0.4]]] * 3) + np.arange(24.0).reshape(3, 2, 4) / 7.0
SPELLED: dict[str, tuple[Any, Any]] = {
    "sum(dim=)": (lambda x: x.sum(dim=1), lambda x: np.sum(x, axis=1)),
    "sum(dim=, keepdim=)": (lambda x: x.sum(dim=(0, 2), keepdim=True), lambda x: np.sum(x, (0, 2), keepdims=True)),
    "sum(keepdim=)": (lambda x: x.sum(1, keepdim=True), lambda x: np.sum(x, 1, keepdims=True)),
    "sum(dim=list, dtype=)": (lambda x: x.sum(dim=[0, 1], dtype=np.float32), lambda x: x.sum((0, 1))),
    "mean(dim=, keepdim=)": (lambda x: x.mean(dim=-1, keepdim=True), lambda x: np.mean(x, -1, keepdims=True)),
    "prod(dim=)": (lambda x: x.prod(dim=0), lambda x: np.prod(x, axis=0)),
    "max(dim=)": (lambda x: x.max(dim=1).values, lambda x: np.max(x, axis=1)),
    "min(dim=, keepdim=)": (lambda x: x.min(dim=2, keepdim=True)[0], lambda x: np.min(x, 2, keepdims=True)),
    "var(dim=)": (lambda x: x.var(dim=1), lambda x: np.var(x, axis=1, ddof=1)),
    "var(unbiased=)": (lambda x: x.var(dim=1, unbiased=False), lambda x: np.var(x, axis=1)),
    "std(dim=, keepdim=)": (lambda x: x.std(dim=2, keepdim=True), lambda x: np.std(x, axis=2, ddof=1, keepdims=True)),
    "std(correction=)": (lambda x: x.std(dim=2, correction=0), lambda x: np.std(x, axis=2)),
    "cumsum(dim=)": (lambda x: x.cumsum(dim=2), lambda x: np.cumsum(x, axis=2)),
    "cumprod(dim=)": (lambda x: x.cumprod(dim=1), lambda x: np.cumprod(x, axis=1)),
    "norm(dim=)": (lambda x: x.norm(dim=1, keepdim=True), lambda x: np.linalg.norm(x, axis=1, keepdims=True)),
    "flip(dims=)": (lambda x: x.flip(dims=(0, 2)), lambda x: np.flip(x, (0, 2))),
    "roll(dims=)": (lambda x: x.roll(shifts=1, dims=2), lambda x: np.roll(x, 1, 2)),
    "diagonal(dim1=)": (lambda x: x.diagonal(dim1=1, dim2=2), lambda x: np.diagonal(x, 0, 1, 2)),
    "softmax": (lambda x: x.softmax(dim=1), lambda x: np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)),
    "log_softmax": (lambda x: x.log_softmax(-1), lambda x: x - np.log(np.exp(x).sum(axis=-1, keepdims=True))),
    "logsumexp": (lambda x: x.logsumexp(dim=(0, 1)), lambda x: np.log(np.exp(x).sum(axis=(0, 1)))),
    "relu": (lambda x: (x - 1.0).relu(), lambda x: np.maximum(x - 1.0, 0.0)),
    "sigmoid": (lambda x: x.sigmoid(), lambda x: 1.0 / (1.0 + np.exp(-x))),
    "permute": (lambda x: x.permute(2, 0, 1), lambda x: np.transpose(x, (2, 0, 1))),
    "permute a tuple": (lambda x: x.permute((1, 0, 2)), lambda x: np.transpose(x, (1, 0, 2))),
    "transpose": (lambda x: x.transpose(0, 2), lambda x: np.swapaxes(x, 0, 2)),
    "transpose(dim0=)": (lambda x: x[0].transpose(dim0=0, dim1=1), lambda x: x[0].T),
    "movedim": (lambda x: x.movedim(0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "flatten": (lambda x: x.flatten(1), lambda x: x.reshape(3, 8)),
    "flatten(end_dim=)": (lambda x: x.flatten(end_dim=1), lambda x: x.reshape(6, 4)),
    "flatten all": (lambda x: x.flatten(), lambda x: x.flatten()),
    "unsqueeze": (lambda x: x.unsqueeze(dim=1), lambda x: x[:, None]),
    "squeeze": (lambda x: x[:1].squeeze(dim=0).squeeze(dim=0), lambda x: x[0]),
    "reshape(-1)": (lambda x: x.reshape(-1), lambda x: x.reshape(-1)),
    "view": (lambda x: x.view(6, -1), lambda x: x.reshape(6, 4)),
    "clamp": (lambda x: x.clamp(min=0.3, max=1.0), lambda x: np.minimum(np.maximum(x, 0.3), 1.0)),
    "expand": (lambda x: x[:1].expand(5, -1, 4), lambda x: np.broadcast_to(x[:1], (5, 2, 4))),
    "expand_as": (lambda x: x[:1].expand_as(x), lambda x: np.broadcast_to(x[:1], x.shape)),
    "masked_fill": (lambda x: x.masked_fill(X > 1.0, 9.0), lambda x: np.where(X > 1.0, 9.0, x)),
    "gather": (
        lambda x: x.gather(1, np.array([[[0, 1, 1, 0]]] * 3)),
        lambda x: np.take_along_axis(x, np.array([[[0, 1, 1, 0]]] * 3), 1),
    ),
    "index_select": (lambda x: x.index_select(2, np.array([1, 3, 1])), lambda x: x[:, :, np.array([1, 3, 1])]),
    "select": (lambda x: x.select(-1, 2), lambda x: x[:, :, 2]),
    "narrow": (lambda x: x.narrow(2, -3, 2), lambda x: x[:, :, 1:3]),
    "split": (lambda x: x.split(3, dim=-1)[1] * x.split(3, -1)[0], lambda x: x[..., 3:] * x[..., :3]),
    "split by sizes": (lambda x: x.split([1, 2], 0)[1], lambda x: x[1:]),
    "chunk": (lambda x: x.chunk(2, dim=-1)[0] * x.chunk(2)[1][0, 0, 0], lambda x: x[..., :2] * x[2, 0, 0]),
    "unbind": (lambda x: x.unbind(1)[0] - x.unbind(dim=1)[1], lambda x: x[:, 0] - x[:, 1]),
    "amax": (lambda x: x.amax(dim=(0, -1)), lambda x: np.max(x, (0, -1))),
    "amin(keepdim=)": (lambda x: x.amin(1, keepdim=True), lambda x: np.min(x, 1, keepdims=True)),
    "view_as": (lambda x: x[0].view_as(X[0].T), lambda x: x[0].reshape(4, 2)),
    "type_as": (lambda x: x.type_as(X), lambda x: x * 1.0),
    "bmm": (lambda x: x.bmm(x.permute(0, 2, 1)), lambda x: x @ np.transpose(x, (0, 2, 1))),
    "double": (lambda x: x.double().contiguous().cpu(), lambda x: x * 1.0),
}


@pytest.mark.parametrize("name", SPELLED)
def test_1_21_and_4_12_what_pytorch_calls_them(name: str) -> None:
    """Values and gradients are those of the same in NumPy, differentiated by the compiler."""
    theirs, plain = SPELLED[name]
    x = leaf(X)
    found = theirs(x)
    wanted = plain(X)
    tolerance = 1e-6 if found.dtype == np.float32 else 1e-12
    assert found.shape == wanted.shape
    close(found, wanted, tolerance)
    weights = np.cos(np.arange(float(wanted.size))).reshape(wanted.shape)
    (found * weights).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), tx.grad(lambda x: np.sum(plain(x) * weights))(X), tolerance, tolerance)
    with tx.no_grad():
        close(theirs(x), wanted, tolerance)


def test_1_21_and_4_12_at_kinks_and_far_out() -> None:
    assert grads(lambda x: x.relu(), [-1.0, 0.0, 2.0]) == [[0.0, 0.0, 1.0]]
    x = leaf([-800.0, -40.0, 0.0, 800.0])
    y = x.sigmoid()
    y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), [0.0, np.exp(-40.0), 0.5, 1.0], rtol=1e-15)
    np.testing.assert_allclose(x.grad.numpy(), [0.0, np.exp(-40.0), 0.25, 0.0], rtol=1e-15)
    values, indices = leaf(X).max(dim=1)
    assert values.shape == (3, 4) and indices.tolist() == np.argmax(X, axis=1).tolist()
    assert leaf(X).argmax(dim=2).tolist() == np.argmax(X, axis=2).tolist()
    huge = leaf([1000.0, 1000.0])
    close(huge.softmax(dim=0), [0.5, 0.5])
    close(huge.logsumexp(dim=0), 1000.0 + math.log(2.0))


def test_1_21_and_4_12_what_numpy_has_too_means_what_it_means_there() -> None:
    x = leaf(X[0])
    assert x.transpose(0, 1).shape == (2, 4)  # as an ndarray's: the axes in this order
    close(x.var(0), np.var(X[0], 0))
    assert type(x.max(0)) is tx.Tensor
    for wrong in (
        lambda: x.argmax(keepdims=True, dim=1),
        lambda: x.ravel(dim=1),
        lambda: x.max(keepdim=True),
        lambda: x.norm(1, dim=(0, 1)),
        lambda: x.select(0, 0.5),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_1_21_and_4_12_parts_that_there_are_not() -> None:
    x = leaf(X)
    assert [part.shape for part in x.chunk(3, 2)] == [(3, 2, 2), (3, 2, 2)]  # as PyTorch divides 4 by 3
    for wrong in (lambda: x.narrow(0, 2, 2), lambda: x.narrow(0, -4, 1), lambda: x.select(3, 0)):
        with pytest.raises(IndexError):
            wrong()
    for unfit in (lambda: x.split([1, 1], 0), lambda: x.split(0), lambda: x.chunk(0)):
        with pytest.raises(ValueError):
            unfit()


def test_1_21_and_4_12_a_norm_is_that_of_all_elements() -> None:
    for wanted, norm in (
        (np.linalg.norm(X.ravel()), lambda x: x.norm(2)),  # of a matrix too, whose spectral norm NumPy gives
        (np.sum(np.abs(X)), lambda x: x.norm(1)),
        (np.max(np.abs(X)), lambda x: x.norm(p=float("inf"))),
        (np.sum(np.abs(X)).reshape(1, 1, 1), lambda x: x.norm(1, keepdim=True)),
        (np.linalg.norm(X, axis=1), lambda x: x.norm(2, dim=1)),
        (np.sum(np.abs(X), axis=0), lambda x: x.norm(1, dim=0)),
        (np.linalg.norm(X[0], 2), lambda x: x[0].norm(ord=2)),
        (np.linalg.norm(X[0]), lambda x: x[0].norm(p="fro", dim=(0, 1))),
        (np.linalg.norm(X[0], 1, axis=(0, 1)), lambda x: x[0].norm(1, axis=(0, 1))),
    ):
        close(norm(leaf(X)), wanted)
    x = leaf(X[0])
    x.norm(2).backward()
    close(x.grad, X[0] / np.linalg.norm(X[0].ravel()))


def test_4_13_two_outputs_and_an_integer_input() -> None:
    class Both(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, n: int) -> Any:
            assert ctx.needs_input_grad == (True, False)
            ctx.n = n
            return x * n, x + n

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            return first * ctx.n + second, None

    x = leaf([1.0, 2.0])
    a, b = Both.apply(x, 3)
    (a * b).sum().backward()
    close(x.grad, [3 * (1 + 3) + 3 * 1, 3 * (2 + 3) + 3 * 2])


def test_4_15_to_4_17_modes() -> None:
    x = leaf(1.0)
    with tx.no_grad():
        assert not (x * 2).requires_grad
        with tx.enable_grad():
            assert (x * 2).requires_grad
    with tx.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
    tx.set_grad_enabled(False)
    try:
        assert not (x * 2).requires_grad
    finally:
        tx.set_grad_enabled(True)
    with tx.no_grad():
        y = x * 2
    with pytest.raises(tx.NotDifferentiable, match=r"made without gradient at .*test_reference"):
        y.backward()


@tx.differentiate(fallback="error")
def compiled_square(x: Any) -> Any:
    return x * x


@tx.no_grad()
def made_under_no_grad(how: Any, x: Any) -> Any:
    return how(x)  # here


def written_under_no_grad(x: Any) -> Any:
    u = tx.tensor([0.0, 0.0])
    u[0] = x[1]  # here
    return u


def added_under_no_grad(x: Any) -> Any:
    u = tx.tensor([0.0, 0.0])
    u += x  # here
    return u


UNDER_NO_GRAD: dict[str, Any] = {
    "operator": lambda x: x * 2,  # here
    "ufunc": np.sin, "reduction": np.sum, "view": lambda x: x[1:],  # here
    "list": lambda x: np.stack([x, x]),  # here
    "a function of the user's": Exp.apply, "compiled": compiled_square,
    "two results": lambda x: np.split(x, 2)[0],  # here
    "written": written_under_no_grad, "added in place": added_under_no_grad,
    "a composition": lambda x: np.trapezoid(x),  # here
}  # fmt: skip


@pytest.mark.parametrize("name", UNDER_NO_GRAD)
def test_4_16_says_where_y_was_made_without_gradient(name: str) -> None:
    """Not where z was, which is computed from it later: in either mode, by whatever operations."""
    x = leaf([1.0, 2.0])
    y = made_under_no_grad(UNDER_NO_GRAD[name], x)
    where = rf"made without gradient at .*test_reference\.py:({'|'.join(map(str, HERE))})\b"
    with tx.no_grad():
        later = np.cos(y) + 1.0
        later = np.stack([later, later]).T
    with tx.no_grad(), tx.enable_grad():
        z = y.sum()
    for t in (y, z, y.sum(), y * 2.0, np.reshape(y, (-1,)), later[0].sum(), Exp.apply(y), y.reshape(-1)[0], np.exp(-y)):
        assert not t.requires_grad
        with pytest.raises(tx.NotDifferentiable, match=where):
            t.backward()
    total = tx.tensor([3.0])
    with tx.no_grad():
        total += y.sum()
    with pytest.raises(tx.NotDifferentiable, match=where):
        tx.autograd.grad(total.sum(), x)
    with pytest.raises(tx.NotDifferentiable, match="has no history$|has no history\n"):
        tx.tensor([1.0]).backward()


HERE = [n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith("# here")]


def test_4_18_hooks() -> None:
    x = leaf([1.0, 2.0, 3.0])
    seen: list[Any] = []
    handle = x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0] == seen[0]
    handle.remove()
    x.grad = None
    y = x * x
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0, 60.0]


def test_4_19_hooks_of_nodes() -> None:
    x = leaf([1.0, 2.0])
    y = x * 3
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 2,))
    seen: list[Any] = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].tolist(), outputs[0].tolist())))
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    assert seen == [([6.0, 6.0], [2.0, 2.0])]


HOOKS: dict[str, Any] = {
    "another shape": (lambda g: g[:1], r"shape \(1,\) in the place of one of shape \(2,\)"),
    "more axes": (lambda g: g[None], r"shape \(1, 2\)"),
    "a number": (lambda g: 1.0, r"shape \(\) in the place"),
    "complex": (lambda g: g * 1j, "complex128 in the place of one of float64"),
    "no numbers": (lambda g: np.array(["a", "b"]), "<U1 in the place"),
}


@pytest.mark.parametrize(("hook", "message"), HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("at", ["leaf", "result", "before a node", "after a node"])
@pytest.mark.parametrize("options", [{}, {"is_grads_batched": True}, {"create_graph": True}], ids=str)
def test_4_18_what_hooks_return_has_the_form_of_what_they_are_given(
    hook: Any, message: str, at: str, options: Any
) -> None:
    x = leaf([1.0, 2.0])
    y = x * 3.0
    if at == "leaf":
        x.register_hook(hook)
    elif at == "result":
        y.register_hook(hook)
    elif at == "before a node":
        y.grad_fn.register_prehook(lambda bars: (hook(bars[0]),))
    else:
        y.grad_fn.register_hook(lambda given, bars: hook(given[0]))
    seed = np.eye(2) if "is_grads_batched" in options else np.ones(2)
    with pytest.raises(
        tx.NotDifferentiable, match=rf"(?s)test_reference\.py:\d+: a hook returned .*{message}.*Instead"
    ):
        tx.autograd.grad(y, x, seed, **options)


def test_4_18_hooks_may_return_another_dtype_and_as_many_as_they_are_given() -> None:
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: np.array([1, 2]))
    (x * 1.0).sum().backward()
    assert x.grad.dtype == np.float64 and x.grad.tolist() == [1.0, 2.0]
    y = x * leaf([1.0, 1.0])
    y.grad_fn.register_hook(lambda given, bars: (given[0], given[1], given[0]))
    with pytest.raises(tx.NotDifferentiable, match=r"returned 3 gradients for 2"):
        y.sum().backward()
    z = np.split(x, 2)[1] * 2.0
    z.grad_fn.next_functions[0][0].register_prehook(lambda bars: (bars[1], bars[1]))
    with pytest.raises(tx.NotDifferentiable, match="in the place of None"):
        z.sum().backward()


def test_4_21_what_is_set_as_a_gradient_has_the_form_of_its_tensor() -> None:
    x = leaf([1.0, 2.0])
    given = tx.tensor([1.0, 2.0])
    x.grad = given
    assert x.grad is given
    for value in (np.ones(2, int), [3, 4], np.ones(2, np.float32)):
        x.grad = value
        assert x.grad.dtype == np.float64 and x.grad.tolist() == np.asarray(value).tolist()
    for value, message in (
        (np.ones(3), r"shape \(3,\) is set for a Tensor of shape \(2,\)"),
        (1.0, r"shape \(\) is set"),
        (np.ones(2) * 1j, "gradient of complex128 is set for a Tensor of float64"),
        (tx.tensor([1.0, 2.0], dtype=np.float32), "gradient of float32 is set for a Tensor of float64"),
        (["a", "b"], "gradient of <U1"),
        (x, "its own gradient"),
    ):
        with pytest.raises(tx.NotDifferentiable, match=rf"(?s)test_reference\.py:\d+: .*{message}.*Instead"):
            x.grad = value
    with pytest.raises(tx.NotDifferentiable, match="of int64"):
        tx.tensor([1, 2]).grad = np.ones(2)
    x.grad = None
    assert x.grad is None
    number = leaf(2.0)
    number.grad = 1
    assert float(number.grad) == 1.0


def test_4_20_accumulation() -> None:
    x = leaf([1.0, 2.0])
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    (2 * x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_4_23_running_mean() -> None:
    x, running = leaf([1.0, 3.0]), tx.tensor(0.0)

    def step() -> Any:
        return 0.9 * running.detach() + 0.1 * x.mean()

    for _ in range(1000):
        running = step()
    depth, node = 0, running.grad_fn
    while node is not None and node.next_functions:
        depth, node = depth + 1, next((n for n, _ in reversed(node.next_functions) if n is not None), None)
    assert depth < 6
    running.backward()
    close(x.grad, [0.05, 0.05])


@tx.checkpoint
def damped(x, rate=0.5):
    return np.tanh(x * rate)


@tx.checkpoint
def damped_by_name(x, *, rate):
    return np.tanh(x * rate)


def test_a_checkpointed_function_takes_arguments_by_name() -> None:
    point = np.array([0.1, 0.2])
    np.testing.assert_array_equal(damped(point, rate=2.0), np.tanh(2.0 * point))

    def f(x: Any) -> Any:
        return np.sum(damped(x, rate=x[1]) ** 2)

    x = leaf(point)
    f(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), tx.grad(f, fallback="error")(point), rtol=1e-12)
    with pytest.raises(tx.NotDifferentiable, match="takes `rate` by name alone"):
        damped_by_name(x, rate=2.0)
    with pytest.raises(TypeError, match="speed"):
        damped(point, speed=2.0)


def test_1_24_and_4_27_checkpoint() -> None:
    calls: list[int] = []

    def layer(x: Any) -> Any:
        calls.append(1)
        return np.tanh(x) * 2

    x, y = leaf([0.1, 0.2, 0.3]), leaf([0.1, 0.2, 0.3])
    tx.checkpoint(layer, tx.checkpoint(layer, x)).sum().backward()
    assert len(calls) == 4
    layer(layer(y)).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()
    z = leaf([1.0, 2.0, 3.0])
    tx.checkpoint(lambda v: v * 2)(z).sum().backward()
    assert z.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_checkpoint_that_its_arguments_do_not_describe_is_refused() -> None:
    def fill(into: Any, x: Any) -> None:
        into[0] = x[1] ** 2

    x, w = leaf([1.0, 5.0]), leaf([2.0, 3.0])
    with pytest.raises(tx.NotDifferentiable, match=r"test_reference\.py:\d+: `fill` .* writes into an argument"):
        tx.checkpoint(fill, np.zeros(2), x)
    with pytest.raises(tx.NotDifferentiable, match="leaf that requires a gradient is written"):
        tx.checkpoint(fill, w, x)
    assert w.tolist() == [2.0, 3.0]
    with pytest.raises(tx.NotDifferentiable, match="container of Tensors"):
        tx.checkpoint(lambda pair: pair[0] * pair[1], [x, w])
    held = tx.checkpoint(lambda v: v * w)
    result = held(x)
    with pytest.raises(tx.NotDifferentiable, match=r"test_reference\.py:\d+: .* that it is not passed"):
        result.sum().backward()


@pytest.mark.parametrize("kind", ["constant", "active", "view", "sharing"])
def test_a_checkpoint_may_write_into_its_arguments(kind: str) -> None:
    def step(u: Any, x: Any, flux: Any) -> Any:
        flux[0] = u[0] * x[1]
        u[1:] -= x[0] * u[:-1] ** 2
        u[0] *= flux[0]
        return u, u[1:], np.sum(u * x)

    def run(x: Any, call: Any) -> Any:
        u = tx.tensor([0.5, 0.7]) if kind == "constant" else x * 0.3
        whole = np.stack([u, u * 2.0])
        flux = whole[0] if kind == "sharing" else x * 1.0
        u = whole[1] if kind in ("view", "sharing") else u
        total: Any = 0.0
        for _ in range(3):
            same, rest, mean = call(step, u, x, flux)
            assert same is u
            rest[0] = rest[0] * x[0]
            total = total + mean * u[1]
        return total + np.sum(whole**2) + np.sum(flux * u)

    found = []
    for call in (tx.checkpoint, lambda f, *args: f(*args)):
        x = leaf([0.6, 0.8])
        (first,) = tx.autograd.grad(run(x, call), x, create_graph=True)
        (second,) = tx.autograd.grad(np.sum(first * [1.0, 2.0]), x)
        found.append((first.tolist(), second.tolist()))
    assert np.allclose(found[0], found[1], rtol=1e-12)


def test_a_checkpoint_of_constants_is_recorded() -> None:
    w = leaf([2.0, 3.0])
    tx.checkpoint(lambda v: v * w)(tx.tensor([4.0, 5.0])).sum().backward()
    assert w.grad.tolist() == [4.0, 5.0]
    buffer = np.zeros(2)
    with tx.no_grad():
        tx.checkpoint(lambda v: buffer.fill(v[0].item()))(w)
    assert buffer.tolist() == [2.0, 2.0]


def test_a_checkpoint_at_second_order() -> None:
    x = leaf([0.3, 0.7])
    (first,) = tx.autograd.grad(tx.checkpoint(lambda v: np.sin(v) * v, x).sum(), x, create_graph=True)
    (second,) = tx.autograd.grad(first.sum(), x)
    assert np.allclose(second.numpy(), 2.0 * np.cos([0.3, 0.7]) - np.sin([0.3, 0.7]) * [0.3, 0.7])
    # One argument is computed from the other: each contributes once.
    (first,) = tx.autograd.grad(tx.checkpoint(np.multiply, x * x, x).sum(), x, create_graph=True)
    assert np.allclose(first.tolist(), 3.0 * np.array([0.3, 0.7]) ** 2)


def test_4_28_gradcheck() -> None:
    assert tx.gradcheck(lambda x: np.sin(x) * x, leaf([0.3, 0.7]))
    assert tx.gradgradcheck(lambda x: np.sin(x) * x, leaf([0.3, 0.7]))

    class Wrong(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    with pytest.raises(AssertionError, match=r"Wrong: output 0\[0\] by input 0\[0\]: backward gives 3\.0, differences"):
        tx.gradcheck(Wrong.apply, leaf([0.3]))
    assert not tx.gradcheck(Wrong.apply, leaf([0.3]), raise_exception=False)
    with pytest.warns(UserWarning, match="float64"):
        tx.gradcheck(np.sin, leaf(np.ones(1, np.float32)))


class Thrice(tx.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3


class Second(tx.Function):
    """Of two results the second has a wrong rule."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, x * 5

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        return g * 2 + h * 5.1


@tx.primitive
def wrongly(x: Any) -> Any:
    return np.sin(x)


@wrongly.adjoint
def wrongly_adjoint(x: Any, *, ans_bar: Any) -> Any:
    x_bar = np.sin(x) * ans_bar
    return x_bar


def around(x: Any, wrong: Any) -> Any:
    u = np.tanh(x) * x
    u[1] = np.exp(x[0])
    v = wrong(u)  # wrong
    v = v.reshape(1, -1) @ np.ones((2, 2))
    v[0, 1] *= u[0]
    return np.log(v * v + 1.0).sum()


BLAMED: dict[str, Any] = {
    "Thrice": Thrice.apply,
    "Second": lambda u: Second.apply(u)[1] * 1.0,  # wrong
    "Wrongly": wrongly,
}


@pytest.mark.parametrize("name", BLAMED)
def test_4_28_gradcheck_names_the_wrong_operation_not_the_last(name: str) -> None:
    lines = [n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith("# wrong")]
    where = rf"test_reference\.py:({'|'.join(map(str, lines))}): "
    pattern = rf"^{name}: output 0\[\] by input 0\[\d\]: backward gives .*, differences give .* \(.*{where}"
    with pytest.raises(AssertionError, match=pattern):
        tx.gradcheck(lambda x: around(x, BLAMED[name]), leaf([0.3, 0.7]))


def test_4_28_gradcheck_names_where_a_derivative_is_lost() -> None:
    with pytest.raises(AssertionError, match=r"^Mul: output 0\[\] by input 0\[0\]"):
        tx.gradcheck(lambda x: (x * x.detach()).sum(), leaf([0.3, 0.7]))
    runs: list[int] = []

    def another_way(x: Any) -> Any:
        runs.append(1)
        y = np.sin(x) if len(runs) % 2 else np.cos(x)
        return y * 2.0

    with pytest.raises(AssertionError, match="^Mul: "):  # the last: it goes another way each time
        tx.gradcheck(another_way, leaf([0.3]))
    assert not graph.TAPES


def test_4_28_gradgradcheck_names_the_wrong_operation() -> None:
    class Once(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return np.sin(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return Thrice.apply(np.cos(x) * g / 2.0)  # right once

    assert tx.gradcheck(Once.apply, leaf([0.3]))
    with pytest.raises(AssertionError, match=r"^Thrice: .*right once"):
        tx.gradgradcheck(lambda x: Once.apply(x) * 2.0 + x, leaf([0.3]))


def test_4_29_next_functions() -> None:
    x = leaf(1.0)
    y = x * 2 + 3
    ((mul, slot), nothing) = y.grad_fn.next_functions
    assert (y.grad_fn.name, mul.name, slot, nothing) == ("AddBackward", "MulBackward", 0, (None, 0))


def test_4_30_an_elementwise_operation_makes_one_array() -> None:
    """Nothing is copied behind the user's back, with a gradient and without."""
    size = 1 << 20
    for x in (leaf(np.ones(size // 8)), tx.tensor(np.ones(size // 8))):
        np.exp(x)
        tracemalloc.start()
        y = np.exp(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert size <= peak < 1.1 * size
        assert y.shape == x.shape


def test_1_24_a_checkpoint_keeps_less() -> None:
    def layer(x: Any) -> Any:
        for _ in range(8):
            x = np.sin(x)
        return x

    def kept(run: Any) -> int:
        x = leaf(np.ones(1 << 16))
        tracemalloc.start()
        y = run(x)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert y.requires_grad
        return held

    assert kept(tx.checkpoint(layer)) < 0.2 * kept(layer)


def test_4_31_in_place() -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(tx.NotDifferentiable, match="written in place"):
        x.add_(1.0)
    y = x * 1
    y.add_(x)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


class Reversed(tx.Function):
    """Gives its argument on, and its cotangent with another sign."""

    how: Any = None

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return Reversed.how(x)

    @staticmethod
    def backward(ctx: Any, bar: Any) -> Any:
        return -bar


@pytest.mark.parametrize(
    "how",
    [lambda x: x, lambda x: x[...], lambda x: x.T, lambda x: (x * 1.0)[...], lambda x: x.detach().numpy(), np.copy],
    ids=["itself", "part", "transposed", "view of a new one", "plain", "copy"],
)
def test_what_is_written_into_a_result_of_a_function_does_not_pass_it_by(how: Any) -> None:
    Reversed.how = staticmethod(how)
    x = leaf([1.0, 2.0, 3.0])
    h = x * 1.0
    square = (h * h).sum()
    y = Reversed.apply(h)
    y[0] = x[1] * 5.0
    y[2] *= 3.0
    (y.sum() + square).backward()
    close(x.grad, [2.0, 5.0 - 1.0 + 4.0, -3.0 + 6.0])
    close(h, [1.0, 2.0, 3.0])


def test_a_function_may_keep_what_it_gives_and_gives_what_is_somebody_elses() -> None:
    table = tx.tensor([2.0, 4.0])

    class Kept(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(np.exp(x))
            ctx.mark_non_differentiable(table)
            return ctx._given[0], table

        @staticmethod
        def backward(ctx: Any, bar: Any, _: Any) -> Any:
            return bar * ctx.saved_tensors[0]

    x = leaf([0.1, 0.2])
    y, same = Kept.apply(x)
    assert same.tolist() == [2.0, 4.0] and not table.requires_grad and table.grad_fn is None
    y[0] = 7.0  # after it was kept: it is kept as it was
    y.sum().backward()
    close(x.grad, [0.0, np.exp(0.2)])


def test_results_of_a_checkpoint_share_memory_as_the_function_has_it() -> None:
    def several(x: Any) -> Any:
        whole = np.sin(x)
        return whole, whole[1:], whole[::-1].detach()

    for call in (tx.checkpoint, lambda f, *args: f(*args)):
        x = leaf([0.3, 0.5, 0.7])
        whole, part, still = call(several, x)
        assert not still.requires_grad
        whole[1] = x[0] * 2.0
        part[1] = 4.0
        close(still, [4.0, 0.6, np.sin(0.3)])
        ((part * part).sum() + (whole * still).sum()).backward()
        close(x.grad, [2.0 * 0.6 * 2.0 + 0.6 * 2.0 + np.cos(0.3) * 4.0, 0.0, 0.0])
    x = leaf([0.3, 0.5])
    assert not tx.checkpoint(lambda v: v.detach(), x).requires_grad


class Noise:
    def __init__(self) -> None:
        self.generator = np.random.default_rng(3)

    def __call__(self, x: Any) -> Any:
        return x * self.generator.normal(size=2)


GENERATOR = np.random.default_rng(1)


def test_a_checkpoint_draws_the_same_numbers_again() -> None:
    captured, given = np.random.default_rng(2), np.random.default_rng(4)
    noise = Noise()
    runs: dict[str, Any] = {
        "captured": lambda x: x * captured.normal(size=2),
        "global": lambda x: x * GENERATOR.normal(size=2),
        "default": lambda x, own=captured: x * own.normal(size=2),
        "legacy": lambda x: x * np.random.normal(size=2),
        "method": noise.__call__,
        "object": noise,
        "held": lambda x: noise(x),
        "partial": functools.partial(lambda own, x: x * own.normal(size=2), given),
    }
    for run in runs.values():
        x = leaf([1.0, 2.0])
        y = tx.checkpoint(run, x)
        drawn = y.detach().numpy() / [1.0, 2.0]
        state, after = captured.bit_generator.state, None
        y.sum().backward()
        after = captured.bit_generator.state
        assert state == after
        close(x.grad, drawn)


def test_generators_that_a_checkpoint_does_not_draw_from_are_left_alone() -> None:
    other = np.random.Generator(np.random.MT19937(5))
    seen: list[Any] = []

    def run(x: Any) -> Any:
        seen.append(other.bit_generator.state["state"]["pos"])
        return x * 2.0

    y = tx.checkpoint(run, leaf([1.0, 2.0]))
    other.random(3)
    now = other.bit_generator.state["state"]["pos"]
    y.sum().backward()
    assert seen == [seen[0], now] and seen[0] != now


def test_a_checkpoint_that_gives_something_else_the_second_time_is_refused() -> None:
    count: list[int] = []

    def counting(x: Any) -> Any:
        count.append(1)
        return x * float(len(count))

    hidden = {"generator": [np.random.default_rng(0)]}
    for run in (counting, lambda x: x * hidden["generator"][0].normal()):
        x = leaf([1.0, 2.0])
        y = tx.checkpoint(run, x)
        with pytest.raises(tx.NotDifferentiable, match=r"test_reference\.py:\d+: .* gives something else when"):
            y.sum().backward()


def test_gradcheck_looks_at_both_parts_and_twice_and_has_something_to_look_at() -> None:
    assert tx.gradcheck(lambda z: z * np.conj(z) * (1.0 + 2.0j) + np.exp(z), leaf([0.3 + 0.4j, 0.7 - 0.1j]))
    assert tx.gradgradcheck(lambda z: z**3 * 1j, leaf([0.3 + 0.4j]))

    class Turned(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1j

        @staticmethod
        def backward(ctx: Any, bar: Any) -> Any:
            return np.real(bar) * 0.0

    with pytest.raises(AssertionError, match=r"Turned: i times output 0\[0\] by input 0\[0\]: .* gives 0.0, .* -0.99"):
        tx.gradcheck(Turned.apply, leaf([0.3]))
    generator = np.random.default_rng(0)

    class Noisy(tx.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, bar: Any) -> Any:
            return bar * (2.0 + 1e-9 * generator.normal())

    with pytest.raises(AssertionError, match=r"Noisy: output 0\[0\] .* and then [12]\."):
        tx.gradcheck(Noisy.apply, leaf([0.3]))
    assert tx.gradcheck(Noisy.apply, leaf([0.3]), nondet_tol=1e-6)
    with pytest.raises(ValueError, match="no Tensor that requires"):
        tx.gradcheck(np.sin, tx.tensor([0.3]))
