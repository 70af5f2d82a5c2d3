"""Operators, properties and iteration of the user's classes where a function runs on Tensors."""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.tensor.fallback.function_rewriting import called, on_tensors
from tangentx.tensor.fallback.tracing import Trace


def slope(f: Any, x: Any) -> Any:
    trace = Trace(called(f), (x,), (0,))
    return trace.gradients([trace.result], [1.0], False)[0]


class Log:
    """A positive number by its logarithm; each method needs `math`, which knows no Tensors."""

    def __init__(self, x):
        self.__l = math.log(x)
        self.parts = [self.__l]

    @property
    def value(self):
        return math.exp(self.__l)

    @value.setter
    def value(self, x):
        self.__l = math.log(x)

    def __add__(self, other):
        if isinstance(other, Log):
            return Log(math.exp(self.__l) + other.value)
        return Log(math.exp(self.__l) + other) if isinstance(other, float) else NotImplemented

    def __rsub__(self, other):
        return other - math.exp(self.__l)

    def __matmul__(self, other):
        return math.exp(self.__l) * other

    def __iadd__(self, other):
        self.value = math.exp(self.__l) + other
        return self

    def __neg__(self):
        return -math.exp(self.__l)

    def __abs__(self):
        return math.fabs(self.__l)

    def __lt__(self, other):
        return math.exp(self.__l) < other

    def __getitem__(self, key):
        return math.sin(self.__l) if key == slice(1, None) else math.cos(self.parts[key])

    def __setitem__(self, key, value):
        self.parts[key] = math.sin(value)

    def __iter__(self):
        return iter([math.sin(self.__l), self.__l])


class Sharp(Log):
    """Asked first, wherever it stands, for it is the special class."""

    def __radd__(self, other):
        return other.value * math.sqrt(self.value)


def added(x):
    return (Log(x) + Log(x * x)).value * (Log(x) + 2.0).value


def reflected(x):
    return (1.0 - Log(x)) * (Log(x) + Sharp(x * x)) * sum([Log(x), Log(x * x)], Log(2.0)).value


def by_others(x):
    log = Log(x)
    log += x
    log[0] = x * x
    return (log @ x) * abs(log) * -log * log[0] * log[1:]


def compared(x):
    log = Log(x)
    log.value = x * x
    return log.value * x if log < 1.0 else x


def iterated(x):
    return sum([part * x for part in Log(x)]) + next(iter([p for p in Log(x)]))


@dataclasses.dataclass
class Derived:
    x: Any
    slope: Any = dataclasses.field(init=False)

    def __post_init__(self):
        self.slope = math.cos(self.x)


def by_a_dataclass(x):
    made = Derived(x)
    return made.slope * made.x if made == Derived(x) and "__post_init__" not in vars(made) else 0.0


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def by_patterns(x):
    match (Colour.RED, x):
        case (Colour.BLUE, _):
            return x
        case (Colour.RED, y) if abs(y) > 0.0:
            return math.sin(y) + 0.0 < 5.0 < 6.0 and y * y
    return 0.0


def by_keys(x):
    table = np.zeros((2, 3))
    table[:, 1] = [x, x * x]
    table[0, 1:] += x
    return np.sum(table[..., 1:] ** 2) + table[(1, 1)]


@pytest.mark.parametrize("f", [added, reflected, by_others, compared, iterated, by_a_dataclass, by_patterns, by_keys])
def test_special_methods_are_recorded(f: Any) -> None:
    x, h = 0.7, 1e-6
    assert slope(f, x) == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)


def test_operands_that_know_nothing_of_each_other_are_refused_as_python_does() -> None:
    for f in (lambda x: Log(x) + "a", lambda x: x + Log(x), lambda x: Log(x) >= x):
        with pytest.raises(TypeError) as plain:
            f(2.0)
        with pytest.raises(TypeError) as traced:
            on_tensors(f)(2.0)
        assert str(traced.value) == str(plain.value)


def test_whole_numbers_take_no_derivative() -> None:
    def f(x: Any) -> Any:
        steps = np.zeros(2, dtype=int)
        steps[:] = 4.0 * x
        np.floor(x, out=steps[1:], casting="unsafe")
        return np.sum(steps * x)

    assert slope(f, 0.7) == 2.0

    buffer = np.array([1.0])

    def g(x: Any) -> Any:
        buffer[:] = x
        return buffer[0]

    with pytest.raises(tx.NotDifferentiable, match="lost"):
        slope(g, 0.7)


