"""Forms of programs under jit: None for a while, lists as arrays, slices as objects, other shapes of one memory."""

import math
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.pytrees import leaves
from tests.jit.test_entry import MATRIX, ROW, WAYS, compiled, demand_equal, own_cache  # noqa: F401


def smallest(x):
    best = None
    for v in x:
        if best is None or v * v < best:
            best = v * v
    return best * 3.0


def smallest_of_rows(a):
    best = None
    tries = []
    for i in range(a.shape[0]):
        row = a[i] * 2.0
        tries.append(best)
        if best is None or row[0] < best[0]:
            best = row
    kept = tries[1]
    return np.sum(best * best) if kept is None else np.sum(best) + np.sum(kept * kept)


def last_of(x, n):
    found = None
    for i in range(n):
        other = found
        found = x[i] * i
        if other is not None:
            found = found + other * 0.5
    if found is None:
        return x[0] * 7.0
    return found


def never_there(x, n):
    kept = None
    for i in range(n):
        if x[i] > 100.0:
            kept = x[i]
    return x[0] + kept


def handed_over(x, n):
    return given_none(x, x * 2.0 if n > 0 else None) + given_none(x * x, None)


def given_none(x, y):
    return x if y is None else x * y


def of_nothing(x, items=()):
    total = x
    for item in items:
        total = total * item.weight
    return total * x


def made_arrays(x, y):
    row = np.array([x, y, x * y])
    table = np.array([[x, y], [y, 2.0 * x]])
    return np.sum(row * row) + np.sum(table @ row[:2]) + np.sum(np.asarray([row, row * 2.0]) ** 2)


def gathered(x, n):
    found = []
    for i in range(n):
        found.append(x * i + 1.0)
    return np.sum(np.array(found) ** 2) + sum([x, x * x]) + max(found) * 2.0 + min([x, 2.0, x * x])


def gathered_rows(x, n):
    found = []
    for i in range(n):
        found.append([x[i], x[0] * i])
    rows = [x * 2.0, x + 1.0]
    return np.sum(np.array(found) ** 2) + np.sum(np.array(rows)[1] * x)


def best_of(x):
    return max([x[0], x[1], x[2]]) * 2.0 + min([v * v for v in x]) + max(x[0], 0.5)


def ragged(x, n):
    rows = [[x, x], [x]] if n == 1 else [[x, x], [x, x]]
    return np.sum(np.array(rows))


def inner_slices(a, n):
    inner = (slice(1, -1), slice(1, -1))
    some = slice(0, n)
    b = a * 2.0
    b[inner] = b[inner] * a[inner]
    b[some] += a[some] * 2.0
    return np.sum(b[inner]) + np.sum(b[some, 1]) + np.sum(b[..., slice(None, None, 2)])


def parts_of_tuples(x, y):
    items = (x, y, x * y, y * y)
    a, *rest = items
    return sum(items[1:3]) * items[-1] + a * rest[0] * sum(rest[1:])


def flat_writes(a, v):
    flat = a.reshape(-1)
    flat[1] = v * flat[0]
    a.reshape(2, -1)[0] = a.reshape((2, -1))[1] * v
    b = np.ravel(a)
    b[-1] *= 2.0
    return np.sum(a * a) + np.sum(flat)


def flat_reads(a, v):
    copied = a.flatten()
    copied[0] = v
    thin = a[:, :1].squeeze(axis=1)
    return np.sum(copied * a.reshape(a.size)) + np.sum(thin * a[:, 0]) * v


def turned_axes(a, v):
    b = np.swapaxes(a, 0, 1) * v
    c = np.moveaxis(a, 0, -1)
    b[0] = b[1] * c[0]
    return np.sum(b * c)


def quiet(x, mode):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
    z = np.where(x > 0.0, y, 0.0)
    return np.sum(z * z) * mode


def loud(x):
    with np.errstate(all="raise"):
        y = x * 1e-200
        return np.sum(y * 1e-200)


def by_number(x, y, k):
    items = (x, y, x * y)
    row = [x, y, 2.0]
    row[k % 3] = row[k % 3] * x
    return items[k] + row[-(k % 3) - 1] + row[0] * row[1] * row[2]


