"""Writes and views: gradients as ndarray semantics have them, values that backward needs kept, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import Derivatives, check_grads
from tests.tensor.derivatives import ON_TENSORS

x0 = np.array([0.3, 1.2, 0.7, -0.4])
DERIVATIVES: Derivatives = ON_TENSORS


def elements(x):
    a = x * 1.0
    a[0] = a[1] * a[2]
    a[3] = a[0] * a[0]
    return np.sum(a * a)


def shifted(x):
    a = x * 1.0
    a[1:] = a[:-1]
    a[0] = a[0]
    return np.sum(a * np.arange(4.0) * a)


def through_a_view(x):
    a = x * 2.0
    b = a[1:3]
    b[:] = b * a[0]
    b += 1.0
    return np.sum(a**2) + b[0]


def through_views_of_views(x):
    a = x.reshape(2, 2) * 1.0
    row = a.T[1]
    row[0] = 3.0 * row[1]
    flat = a.reshape(4)
    flat[2:] *= flat[:2]
    return np.sum(a**3) + row[1]


def view_made_before(x):
    a = np.zeros_like(x)
    part = a[:2]
    a[0] = x[0] * x[1]
    part[1] = x[2]
    return np.sum(part * part) + np.sum(a)


def shapes_set(x):
    a = x * 2.0
    part, grid = a[1:3], a.reshape(2, 2)
    before = a * a
    a.shape = (2, 2)
    a[1] *= a[0]
    part[0] = x[0] * 5.0
    grid[0, 1] = x[1]
    turned = a.T
    a.shape = -1
    a[1:] -= a[:-1]
    turned[0, 1] = turned[0, 0] * 3.0
    part.shape = (2, 1)
    part *= 2.0
    return np.sum(before) + np.sum(a**3) + np.sum(part) + np.sum(grid * turned)


def repeated_index(x):
    a = x * 1.0
    a[np.array([0, 0, 1])] = x[1:]
    return np.sum(a * a)


def masked(x):
    a = x * 1.0
    a[a < 0.5] = x[0] * x[1]
    return np.sum(a**3)


def kept(x):
    a = np.exp(x)
    b = a * a
    a[0] = 0.0
    a *= 2.0
    return np.sum(b) + np.sum(a * a)


def plain_operand_changes(x):
    weights = np.ones(4)
    total = 0.0
    for k in range(3):
        total = total + np.sum(x * x * weights)
        weights[k] = 5.0
    return total


def numbers_rebind(x):
    total = x[0]
    other = total
    total += x[1]
    return total * other


def added_at(x):
    a = x * 1.0
    np.add.at(a, np.array([0, 0, 1]), x[1:] * x[0])
    np.subtract.at(a, np.array([2]), x[:1])
    return np.sum(a * a)


def with_out(x):
    a = np.zeros_like(x)
    np.multiply(x, x, out=a)
    np.sin(x, out=a, where=x > 0.5)
    np.copyto(a[:1], x[3:])
    return np.sum(a * x)


def sorted_in_place(x):
    a = x * x
    a.sort()
    np.fill_diagonal(a.reshape(2, 2), x[0])
    return np.sum(a * np.arange(4.0))


def broadcast_into(x):
    a = x.reshape(2, 2) * 1.0
    a[...] = x[:2] * x[1]
    a[1] = x[0]
    return np.sum(a * a * a)


PROGRAMS: list[Callable[..., Any]] = [
    elements, shifted, through_a_view, through_views_of_views, view_made_before, shapes_set, repeated_index, masked,
    kept, plain_operand_changes, numbers_rebind, added_at, with_out, sorted_in_place, broadcast_into,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_of_writes(f: Callable[..., Any]) -> None:
    check_grads(f, (x0,), modes=("reverse",), using=DERIVATIVES)


def test_a_view_has_the_memory_of_its_base() -> None:
    a = tx.tensor(np.arange(6.0).reshape(2, 3))
    a.T[0, 1] = 10.0
    a.ravel()[0] = 20.0
    assert a.tolist() == [[20.0, 1.0, 2.0], [10.0, 4.0, 5.0]]
    row = a[1]
    a[1, 2] = 7.0
    assert row.tolist() == [10.0, 4.0, 7.0]
    assert float(a[0][1]) == 1.0


def test_a_value_in_memory_that_was_handed_out_is_refused_with_both_lines() -> None:
    a = tx.tensor([1.0, 2.0])
    x = tx.tensor([3.0, 4.0], requires_grad=True)
    shown = a.numpy()
    y = a * x  # first line
    a[0] = 5.0  # second line
    assert shown[0] == 5.0
    with pytest.raises(tx.NotDifferentiable) as caught:
        y.sum().backward()
    first = y.grad_fn.line
    assert f"test_storage.py:{first}: " in str(caught.value)
    assert f"overwritten at {__file__}:{first + 1}" in str(caught.value)


def test_a_value_in_memory_of_ours_is_kept() -> None:
    a = tx.tensor([1.0, 2.0])
    x = tx.tensor([3.0, 4.0], requires_grad=True)
    view = a[1:]
    y = a * x
    a[0] = 5.0
    a[1] = 6.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
    assert a.tolist() == [5.0, 6.0] and view.tolist() == [6.0]


def test_leaves_are_not_written_but_under_no_grad() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    for write in (lambda: x.__setitem__(0, 1.0), lambda: x.mul_(2.0), lambda: x[1:].add_(1.0), lambda: x.fill(1.0)):
        with pytest.raises(tx.NotDifferentiable, match=r"no_grad"):
            write()
    with tx.no_grad():
        x[0] = 5.0
        x.mul_(2.0)
        x[1:].add_(1.0)
    assert x.tolist() == [10.0, 5.0] and x.is_leaf and x.requires_grad


def test_what_ndarrays_refuse_is_refused() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True) * 1.0
    with pytest.raises(ValueError, match="broadcast"):
        x += np.ones((2, 2))
    with pytest.raises(ValueError, match="broadcast"):
        x += np.ones((1, 2))
    with pytest.raises(TypeError, match="complex"):
        x += 1j
    with pytest.raises(TypeError, match="no items"):
        x[0][...] = 1.0
    with pytest.raises(IndexError):
        x[5] = 1.0
    with pytest.raises(tx.NotDifferentiable, match=r"tx\.tensor\(a\)"):
        np.add(x, x, out=np.zeros(2))
    with pytest.raises(tx.NotDifferentiable, match="detached"):
        x.detach()[0] = x[1]
    with pytest.raises(AttributeError, match="Incompatible shape"):
        np.stack([x, x]).T.shape = -1
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)gradient would have another.*reshape"):
        tx.tensor([1.0, 2.0], requires_grad=True).shape = (2, 1)
    with pytest.raises(tx.NotDifferentiable, match="writes into an argument"):
        tx.checkpoint(lambda u: setattr(u, "shape", (2, 1)), x)


def by_columns(x):
    a = np.transpose(x.reshape(2, 2)) * 1.0
    flat = a.T.reshape(4)
    flat[1:] *= flat[:3]
    a[0] = a[1] * x[0]
    return np.sum(a**3) + flat[0]


def parts_of_complex(x):
    z = x * (1.0 + 0.5j)
    parts = [z.real, z.imag]
    parts[1][1:] = x[1:] * parts[0][:3]
    parts[0][0] *= x[2]
    return np.sum(np.abs(z) ** 2) + np.sum(parts[1])


@pytest.mark.parametrize("f", [by_columns, parts_of_complex], ids=lambda f: f.__name__)
def test_writes_through_other_layouts(f: Callable[..., Any]) -> None:
    check_grads(f, (x0,), modes=("reverse",), using=DERIVATIVES)


def test_views_that_no_rule_knows_are_not_written() -> None:
    a = tx.tensor(np.zeros((2, 2)))
    part = np.lib.stride_tricks.sliding_window_view(a, (2, 2))
    with pytest.raises(ValueError, match="read-only"):
        part[0, 0, 0] = 1.0


def put_in_places(x):
    a = x.reshape(2, 2) * 1.0
    a.flat[1:3] = x[0] * x[1]
    a.put([0, -1], x[2:])
    np.place(a, a > 1.0, x[3:])
    np.putmask(a, a < 0.0, x.reshape(2, 2) * 3.0)
    b = a.ravel() * 1.0
    b.partition(1)
    return np.sum(b * b * np.arange(4.0)) + sum(v * v for v in a.flat)


def numbers_put_in_place(x):
    a = x * 1.0
    a[1] = np.nan
    kept = np.nan_to_num(a, copy=False, nan=x[0])
    return np.sum(a * a) + 3.0 * kept[1] + np.nan_to_num(a, True, 0.0)[2]


def test_numbers_are_put_into_the_array_that_is_not_to_be_copied() -> None:
    check_grads(numbers_put_in_place, (x0,), modes=("reverse",), using=DERIVATIVES)


def test_elements_by_their_place() -> None:
    check_grads(put_in_places, (x0,), modes=("reverse",), using=DERIVATIVES)
    t = tx.tensor(np.ones((2, 2)))
    with pytest.raises(tx.NoTemplate, match="byteswap"):
        tx.tensor([1.0]).byteswap()
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        t.other


def test_a_gradient_by_what_was_written_is_not_consumed() -> None:
    x = tx.tensor([1.0, 2.0], requires_grad=True)
    a = x * 1.0
    a[0] = 3.0
    by_a, by_x = tx.autograd.grad((a * np.array([5.0, 7.0])).sum(), [a, x])
    assert by_a.tolist() == [5.0, 7.0] and by_x.tolist() == [0.0, 7.0]
    seed = np.ones(2)
    b = x * 1.0
    b[1] = 0.0
    b.register_hook(lambda g: seed)
    b.sum().backward()
    assert seed.tolist() == [1.0, 1.0] and x.grad.tolist() == [1.0, 0.0]


def test_memory_that_is_moved_keeps_its_strides() -> None:
    a = tx.tensor(np.zeros((3, 4)))
    a._primal = np.arange(12.0).reshape(3, 4)[:, :3]
    x = tx.tensor(np.ones((3, 3)), requires_grad=True)
    y = a * x  # keeps what `a` holds
    a[0, 0] = 5.0
    a.reshape(-1)[1] = 7.0  # a copy, as of the array that `a` was
    assert a.tolist()[0] == [5.0, 1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist()[0] == [0.0, 1.0, 2.0]


def filled_by_elements(x):
    a = x.reshape(2, 2) * 1.0
    np.fill_diagonal(a, x[1:3])
    b = x * 2.0
    b.fill(np.tanh(x[1]))
    b[...] = np.sum(b) * x[0]
    return np.sum(a * a) * b[2]


def test_filling_by_what_is_differentiated() -> None:
    check_grads(filled_by_elements, (x0,), modes=("reverse",), using=DERIVATIVES)


@pytest.mark.parametrize(
    "write",
    [
        lambda a: a.__setitem__(slice(None, None, 2), a[:3]),
        lambda a: a.__setitem__(np.array([True, False, True, True, False, False]), a[:3]),
        lambda a: a.flat.__setitem__([0, 2], a[1:3]),
        lambda a: np.place(a, np.array([True, False, True, True, False, False]), a[:3]),
    ],
    ids=["steps", "mask", "flat", "place"],
)
def test_a_value_that_numpy_would_change_on_the_way_is_refused(write: Callable[[Any], Any]) -> None:
    a = tx.tensor(np.arange(6.0), requires_grad=True) * 1.0
    with pytest.raises(tx.SharedMemory, match="what it has just written"):
        write(a)


@pytest.mark.parametrize(
    ("write", "content", "slopes"),
    [
        (lambda a, x: np.put(a, [1, 3], [x[0], 2.0 * x[1]]), [0, 1, 2, 4], [10, 2000, 0]),
        (lambda a, x: np.putmask(a, a > 1.0, [x[0], x[1], x[2], x[0]]), [0, 1, 3, 1], [1000, 0, 100]),
        (lambda a, x: np.place(a, np.array([0, 0, 1, 1]), [x[2], x[1] * x[1]]), [0, 1, 3, 4], [0, 4000, 100]),
        (lambda a, x: np.add.at(a, [1, 1, 2], [x[0], x[1], x[2]]), [0, 4, 5, 3], [10, 10, 100]),
        (lambda a, x: np.subtract.at(a, [1, 1, 2], [x[0], x[1], x[2]]), [0, -2, -1, 3], [-10, -10, -100]),
        (lambda a, x: np.copyto(a, [x[0], 1.0, x[1], 2.0]), [1, 1, 2, 2], [1, 100, 0]),
        (lambda a, x: np.fill_diagonal(a.reshape(2, 2), [x[0], x[2]]), [1, 1, 2, 3], [1, 0, 1000]),
        (lambda a, x: np.put_along_axis(a, np.array([0, 3]), [x[0], x[1]], 0), [1, 1, 2, 2], [1, 1000, 0]),
    ],
)
def test_lists_of_tensors_are_written_as_arrays_of_them(write: Any, content: Any, slopes: Any) -> None:
    x, a = tx.tensor([1.0, 2.0, 3.0], requires_grad=True), tx.tensor(np.arange(4.0))
    write(a, x)
    assert a.detach().tolist() == content
    (a * np.array([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert x.grad.tolist() == slopes


PLACES: dict[str, Any] = {
    "dot": (lambda x, w: np.dot(x, x, w), ()),
    "sum": (lambda x, w: np.sum(x, 0, None, w), ()),
    "method sum": (lambda x, w: x.sum(0, None, w), ()),
    "sum, keeping axes": (lambda x, w: np.sum(x, 0, None, w, True), (1,)),
    "clip": (lambda x, w: np.clip(x, 0.4, 0.8, w), (4,)),
    "method clip": (lambda x, w: x.clip(0.4, 0.8, w), (4,)),
    "cumsum": (lambda x, w: np.cumsum(x, 0, None, w), (4,)),
    "concatenate": (lambda x, w: np.concatenate([x, x], 0, w), (8,)),
    "take": (lambda x, w: np.take(x, [0, 2], 0, w), (2,)),
    "ufunc": (lambda x, w: np.multiply(x, x, w), (4,)),
    "by name": (lambda x, w: np.stack([x, x], out=w), (2, 4)),
}


@pytest.mark.parametrize(("run", "shape"), PLACES.values(), ids=PLACES)
def test_a_place_for_the_result_is_written_as_any_other(run: Any, shape: Any) -> None:
    wanted = np.zeros(shape)
    run(x0, wanted)
    slopes = [np.zeros(shape) for _ in range(4)]
    for slope, e in zip(slopes, np.eye(4), strict=True):
        upper, lower = np.zeros(shape), np.zeros(shape)
        run(x0 + 1e-6 * e, upper)
        run(x0 - 1e-6 * e, lower)
        slope[...] = (upper - lower) / 2e-6
    for recorded in (True, False, False):
        x, s = tx.tensor(x0, requires_grad=True), tx.tensor(1.5, requires_grad=True)
        w = tx.tensor(np.full(shape, 2.0))
        before = np.sum(w * s)
        with tx.set_grad_enabled(recorded):
            run(x, w)
        np.testing.assert_allclose(w.detach().numpy(), wanted)
        before.backward()
        np.testing.assert_allclose(s.grad.numpy(), 2.0 * np.prod(shape))
        assert w.requires_grad is recorded
        if recorded:
            np.sum(w).backward()
            np.testing.assert_allclose(x.grad.numpy(), [np.sum(slope) for slope in slopes], atol=1e-8)


def test_a_place_for_the_result_that_is_none_and_one_that_is_given_twice() -> None:
    x, w = tx.tensor(x0), tx.tensor(0.0)
    assert float(np.sum(x, 0, None, None)) == np.sum(x0)
    with pytest.raises(TypeError, match="out"):
        np.sum(x, 0, None, w, out=w)


def test_an_array_without_axes_is_written_through_a_view() -> None:
    for create in (False, True):
        x = tx.tensor(x0, requires_grad=True)
        whole = np.where(True, x[0] * 1.0, 0.0)
        view = np.expand_dims(whole, 0)
        view[:] = x[1] * x[2]
        (found,) = tx.autograd.grad(whole * whole, (x,), create_graph=create)
        value = x0[1] * x0[2]
        np.testing.assert_allclose(found.detach().numpy(), [0.0, 2.0 * value * x0[2], 2.0 * value * x0[1], 0.0])


def test_a_number_is_indexed_by_all_that_it_has() -> None:
    for key in ((), ..., None, (None, ...)):
        x = tx.tensor(x0, requires_grad=True)
        np.sum(np.sin(x[1] * 1.0)[key] * 2.0).backward()
        np.testing.assert_allclose(x.grad.numpy(), [0.0, 2.0 * np.cos(x0[1]), 0.0, 0.0])


def test_put_counts_as_numpy_does() -> None:
    x = tx.tensor(x0)
    np.put(x, [-1, 1], [7.0, 8.0])
    assert x.tolist() == [0.3, 8.0, 0.7, 7.0]
    with pytest.raises(IndexError):
        np.put(x, 4, 1.0)
    for number in (tx.tensor(2.0), tx.tensor(2.0).copy()):
        number.flat[0] = 5.0
        np.put(number, [0, 0], [3.0, 4.0])
        assert number.item() == 4.0


@pytest.mark.parametrize(
    "write",
    [
        lambda a, v: np.put(a, [1, 3], v),
        lambda a, v: np.place(a, a == 0.0, v),
        lambda a, v: np.put_along_axis(a, np.array([0, 2]), v[:2], 0),
    ],
)
def test_numpy_s_writers_refuse_a_differentiated_value_in_a_plain_array(write: Any) -> None:
    with pytest.raises(tx.NotDifferentiable, match="plain array"):
        write(np.zeros(4), tx.tensor([1.0, 2.0, 3.0], requires_grad=True))
    a = np.zeros(4)
    write(a, tx.tensor([1.0, 2.0, 3.0]))
    assert a.any()


def test_steps_by_the_names_of_torch():
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    steps = {
        "add": (lambda t: t.add_(y, alpha=0.1), x + 0.1 * y),
        "sub": (lambda t: t.sub_(y, alpha=0.1), x - 0.1 * y),
        "lerp": (lambda t: t.lerp_(y, 0.25), x + 0.25 * (y - x)),
        "addcmul": (lambda t: t.addcmul_(y, y, value=2.0), x + 2.0 * y * y),
        "addcdiv": (lambda t: t.addcdiv_(y, x, value=-0.5), x - 0.5 * y / x),
        "chain": (lambda t: t.mul_(0.9).add_(tx.tensor(y), alpha=0.1), 0.9 * x + 0.1 * y),
    }
    for step, wanted in steps.values():
        p = tx.tensor(x, requires_grad=True)
        with tx.no_grad():
            assert step(p) is p
        np.testing.assert_allclose(p.detach().numpy(), wanted, rtol=1e-15)
        q = tx.tensor(x, requires_grad=True)
        t = q * 1.0
        step(t)
        np.sum(t * t).backward()
        ends = [step(tx.tensor(x + h)).tolist() for h in (1e-6, -1e-6)]
        slopes = (np.array(ends[0]) - np.array(ends[1])) / 2e-6
        np.testing.assert_allclose(q.grad.numpy(), 2.0 * wanted * slopes, rtol=1e-7)


def test_the_data_of_a_tensor_are_written_and_not_exchanged():
    p = tx.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(AttributeError, match=r"write into it, `with tx.no_grad\(\): t.copy_\(value\)`"):
        p.data = [3.0, 4.0]
    p.data.copy_(np.array([3.0, 4.0]))
    assert p.tolist() == [3.0, 4.0]
