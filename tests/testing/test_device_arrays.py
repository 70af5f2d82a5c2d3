"""The double of CuPy's arrays refuses what they refuse, and says which rules ask for no transfer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.arrays import has_derivative
from tangentx.templates import Template, examples, find, templates
from tangentx.templates.registry import bind
from tangentx.testing import device_arrays
from tangentx.testing.device_arrays import DeviceArray, transfers

X = np.array([[1.0, 2.0], [3.0, 4.0]])
LISTED = Path(__file__).with_name("on_devices.txt")


@pytest.fixture
def x():
    made = DeviceArray(X)
    transfers.reset()
    return made


def test_it_computes_where_it_is(x):
    y = np.sum(np.exp(x[0]) @ x * 2.0 - x.mean(axis=0)) + np.linalg.det(x)
    assert type(y) is DeviceArray and y.shape == () and y.ndim == 0
    assert transfers.down == transfers.up == 0
    wanted = np.sum(np.exp(X[0]) @ X * 2.0 - X.mean(axis=0)) + np.linalg.det(X)
    assert y.get() == pytest.approx(wanted)
    assert transfers.down == 1


def test_zero_axes_stay_arrays(x):
    for value in (x[0, 0], x.sum(), np.max(x), device_arrays.add.reduce(x, axis=None), x[0] @ x[1]):
        assert type(value) is DeviceArray and value.shape == ()
    assert transfers.down == 0


def test_views_share_memory(x):
    row = x[0]
    row[...] = 7.0
    row += 1.0
    first = x[0, 0]
    first += 1.0
    assert x.T.get()[:, 0].tolist() == [9.0, 8.0]


@pytest.mark.parametrize(
    "mixed",
    [
        lambda x: np.add(x, X),
        lambda x: np.add(X, x),
        lambda x: x + X,
        lambda x: X + x,
        lambda x: np.concatenate([x, X]),
        lambda x: np.dot(x, X),
        lambda x: x[np.array([0, 1])],
        lambda x: x.__setitem__(0, X[0]),
        lambda x: np.add(x, x, out=X.copy()),
        lambda x: x.dot(X),
        lambda x: np.where(X > 1.0, x, x),
        lambda x: np.add.reduce(x),
        lambda x: np.add.at(x, 0, 1.0),
    ],
)
def test_memory_is_not_mixed(x, mixed):
    with pytest.raises(TypeError):
        mixed(x)
    assert transfers.down == transfers.up == 0


def test_it_does_not_become_an_array_of_numpys(x):
    for convert in (np.asarray, np.array, lambda v: X[:] + np.asarray(v)):
        with pytest.raises(TypeError, match=r"Use `\.get\(\)`"):
            convert(x)
    with pytest.raises(TypeError):
        hash(x)
    with pytest.raises(TypeError, match="no implementation found"):
        np.trim_zeros(x[0])
    with pytest.raises(AttributeError):
        x.ctypes


def test_transfers_are_counted(x):
    total = x.sum()
    assert [float(total), int(total), bool(total > 1.0), total.item(), total.tolist(), complex(total)][0] == 10.0
    assert (transfers.down, transfers.up) == (6, 0)
    with pytest.raises(TypeError):  # which CuPy has not
        [1, 2, 3][DeviceArray(np.array(1))]
    assert (x + np.float64(1.0)).get().tolist() == (X + 1.0).tolist()


def test_mixed_arguments_are_refused_where_they_meet():
    def product(a, b):
        return np.sum(a * b)

    def sine(a, b):
        return np.sum(device_arrays.sin(a)) + np.sum(b)

    for args in ((DeviceArray(X), X), (X, DeviceArray(X))):
        with pytest.raises(tx.NotResolved, match=r"return np\.sum\(a \* b\)\n *\^(.*\n)*Instead: .*x\.get\(\)"):
            tx.grad(product)(*args)
    with pytest.raises(tx.NotResolved, match=r"`cp\.sin` is given an array of float64 of rank 2, which is NumPy's"):
        tx.grad(sine)(X, X)


def energy(p, x):
    h = np.tanh(x @ p["w"] + p["b"])
    return np.mean((h @ p["v"]) ** 2) + p["w"][0, 1] * p["b"][0]


def vector(x):
    return np.exp(x) * x[0]


DRAW = np.random.default_rng(4)
P = {"w": DRAW.normal(size=(2, 3)), "b": DRAW.normal(size=3), "v": DRAW.normal(size=3)}
V = np.array([0.3, -0.2, 0.7])


@pytest.mark.parametrize(
    "ask",
    [
        lambda put: tx.value_and_grad(energy)(put(P), put(X)),
        lambda put: tx.jvp(energy, (put(P), put(X)), (put(P), put(X))),
        lambda put: tx.hvp(energy, (put(P), put(X)), (put(P), put(X))),
        lambda put: tx.vjp(vector, put(V))[1](put(V)),
        lambda put: tx.linearize(vector, put(V))[1](put(V)),
        lambda put: tx.jacrev(vector)(put(V)),
        lambda put: tx.jacfwd(vector)(put(V)),
        lambda put: tx.hessian(lambda x: np.sum(vector(x)))(put(V)),
        lambda put: tx.grad(lambda x: np.sum(tx.grad(lambda y: np.sum(vector(y)))(x) ** 2))(put(V)),
        lambda put: tx.vmap(vector)(put(np.stack([V, 2.0 * V]))),
        lambda put: tx.grad(lambda x: (np.sum(x * x), x * 2.0), has_aux=True)(put(V)),
    ],
)
def test_every_derivative_stays_where_its_arguments_are(ask):
    wanted = flat(ask(lambda value: value))
    transfers.reset()
    found = flat(ask(there))
    assert transfers.down == 0 and all(type(leaf) is DeviceArray for leaf in found)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-12, atol=1e-12)


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, list | tuple) else [value]


def test_a_transfer_that_the_program_asks_for_has_a_derivative():
    def there_and_back(x, w):
        hidden = device_arrays.asarray(x) * w
        return np.sum(hidden.get() ** 2) + np.sum(device_arrays.asnumpy(w))

    x, w = np.array([1.0, 2.0]), DeviceArray(np.array([3.0, 4.0]))
    x_bar, w_bar = tx.grad(there_and_back, wrt=("x", "w"), fallback="error")(x, w)
    assert type(x_bar) is np.ndarray and x_bar.tolist() == [18.0, 64.0]
    assert type(w_bar) is DeviceArray and w_bar.get().tolist() == [7.0, 33.0]


def test_a_number_of_pythons_gets_its_gradient_by_one_transfer():
    def decayed(x, rate):
        for _ in range(5):
            x = x - rate * x + np.sin(rate * x)
        return np.sum(x)

    gradient = tx.grad(decayed, wrt=("x", "rate"))
    wanted = gradient(V, 0.3)
    x = DeviceArray(V)
    transfers.reset()
    found = gradient(x, 0.3)
    assert (transfers.down, transfers.up) == (1, 0) and type(found[1]) is float
    assert found[0].get() == pytest.approx(wanted[0]) and found[1] == pytest.approx(wanted[1])


def test_programs_that_cannot_be_compiled_are_refused():
    def odd(x):
        return sum(v for v in (t * t for t in [x[0], x[1]]))

    with pytest.raises(tx.UnsupportedSyntax, match="a generator expression"):
        tx.grad(odd)(DeviceArray(V))


def test_what_shares_memory_on_a_device():
    def written(parts):
        parts[0][0] = parts[1][1] * 2.0
        return np.sum(parts[0] * parts[1])

    whole = np.array([1.0, 2.0, 3.0, 4.0])
    there_whole = DeviceArray(whole)
    found = tx.grad(written)([there_whole[:2], there_whole[2:]])
    wanted = tx.grad(written)([whole[:2], whole[2:]])
    assert [part.get().tolist() for part in found] == [part.tolist() for part in wanted]
    with pytest.raises(tx.SharedMemory):
        tx.grad(written)([there_whole[:3], there_whole[1:]])
    assert there_whole.get().tolist() == whole.tolist()


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(np.tensordot(x, x, axes=([1], [0])) ** 2),
        lambda x: np.sum(np.take(x, 1, axis=1) ** 2),
        lambda x: np.sum(np.pad(x, 1) ** 2) + np.sum(np.convolve(x[0], x[1]) ** 2),
        lambda x: np.average(x[0], weights=x[1]) ** 2,
        lambda x: np.sum(device_arrays.lib.stride_tricks.sliding_window_view(x * x, 2, 1) ** 2),
    ],
)
def test_reverse_sweeps_stay_there(program):
    x = DeviceArray(X)
    found = tx.grad(program, fallback="error")(x)

    def at(step):
        return float(program(DeviceArray(X + step)))

    assert float(found.sum()) == pytest.approx((at(1e-6) - at(-1e-6)) / 2e-6, rel=1e-6)


def mapped(change: Any, value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(mapped(change, item) for item in value)
    if type(value) is dict:
        return {key: mapped(change, item) for key, item in value.items()}
    return change(value)


def there(value: Any) -> Any:
    return mapped(lambda v: DeviceArray(v) if isinstance(v, np.ndarray | np.generic) else v, value)


def seed_of(value: Any) -> Any:
    draw = np.random.default_rng(3)

    def one(v: Any) -> Any:
        if not has_derivative(v):
            return None
        step = draw.normal(size=np.shape(v))
        return np.asarray(step) if isinstance(v, np.ndarray) else type(v)(step)

    return mapped(one, value)


def body_of(template: Template, example: Any, put: Any) -> Any:
    """What the body of a rule gives for an example, whose data `put` brings to their place."""
    import engine

    ans = example.fn(*example.args, **example.kwargs)
    bound = {name: put(value) for name, value in bind(template, example.args, example.kwargs).items()}
    return engine._call(template.body, template, bound, {"ans": put(ans), "ans_bar": put(seed_of(ans))})


def stays(template: Template, example: Any) -> bool:
    """Whether a rule works on a device: with the same result, no transfer, and no memory of the host's in between."""
    wanted = body_of(template, example, lambda value: value)
    transfers.reset()
    try:
        found = body_of(template, example, there)
        down = transfers.down
        found, wanted = ([v] if not isinstance(v, tuple) else list(v) for v in (found, wanted))
        pairs = zip(leaves(found), leaves(wanted), strict=True)
        for ours, theirs in pairs:
            if has_derivative(theirs):
                ours = ours.get() if type(ours) is DeviceArray else ours
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    except Exception:
        return False
    return down == 0


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list | tuple) else [value]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_rules_that_work_on_devices_go_on_to(monkeypatch):
    """on_devices.txt names them. ``python -m tests.testing.test_device_arrays`` writes it anew."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "templates")
    assert find(np.exp) is not None
    found = working()
    listed = LISTED.read_text().split()
    assert len(listed) > 200
    assert [name for name in listed if name not in found] == []


def working() -> set[str]:
    """The names of the rules that work on devices in all of their examples with arrays."""
    names: dict[str, bool] = {}
    with np.errstate(all="ignore"):
        for template in templates():
            for example in examples(template) if template.kind != "constant" else ():
                if not any(type(arg) is np.ndarray for arg in example.args):
                    continue
                try:
                    names[template.name] = stays(template, example) and names.get(template.name, True)
                except (TypeError, ValueError, IndexError):  # the drawn seed does not fit
                    continue
    return {name for name, works in names.items() if works}


if __name__ == "__main__":
    import sys

    from tangentx.templates.libraries import import_all

    import_all()
    sys.path.insert(0, str(Path(__file__).parents[1] / "templates"))
    LISTED.write_text("\n".join(sorted(working())) + "\n")


def test_functions_of_cupys_take_tensors(x):
    t = tx.tensor(x, requires_grad=True)
    y = device_arrays.add(device_arrays.sin(t), x) * device_arrays.multiply(x, t)
    y.sum().backward()
    assert type(t.grad.current) is DeviceArray
    assert y.device == "cuda:0" and transfers.down == 0
    np.testing.assert_allclose(t.grad.current.get(), X * np.cos(X) * X + (np.sin(X) + X) * X)


@pytest.mark.parametrize("mixed", [device_arrays.add, lambda x, t: device_arrays.add(t, x), lambda x, t: x * t, np.add])
def test_a_tensor_here_and_an_array_there_are_not_mixed(x, mixed):
    with pytest.raises(tx.NotDifferentiable, match="cuda:0 and one of NumPy's") as caught:
        mixed(x, tx.tensor(X, requires_grad=True))
    assert "test_device_arrays.py" in str(caught.value)


def test_a_kernel_of_cupys_alone_is_refused_for_tensors(x):
    class Kernel:
        name = "squared_diff"

        def __call__(self, *args):
            return args[0].__cupy_override_elementwise_kernel__(self, *args)

    with pytest.raises(tx.NotDifferentiable, match="`squared_diff` of CuPy's has no derivative"):
        Kernel()(tx.tensor(x, requires_grad=True))