CASES = [
    (smallest, (ROW[1:],)),
    (smallest_of_rows, (MATRIX - 3.0,)),
    (smallest_of_rows, (MATRIX[::-1] - 3.0,)),
    (handed_over, (1.5, 1)),
    (handed_over, (1.5, 0)),
    (of_nothing, (1.5,)),
    (made_arrays, (1.5, 0.5)),
    (made_arrays, (np.float64(1.5), 0.5)),
    (gathered, (1.5, 3)),
    (gathered_rows, (ROW, 3)),
    (best_of, (ROW[1:4],)),
    (best_of, (np.ones(3),)),
    (ragged, (1.5, 2)),
    (inner_slices, (MATRIX, 2)),
    (parts_of_tuples, (1.5, 0.5)),
    (flat_writes, (np.outer(ROW[1:5], ROW[1:4]), 2.0)),
    (flat_reads, (MATRIX, 2.0)),
    (turned_axes, (MATRIX, 2.0)),
    (quiet, (ROW[1:4], 2.0)),
    (by_number, (1.5, 0.5, 0)),
    (by_number, (1.5, 0.5, 2)),
]
LEFT_TO_PYTHON = [
    (last_of, (ROW, 4)),
    (last_of, (ROW, 0)),
    (flat_reads, (np.outer(ROW[1:4], ROW[1:6])[:, ::2], 2.0)),
    (inner_slices, (np.outer(ROW[:5], ROW[1:5]), -1)),
]


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(("f", "args"), LEFT_TO_PYTHON, ids=["None", "no trip", "gaps", "negative"])
def test_what_may_be_left_to_python(f, args, jit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.JitWarning)
        demand_equal(tx.value_and_grad(f, jit=jit)(*args), tx.value_and_grad(f, guarded=True)(*args), exact=False)


@pytest.mark.share(1)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(("f", "args"), CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)])
def test_forms(f, args, jit):
    wrt = tuple(i for i, x in enumerate(args) if isinstance(x, float | np.ndarray))
    expected = tx.value_and_grad(f, guarded=True, wrt=wrt)(*args)
    derivative = tx.value_and_grad(f, jit=jit, wrt=wrt)
    demand_equal(derivative(*args), expected, jit == "python" and f not in (flat_reads, turned_axes))
    assert not compiled(derivative).gave_up


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(
    ("f", "args", "error"),
    [
        (never_there, (ROW, 3), TypeError),
        (smallest, (ROW[:0],), TypeError),
        (by_number, (1.5, 0.5, 3), IndexError),
        (loud, (ROW[1:3],), FloatingPointError),
        (ragged, (1.5, 1), ValueError),
    ],
    ids=["None", "None at the end", "key", "errstate", "ragged"],
)
def test_exceptions(f, args, error, jit):
    with warnings.catch_warnings(), pytest.raises((error, tx.TangentxError)) as plain:
        warnings.simplefilter("ignore")
        tx.value_and_grad(f, guarded=True)(*args)
    with warnings.catch_warnings(), pytest.raises(plain.type):
        warnings.simplefilter("ignore")
        tx.value_and_grad(f, jit=jit)(*args)


@pytest.mark.parametrize("jit", WAYS)
def test_other_shapes_of_memory_that_lies_otherwise(jit):
    """A reshape of what does not lie row after row is a copy, which a program of loops does not know."""
    derivative = tx.value_and_grad(flat_writes, jit=jit, wrt=(0, 1))
    plain = tx.value_and_grad(flat_writes, guarded=True, wrt=(0, 1))
    table = np.outer(ROW[1:5], ROW[1:7])
    for a in (table, np.asfortranarray(table), table.T, table[::-1], table[:, ::2], table[:, :3]):
        try:
            expected = plain(a, 2.0)
        except (ValueError, tx.TangentxError) as error:
            with pytest.raises(type(error)):
                derivative(a, 2.0)
        else:
            demand_equal(derivative(a, 2.0), expected, exact=False)


@pytest.mark.parametrize("jit", WAYS)
def test_other_shapes_of_what_lies_column_after_column(jit):
    def turned(a, v):
        b = a.T * 2.0
        flat = b.reshape(-1)
        flat[0] = v
        return np.sum(b * a.T)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.JitWarning)
        for a in (MATRIX, np.asfortranarray(MATRIX)):
            expected = tx.value_and_grad(turned, guarded=True, wrt=(0, 1))(a, 2.0)
            demand_equal(tx.value_and_grad(turned, jit=jit, wrt=(0, 1))(a, 2.0), expected, exact=False)