@pytest.mark.parametrize(
    "joined",
    [
        lambda x: np.r_[x, 0, x[1], 1:4],
        lambda x: np.c_[x, x * x, 2.0 * np.ones(3)],
        lambda x: np.r_[x.reshape(1, 3), np.outer(x, x)],
        lambda x: np.c_[np.outer(x, x), x],
        lambda x: np.r_[np.array([1.0, 2.0]), 3.0, 0:1:3j] * x[0],
        lambda x: np.r_["0,2", x, x * x, [1.0, 2.0, 3.0]],
        lambda x: np.r_["1,2", x, np.outer(x, x)[:1]],
        lambda x: np.r_["-1", x, x[0], 2.0],
    ],
)
def test_joining_by_an_index(joined: Any) -> None:
    x = np.array([0.3, 0.5, -0.7])

    def total(v: Any) -> Any:
        found = joined(v)
        weights = np.cos(np.arange(found.size)).reshape(found.shape)
        return np.sum(found * found * weights)

    steps = 1e-6 * np.eye(3)
    wanted = [(total(x + h) - total(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(slope(total, x), wanted, atol=1e-8)


@pytest.mark.parametrize("joined", [lambda x: np.sum(np.r_["1,2,0", x, x]), lambda x: np.sum(np.c_[x, x[0]])])
def test_joining_by_an_index_that_no_function_stands_for_is_refused(joined: Any) -> None:
    with pytest.raises(tx.NotDifferentiable, match="derivative would be lost"):
        slope(joined, np.ones(3))


def test_a_method_of_a_ufunc_takes_a_list() -> None:
    x = np.array([0.3, 0.5])
    shares = np.exp(x) / np.exp(x).sum()
    np.testing.assert_allclose(slope(lambda v: np.logaddexp.reduce([v[0], v[1]]), x), shares)
    np.testing.assert_allclose(slope(lambda v: np.logaddexp.reduce(v), x), shares)
    np.testing.assert_allclose(slope(lambda v: np.multiply.reduce([v[0], v[1], v[0]]), x), [0.3, 0.09])


class Said:
    """An object that says which array it is."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray([v * v for v in self.data], dtype)


class Held(Said):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.data


class Multiplied(Said):
    def __mul__(self, other: Any) -> Any:
        return other * 100.0 * self.data[0]

    __rmul__ = __mul__


class Apart(Multiplied):
    __array_ufunc__ = None


class Sequence:
    def __init__(self, data: Any) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, i: Any) -> Any:
        return self.data[i]

    def __rmul__(self, other: Any) -> Any:
        return sum(other * v * 10.0 for v in self.data)


def as_asked(x, d):
    return np.sum(np.asarray(d) * x) + np.sum(np.array(d) * x * x)


def first_operand(x, d):
    return np.sum(d * x)


def second_operand(x, d):
    return np.sum(x * d)


def in_place(x, d):
    y = np.sin(x)
    y *= d
    return np.sum(y * y)


def of_number(x, d):
    return np.sum(np.float64(2.0) * d * x)


def of_functions(x, d):
    return np.sum(np.maximum(x, d) * np.stack([x, d])) + np.dot(x, d) + np.linalg.norm(d) * x[0]


def stored(x, d):
    y = np.zeros(2)
    y[:] = d
    return np.sum(y * x)


def in_vain(x, d):
    try:
        return np.sum(np.asarray(d) * x)
    except ValueError:
        return 0.0 * np.sum(x)


def of_what_varies(x, d):
    return np.sum(np.asarray(type(d)(x)) * x)


def product(x, d):
    return np.sum(np.multiply(x, d))


@pytest.mark.parametrize("cls", [Said, Multiplied, Apart, Sequence])
@pytest.mark.parametrize(
    "f",
    [
        as_asked, first_operand, second_operand, in_place, of_number, of_functions, stored, in_vain, of_what_varies,
        product,
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_an_object_that_says_which_array_it_is(f: Any, cls: type) -> None:
    x, wanted, h = np.array([1.5, 0.7]), np.zeros(2), 1e-6
    try:
        for i in range(2):
            step = h * np.eye(2)[i]
            wanted[i] = (f(x + step, cls([1.0, 2.0])) - f(x - step, cls([1.0, 2.0]))) / (2.0 * h)
    except TypeError:
        with pytest.raises((TypeError, tx.TangentxError)):
            tx.grad(f)(x, cls([1.0, 2.0]))
        return
    for fallback in ("error", "tensor"):
        try:
            found = tx.grad(f, fallback=fallback)(x, cls([1.0, 2.0]))
        except tx.TangentxError as refused:
            if __file__ not in str(refused) or (fallback == "tensor" and cls is not Sequence):
                raise
        else:
            assert found == pytest.approx(wanted, abs=1e-5)


def raised_by(x: Any) -> Any:
    """What operators raise where they do not go with the value, and how often."""
    met = []
    for operate in (
        lambda a: a * [1.0, 2.0],
        lambda a: (1.0,) * a,
        lambda a: [1.0] + a,
        lambda a: a - (1.0,),
        lambda a: a + "s",
        lambda a: "s" + a,
        lambda a: a + None,
        lambda a: a @ a,
        lambda a: a | 1,
    ):
        try:
            operate(x)
        except TypeError as error:
            met.append(str(error))
    return met


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("x", [1.5, np.float64(1.5), np.float32(1.5), np.array([0.5, 1.5])], ids=repr)
def test_operators_raise_what_they_raise_of_numbers_and_arrays(x: Any) -> None:
    heard: list[Any] = []

    def f(x: Any) -> Any:
        vars(np)  # is not compiled
        heard[:] = raised_by(x)
        return np.sum(x) * len(heard)

    plain = raised_by(x)
    np.testing.assert_array_equal(tx.grad(f)(x), np.full(np.shape(x), len(plain)))
    assert heard == plain


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_method_of_arrays_that_asks_an_object_is_refused() -> None:
    with pytest.raises(tx.NotDifferentiable, match="np.asarray"):
        tx.grad(lambda x, d: x.dot(d))(np.ones(2), Held(np.ones(2)))
