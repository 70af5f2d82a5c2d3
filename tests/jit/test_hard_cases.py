"""What breaks the obvious compiler of loops: the same values, exceptions, warnings and branches as without ``jit=``."""

import math
import warnings

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import ROW, WAYS, demand_equal, own_cache  # noqa: F401
from tests.jit.test_numba import HAS_NUMBA

EVERY_WAY = (
    *WAYS,
    pytest.param("numba", marks=[pytest.mark.skipif(not HAS_NUMBA, reason="no Numba"), pytest.mark.thorough]),
)


def left_early(x, limit):
    total = 0.0
    for _ in range(10**15):
        total = total + x * x
        if total > limit:
            break
    return total


def large_powers(x, k):
    return x * float(3**k % 1001) + x * (3**70 % 7) + x * (2**63 % 5)


def shifted(x, k):
    return x * ((1 << k) % 7)


def inverses(x):
    total = 0.0
    for i in range(len(x)):
        total = total + 1.0 / x[i]
    return total


def inverses_of_floats(x):
    total = 0.0
    for i in range(len(x)):
        total = total + 1.0 / float(x[i])
    return total


def root(x, y):
    return abs(x**y)


def signs(x, y, k, m):
    return x * (k // m) + x * (k % m) + (x // y) * x + (x % y) * y


def rounded(x, y):
    return x * round(y) + x * np.round(y) + x * np.rint(y) + x * round(y, 1)


def extremes(x, y):
    return min(x, y) * 2.0 + max(x, y) * 3.0 + min(y, x) * 5.0 + max(y, x) * 7.0


def angles(x, y):
    return math.atan2(max(x, y), -1.0) + math.atan2(max(y, x), -1.0) + math.atan2(min(x, y), -1.0) + x * 2.0


def whole(x, y):
    return x * int(y)


def inverse_beyond_the_end(x, k):
    a = np.zeros(3)
    a[0] = x
    a[10] = 1 / k
    return a[0]


def doubled(x, k):
    for i in range(k):
        x[i] = x[i] * 2.0
    return np.sum(x)


def contracted(a, c):
    return math.sqrt(a * a - c) + a


def decided(x, n):
    total = 0.0
    for _ in range(n):
        d = x * x - (x * x)
        total = total + x if d > 0.0 or d < 0.0 else total + 2.0 * x
        x = x * 1.1
    return total


def ties(x):
    e = np.exp(x)
    total = np.max(e) + np.sum(np.where(e == e[0], x * x, x)) + np.sum(np.maximum(e, np.exp(x[::-1])))
    for i in range(len(x)):
        if e[i] >= e[0]:
            total = total + x[i]
    return total


def short(x):
    return np.sum(x * x) + np.sum(x * 0.1 + 1e-3)


def masked(x):
    return np.sum(np.where(x > 0, np.log(x), 0.0))


def masked_later(x):
    t = np.sqrt(x)
    u = 2.0 * t + x
    return np.sum(np.where(x > 0.5, u * u, x))


def asked_later(x):
    total = 0.0
    for i in range(len(x)):
        t = np.log(x[i])
        if x[i] > 0.5:
            total = total + t * x[i]
    return total + x[0]


def left_before(x):
    total = 0.0
    for i in range(len(x)):
        t = 1.0 / x[i]
        if i == 1:
            break
        total = total + t
    return total


def last_of_all(x):
    t = x[0]
    for i in range(len(x)):
        t = np.sqrt(x[i])
    return t * x[0]


def before_no_trip(x, n):
    t = 1.0 / x[0]
    y = x[1:].copy()
    for i in range(n):
        y[i] = y[i] * t
    return np.sum(y)


def overflowing(x):
    square = x * x
    return np.sum(np.where(x < 1e100, square, x))


def counted(x):
    return float(np.any(x > 1.0)) * x[0] + np.count_nonzero(x > 0.0) * x[1] + bool(np.all(x < 3.0)) * x[0]


def view_of_new(x):
    y = x * 3.0
    v, w = y[1:], y[:-1]
    v[:] = w * w
    u = v + w
    return np.sum(u * y[1:])


def shifted_in_new(x):
    t = x * x
    t[1:] = t[:-1]
    s = t + x
    s[::-1] += t
    return np.sum(s * t)


def appended_and_written(x):
    rows = []
    y = x * x
    rows.append(y[1:])
    rows.append(y)
    y[1] = x[0]
    z = y * 2.0
    rows.append(z)
    rows[0][0] += 1.0
    z[1:] *= z[:-1]
    return np.sum(rows[0] * rows[0]) + np.sum(rows[2] * y) + np.sum(rows[1])


EQUAL = np.full(101, 0.3)
VALUES = (np.array([1.0, 0.0, 2.0]), np.array([1.5, 2.0, -0.0]), np.array([-1.0, 3.0, 0.25, 4.0]), np.array([1.0, 2.0]))
CASES = [
    (left_early, (1.0, 100.0)),
    (large_powers, (1.5, 70)),
    (shifted, (1.5, 70)),
    (inverses, (np.array([1.0, 0.0]),)),
    (inverses_of_floats, (np.array([1.0, 0.0]),)),
    (root, (-8.0, 1 / 3)),
    (root, (np.float64(-8.0), 1 / 3)),
    *((signs, (1.5 * k, 0.7 * m, k, m)) for k in (7, -7) for m in (3, -3)),
    (signs, (-0.0, 0.5, 0, -3)),
    (signs, (1.5, 0.0, 6, 3)),
    (signs, (1.5, 0.5, 6, 0)),
    (signs, (-1.5, math.inf, 6, 1)),
    (signs, (np.float64(1.5), 0.0, 6, 1)),
    (rounded, (1.5, 2.5)),
    (rounded, (1.5, -3.5)),
    (extremes, (math.nan, 1.0)),
    (extremes, (1.0, math.nan)),
    (extremes, (1.0, 1.0)),
    (angles, (-0.0, 0.0)),
    (angles, (0.0, -0.0)),
    (whole, (1.5, math.nan)),
    (whole, (1.5, 1e300)),
    (whole, (1.5, -2.7)),
    (inverse_beyond_the_end, (1.5, 0)),
    (inverse_beyond_the_end, (1.5, 1)),
    (doubled, (ROW, 13)),
    (contracted, (1.1, 1.1 * 1.1)),
    (decided, (1.1, 20)),
    (ties, (EQUAL,)),
    *((f, (v,)) for f in (counted, view_of_new, shifted_in_new, appended_and_written) for v in (ROW, ROW[:2])),
    *((f, (values,)) for f in (masked, masked_later, asked_later, left_before, last_of_all) for values in VALUES),
    *((before_no_trip, (values, n)) for values in VALUES for n in (0, 1)),
    (overflowing, (np.array([1.0, -0.0, 1e200]),)),
    (overflowing, (np.array([1.0, 2.0, 1e30, 1e4], np.float32),)),
    (short, (np.linspace(0.0, 1.0, 100_001, dtype=np.float32),)),
]


def outcome(f, args, **options):
    """The value and gradient, or the exception; what was warned of; and the arguments afterwards."""
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            found = tx.value_and_grad(f, **options)(*given)
        except Exception as error:
            found = type(error), str(error)
    told = [str(w.message) for w in met if not issubclass(w.category, tx.JitWarning | tx.FallbackWarning)]
    return found, told, given


@pytest.mark.share(1)
@pytest.mark.parametrize("jit", EVERY_WAY)
@pytest.mark.parametrize(("f", "args"), CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)])
def test_hard_cases(f, args, jit):
    wanted, told, after = outcome(f, args, guarded=True)
    found, told_compiled, after_compiled = outcome(f, args, jit=jit)
    # One text may compute what warns in both sweeps, the other once.
    assert list(dict.fromkeys(told)) == list(dict.fromkeys(told_compiled))
    assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(after, after_compiled, strict=True))
    if isinstance(wanted[0], type):
        assert found == wanted
    else:
        demand_equal(found, wanted, jit == "python")
