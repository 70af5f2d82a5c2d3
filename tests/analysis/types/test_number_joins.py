"""What depends on the values of an operation's arguments: the type of its result, and whose memory that is."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.kinds import Arr, Box, Num, World, join
from tangentx.analysis.types.number_joins import each_type
from tangentx.analysis.types.operations import Operation
from tangentx.errors import Span
from tangentx.testing import check_grads

EITHER = join(Num(int), Num(float))
X = np.array([1.0, 3.0])
V = np.array([1.0, -2.0, 3.0])
M = np.array([[1.0, 2.0], [4.0, 5.0]])


def kind(fn: Callable[..., Any], *kinds: Any, **named: Any) -> Any:
    world = World()
    return Operation(world, lambda path: world.region(), Span("here.py", 1)).kind(fn, kinds, named)


def a_list(*kinds: Any, grows: bool = False) -> Box:
    box = Box(list, World().region())
    for i, k in enumerate(kinds):
        box.region.put(i, k)
    if grows:
        box.region.mark("open")
    return box


@pytest.mark.parametrize("fn", [max, min])
def test_what_chooses_may_give_either(fn: Any) -> None:
    for numbers in itertools.permutations((Num(int), Num(float))):
        assert kind(fn, *numbers) == EITHER
        assert kind(fn, a_list(*numbers)) == EITHER
    assert kind(fn, Num(int, value=2), Num(float, True)) == Num(float, True, types=(float, int))
    assert kind(fn, Num(int, value=2), Num(int, value=3)).value is not None
    assert kind(fn, Num(int, value=2), Num(bool)).exact == (bool, int)


def test_a_power_of_whole_numbers_is_a_real_where_the_exponent_is_negative() -> None:
    for fn in (operator.pow, pow):
        assert kind(fn, Num(int, value=2), Num(int)) == EITHER
        assert kind(fn, Num(int), Num(int, value=2)) == Num(int)
        assert kind(fn, Num(int), Num(int, value=-2)) == Num(float)
        assert kind(fn, Num(float), Num(int)) == Num(float)
    assert kind(pow, Num(int), Num(int), Num(int)) == Num(int)
    assert kind(operator.pow, Num(np.int64), Num(int)) == Num(np.int64)


def test_a_sum_of_nothing_is_what_it_starts_from() -> None:
    assert kind(sum, a_list(Num(float), grows=True)) == EITHER
    assert kind(sum, a_list(Num(float))) == Num(float)
    assert kind(sum, a_list(Num(float), grows=True), Num(float)) == Num(float)
    assert kind(sum, Arr(np.dtype("f8"), 1, World().region())).exact == (int, np.float64)


def test_an_operation_is_tried_with_each_type() -> None:
    assert kind(operator.mul, EITHER, Num(int)) == EITHER
    assert kind(operator.mul, EITHER, Num(float)) == Num(float)
    assert kind(operator.truediv, EITHER, Num(int)) == Num(float)
    assert kind(np.zeros, EITHER).rank == 1, "a float is no length: there it raises"
    assert len(list(each_type([EITHER] * 10))) == 32


def test_functions_that_give_complex_numbers_for_some_values() -> None:
    matrix = Arr(np.dtype("f8"), 2, World().region())
    assert kind(np.linalg.eigvals, matrix).dtype == np.complex128
    assert kind(np.linalg.eig, matrix).region.get(0).dtype == np.complex128
    assert kind(np.emath.sqrt, Num(float)).exact == (np.complex128, np.float64)


@pytest.mark.parametrize("numbers", [(Num(int), Num(int)), (Num(int, value=0), Num(int, value=3))])
def test_a_sample_without_elements_does_not_show_whose_memory_it_is(numbers: Any) -> None:
    world = World()
    x = Arr(np.dtype("f8"), 1, world.region())
    shape = Box(tuple, world.region())
    for i, number in enumerate(numbers):
        shape.region.put(i, number)
    Operation(world, lambda path: world.region(), Span("here.py", 1)).kind(np.broadcast_to, [x, shape], {})
    assert len(world.links) > 0 or numbers[0].value == 0


def test_all_whole_numbers_are_tried_where_one_may_give_the_array_itself() -> None:
    x = Arr(np.dtype("f8"), 1, World().region())
    assert kind(np.diff, x, Num(int)).region.root() is x.region.root()
    assert kind(np.diff, x, Num(int, value=1)).region.root() is not x.region.root()


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A program and one set of arguments, the last of which is differentiated."""

    def enter(f: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[f"{f.__name__}_{len(PROGRAMS)}"] = (f, args)
        return f

    return enter


@program(3, 4.0)
@program(3, 2.0)
def larger(n, x):
    y = max(n, x)
    return y * y * 1.0 + x


@program(3, 4.0)
@program(3, 2.0)
def smaller(n, x):
    return min(n, x) * x


@program(3, np.array([2.0, 4.0]))
def larger_in_a_loop(n, x):
    return sum(max(n, v) * v for v in x)


@program(2, np.array([1.0, 4.0]))
@program(5, np.array([1.0, 4.0]))
def reduced(n, x):
    return functools.reduce(max, [n, x[0], x[1]]) * x[0]


@program(3.0)
@program(0.5)
def larger_of_a_list(x):
    return max([1, x]) * x


@program(V)
def rectified(x):
    return sum(max(0, v) ** 2 for v in x)


@program(V)
def reduced_from_nothing(x):
    return functools.reduce(max, x, 0) ** 2


@program(V)
def best_so_far(x):
    best = 0
    for v in x:
        best = max(best, v)
    return best * best


@program(3, 2.0)
@program(1, 2.0)
def asked_its_class(n, x):
    y = max(n, x)
    if isinstance(y, float):
        return y * y * x
    return x * 7.0


@program(3, 2.0)
@program(1, 2.0)
def asked_whether_whole(n, x):
    y = n if n > 2 else x
    return y * y * x if isinstance(y, int) else x * 7.0


@program(3, 2.0)
@program(1, 2.0)
def asked_its_type(n, x):
    y = max(n, x)
    return y * y * x if type(y) is float else x * 7.0


@program(3, 2.0)
@program(1, 2.0)
def type_compared(n, x):
    y = max(n, x)
    return y * x * x if type(y) == int or type(y) in (np.float32, np.float64) else x * 7.0  # noqa: E721


@program(3, 2.0)
@program(1, 2.0)
def types_of_two(n, x):
    return x * x if type(max(n, x)) is type(n) else x * x * x


@program(3, 2.0)
@program(1, 2.0)
def class_of_it(n, x):
    y = max(n, x)
    return x * x * y if y.__class__ is float else x * x * x


@program(2.0)
def class_called(x):
    return x.__class__(3) * x * x


@program(X)
def class_of_an_array(x):
    return np.sum(x * x) if x.__class__ is np.ndarray and x.__class__.__name__ == "ndarray" else np.sum(x)


@program(X)
def class_of_a_total(x):
    t = 0.0
    for v in x:
        t = t + v * v
    return t if type(t) is np.float64 else t * 3.0


@program(-1, 3.0)
@program(1, 3.0)
def negative_power(n, x):
    w = 2**n
    return w * x * x if isinstance(w, float) else x


@program(2, np.array([1.0, 2.0, 3.0, 4.0]))
def power_as_a_length(n, x):
    z = np.zeros(2**n)
    for i in range(2**n):
        z[i] = x[i] * x[i]
    return np.sum(z[: 2**n] * x.reshape(2**n))


@program(X)
def sum_of_nothing(x):
    s = sum([v for v in x if v > 10])
    return x[0] * x[1] if isinstance(s, int) else x[0]


@program(3, 2.0)
def one_is_no_unit_of_whole_numbers(n, x):
    y = max(n, x) * 1.0 + 0.0
    return y * x if isinstance(y, float) else x


@program(1, 2.0)
@program(3, 2.0)
def real_or_complex(n, x):
    y = x if n > 2 else 1j * x
    z = y * (2 + 1j)
    return z.real * x + z.imag


@program(X)
def whole_numbers_among_reals(x):
    return sum(v * v if v > 2 else 0 for v in x)


@program(2, X)
def whole_numbers_in_a_dict(n, x):
    d = {"a": n, "b": x[0], "c": x[1]}
    return sum(v * v for v in d.values()) * max(d.values())


@program(2, X)
def whole_numbers_appended(n, x):
    a = []
    for v in x:
        if v > 2:
            a.append(v * v)
        else:
            a.append(n)
    a.insert(1, n)
    return a[0] * a[2] + sum(a) * max(a) + min(a) * x[0]


@program(2, X)
def whole_number_put_into_a_list(n, x):
    a = [v * v for v in x]
    a[0] = n
    return sum(a) * a[1] * a[0] + max(a) * np.sum(np.array(a))


@program(2, X)
def whole_numbers_made_an_array(n, x):
    return np.sum(np.array([v * v if v > 2 else n for v in x]) * x[0]) * math.fsum([v if v > 2 else n for v in x])


@program(2, X)
def sorted_among_whole_numbers(n, x):
    a = sorted([n, x[0], x[1]])
    return a[0] * a[1] * a[2] * a[2]


@program(X)
def lists_joined(x):
    return sum(v * v for v in sum([[x[0]], [x[1], 2]], []))


@program(X)
def lists_joined_to_a_start(x):
    start = [x[0] * x[1]]
    a = sum(([v, 1] for v in x), start=start)
    start.append(x[0])
    return a[0] * a[1] + a[2] * a[3] * len(a)


@program(0, V)
@program(1, V)
def differences_or_itself(n, x):
    y = np.diff(x, n)
    x[0] = 5.0 * x[1]
    return np.sum(y * y)


@program(1, M)
@program(2, M)
def power_of_a_matrix_or_itself(n, x):
    y = np.linalg.matrix_power(x, n)
    x[0, 0] = 5.0 * x[1, 1]
    return np.sum(y * y)


@program(np.array([0.1, 2.0, 4.0]))
@program(np.array([0.6, 2.0, 4.0]))
def copied_or_not(x):
    y = x.astype(float, copy=bool(x[0] > 0.5))
    y[0] = 3 * x[1]
    return np.sum(x * x)


@program(1, 2.0)
def eigenvalues_of_a_constant(n, x):
    w = np.linalg.eigvals(np.array([[0.0, -1.0], [1.0, 0.0]]))
    return np.real(np.sum(w * w * x * x)) + np.imag(w[0] * x)


@program(3, X)
@program(0, X)
def whole_numbers_or_reals_read(n, x):
    a = np.ones(2, int) if n > 1 else x
    return a[0] * a[1] * x[0] + np.sum(a * a) + np.sum(np.full(2, max(n, x[0])) * x)


@program(3, X)
@program(0, X)
def a_copy_of_either_written(n, x):
    a = np.arange(2) if n > 1 else x
    b = a * 1.0
    b[0] = x[1] * x[1]
    return np.sum(b * b * x)


@program(3, X)
@program(0, X)
def constants_written_into_either(n, x):
    a = np.arange(2) if n > 1 else np.zeros(2)
    a[0] = 7.9
    return np.sum(a * x)


@program(3, X)
@program(0, X)
def reals_or_complex_numbers_written(n, x):
    a = np.zeros(2, complex) if n > 1 else np.zeros(2)
    a[0] = x[0] * x[1]
    return np.sum(np.real(a * (1 + 1j)) * x)


@program(3, np.array([1.0, 2.5]))
@program(1, np.array([1.5, 2.5]))
def sum_of_what_may_be_whole(n, x):
    s = sum([max(n, x[0]), 2])
    return s * s * x[0] if isinstance(s, float) else x[0] * x[1]


@pytest.mark.share(7)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f, args = PROGRAMS[name]
    at = len(args) - 1
    check_grads(f, args, wrt=at, order=2)
    copied = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    assert np.allclose(tx.grad(f, wrt=at)(*copied), tx.grad(f, wrt=at, fallback="error")(*copied))
    value, _ = tx.value_and_grad(f, wrt=at, fallback="error")(*copied)
    wanted = f(*copied)
    assert value == wanted and type(value) is type(wanted)


def kept_beside_a_write(x, n, m):
    y = np.broadcast_to(x, (n, m))
    x[0] = 7.0 * x[1]
    return np.sum(y * y)


def test_a_read_only_view_of_unknown_lengths_is_seen() -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="read-only view"):
        tx.grad(kept_beside_a_write, fallback="error")(np.array([1.0, 2.0]), 3, 2)
    with pytest.warns(tx.FallbackWarning):
        found = tx.grad(kept_beside_a_write)(np.array([1.0, 2.0]), 3, 2)
    np.testing.assert_allclose(found, [0.0, 600.0])