@pytest.mark.parametrize("jit", WAYS)
def test_events_that_a_program_ignores(jit):
    derivative = tx.value_and_grad(quiet, jit=jit)
    x = np.array([1.0, 0.0, -2.0])
    demand_equal(derivative(x, 2.0), tx.value_and_grad(quiet, guarded=True)(x, 2.0), exact=False)


@pytest.mark.parametrize("jit", WAYS)
def test_the_largest_of_what_is_no_number(jit):
    for x in (np.array([math.nan, 1.0, 2.0]), np.array([1.0, math.nan, 2.0])):
        expected = tx.value_and_grad(best_of, guarded=True)
        try:
            wanted = expected(x)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                tx.value_and_grad(best_of, jit=jit)(x)
        else:
            demand_equal(tx.value_and_grad(best_of, jit=jit)(x), wanted, jit == "python")


@pytest.mark.parametrize("jit", WAYS)
def test_what_was_fused_and_how_tapes_grow_is_explained(jit):
    def smoothed(u, n):
        for _ in range(n):
            u[1:-1] = u[1:-1] * u[2:] + np.sin(u[:-2])
        return np.sum(u * u)

    derivative = tx.grad(smoothed, jit=jit)
    derivative(ROW, 3)
    text = derivative.explain()
    line = smoothed.__code__.co_firstlineno + 2
    assert f" in one, of line {line}" in text
    assert f"grows by an array of float64 of rank 1 each time line {line} is passed" in text
    assert ("bytes at most at the last call" in text) == (jit == "c")


def either_number(p, q):
    if q > 0.5:
        return q * 2.0
    return p[1] * q


def two_ways_out(x, s):
    return either_number(x, s) * 3.0 + either_number(x, -s) * s


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("f", [either_number, two_ways_out])
@pytest.mark.parametrize("s", [0.8, -0.8, np.float64(0.8)])
def test_numbers_of_pythons_and_of_numpys_by_several_ways_out(f, s, jit):
    derivative = tx.value_and_grad(f, wrt=(0, 1), jit=jit)
    demand_equal(derivative(ROW, s), tx.value_and_grad(f, wrt=(0, 1), guarded=True)(ROW, s), jit == "python")
    assert not compiled(derivative).gave_up


@pytest.mark.parametrize("jit", WAYS)
def test_lengths_of_what_keeps_its_axes_are_known(jit):
    def softmax_loss(z, labels):
        z = z - np.max(z, axis=1, keepdims=True)
        logs = z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))
        return -np.mean(logs[np.arange(len(labels)), labels])

    derivative = tx.value_and_grad(softmax_loss, jit=jit)
    for z in (np.outer(ROW[1:4], ROW[1:6]), np.outer(ROW[1:4], ROW[1:2])):
        labels = np.zeros(3, np.int64)
        demand_equal(derivative(z, labels), tx.value_and_grad(softmax_loss, guarded=True)(z, labels), jit == "python")
    assert compiled(derivative).gave_up.total() <= 1


def products(a, v, w):
    return np.sum((a @ v) ** 2) + np.sum((w @ a) ** 2) + np.sum(a @ a.T) + np.sum((a.T @ a) @ v) + v @ v


@pytest.mark.parametrize("jit", WAYS)
def test_products_of_matrices_that_lie_in_any_order(jit):
    derivative, plain = tx.value_and_grad(products, wrt=(0, 1, 2), jit=jit), tx.value_and_grad(products, wrt=(0, 1, 2))
    for rows, columns in ((1, 1), (3, 17), (16, 16), (17, 3), (33, 40), (0, 2)):
        table = np.sin(np.arange(4.0 * rows * columns)).reshape(2 * rows, 2 * columns)
        for a in (table[:rows, :columns], table[::2, ::-2], table.reshape(2 * columns, 2 * rows).T[::2, ::2]):
            args = (a, np.cos(np.arange(float(columns))), np.arange(float(rows)))
            found, wanted = ([x for _, x in leaves("", f(*args))] for f in (derivative, plain))
            size = 1.0 + rows * columns * max(rows, columns) * (1.0 + rows)
            assert all(np.allclose(x, y, rtol=1e-12, atol=1e-13 * size) for x, y in zip(found, wanted, strict=True))
    compiled(derivative)
