"""Mixed precision: what runs in which dtype, on Tensors and compiled, and how near to float32 gradients are."""

import threading
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.templates.precision import FULL, LOW, cast

nn = tx.nn
RNG = np.random.default_rng(0)


def drawn(*shape):
    return RNG.normal(size=shape).astype(np.float32)


W, X = drawn(3, 3), drawn(4, 3)
IMAGES, CLASSES = drawn(5, 1, 4, 4), np.arange(5)


def tanhs(w, x):
    h = x
    for _ in range(3):
        h = np.tanh(h @ w)
    return np.sum(h)


def added(w, x):
    total = np.zeros(3, np.float32)
    for i in range(4):
        total = total + x[i] @ w
        total[0] += 0.01 * np.sum(np.exp(total @ w))
    return np.sum(total)


def written(w, x):
    out = np.zeros((4, 3), np.float32)
    np.matmul(x, w, out=out)
    out[1:] += x[1:] @ w
    return np.sum(out * out)


def letters(w, x):
    return np.einsum("ij,jk,ik->", x, w, x)


def norms(w, x):
    y = x @ w
    return np.linalg.norm(y) + np.var(y) + y.std() + y.max() + np.sum(np.linalg.solve(w @ w.T + np.eye(3), y.T))


def away(measured, wanted):
    return float(np.max(np.abs(measured - wanted)) / np.max(np.abs(wanted)))


@pytest.mark.parametrize("f", [tanhs, added, written, letters, norms])
def test_compiled_gradients_are_near_those_of_float32(f):
    wanted = tx.grad(f)(W, X)
    found = tx.grad(f, precision="float16")(W, X)
    assert found.dtype == np.float32
    assert 0.0 < away(found, wanted) < 1e-2
    with tx.amp.autocast():
        assert tx.grad(f)(W, X).tobytes() == found.tobytes()
    assert tx.grad(f)(W, X).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("f", [tanhs, added, letters, norms])
def test_tensors_and_compiled_code_follow_one_policy(f):
    w = tx.tensor(W, requires_grad=True)
    with tx.amp.autocast():
        value = f(w, X)
    value.backward()
    assert w.grad.dtype == np.float32
    found = tx.grad(f, precision="float16")(W, X)
    np.testing.assert_allclose(w.grad.numpy(), found, rtol=2e-3, atol=1e-3 * np.max(np.abs(found)))


def test_the_text_shows_the_policy():
    text = tx.grad(tanhs, precision="float16").source_for(W, X)
    assert "# Products run in float16, sums, powers and exponentials in float32 at least." in text
    assert ".astype(np.float16)" in text
    plain = tx.grad(tanhs).source_for(W, X)
    assert "float16" not in plain
    summed = tx.grad(lambda w, x: np.exp(x @ w).sum(), precision="float16").source_for(W, X)
    assert ".astype(np.float32)" in summed


def test_rows_of_the_reference():
    """Products in float16, reductions in float32; the parameters are the master weights."""
    a = tx.tensor(W)
    with tx.amp.autocast():
        for product in (a @ a, np.matmul(a, W), W @ a, np.dot(a, a), np.einsum("ij,jk->ik", a, a)):
            assert product.dtype == np.float16
        for total in (product.sum(), np.sum(product), np.mean(product, axis=0), product.max(), np.exp(product)):
            assert total.dtype == np.float32
        assert (product + a).dtype == np.float32
        assert (a + a).dtype == np.float32
    assert (a @ a).dtype == np.float32
    with tx.no_grad(), tx.amp.autocast():
        assert [(a @ a).dtype for _ in range(3)] == [np.float16] * 3
        assert [np.sum(product, axis=1).dtype for _ in range(3)] == [np.float32] * 3


def network():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, generator=0, dtype=np.float32),
        nn.BatchNorm2d(4, dtype=np.float32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 10, generator=1, dtype=np.float32),
    )


def entropy(model, x, y):
    return nn.functional.cross_entropy(model(x), y)


def test_a_network_in_both_forms():
    model = network()
    wanted = tx.grad(entropy)(model, IMAGES, CLASSES)
    found = tx.grad(entropy, precision="float16")(model, IMAGES, CLASSES)
    with tx.amp.autocast():
        loss = entropy(model, IMAGES, CLASSES)
    loss.backward()
    assert loss.dtype == np.float32
    assert [p.dtype for p in model.parameters()] == [np.float32] * 6
    flat, ours, theirs = (np.concatenate([np.ravel(p) for p in g.parameters()]) for g in (wanted, found, on(model)))
    assert ours.dtype == np.float32
    assert away(ours, flat) < 1e-2 and away(theirs, flat) < 1e-2


class on:
    """The gradients that Tensors have, as a model has parameters."""

    def __init__(self, model):
        self.found = [p.grad.numpy() for p in model.parameters()]

    def parameters(self):
        return self.found


