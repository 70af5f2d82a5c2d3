"""Tensors on a device: their operations run there, their gradients lie there, and nothing is sent unasked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tangentx.templates import examples, templates
from tangentx.tensor.core.devices import device_of
from tangentx.testing import device_arrays as cp
from tangentx.testing.device_arrays import DeviceArray, transfers

X = np.array([[1.0, 2.0], [3.0, 4.5]])


def written(x):
    y = x * 1.0
    y[0] = x[1] * 2.0
    y[1, 0] += y[0, 1]
    y *= x
    return y.sum()


def of_parts(x):
    row = x[0]
    first = row[1]
    return np.concatenate([x.T.ravel(), row * first]).sum() + np.stack([row, x[1]]).mean()


PROGRAMS = {
    "product": lambda x: np.sum(np.sin(x) * x @ x),
    "element": lambda x: x[0, 1] ** 3,
    "centred": lambda x: ((x - x.mean(axis=0)) ** 2).sum() + x.std() + np.var(x, axis=1).sum(),
    "extremes": lambda x: (np.maximum(x, 2.5).max(axis=1) * x.min()).sum(),
    "log_sum": lambda x: np.log(np.exp(x).sum()),
    "chosen": lambda x: np.where(x > 2.0, x * x, 0.0).sum(),
    "torch's": lambda x: x.softmax(dim=1)[0, 0] + x.relu().sum() ** 2 + x.log_softmax(dim=0)[1, 1],
    "written": written,
    "of_parts": lambda x: of_parts(x) ** 2,
    "einsum": lambda x: np.einsum("ij,jk->ik", x, x * x).sum(),
    "solved": lambda x: np.linalg.solve(x, x[0]).sum() + np.linalg.det(x),
    "constant": lambda x: (x * 2.0 + np.float64(1.0) - 3).sum() ** 2,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_a_tensor_does_on_a_device(program):
    def slopes(x):
        value = program(x)
        value.backward()
        (slope,) = tx.autograd.grad(program(x), x, create_graph=True)
        (curve,) = tx.autograd.grad((slope * slope).sum(), x)
        with tx.no_grad():
            for _ in range(2):  # the second call goes the short way
                again = program(x)
        return value.detach(), x.grad, curve, again

    wanted = slopes(tx.tensor(X, requires_grad=True))
    x = tx.tensor(DeviceArray(X), requires_grad=True)
    transfers.reset()
    found = slopes(x)
    assert (transfers.down, transfers.up) == (0, 0)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.device == "cuda:0" and type(ours.current) is DeviceArray
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


def of_example(example: Any, put: Any) -> list[Any]:
    """Results and gradients of an operation on Tensors whose data `put` brings to their place."""
    tensors: list[Any] = []

    def one(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(one, value))
        if not isinstance(value, np.ndarray):
            return value
        if value.dtype.kind not in "fc":
            return put(value)
        tensors.append(tx.tensor(put(value), requires_grad=True))
        return tensors[-1]

    args, kwargs = one(list(example.args)), {name: one(value) for name, value in example.kwargs.items()}
    found = example.fn(*args, **kwargs)
    outs = [out for out in (found if isinstance(found, list | tuple) else [found]) if type(out) is tx.Tensor]
    for out in outs:
        if out.requires_grad:
            out.backward(out.detach().copy())
    return [t.grad for t in tensors] + [out.detach() for out in outs]


@pytest.mark.filterwarnings("ignore")
def test_operations_on_a_device_are_right_or_refused(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "templates")
    right = 0
    with np.errstate(all="ignore"):
        for template in templates():
            if template.kind == "constant" or template.name.endswith("_") or template.signature is not None:
                continue
            for example in list(examples(template))[:2]:
                try:
                    found, wanted = of_example(example, DeviceArray), of_example(example, lambda value: value)
                except Exception:
                    continue
                for ours, theirs in zip(found, wanted, strict=True):
                    assert (ours is None) == (theirs is None), template.name
                    if ours is not None:
                        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-9, 1e-9, err_msg=template.name)
                right += any(t is not None and t.device != "cpu" for t in found)
    assert right > 200


def test_where_a_tensor_is():
    here, there = tx.tensor(X, requires_grad=True), tx.tensor(X, device=cp, requires_grad=True)
    assert (here.device, there.device) == ("cpu", "cuda:0") and here.cpu() is here and there.to(cp) is there
    assert device_of(there.current) == "cuda:0" and (there.shape, there.dtype, len(there)) == ((2, 2), np.float64, 2)
    assert "device='cuda:0', requires_grad=True" in repr(there) and not isinstance(there, np.ndarray)
    copy = there.detach().numpy()
    copy[...] = 0.0
    assert type(copy) is np.ndarray and there.detach().tolist() == X.tolist()
    assert tx.tensor(there, device="cpu").device == "cpu" and tx.tensor(there).device == "cuda:0"
    assert tx.tensor(DeviceArray(X), dtype=np.float32).dtype == np.float32
    assert here.to(np.float32).dtype == here.to("float32").dtype == here.to(here.float()).dtype == np.float32
    assert (here.to(there.float()).device, here.to(there.float()).dtype) == ("cuda:0", np.float32)
    assert there[0, 1].item() == 2.0 and float(there.detach().sum()) == X.sum()


def test_gradients_go_back_over_a_transfer():
    here = tx.tensor(X, requires_grad=True)
    transfers.reset()
    loss = (here.to(cp) ** 2).sum().cpu()
    loss.backward()
    assert (here.grad.device, loss.device) == ("cpu", "cpu") and here.grad.tolist() == (2.0 * X).tolist()
    assert (transfers.down, transfers.up) == (2, 2)  # there and back, in both directions


@pytest.mark.parametrize(
    "mix",
    [
        lambda x: x + X,
        lambda x: X * x,
        lambda x: np.dot(x, X),
        lambda x: np.maximum(X, x),
        lambda x: np.concatenate([x, X]),
        lambda x: x @ tx.tensor(X),
        lambda x: tx.tensor(X, requires_grad=True) - x,
        lambda x: (x * 1.0).__setitem__(0, X[0]),
        lambda x: x.mean(axis=0) + X[0],
    ],
)
def test_memory_is_not_mixed(mix):
    x = tx.tensor(DeviceArray(X), requires_grad=True)
    transfers.reset()
    for around in (tx.enable_grad, tx.no_grad, tx.no_grad):
        with around(), pytest.raises(tx.NotDifferentiable, match=r"on cuda:0 and one of NumPy's\n.*\n *\^"):
            mix(x)
    assert (transfers.down, transfers.up) == (0, 0)


def test_what_is_refused(monkeypatch):
    x = tx.tensor(DeviceArray(X), requires_grad=True)
    with pytest.raises(tx.NotDifferentiable, match="a gradient on another device"):
        x.grad = tx.tensor(X)
    with pytest.raises(TypeError, match=r"\.get\(\)"):
        np.asarray(x.detach())
    monkeypatch.setitem(sys.modules, "cupy", None)
    for ask in (lambda: x.cpu().cuda(), lambda: tx.tensor(X, device="cuda:1"), lambda: tx.tensor(X).to("cuda")):
        with pytest.raises(tx.NotDifferentiable, match=r"CuPy is not installed(.*\n)*Instead: pip install"):
            ask()
    with pytest.raises(tx.NotDifferentiable, match="'mps' is no device"):
        tx.tensor(X).to("mps")


def test_jacobians_there():
    def f(v):
        return np.sin(v) * v[0]

    x = tx.tensor(DeviceArray(X[0]))
    for vectorize in (False, True):
        found = tx.autograd.jacobian(f, x, vectorize=vectorize)
        wanted = tx.autograd.jacobian(f, tx.tensor(X[0]), vectorize=vectorize)
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-14)


def test_a_compiled_function_is_a_node_there():
    energy = tx.differentiate(lambda w, x: np.sum(np.tanh(x @ w) ** 2))
    w = tx.tensor(DeviceArray(X), requires_grad=True)
    x = DeviceArray(X)
    transfers.reset()
    (energy(w * 2.0, x) * 3.0).backward()
    assert (transfers.down, transfers.up) == (0, 0)
    here = tx.tensor(X, requires_grad=True)
    (energy(here * 2.0, X) * 3.0).backward()
    np.testing.assert_allclose(w.grad.numpy(), here.grad.numpy(), rtol=1e-12)


def test_functions_of_nn():
    there, here = (tx.tensor(put(X), requires_grad=True) for put in (DeviceArray, np.asarray))
    labels = np.array([1, 0])
    transfers.reset()
    found = nn.functional.cross_entropy(np.tanh(there), DeviceArray(labels))
    found.backward()
    assert transfers.down == 0
    nn.functional.cross_entropy(np.tanh(here), labels).backward()
    np.testing.assert_allclose(there.grad.numpy(), here.grad.numpy(), rtol=1e-12)
    beyond = nn.functional.cross_entropy(there, DeviceArray(np.array([1, 2])), reduction="none")
    assert np.isnan(beyond.detach().numpy()).tolist() == [False, True]  # to raise would be a transfer


def test_dropout_draws_there():
    x = tx.tensor(DeviceArray(np.ones(1000)), requires_grad=True)
    transfers.reset()
    nn.functional.dropout(x, 0.25, True, np.random.default_rng(1)).sum().backward()
    assert (transfers.down, transfers.up) == (0, 0)
    assert 650 < np.count_nonzero(x.grad.numpy()) < 850


class Square(tx.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2.0 * x * g


def of_views(x):
    y = x * 1.0
    part = y[1:]
    part *= 3.0
    y += x
    y[[0, 1]] = y[[1, 0]] * 2.0
    y[y > 15.0] = 0.5
    return (y * y).sum() + part.sum()


def turned(x):
    y = (x * 1.0).T * 1.0
    y[0] = x[1] * x[0]
    return (y.T @ x).sum()


def clipped(x):
    y = x * 2.0
    y.register_hook(lambda g: np.clip(g, -1.0, 1.0))
    return (y * y * y).sum()


@pytest.mark.parametrize(
    "program",
    [
        lambda x: Square.apply(np.sin(x)).sum(),
        lambda x: tx.checkpoint(lambda v: np.tanh(v) * v.sum(), x).sum(),
        lambda x: tx.add_n([x, x * x, 2.0]).sum(),
        of_views,
        turned,
        clipped,
    ],
)
def test_what_else_runs_there(program):
    def slope(x):
        program(x).backward()
        return x.grad

    x = tx.tensor(DeviceArray(X), requires_grad=True)
    transfers.reset()
    found = slope(x)
    assert (transfers.down, transfers.up) == (0, 0)
    np.testing.assert_allclose(found.numpy(), slope(tx.tensor(X, requires_grad=True)).numpy(), rtol=1e-12)


def test_batches_of_gradients_there():
    def rows(put):
        x, seeds = tx.tensor(put(X), requires_grad=True), np.stack([X, -X, 2.0 * X])
        y = np.exp(x) @ x
        y[0] = y[1] * x[0]
        return tx.autograd.grad(y, x, tx.tensor(put(seeds)), is_grads_batched=True)[0].numpy()

    np.testing.assert_allclose(rows(DeviceArray), rows(np.asarray), rtol=1e-12)


def test_gradients_are_checked_there():
    assert tx.gradcheck(lambda v: np.sin(v) * v, tx.tensor(DeviceArray(X), requires_grad=True))
    with np.errstate(all="ignore"), tx.autograd.detect_anomaly(), pytest.raises(tx.NotDifferentiable, match="`Sqrt"):
        np.sqrt(tx.tensor(DeviceArray(X), requires_grad=True) * 0.0).sum().backward()


def test_mixed_precision_there():
    w = tx.tensor(DeviceArray(X.astype(np.float32)), requires_grad=True)
    rule, scaler = tx.optim.SGD([w], lr=0.01), tx.amp.GradScaler(init_scale=8.0)
    for factor in (1.0, np.inf):
        rule.zero_grad()
        with tx.amp.autocast():
            product = w @ w
            loss = (product * product).sum() * factor
        assert (product.dtype, loss.dtype) == (np.float16, np.float32)
        with np.errstate(all="ignore"):
            scaler.scale(loss).backward()
            transfers.reset()
            scaler.step(rule)
        assert (transfers.down, transfers.up) == (1, 0)  # whether the gradients are finite
        scaler.update()
    assert scaler.get_scale() == 4.0 and np.all(np.isfinite(w.detach().numpy())) and w.dtype == np.float32
