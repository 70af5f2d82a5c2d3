"""Operators and statements spelled as calls: each does what its statement does, compiled and on Tensors."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest

import tangentx as tx

X = np.array([0.2, -0.3, 0.4, 1.5])
WRITES = {
    "store": lambda b, a: operator.setitem(b, 0, b[1]),
    "store by method": lambda b, a: b.__setitem__(slice(0, 2), b[2:]),
    "store by class": lambda b, a: np.ndarray.__setitem__(b, b > 0, b[1]),
    "store into a view": lambda b, a: b[:2].__setitem__(0, b[3]),
    "store by what is kept": lambda b, a: (lambda store: store(0, b[1]))(b.__setitem__),
    "store in a loop": lambda b, a: [b.__setitem__(i, b[1] * a[i]) for i in range(2)],
    "in place": lambda b, a: operator.isub(b, a * a),
    "in place by method": lambda b, a: b.__imul__(a),
    "in place by class": lambda b, a: np.ndarray.__itruediv__(b, a),
    "no copy": lambda b, a: np.nan_to_num(b, copy=0, nan=2.0),
    "no copy by name": lambda b, a: np.nan_to_num(x=b, nan=2.0, copy=False),
}


def slopes(f, x):
    return np.array([(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(len(x))])


@pytest.mark.parametrize("on_tensors", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_what_writes(name: str, on_tensors: bool) -> None:
    write = WRITES[name]

    def f(a):
        b = a * 1.0
        b[3] = np.nan if "copy" in name else b[3]
        write(b, a)
        return np.sum(b * b) + np.min(b)

    def whole(a):
        exec("")  # which sees the frame that calls it, so that all of this runs on Tensors
        return f(a)

    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        found = tx.value_and_grad(whole)(X) if on_tensors else tx.value_and_grad(f, fallback="error")(X)
        assert np.allclose(found[0], f(X)) and np.allclose(found[1], slopes(f, X), atol=1e-6)


READS = {
    "item": lambda b: operator.itemgetter(1)(b) * b.__getitem__(2),
    "items": lambda b: sum(operator.itemgetter(0, 3)(b)),
    "method": lambda b: operator.methodcaller("sum", axis=0)(b),
    "attribute": lambda b: np.sum(operator.attrgetter("T.T")(b) ** 2),
    "arithmetic": lambda b: np.sum(b.__mul__(b).__radd__(2.0).__pow__(2).__neg__()),
    "comparison": lambda b: np.sum(np.where(b.__gt__(0.0), b * b, b)),
    "list": lambda b: [b, 2.0 * b].__getitem__(1)[0] * [b].__len__(),
    "tuple": lambda b: (b, 2.0 * b).__getitem__(1)[0],
    "dict": lambda b: {"k": b}.__getitem__("k")[0],
}


@pytest.mark.parametrize("name", READS)
def test_what_reads(name: str) -> None:
    f = READS[name]
    assert np.allclose(tx.grad(f, fallback="error")(X), slopes(f, X), atol=1e-6)


class Scaled:
    """An object whose operator NumPy does not take for an array's."""

    __array_ufunc__ = None

    def __rmul__(self, other):
        return 3.0 * other


def test_an_objects_own_operator_is_no_arrays() -> None:
    def f(a):
        return np.sum(a.__mul__(Scaled()))

    with pytest.raises(tx.TangentxError):
        tx.grad(f, fallback="error")(X)


def test_attributes_are_set_by_the_method_of_object() -> None:
    class Held:
        pass

    def f(a):
        held = Held()
        held.__setattr__("w", a * 3.0)
        object.__setattr__(held, "v", a)
        return np.sum(held.w * held.v)

    assert np.allclose(tx.grad(f, fallback="error")(X), 6.0 * X)


def test_special_methods_without_a_meaning_are_refused() -> None:
    class Held:
        pass

    def f(a):
        held = Held()
        held.w = a
        return np.sum(held.w) * len(held.__dir__())

    with pytest.raises(tx.TangentxError, match="`Held.__dir__` is called by its name"):
        tx.grad(f, fallback="error")(X)
