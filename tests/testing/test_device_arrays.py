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
    for value in (x[0, 0], x.sum(), np.max(x), np.add.reduce(x, axis=None), x[0] @ x[1]):
        assert type(value) is DeviceArray and value.shape == ()
    assert transfers.down == 0


def test_views_share_memory(x):
    row = x[0]
    row[...] = 7.0
    row += 1.0
    assert x.T.get()[:, 0].tolist() == [8.0, 8.0]


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
    assert transfers.down == 6
    assert [1, 2, 3][DeviceArray(np.array(1))] == 2
    assert (transfers.down, transfers.up) == (7, 1)
    assert (x + np.float64(1.0)).get().tolist() == (X + 1.0).tolist()


def test_a_derivative_that_is_given_one_is_refused():
    for args in ((DeviceArray(X), X), (X, DeviceArray(X))):
        with pytest.raises(tx.NotDifferentiable, match=r"DeviceArray lies on a device(.*\n)*Instead: .*x\.get\(\)"):
            tx.grad(lambda a, b: np.sum(a * b))(*args)


def test_tensors_say_where_they_are():
    t = tx.tensor(X)
    assert t.device == "cpu" and t.cpu() is t
    copy = t.numpy()
    assert type(copy) is np.ndarray and copy.tolist() == X.tolist()
    with pytest.raises(tx.NotDifferentiable, match="there is no device 'cuda:0'"):
        tx.tensor(X, device="cuda:0")
    with pytest.raises((TypeError, tx.NotDifferentiable)):
        t + DeviceArray(X)


def mapped(change: Any, value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(mapped(change, item) for item in value)
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
