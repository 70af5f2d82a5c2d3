"""Groups, state, and the two forms of a step."""

from dataclasses import dataclass

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import NotDifferentiable
from tangentx.optim import SGD, Adam, AdamW
from tests.optim.figures import STEPS
from tests.optim.problem import loss, start, tensors


@pytest.mark.parametrize("name, options, figures", STEPS, ids=[f"{n}-{'-'.join(o)}" for n, o, _ in STEPS])
def test_steps_on_tensors_are_those_of_torch(name, options, figures):
    w, b = tensors()
    opt = getattr(tx.optim, name)([{"params": [w]}, {"params": [b], "lr": options["lr"] / 2}], **options)
    seen = []
    for step in range(100):
        opt.zero_grad()
        loss(w, b).backward()
        opt.step()
        if step in (0, 9, 99):
            seen.append(np.concatenate([w.current, b.current]))
    np.testing.assert_allclose(seen, figures, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name, options, figures", STEPS, ids=[f"{n}-{'-'.join(o)}" for n, o, _ in STEPS])
def test_steps_of_compiled_gradients_are_those_of_torch(name, options, figures):
    opts = [getattr(tx.optim, name)(**{**options, "lr": options["lr"] / k}) for k in (1, 2)]
    params = list(start())
    states = [opt.init(p) for opt, p in zip(opts, params)]
    gradient = tx.grad(loss, wrt=(0, 1))
    seen = []
    for step in range(100):
        grads = gradient(*params)
        for k, opt in enumerate(opts):
            params[k], states[k] = opt.update(params[k], grads[k], states[k])
        if step in (0, 9, 99):
            seen.append(np.concatenate(params))
    np.testing.assert_allclose(seen, figures, rtol=1e-12, atol=1e-12)


@dataclass
class Line:
    slope: float
    offsets: np.ndarray
    name: str = "line"


class Plain:
    def __init__(self, w):
        self.w = w


def fit(p, x):
    return np.sum((p["line"].slope * x + p["line"].offsets - p["more"][0].w) ** 2) + p["single"][0] ** 2


def test_a_structure_is_updated_leaf_by_leaf_and_keeps_its_types():
    x = np.array([1.0, 2.0])
    params = {"line": Line(0.5, np.zeros(2, np.float32)), "more": [Plain(np.ones(2))], "single": (0.3, 4)}
    opt = Adam(lr=0.1)
    grads = tx.grad(fit)(params, x)
    new, state = opt.update(params, grads, opt.init(params))
    assert isinstance(new["line"], Line) and new["line"].name == "line" and type(new["line"].slope) is float
    assert new["line"].offsets.dtype == np.float32 and new["single"][1] == 4
    assert new["line"].slope == pytest.approx(0.5 + 0.1, abs=1e-6)
    np.testing.assert_allclose(new["more"][0].w, 1.0 - 0.1 * np.sign(grads["more"][0].w), atol=1e-6)
    assert params["line"].slope == 0.5 and np.all(params["more"][0].w == 1.0)  # what was given is as it was
    again, _ = opt.update(params, grads, state)
    assert again["line"].slope != new["line"].slope  # the state counts


def test_what_has_no_gradient_stays():
    w, b = tensors()
    opt = SGD([w, b], lr=0.1)
    (w * w).sum().backward()
    opt.step()
    assert b.grad is None and np.array_equal(b.current, start()[1]) and not np.array_equal(w.current, start()[0])
    params, _ = SGD(lr=0.1).update(
        {"w": np.ones(2), "b": 1.0}, {"w": np.ones(2), "b": None}, {"['w']": {}, "['b']": {}}
    )
    assert params["b"] == 1.0 and np.allclose(params["w"], 0.9)


def test_the_state_goes_on_where_it_was_saved():
    def run(opt, tensors, steps):
        for _ in range(steps):
            opt.zero_grad()
            loss(*tensors).backward()
            opt.step()

    whole, half = tensors(), tensors()
    first = AdamW(whole, lr=0.05)
    run(first, whole, 6)
    second = AdamW(half, lr=0.05)
    run(second, half, 3)
    copies = [tx.tensor(t.current, requires_grad=True) for t in half]
    third = AdamW(copies, lr=9.0)
    third.load_state_dict(second.state_dict())
    run(third, copies, 3)
    assert third.param_groups[0]["lr"] == 0.05
    for a, b in zip(whole, copies):
        np.testing.assert_array_equal(a.current, b.current)
    with pytest.raises(ValueError, match="parameters"):
        AdamW(copies[:1]).load_state_dict(second.state_dict())


def test_complex_parameters_go_down():
    def distance(z):
        return np.sum(np.abs(z - (1.0 + 2.0j)) ** 2)

    for opt in (SGD(lr=0.1), Adam(lr=0.1)):
        z = np.array([3.0 - 1.0j, 0.0j])
        state = opt.init(z)
        for _ in range(200):
            z, state = opt.update(z, tx.grad(distance)(z), state)
        np.testing.assert_allclose(z, 1.0 + 2.0j, atol=1e-3)


def test_names_of_paddle():
    w, _ = tensors()
    opt = Adam(learning_rate=0.001, parameters=[w])
    w.grad = [0.3, -7.0, 0.0]
    before = w.current.copy()
    opt.step()
    np.testing.assert_allclose(w.current - before, [-0.001, 0.001, 0.0], atol=1e-9)
    opt.clear_grad()
    assert w.grad is None
    opt.zero_grad(set_to_none=False)
    w.grad = [1.0, 1.0, 1.0]
    opt.zero_grad(set_to_none=False)
    assert np.array_equal(w.grad.current, np.zeros(3))


def test_what_has_no_meaning_is_refused():
    w, b = tensors()
    with pytest.raises(ValueError, match="negative"):
        SGD([w], lr=-1.0)
    with pytest.raises(ValueError, match="betas"):
        Adam([w], betas=(1.0, 0.9))
    with pytest.raises(ValueError, match="Nesterov"):
        SGD([w], nesterov=True)
    with pytest.raises(ValueError, match="more than one place"):
        SGD([w, w])
    with pytest.raises(ValueError, match="no parameters"):
        SGD([])
    with pytest.raises(TypeError, match="functional form"):
        SGD([np.ones(2)])
    with pytest.raises(ValueError, match="computed"):
        SGD([w * 2.0])
    with pytest.raises(TypeError, match="no option"):
        SGD([{"params": [w], "rate": 0.1}])
    with pytest.raises(TypeError, match="same argument"):
        SGD([w], parameters=[b])
    opt = SGD(lr=0.1)
    with pytest.raises(NotDifferentiable, match="shape"):
        opt.update(np.ones(2), np.ones(3), opt.init(np.ones(2)))
    with pytest.raises(NotDifferentiable, match="no parameter is"):
        opt.update({"w": 1.0}, {"v": 1.0}, opt.init({"w": 1.0}))
    with pytest.raises(NotDifferentiable, match="the state"):
        opt.update({"w": 1.0}, {"w": 1.0}, {})
    with pytest.raises(NotDifferentiable, match="no parameters"):
        opt.init({"n": 3})


def test_a_closure_and_another_rate():
    w, b = tensors()
    opt = SGD([w], lr=0.0)
    opt.add_param_group({"params": b, "lr": 0.1})

    def closure():
        opt.zero_grad()
        value = loss(w, b)
        value.backward()
        return value

    assert float(opt.step(closure).detach()) == pytest.approx(loss(*start()))
    assert np.array_equal(w.current, start()[0]) and not np.array_equal(b.current, start()[1])
    p, _ = SGD(lr=0.1).update(1.0, 1.0, {"": {}}, lr=0.5)
    assert p == 0.5