@pytest.mark.share(1)
@pytest.mark.parametrize(
    "taken",
    [
        lambda **how: tx.jvp(tanhs, (W, X), (W, None), **how)[1],
        lambda **how: tx.vjp(tanhs, W, X, **how)[1](np.float32(1.0))[0],
        lambda **how: tx.linearize(tanhs, W, X, **how)[1](W, None),
        lambda **how: tx.jacobian(lambda w, x: np.tanh(x @ w), **how)(W, X),
        lambda **how: tx.hvp(tanhs, (W, X), (W, None), **how)[0],
        lambda **how: tx.hessian(lambda b, w, x: np.sum((x @ w + b) ** 3), **how)(W[0], W, X),
        lambda **how: tx.differentiate(tanhs, **how).hvp((W, X), (W, None)),
        lambda **how: tx.differentiate(tanhs, **how).grad(W, X),
        lambda **how: tx.grad(lambda w: np.sum(tx.grad(tanhs)(w, X) ** 2), **how)(W),
    ],
)
def test_every_derivative_takes_the_policy(taken):
    assert 0.0 < away(taken(precision="float16"), taken()) < 1e-2
    with tx.amp.autocast():
        outer = taken()
        full = taken(precision="float32")
    np.testing.assert_array_equal(outer, taken(precision="float16"))
    np.testing.assert_array_equal(full, taken())


def test_a_policy_inside_of_a_batch():
    both = np.stack([X, -X])
    found = tx.vmap(tx.grad(tanhs, precision="float16"), (None, 0))(W, both)
    assert 0.0 < away(found, tx.vmap(tx.grad(tanhs), (None, 0))(W, both)) < 1e-2


def kept(w, x):
    """One that cannot be compiled."""
    steps = iter([1.0, 2.0])
    return np.sum(x @ w) * next(steps)


def test_what_runs_on_tensors_follows_it_too():
    gradient = tx.value_and_grad(kept, precision="float16")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        first, again = gradient(W, X), gradient(W, X)
    assert "runs on Tensors" in gradient.explain()
    assert first[0] == again[0] != kept(W, X)
    assert 0.0 < away(first[1], tx.grad(lambda w, x: np.sum(x @ w))(W, X)) < 1e-2


def test_checked_mode():
    assert away(tx.grad(tanhs, precision="float16", check=True)(W, X), tx.grad(tanhs)(W, X)) < 1e-2


def test_double_precision_is_cast_and_stays_the_gradients_dtype():
    found = tx.grad(tanhs, precision="float16")(W.astype(float), X.astype(float))
    assert found.dtype == np.float64
    assert 0.0 < away(found, tx.grad(tanhs)(W, X)) < 1e-2


def test_small_gradients_need_a_scaled_loss():
    """A slope of 1e-9 is 0 in float16."""

    def small(w, x, scale):
        return scale * 1e-9 * np.sum(x @ w)

    w, x = np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)
    gradient = tx.grad(small, precision="float16")
    assert not gradient(w, x, 1.0).any()
    np.testing.assert_allclose(gradient(w, x, 65536.0) / 65536.0, 2e-9, rtol=1e-2)


def test_the_policy_ends_where_it_ended():
    a = tx.tensor(W)
    seen = []
    with tx.amp.autocast():
        thread = threading.Thread(target=lambda: seen.append((a @ a).dtype))
        thread.start()
        thread.join()
        with tx.amp.autocast(enabled=False):
            assert (a @ a).dtype == np.float32
        assert (a @ a).dtype == np.float16
        with tx.checked():
            assert (a @ a).dtype == np.float16
    assert seen == [np.float32]  # as PyTorch has it, and recording too

    @tx.amp.autocast()
    def product(a):
        return a @ a

    assert product(a).dtype == np.float16
    assert (a @ a).dtype == np.float32


def test_bad_input():
    for dtype in ("bfloat16", np.int32, np.float64, None):
        with pytest.raises(tx.NotDifferentiable, match="is no precision for products"):
            tx.amp.autocast(dtype=dtype)
    with pytest.raises(tx.NotDifferentiable, match="NumPy has no bfloat16"):
        tx.amp.autocast("cpu", "bfloat16")
    with pytest.raises(tx.NotDifferentiable, match=r"write dtype="):
        tx.amp.autocast(np.float16)
    with pytest.raises(
        tx.NotDifferentiable, match="precision='bfloat16' is not an option(.*\n)*.*NumPy has no bfloat16"
    ):
        tx.grad(tanhs, precision="bfloat16")


def test_the_lists_are_apart():
    assert not set(LOW) & set(FULL)
    low = np.dtype(np.float16)
    assert cast(np.ndarray.sum, low, low) == np.float32
    assert cast(np.ndarray.dot, np.dtype(np.float64), low) == np.float16
    assert cast(np.matmul, np.dtype(complex), low) is None
    assert cast(np.matmul, low, low) is None


def test_master_weights_of_a_model_in_half_precision():
    """Steps that are too small for float16 add up in float32."""
    p = tx.tensor(np.ones(3, np.float16), requires_grad=True)
    opt = tx.optim.SGD([p], lr=1e-4)
    for _ in range(100):
        p.grad = np.ones(3, np.float16)
        opt.step()
    assert p.dtype == np.float16
    np.testing.assert_array_equal(p.detach().numpy(), np.float16(0.99))
    opt = tx.optim.Adam(lr=1e-4)
    params, state = np.ones(3, np.float16), opt.init(np.ones(3, np.float16))
    for _ in range(100):
        params, state = opt.update(params, np.ones(3, np.float16), state)
    assert params.dtype == np.float16
    np.testing.assert_array_equal(params, np.float16(0.99))
    params, state = opt.update(np.full(3, 2.0, np.float16), np.ones(3, np.float16), state)  # set by somebody else
    np.testing.assert_allclose(params, 2.0, rtol=1e-3)
