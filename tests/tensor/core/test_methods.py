"""What a Tensor understands of Python and NumPy."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tangentx as tx


def leaf(data: Any) -> Any:
    return tx.tensor(data, requires_grad=True)


def test_importing_the_package_leaves_tensors_alone() -> None:
    code = "import sys, tangentx; print([n for n in sys.modules if n.startswith('tangentx.tensor')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_is_the_function() -> None:
    assert callable(tx.tensor) and "Tensor" in (tx.tensor.__doc__ or "")
    assert "tensor" in dir(tx)
    with pytest.raises(AttributeError, match="no attribute 'tensors'"):
        tx.tensors  # type: ignore[attr-defined]


def test_python_protocols() -> None:
    t = leaf([1.0, 2.5])
    assert len(t) == 2 and [float(v) for v in t] == [1.0, 2.5] and 2.5 in t
    assert f"{leaf(2.0):.2f}" == "2.00" and str(t) == "[1.  2.5]"
    assert repr(t) == "tensor([1. , 2.5], requires_grad=True)" and "MulBackward" in repr(t * t)
    assert bool(leaf(1.0)) and int(leaf(2.7)) == 2 and round(leaf(2.6)) == 3 and complex(leaf(1.0)) == 1.0
    assert [0, 1, 2][tx.tensor(1)] == 1
    assert (t > 2.0).tolist() == [False, True] and type(t > 2.0) is np.ndarray
    assert hash(t) == hash(t) and len({t, t}) == 1
    assert [float(v) for v in divmod(leaf(7.0), 2.0)] == [3.0, 1.0]
    assert t.item(1) == 2.5 and t.tolist() == [1.0, 2.5] and leaf(3.0).item() == 3.0


def test_isinstance_goes_by_the_data() -> None:
    def scaled(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return x * 2.0
        return x * 3.0

    assert scaled(np.ones(2)).tolist() == scaled(leaf([1.0, 1.0])).tolist()
    assert isinstance(leaf([1.0]), tx.Tensor) and type(leaf([1.0])) is tx.Tensor
    assert isinstance(leaf([1.0]).sum(), np.float64)


def test_pickling_and_copying() -> None:
    t = leaf([1.0, 2.0])
    t.grad = [3.0, 4.0]
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert type(other) is tx.Tensor and other.requires_grad
        assert other.tolist() == [1.0, 2.0] and other.grad.tolist() == [3.0, 4.0]
        with tx.no_grad():
            other[0] = 9.0
    assert t.tolist() == [1.0, 2.0]
    with pytest.raises(tx.NotDifferentiable, match=r"detach\(\)"):
        pickle.dumps(t * 2)


def test_numbers_stay_numbers() -> None:
    t = leaf([1.0, 2.0])
    assert type(t.sum().detach().numpy()) is np.float64
    y = t[0]
    y += 1.0
    assert t.tolist() == [1.0, 2.0] and float(y) == 2.0


def test_methods_of_ufuncs() -> None:
    t = leaf(np.arange(6.0).reshape(2, 3))
    assert np.add.reduce(t).tolist() == [3.0, 5.0, 7.0]
    assert np.multiply.reduce(t, axis=1).tolist() == [0.0, 60.0]
    assert np.add.accumulate(t, 1).tolist() == [[0.0, 1.0, 3.0], [3.0, 7.0, 12.0]]
    assert np.multiply.outer(t[0], t[1]).grad_fn is not None
    np.testing.assert_array_equal(
        np.subtract.outer(t[0], t[1]).detach().numpy(), np.subtract.outer(*np.arange(6.0).reshape(2, 3))
    )
    with pytest.raises(tx.NoTemplate, match="reduceat"):
        np.hypot.reduceat(t, [0, 1])


def test_an_operation_without_a_rule_is_refused_where_it_counts() -> None:
    t = leaf(np.eye(2))
    with pytest.raises(tx.NoTemplate, match=r"(?s)test_methods.*`np.histogramdd` has no derivative"):
        np.histogramdd(t)
    counts, _ = np.histogramdd(t.detach(), bins=2)
    assert counts.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert np.multiply(t, t, dtype=np.float32).dtype == np.float32


def test_constants_and_conversions() -> None:
    t = leaf([1.2, 2.7])
    assert t.argmax() == 1 and type(t.argmax()) is np.int64
    assert type(np.floor(t)) is tx.Tensor and not np.floor(t).requires_grad
    assert type(np.zeros_like(t)) is tx.Tensor
    assert t.astype(np.float32).dtype == np.float32
    with pytest.raises(tx.NotDifferentiable, match="device"):
        tx.tensor([1.0], device="cuda:0")
    with pytest.raises(tx.NotDifferentiable, match="cannot hold"):
        tx.tensor(["a"])


def test_operands_of_other_types_are_pythons_business() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        leaf(1.0) + "a"


def masked(x: Any) -> Any:
    np.putmask(x, x > 1.2, x[:2] ** 2)
    return x


def flat_again(x: Any) -> Any:
    x.flat = x[:2] * x[2]
    x.view()[0] = 3.0 * x.view(float)[1]
    return x


def through_windows(x: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, 2)
    x[1] = x[0] * x[2]
    return windows[0] * windows[1:, 1]


def both_parts(x: Any) -> Any:
    whole, rest = 1.0 * x, 1.0 * x
    np.divmod(5.0 * x, 2.0, out=(whole, rest))
    return whole * rest * x


@pytest.mark.parametrize("change", [masked, flat_again, through_windows, both_parts], ids=lambda f: f.__name__)
def test_writes_by_other_names(change: Any) -> None:
    data = np.array([0.9, 1.3, 1.7])
    t = leaf(data)
    np.sum(change(1.0 * t) ** 2).backward()
    steps = 1e-6 * np.eye(3)
    slopes = [(np.sum(change(data + h) ** 2) - np.sum(change(data - h) ** 2)) / 2e-6 for h in steps]
    np.testing.assert_allclose(t.grad.current, slopes, rtol=1e-6)


def test_a_view_of_another_dtype_is_refused() -> None:
    z = leaf([1.0, 2.0]) * 1j
    with pytest.raises(tx.NoTemplate, match="view of another dtype"):
        z.view(np.float32)


def test_parts_of_complex_numbers_share_their_memory() -> None:
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = 1.0 * x
    z = y.view(complex)
    z[0] = 1j * z[1] * x[0]
    parts = z.view(float)
    parts[3] = 5.0 * x[1]
    np.testing.assert_allclose(y.current, [-4.0, 3.0, 3.0, 10.0])
    np.sum(y * np.array([1.0, 10.0, 100.0, 1000.0])).backward()
    np.testing.assert_allclose(x.grad.current, [-4.0 + 30.0, 5000.0, 10.0 + 100.0, -1.0])


def test_an_element_of_a_plain_array_keeps_no_history() -> None:
    t, plain = leaf(2.0) * 3.0, np.zeros(3)
    assert float(t) == 6.0 and complex(t) == 6.0
    for array, place in ((plain, 1), (plain, (0,)), (np.zeros(2, complex), 0)):
        with pytest.raises((tx.NotDifferentiable, ValueError)) as caught:  # ours, or NumPy's because of ours
            array[place] = t
        assert "storing it in a plain array" in f"{caught.value} {caught.value.__cause__}"
    with pytest.raises(tx.NotDifferentiable, match="plain"):
        plain[1:2] = t
    with tx.no_grad():
        plain[0] = t
    plain[1], plain[2] = t.detach(), float(t)
    assert plain.tolist() == [6.0, 6.0, 6.0]