def repeated_beside_a_write(x):
    parts = np.broadcast_arrays(x, x[::-1])
    x[0] = 2.0
    return np.sum(parts[0])


def test_a_view_that_a_rule_of_ours_takes_is_refused_where_the_user_called_it() -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="read-only view") as found:
        tx.grad(repeated_beside_a_write, fallback="error")(np.ones(3))
    assert found.value.span.file == __file__


def written_by_element(n, x):
    a = np.zeros(2, int) if n > 1 else np.zeros(2)
    a[0] = x
    return a[0] * x


def written_by_a_view(n, x):
    a = np.full(2, max(n, x))
    v = a[1:]
    v[0] = x * x
    return np.sum(a) * x


def written_by_a_helper(n, x):
    a = np.stack([np.array([max(n, x), 1])])
    put(a, x * x)
    return np.sum(a) * x


def put(a, value):
    a[0, 1] = value


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("f", [written_by_element, written_by_a_view, written_by_a_helper])
def test_what_varies_is_not_written_where_it_may_be_cut_off(f, n) -> None:
    with pytest.raises(tx.UnsupportedSyntax, match=r"an array of float64 or int64, which may cut it off"):
        tx.grad(f, wrt=1, fallback="error")(n, 2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        found = tx.grad(f, wrt=1)(n, 2.5)
    assert found == pytest.approx((f(n, 2.5 + 1e-6) - f(n, 2.5 - 1e-6)) / 2e-6, rel=1e-6)


def test_a_result_that_is_whole_here_counts_as_a_real() -> None:
    f = lambda n, x: max(n, x)
    assert tx.jvp(f, (3, 2.0), (None, 1.0)) == (3, 0.0)
    assert tx.jvp(f, (1, 2.0), (None, 1.0)) == (2.0, 1.0)
    value, pullback = tx.vjp(f, 3, 2.0)
    assert value == 3 and pullback(1.0)[1] == 0.0
    assert tx.vjp(f, 1, 2.0)[1](1.0)[1] == 1.0
    assert tx.value_and_grad(f, wrt=1)(3, 2.0) == (3, 0.0)
