"""Modules: what they hold, their state, and how derivatives take them."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tangentx.errors import NotDifferentiable


class Block(nn.Module):
    def __init__(self, seed=0):
        self.first = nn.Linear(3, 4, generator=seed)
        self.rest = [nn.Linear(4, 4, generator=seed + 1), nn.Tanh()]
        self.scale = nn.Parameter(0.5)
        self.power = 2.0
        self.name = "block"
        self.register_buffer("seen", np.zeros(2))

    def forward(self, x):
        h = self.first(x)
        for layer in self.rest:
            h = layer(h)
        return h**self.power * self.scale


def total(model, x):
    return np.sum(model(x))


X = np.sin(np.arange(6.0)).reshape(2, 3)
NAMES = ["scale", "first.weight", "first.bias", "rest.0.weight", "rest.0.bias"]


def test_what_it_holds():
    model = Block()
    assert [name for name, _ in model.named_parameters()] == NAMES
    assert [name for name, _ in model.named_children()] == ["first", "rest.0", "rest.1"]
    assert [name for name, _ in model.named_modules()] == ["", "first", "rest.0", "rest.1"]
    assert [name for name, _ in model.named_buffers()] == ["seen"]
    assert len(list(model.parameters())) == 5 and len(list(model.children())) == 3 and len(list(model.buffers())) == 1
    assert all(isinstance(p, nn.Parameter) and p.requires_grad and not p.stop_gradient for p in model.parameters())
    seen = []
    assert model.apply(lambda module: seen.append(type(module).__name__)) is model
    assert seen == ["Linear", "Linear", "Tanh", "Block"]


def test_a_gradient_is_a_model():
    model = Block()
    value, gradient = tx.value_and_grad(total)(model, X)
    assert type(gradient) is Block and type(gradient.rest[0]) is nn.Linear
    assert gradient.power == 2.0 and gradient.name == "block" and gradient.first.in_features == 3
    assert [name for name, _ in gradient.named_parameters()] == NAMES
    assert all(type(p) is np.ndarray for p in gradient.parameters())
    np.testing.assert_allclose(gradient.scale, value / 0.5)
    total(model, X).backward()
    for name, p in model.named_parameters():
        np.testing.assert_allclose(dict(gradient.named_parameters())[name], p.grad.current, rtol=1e-12)
    again = tx.grad(total)(model.arrays(), X)  # on plain arrays it is the same
    np.testing.assert_array_equal(again.first.weight, gradient.first.weight)


def test_products_take_modules():
    model, direction = Block(), Block(seed=5)
    gradient = tx.grad(total)(model, X)
    pairs = zip(gradient.parameters(), direction.arrays().parameters())
    along = sum(np.sum(g * d) for g, d in pairs)
    value, tangent = tx.jvp(total, (model, X), (direction, None))
    np.testing.assert_allclose(tangent, along, rtol=1e-12)
    _, pull = tx.vjp(total, model, X)
    np.testing.assert_allclose(pull(1.0)[0].first.bias, gradient.first.bias, rtol=1e-12)
    h = 1e-6
    moved = [
        model.with_parameters(
            {
                name: p.current + s * dict(direction.named_parameters())[name].current
                for name, p in model.named_parameters()
            }
        )
        for s in (h, -h)
    ]
    change = (tx.grad(total)(moved[0], X).first.weight - tx.grad(total)(moved[1], X).first.weight) / (2 * h)
    product = tx.hvp(total, (model, X), (direction, None))[0]
    np.testing.assert_allclose(product.first.weight, change, rtol=1e-5, atol=1e-7)
    each = tx.vmap(total, in_axes=(None, 0))(model, np.stack([X, 2.0 * X]))
    np.testing.assert_allclose(each, [total(model.arrays(), X), total(model.arrays(), 2.0 * X)])
    with tx.checked():
        assert tx.value_and_grad(total)(model, X)[0] == pytest.approx(value)


def test_a_method_of_the_model_is_differentiated():
    class Own(Block):
        def loss(self, x):
            return np.sum(self(x) ** 2)

    model = Own()
    gradient = tx.grad(model.loss, wrt="self")(X)
    model.loss(X).backward()
    np.testing.assert_allclose(gradient.first.weight, model.first.weight.grad.current, rtol=1e-12)
    np.testing.assert_allclose(tx.grad(model.loss)(X).shape, X.shape)


def test_a_decorated_loss_is_recorded_by_the_model():
    @tx.differentiate
    def loss(model, x):
        return np.sum(model(x))

    model = Block()
    x = tx.tensor(X, requires_grad=True)
    loss(model, x).backward()
    np.testing.assert_allclose(model.first.weight.grad.current, loss.grad(model, X).first.weight, rtol=1e-12)
    assert x.grad is not None


def test_a_module_beside_a_tensor_is_refused():
    with pytest.raises(NotDifferentiable, match="a module and a Tensor"):
        tx.grad(total)(Block(), tx.tensor(X))


def with_ridge(model, x):
    return np.sum(model(x)) + 0.1 * sum([np.sum(p**2) for p in [model.first.weight, model.scale]])


def with_a_try(model, x):
    with warnings.catch_warnings():
        return with_ridge(model, x)


@pytest.mark.parametrize("frozen", [["first.weight"], ["scale", "rest.0.bias"], ["first.bias", "first.weight"], []])
@pytest.mark.parametrize("loss", [with_ridge, with_a_try])
def test_what_requires_no_gradient_is_constant(loss, frozen):
    model = Block()
    tx.grad(loss)(model, X)  # a text for other parameters is of no use below
    for name, p in model.named_parameters():
        p.requires_grad_(name not in frozen)
    loss(model, X).backward()
    wanted = {name: p.grad.numpy() for name, p in model.named_parameters() if p.grad is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("error" if loss is with_ridge else "ignore", tx.FallbackWarning)
        value, gradient = tx.value_and_grad(loss)(model, X)
    assert float(value) == pytest.approx(loss(model, X).item(), rel=1e-13)
    found = dict(gradient.named_parameters())
    assert found.keys() == wanted.keys() == set(NAMES) - set(frozen)
    for name, slope in found.items():
        np.testing.assert_allclose(slope, wanted[name], rtol=1e-12)
    assert (gradient.scale is None) == ("scale" in frozen)
    opt = tx.optim.AdamW(lr=0.1)
    moved, _ = opt.update(model, gradient, opt.init(model))
    for (name, p), (_, old) in zip(moved.named_parameters(), model.named_parameters()):
        assert np.array_equal(p.detach().numpy(), old.detach().numpy()) == (name in frozen)
        assert p.requires_grad == (name not in frozen)
    vector, _ = tx.tree.ravel(gradient, like=model)
    assert vector.size == tx.tree.ravel(model)[0].size
    along = sum(np.sum(slope**2) for slope in found.values())
    np.testing.assert_allclose(tx.jvp(loss, (model, X), (gradient, None))[1], along, rtol=1e-12)


class Masked(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(3, 3, generator=0)
        self.register_buffer("mask", tx.tensor(np.tril(np.ones((3, 3)))))
        self.scale = tx.tensor(2.0)

    def forward(self, x):
        return self.linear(x) @ self.mask * self.scale


def test_buffers_and_constants_may_be_tensors(tmp_path):
    model = Masked()
    assert type(model.state_dict()["mask"]) is np.ndarray
    total(model, X).backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error", tx.FallbackWarning)
        gradient = tx.grad(total)(model, X)
    np.testing.assert_allclose(gradient.linear.weight, model.linear.weight.grad.numpy(), rtol=1e-13)
    assert type(model.mask) is tx.Tensor and type(model.arrays().mask) is np.ndarray
    model.save(tmp_path / "masked.npz")
    other = Masked()
    other.mask[...] = 0.0
    assert np.array_equal(other.load(tmp_path / "masked.npz").mask.numpy(), np.tril(np.ones((3, 3))))


def test_a_tangent_of_what_is_constant_is_refused():
    model = Block()
    model.first.weight.requires_grad_(False)
    with pytest.raises(NotDifferentiable, match=r"`model`.first has a part .weight, which counts as constant in the"):
        tx.jvp(total, (model, X), (Block(seed=5), None))


def test_a_jacobian_by_a_module_is_refused():
    for derivative in (tx.jacobian(lambda m, x: m(x)[0]), tx.hessian(total)):
        with pytest.raises(NotDifferentiable, match="Jacobian by a module"):
            derivative(Block(), X)
    assert tx.jacobian(lambda m, x: m(x)[0], wrt="x")(Block(), X).shape == (4, 2, 3)


def test_modules_in_structures():
    params = {"nets": [Block(), Block(seed=4)], "scale": 2.0}

    def loss(params, x):
        return sum(np.sum(net(x)) for net in params["nets"]) * params["scale"]

    gradient = tx.grad(loss)(params, X)
    assert [type(net) for net in gradient["nets"]] == [Block, Block] and gradient["nets"][1].power == 2.0
    np.testing.assert_allclose(gradient["nets"][0].first.bias, 2.0 * tx.grad(total)(Block(), X).first.bias)
    new, _ = tx.optim.SGD(lr=0.5).update(params, gradient, tx.optim.SGD(lr=0.5).init(params))
    assert new["scale"] == 2.0 - 0.5 * gradient["scale"] and isinstance(new["nets"][0].scale, nn.Parameter)


def test_tied_parameters_have_one_gradient():
    class Tied(nn.Module):
        def __init__(self):
            self.a = nn.Linear(3, 3, bias=False, generator=1)
            self.b = nn.Linear(3, 3, bias=False, generator=2)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(np.tanh(self.a(x)))

    model = Tied()
    assert [name for name, _ in model.named_parameters()] == ["a.weight"]
    assert set(model.state_dict()) == {"a.weight", "b.weight"}
    total(model, X).backward()
    gradient = tx.grad(total)(model, X)
    np.testing.assert_allclose(gradient.a.weight, model.a.weight.grad.current, rtol=1e-12)
    np.testing.assert_array_equal(gradient.b.weight, gradient.a.weight)
    shared = nn.Sequential(*2 * [nn.Linear(3, 3, generator=1)], nn.Tanh())
    total(shared, X).backward()
    found = dict(tx.grad(total)(shared, X).named_parameters())
    np.testing.assert_allclose(found["0.weight"], shared[0].weight.grad.current, rtol=1e-12)
    shared[0].weight.requires_grad_(False)
    gradient = tx.grad(total)(shared, X)
    assert gradient[1].weight is None
    np.testing.assert_allclose(gradient[1].bias, found["0.bias"], rtol=1e-12)
    moved = model.with_parameters({"a.weight": np.zeros((3, 3))})
    assert moved.b.weight is moved.a.weight


def test_state_goes_to_a_file_and_back(tmp_path):
    model, other = Block(), Block(seed=9)
    model.seen[...] = 7.0
    before = other.first.weight
    model.save(tmp_path / "model.npz")
    assert other.load(tmp_path / "model.npz") is other
    assert other.first.weight is before  # written in place: optimisers go on with it
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], value)
    assert np.array_equal(other.seen, [7.0, 7.0]) and other.seen is not model.seen


def test_a_state_that_does_not_fit_is_refused():
    model, state = Block(), Block(seed=3).state_dict()
    before = model.state_dict()
    with pytest.raises(KeyError, match=r"missing: scale; unknown: scales"):
        model.load_state_dict({**{k: v for k, v in state.items() if k != "scale"}, "scales": 1.0})
    with pytest.raises(ValueError, match=r"shape of first\.weight"):
        model.load_state_dict({**state, "first.weight": np.zeros((3, 4))})
    assert all(np.array_equal(before[name], value) for name, value in model.state_dict().items())
    model.load_state_dict({"scale": 3.0}, strict=False)
    assert float(model.scale.detach()) == 3.0


def test_modes_and_gradients():
    model = nn.Sequential(nn.Linear(3, 3, generator=0), nn.Dropout(0.5, generator=0))
    assert model.training and model.eval() is model
    assert not any(module.training for module in model.modules())
    assert all(module.training for module in model.train().modules())
    total(model, X).backward()
    model.zero_grad(set_to_none=False)
    assert np.array_equal(model[0].bias.grad.current, np.zeros(3))
    model.zero_grad()
    assert model[0].bias.grad is None
    model.requires_grad_(False)
    assert not model(X).requires_grad and isinstance(model[0].weight, nn.Parameter)


def test_hooks():
    model, seen = nn.Linear(3, 2, generator=0), []
    first = model.register_forward_hook(lambda module, args, result: seen.append(result.shape))
    second = model.register_forward_hook(lambda module, args, result: 2.0 * result)
    doubled = model(X).detach()
    first.remove()
    third = model(X)
    second.remove()
    np.testing.assert_allclose(doubled.current, 2.0 * model(X).current)
    np.testing.assert_allclose(doubled.current, third.current)
    assert seen == [(2, 2)] and "_hooks" not in vars(model)


def double(module, args, result):
    return 2.0 * result


def test_a_hook_is_compiled():
    plain, hooked = nn.Linear(3, 2, generator=0), nn.Linear(3, 2, generator=0)
    hooked.register_forward_hook(double)
    np.testing.assert_allclose(tx.grad(total)(hooked, X).bias, 2.0 * tx.grad(total)(plain, X).bias)


def test_copies_are_models_of_their_own():
    model = Block()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert [name for name, _ in other.named_parameters()] == NAMES
        with tx.no_grad():
            other.scale[...] = 9.0
        assert float(model.scale.detach()) == 0.5 and other(X).requires_grad
    arrays = model.arrays()
    arrays.scale[...] = 4.0  # shares memory
    assert float(model.scale.detach()) == 4.0


def test_shown_with_the_number_of_parameters():
    text = repr(Block())
    assert text.startswith("Block(  # 37 parameters\n  (first): Linear(3, 4)  # 16 parameters\n")
    assert "  (rest.1): Tanh()\n" in text


def test_a_class_without_forward_says_so():
    class Empty(nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="Empty has no `forward`"):
        Empty()(X)


def test_optimisers_take_models():
    model, opt = Block(), tx.optim.SGD(lr=0.1)
    gradient = tx.grad(total)(model, X)
    new, _ = opt.update(model, gradient, opt.init(model))
    assert type(new) is Block and isinstance(new.scale, nn.Parameter) and new.power == 2.0
    np.testing.assert_allclose(new.first.weight.current, model.first.weight.current - 0.1 * gradient.first.weight)
    arrays, _ = opt.update(model.arrays(), gradient, opt.init(model))
    np.testing.assert_array_equal(arrays.first.weight, new.first.weight.current)
    total(model, X).backward()
    tx.optim.SGD(model.parameters(), lr=0.1).step()
    np.testing.assert_allclose(model.first.weight.current, new.first.weight.current, rtol=1e-12)


def test_a_wrong_shape_is_said_with_the_layer_that_met_it():
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(5, 2)))
    with pytest.raises(ValueError, match=r"Linear expects .* lengths \(5,\), and got the shape \(2, 4\)") as caught:
        model(np.ones((2, 3)))
    assert caught.value.__notes__ == [
        "in the layer Linear(5, 2), given arrays of shape (2, 4)",
        "which is `1` of Sequential",
        "which is `1` of Sequential",
    ]


def test_a_dict_of_modules():
    class Either(nn.Module):
        def __init__(self):
            self.ways = nn.ModuleDict({"left": nn.Linear(2, 1, generator=0), "right": nn.Tanh()})

        def forward(self, x):
            return self.ways["right"](self.ways["left"](x))

    model, x = Either(), np.ones((3, 2))
    assert [name for name, _ in model.named_parameters()] == ["ways.left.weight", "ways.left.bias"]
    gradient = tx.grad(lambda model, x: np.sum(model(x)), fallback="error")(model, x)
    np.sum(model(x)).backward()
    np.testing.assert_allclose(gradient.ways["left"].weight, model.ways["left"].weight.grad.numpy(), rtol=1e-14)


def test_a_model_that_a_function_captures():
    model, x = nn.Sequential(nn.Linear(3, 2, generator=0), nn.Tanh()), np.ones((4, 3))
    by_x = tx.grad(lambda model, x: np.sum(model(x) ** 2), wrt="x")(model, x)
    with pytest.raises(tx.NotResolved, match=r"has Tensors for its parameters(.*\n)*.*`model.arrays\(\)`"):
        tx.grad(lambda x: np.sum(model(x) ** 2), fallback="error")(x)
    with pytest.warns(tx.FallbackWarning, match="has Tensors for its parameters"):
        gradient = tx.grad(lambda x: np.sum(model(x) ** 2))(x)
    np.testing.assert_allclose(gradient.detach().numpy(), by_x, rtol=1e-14)
    plain = model.arrays()
    np.testing.assert_allclose(tx.grad(lambda x: np.sum(plain(x) ** 2), fallback="error")(x), by_x, rtol=1e-14)


class Logarithms(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 2, generator=0)

    def forward(self, x):
        return np.log(self.linear(x) * 0.0 - 1.0)


def test_the_layer_that_makes_nan_is_named():
    model = nn.Sequential(nn.Linear(2, 2, generator=1), Logarithms())
    with np.errstate(invalid="ignore"), tx.autograd.detect_anomaly():
        with pytest.raises(NotDifferentiable, match=f"{__file__}:.*`log` gives the first number that is not") as caught:
            np.sum(model(np.ones((1, 2)))).backward()
        model(np.full((1, 2), np.nan))  # it was not finite before
    assert caught.value.__notes__[0].startswith("in the layer Logarithms(")
    assert caught.value.__notes__[1] == "which is `1` of Sequential"


@pytest.mark.parametrize(
    "hooks",
    [
        [lambda module, args: (2.0 * args[0],), lambda module, args: (args[0] + 1.0,)],
        [lambda module, args: 2.0 * args[0] + 1.0],
    ],
)
def test_hooks_before_a_forward(hooks):
    layer, plain = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)
    plain.load_state_dict(layer.state_dict())
    handles = [layer.register_forward_pre_hook(hook) for hook in hooks]
    x = np.array([[1.0, 2.0]])

    def squares(layer, x):
        return np.sum(layer(x) ** 2)

    value, gradient = tx.value_and_grad(squares, wrt="x", fallback="error")(layer, x)
    wanted, through = tx.value_and_grad(squares, wrt="x")(plain, 2.0 * x + 1.0)
    assert value == pytest.approx(wanted) and gradient == pytest.approx(2.0 * through)
    last = layer.register_forward_pre_hook(lambda module, args: None)
    assert float(squares(layer, x).detach()) == pytest.approx(wanted)
    for handle in (*handles, last):
        handle.remove()
    assert float(squares(layer, x).detach()) == pytest.approx(float(squares(plain, x).detach()))
    assert layer.__dict__.keys() == plain.__dict__.keys()


class Logs(nn.Module):
    def forward(self, x):
        shifted = x - 100.0
        logs = np.log(shifted)  # the line
        return logs * 2.0


def logs_of(model, x):
    return model(x).sum()


@pytest.mark.parametrize(
    "run",
    [
        lambda model, x: logs_of(model, x).backward(),
        lambda model, x: tx.value_and_grad(logs_of)(model, x),
        lambda model, x: tx.value_and_grad(logs_of, jit="python")(model, x),
    ],
)
@pytest.mark.filterwarnings("ignore::tangentx.JitWarning")
def test_an_anomaly_names_layer_and_line(run):
    model = nn.Sequential(nn.Linear(2, 3, generator=0), Logs())
    with np.errstate(all="ignore"), tx.autograd.detect_anomaly():
        with pytest.raises(
            tx.NotDifferentiable, match=r"`log` gives the first number(.*\n)* *logs = np\.log\(shifted"
        ) as e:
            run(model, np.ones((4, 2)))
    assert e.value.__notes__ == ["in the layer Logs(), given arrays of shape (4, 3)", "which is `1` of Sequential"]


def test_what_strangers_write():
    with pytest.raises(TypeError, match="Sequential: layer 1 is an int, and no Module"):
        nn.Sequential(nn.ReLU(), 3)
    with pytest.raises(ValueError, match='"sum" or "none", not \'avg\''):
        nn.functional.mse_loss(np.ones(2), np.ones(2), reduction="avg")
    with pytest.raises(tx.NotDifferentiable, match=r"Instead: give the module on plain arrays: `model\.arrays\(\)`"):
        tx.jit(logs_of, jit="python")(nn.Linear(2, 3), np.ones((4, 2)))
    assert nn.Linear(2, 3).cpu().weight.device == "cpu"
