"""Calls that are not recorded: what the long way gives, the short one gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.pytrees import is_differentiable
from tangentx.templates import compositions, examples, templates
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.plain_stubs import KNOWN, WAYS, Text
from tangentx.tensor.calls.rules import rule_of
from tangentx.tensor.calls.unrecorded import unrecorded


def tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(tensors(item) for item in value)
    return tx.tensor(value, requires_grad=True) if is_differentiable(value) else value


def given(example: Any) -> list[Any]:
    return [tensors(a) if i in example.wrt else a for i, a in enumerate(example.args)]


def goes_short(example: Any) -> bool:
    """Whether there is a short way: methods of numbers are others than those of arrays."""
    args = given(example)
    numbers = type(args[0]) is not tx.Tensor or type(args[0]._primal) is not np.ndarray if args else True
    return bool(args) and (rule_of(example.fn).owner is None or not numbers)  # type: ignore[union-attr]


EXAMPLES = [
    pytest.param(example, id=f"{rule.name}-{number}")
    for rule in templates()
    if rule.kind != "constant"
    for number, example in enumerate(examples(rule))
    if goes_short(example)
]


def described(value: Any, roots: list[Any]) -> Any:
    """All that one may know of a result: its data, what it is a view of, whether a backward finds where it was lost."""
    if type(value) is tx.Tensor:
        view, data = value._view, value._primal
        shown = view and ([view.root is root for root in roots], view.with_history, [vars_of(s) for s in view.steps])
        flags = (data.flags.owndata, data.flags.writeable, data.strides) if type(data) is np.ndarray else None
        return (
            type(data),
            repr(data),
            flags,
            value._needs,
            value._node,
            value._made and value._made[0].co_filename,
            shown,
        )
    if isinstance(value, (list, tuple)):
        return type(value), [described(item, roots) for item in value]
    return type(value), repr(value)


def vars_of(step: Any) -> Any:
    return step.fn, repr(step.args), repr(step.kwargs), step.position, step.item


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_both_ways_give_the_same(example: Any) -> None:
    rule: Any = rule_of(example.fn)
    args, kwargs = given(example), example.kwargs
    with tx.no_grad():
        long = unrecorded(rule, example.fn, args, kwargs)
        likely = [(value,) for value in (*args, *kwargs.values())]
        quick = Text(rule, example.fn, likely, tuple(kwargs)).packed(call)
        found = (lambda: quick(tuple(args), kwargs))()
    wanted, got = described(long, args), described(found, args)
    assert wanted == got


X = np.arange(1.0, 7.0)
CALLS = {
    "where": lambda t, u: np.where(t > 2.0, t, u),
    "of rows": lambda t, u: np.concatenate([t, u, X]),
    "of a tuple": lambda t, u: np.stack((t, u)),
    "of rows in rows": lambda t, u: np.block([[t, u], [u, t]]),
    "an axis by name": lambda t, u: np.sum(t.reshape(2, 3), axis=0),
    "an axis of a method": lambda t, u: t.reshape((2, 3)).max(axis=1),
    "mean, of a narrow type": lambda t, u: np.mean(t, dtype=np.float32),
    "a number": lambda t, u: np.sum(t[1]),
    "a view of a view": lambda t, u: np.transpose(np.reshape(t, (2, 3)))[1:],
    "a view by an index that is a Tensor": lambda t, u: t[np.argmax(u) : 4],
    "a key with a list": lambda t, u: t.reshape(2, 3)[:, [0, 2]],
    "itself": lambda t, u: np.ravel(t),
    "a diagonal": lambda t, u: np.diagonal(np.reshape(t, (2, 3))),
    "broadcast": lambda t, u: np.broadcast_to(t, (2, 6)),
    "several views": lambda t, u: np.split(t, 2),
    "a constant": lambda t, u: np.argmax(t),
    "a constant by axis": lambda t, u: np.argmin(t.reshape(2, 3), axis=1, keepdims=True),
    "an order": lambda t, u: np.argsort(t.reshape(2, 3), 0),
    "products": lambda t, u: np.cumprod(t.reshape(2, 3), axis=1, dtype=np.float32),
    "clipped from below": lambda t, u: np.clip(t, u, None),
    "another order of elements": lambda t, u: np.ravel(t.reshape(2, 3), "F"),
    "repeated": lambda t, u: np.repeat(t.reshape(2, 3), [1, 2], axis=0),
    "exchanged": lambda t, u: np.swapaxes(t.reshape(2, 3), 0, 1),
    "a constant of reals": lambda t, u: np.zeros_like(t),
    "a comparison": lambda t, u: np.less(t, u),
    "a comparison with a list": lambda t, u: np.less(t, [3.0] * 6),
    "a type": lambda t, u: t.astype(np.float32),
    "no copy": lambda t, u: t.astype(float, copy=False),
    "a result that is given": lambda t, u: np.cumsum(t, out=u),
    "a composition": lambda t, u: np.median(t),
    "a composition that gives views": lambda t, u: np.broadcast_arrays(t, u)[0],
}


@pytest.mark.parametrize("run", CALLS.values(), ids=CALLS)
def test_a_call_gives_the_same_every_time(run: Any) -> None:
    for ways in WAYS.values():
        ways.clear()
    KNOWN.clear()
    plain = run(X.copy(), X[::-1].copy())
    found = []
    for _ in range(3):
        t, u = tx.tensor(X, requires_grad=True), tx.tensor(X[::-1])
        with tx.no_grad():
            result = run(t, u)
        found.append(described(result, [t, u]))
        if type(result) is tx.Tensor:
            np.testing.assert_array_equal(result.numpy(), plain)
            assert result._primal.dtype == np.asarray(plain).dtype
            if type(plain) is np.ndarray and np.may_share_memory(result._primal, t._primal):
                with tx.no_grad():
                    t[...] = 7.0
                np.testing.assert_array_equal(result.numpy(), np.full_like(plain, 7.0))
    assert found[0] == found[1] == found[2]


def test_a_write_into_a_view_that_was_made_the_short_way_reaches_the_whole() -> None:
    for _ in range(2):
        x = tx.tensor(X, requires_grad=True)
        y = x * 2.0
        with tx.no_grad():
            part = np.reshape(y, (2, 3))[1]
        part[0] = x[0] * x[1]
        (found,) = tx.autograd.grad(np.sum(y * y), (x,))
        # y is 2 x but for y[3] = x[0] x[1] = 2
        wanted = 8.0 * X
        wanted[3] = 0.0
        wanted[:2] += 2.0 * 2.0 * X[1::-1]
        np.testing.assert_allclose(found.numpy(), wanted)


def test_other_classes_of_arrays_go_the_long_way() -> None:
    t, masked = tx.tensor(X), np.ma.masked_array(X, X > 3.0)
    with tx.no_grad():
        for _ in range(2):
            np.concatenate([t, X])
            with pytest.raises(TypeError):
                np.concatenate([t, Stranger()])
            assert type(np.where(masked > 2.0, masked, t)) is tx.Tensor


class Stranger:
    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented


@pytest.mark.parametrize("wrong", [{"axis": 5}, {"nothing": 1}, {"x0_": 1}, {"class": 1}])
def test_errors_are_numpys(wrong: Any) -> None:
    t = tx.tensor(X)
    with pytest.raises(Exception) as plain:
        np.sum(X, **wrong)
    with tx.no_grad():
        for _ in range(3):
            np.sum(t, axis=0)
            with pytest.raises(plain.type):
                np.sum(t, **wrong)
    assert not any(set(form) & {"nothing", "x0_", "class"} for form in KNOWN)


def test_a_call_of_many_arguments_has_no_way_of_its_own() -> None:
    t = tx.tensor(np.arange(512.0).reshape((2,) * 9))
    with tx.no_grad():
        for _ in range(2):
            assert t.transpose(*range(9)).shape == (2,) * 9
    assert all(form <= 8 for form in WAYS[np.ndarray.transpose])


def test_a_backward_that_comes_too_late_names_the_line() -> None:
    t = tx.tensor(X, requires_grad=True)
    for _ in range(2):
        with tx.no_grad():
            total = np.sum(t, axis=0)
        with pytest.raises(tx.NotDifferentiable, match="test_plain_stubs.py"):
            total.backward()


def test_every_composition_gives_numpys_own_result() -> None:
    for composition in compositions():
        for example in examples(composition):
            if not hasattr(example.fn, "_implementation"):
                continue
            wanted = example.fn(*example.args, **example.kwargs)
            with tx.no_grad():
                found = call(example.fn, given(example), example.kwargs)
            if type(wanted) is np.ndarray:
                np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12)  # an argument may come back
                assert found.dtype == wanted.dtype


IN_OTHER_WAYS = {
    "transpose": lambda t: np.transpose(a=t),
    "ravel": lambda t: np.ravel(a=t),
    "broadcast_to": lambda t: np.broadcast_to(array=t, shape=(2, 2, 3)),
    "broadcast_to, its shape by place": lambda t: np.broadcast_to(shape=(2, 2, 3), array=t),
    "expand_dims": lambda t: np.expand_dims(a=t, axis=0),
    "flip": lambda t: np.flip(m=t),
    "moveaxis": lambda t: np.moveaxis(a=t, source=0, destination=1),
    "split": lambda t: np.split(ary=t, indices_or_sections=2)[1],
    "sum": lambda t: np.sum(a=t),
    "sum by axis": lambda t: np.sum(axis=0, a=t),
    "in a list": lambda t: np.broadcast_arrays(1.0, t)[1],
}


@pytest.mark.parametrize("run", IN_OTHER_WAYS.values(), ids=IN_OTHER_WAYS)
def test_an_array_may_be_given_in_any_way(run: Any) -> None:
    data = X.reshape(2, 3)
    for recorded in (True, False, False, False):
        x = tx.tensor(data, requires_grad=True)
        y, plain = x * 1.0, data.copy()
        with tx.set_grad_enabled(recorded):
            found, wanted = run(y), run(plain)
        if not recorded:
            with pytest.raises(tx.NotDifferentiable, match=r"made without gradient at .*test_plain_stubs\.py"):
                found.backward(np.ones_like(found.numpy()))
        y[0], plain[0] = x[0] * 5.0, data[0] * 5.0
        np.testing.assert_array_equal(found.detach().numpy(), wanted)
        if recorded or np.may_share_memory(plain, np.asarray(wanted)):
            (slope,) = tx.autograd.grad(np.sum(found), (x,))
            assert np.sum(slope.numpy() * data) == np.sum(wanted)  # for all of them are linear


def test_a_view_that_is_not_recorded_has_a_history_only_from_recorded_writes() -> None:
    for moved in (False, True):
        x = tx.tensor(X, requires_grad=True)
        y = x * 2.0
        square = y * y if moved else y + 0.0  # that of which backward needs the content moves when it is written
        with tx.no_grad():
            part = y[1:]
            y[0] = 5.0
        assert not part.requires_grad
        with tx.no_grad():
            part[0] = 7.0
        assert part.tolist()[0] == 7.0 == y.detach().tolist()[1]
        y[1] = x[0] * 3.0
        assert part.requires_grad
        (slope,) = tx.autograd.grad(np.sum(part) + 0.0 * np.sum(square), (x,))
        np.testing.assert_array_equal(slope.numpy(), [3.0, 0.0, 2.0, 2.0, 2.0, 2.0])


def test_compositions_do_what_numpy_does_unless_they_give_memory_of_a_tensor() -> None:
    t = tx.tensor(X.reshape(1, 2, 3), requires_grad=True)
    with tx.no_grad():
        np.testing.assert_array_equal(np.kron(t, t).numpy(), np.kron(t.detach().numpy(), t.detach().numpy()))
