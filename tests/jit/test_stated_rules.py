"""Rules of what is compiled, a program for each: exceptional events, whose scalar, slices that overlap, whole numbers
that are too large, empty arrays, lengths of one, short reals, ways out, containers, views that are written through."""

import math
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.pytrees import leaves
from tests.jit.test_entry import WAYS, own_cache  # noqa: F401

RNG = np.random.default_rng(11)
ROW = RNG.normal(size=6)
POSITIVE = RNG.random(6) + 0.5
MATRIX = RNG.normal(size=(4, 3))


def log_neg(x):
    s = 0.0
    for i in range(len(x)):
        s = s + math.log(x[i] + 0.3)
    return s


def sqrt_np(x):
    return np.sum(np.sqrt(x + 0.2))


def np_div_zero(x):
    s = 0.0
    for i in range(3):
        s = s + 1.0 / x[i]
    return s


def py_div_zero(x):
    s = 0.0
    for i in range(3):
        s = s + 1.0 / float(x[i])
    return s


def complex_root(x):
    y = x ** (1 / 3)
    return abs(y)


def neg_index(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[-i - 1] * x[i]
    return s


def index_error(x, n):
    y = x.copy()
    for i in range(n):
        y[i] = y[i] * 2.0
    return np.sum(y * x)


def overlap(x):
    y = x.copy()
    y[1:] = y[:-1] * y[1:]
    y[:-1] += y[1:]
    y[::-1] *= y
    return np.sum(y * x)


def neg_steps(x):
    y = x[::-1] * x
    z = np.zeros_like(x)
    z[::-2] = y[::2]
    z[1::2] += x[::-2] * 2.0
    return np.sum(z * z)


def intdiv(x, n):
    s = 0.0
    for k in range(-n, n):
        s = s + x[k // 3 % 6] * (k % -4)
        if k // -2 > 0:
            s = s * 0.9
    return s


def bigpow(x, n):
    k = 3**n
    return x * float(k)


def shift_wrap(x, n):
    k = 1
    for _ in range(n):
        k = k * 2
    return x * k


def int_sum(x, n):
    k = 0
    t = 0.0
    for i in range(n):
        k = k * 31 + i
        t = t + x * (k % 7)
    return t


def empty(x):
    y = x * 2.0
    s = np.sum(y)
    for v in x:
        s = s + v
    return s + np.sum(y[:0] * x)


def empty_max(x):
    return np.max(x)


def empty_rows(x):
    return np.sum(np.sum(x, axis=1)) + np.sum(np.mean(x * x, axis=1))


def bcast_one(a, b):
    c = a * b
    c += a
    return np.sum(c * c[:1])


def bcast_col(a, b):
    c = b / (1.0 + a * a)
    c[:, :1] *= a
    return np.sum(c * c)


def bcast_inplace_error(a, b):
    a = a.copy()
    a += b
    return np.sum(a)


def f32(x):
    s = np.float32(0.0)
    for i in range(len(x)):
        s = s + x[i] * np.float32(0.1)
    return s * s


def f32_sum(x):
    y = x * 2.0 + 1.0
    return np.sum(np.exp(-y * y)) * np.mean(y)


def f32_mix(x, c):
    y = x * c
    z = y + np.float64(0.1)
    return np.sum(z * z)


def boolmask(x):
    high = x > 0.0
    low = ~high & (x < -0.5)
    return np.sum(np.where(high, x * x, 0.0)) + np.sum(np.where(low, np.exp(x), x))


def boolcount(x):
    c = 0
    for v in x:
        if v > 0 or v < -1.0:
            c += 1
    return x[c % 6] * c


def early(x):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] * x[i]
        if s > 1.0:
            return s * x[i]
    return s


def long_range(x, n):
    s = x
    for i in range(n):
        s = 0.5 * s + 0.1
        if s < 0.25:
            break
    return s * x


def while_break(x):
    y = x
    n = 0
    while True:
        y = 0.5 * (y + x / y)
        n += 1
        if abs(y * y - x) < 1e-10 or n > 30:
            break
    return y * n


def while_else(x):
    k = 0
    while k < 5:
        k += 1
        if k == 7:
            break
    else:
        x = x * 2.0
    return x * k


def bent(a, b=2.0):
    if a > b:
        return a * b
    return a - b


def with_helper(x):
    s = 0.0
    for v in x:
        s = s + bent(v, 0.1) * bent(b=v, a=s)
    return s


def dict_local(x, n):
    st = {"p": x, "v": 0.0}
    for _ in range(n):
        st["v"] = st["v"] - 0.1 * st["p"]
        st = {"p": st["p"] + 0.1 * st["v"], "v": st["v"]}
    return st["p"] * st["v"]


def tuple_local(x, n):
    t = (x, 1.0)
    for k in range(n):
        a, b = t
        t = (b * a, a + k)
    return t[0] * t[-1]


def through(x):
    y = x.copy()
    r = y[1]
    c = y[:, 2]
    r *= 2.0
    c += r[0]
    t = y.T
    t[0] = t[1] * c
    return np.sum(y * y)


def raveled(x):
    y = np.reshape(x, (2, 3)).copy()
    z = y.ravel()
    z[2:5] *= y[0]
    return np.sum(y * z[1])


def nans(x):
    s = 0.0
    for v in x:
        if v > 0:
            s = s + v
        s = min(s, v) if v == v else s
    return s


def signed(a, b):
    return max(-0.0, 0.0) * a + math.atan2(a, b) + math.copysign(1.0, b) * a


def rounding(x):
    return x * round(x) + np.round(x) * x + int(x) * x + math.floor(-x) * x


def int_nan(x):
    return x * int(x)


def overflow(x):
    return x * x * 0.0 + x


def exp_over(x):
    return np.sum(np.exp(x))


def flag(x, f):
    return np.sum(x * x) if f else np.sum(x)


def asserted(x):
    for v in x:
        assert v < 0.5, "too large"
    return np.sum(x)


def raised(x):
    s = 0.0
    for v in x:
        if v > 0.6:
            raise ValueError(f"no {len(x)}")
        s = s + v
    return s


def cpx(z):
    w = z * z + 1.0
    return abs(w)


def lists(x):
    ys = []
    for v in x:
        ys.append(v * v)
    ys.pop()
    return ys[-1] * ys[0] + len(ys) * x[0]


def matvec(a, b):
    y = a @ b
    z = y @ a
    return z @ b + np.sum(np.outer(y, z))


def bad_shape(a, b):
    return np.sum(a @ b)


def ties(x):
    e = np.exp(np.where(x > 0, 1.0, 1.0) * 0.3)
    return np.sum(x * (e == np.max(e))) + np.argmax(e) * x[0]


def alias_self(x, y):
    z = x
    z = z + 0.0
    w = z
    w[1:4] = y[2:5] * w[:3]
    return np.sum(z * w)


def zero_step_slices(x, k):
    return np.sum(x[k : k + 3] * x[k - 1 : k + 2]) + np.sum(x[9:]) + np.sum(x[-9:2])


CASES = (
    (log_neg, (ROW,)),
    (sqrt_np, (ROW,)),
    (np_div_zero, (np.array([1.0, 0.0, 2.0]),)),
    (py_div_zero, (np.array([1.0, 0.0, 2.0]),)),
    (complex_root, (-8.0,)),
    (
        neg_index,
        (
            ROW,
            3,
        ),
    ),
    (
        index_error,
        (
            ROW,
            9,
        ),
    ),
    (overlap, (ROW,)),
    (neg_steps, (ROW,)),
    (
        intdiv,
        (
            POSITIVE,
            7,
        ),
    ),
    (
        bigpow,
        (
            1.01,
            70,
        ),
    ),
    (
        shift_wrap,
        (
            1.5,
            70,
        ),
    ),
    (
        int_sum,
        (
            0.7,
            40,
        ),
    ),
    (empty, (np.zeros(0),)),
    (empty_max, (np.zeros(0),)),
    (empty_rows, (np.zeros((0, 3)),)),
    (
        bcast_one,
        (
            RNG.normal(size=(1, 3)),
            MATRIX,
        ),
    ),
    (
        bcast_col,
        (
            RNG.normal(size=(4, 1)),
            MATRIX,
        ),
    ),
    (
        bcast_inplace_error,
        (
            RNG.normal(size=(64, 1)),
            RNG.normal(size=(64, 3)),
        ),
    ),
    (f32, (RNG.normal(size=7).astype(np.float32),)),
    (f32_sum, (RNG.normal(size=300).astype(np.float32),)),
    (
        f32_mix,
        (
            RNG.normal(size=5).astype(np.float32),
            0.3,
        ),
    ),
    (boolmask, (ROW,)),
    (boolcount, (ROW,)),
    (early, (ROW,)),
    (
        long_range,
        (
            2.0,
            10**15,
        ),
    ),
    (while_break, (3.0,)),
    (while_else, (3.0,)),
    (with_helper, (ROW,)),
    (
        dict_local,
        (
            1.3,
            4,
        ),
    ),
    (
        tuple_local,
        (
            1.3,
            4,
        ),
    ),
    (through, (MATRIX,)),
    (raveled, (ROW,)),
    (nans, (np.array([0.5, -0.5, np.nan, 1.0]),)),
    (
        signed,
        (
            0.0,
            -0.0,
        ),
    ),
    (rounding, (2.5,)),
    (int_nan, (float("nan"),)),
    (overflow, (1e200,)),
    (exp_over, (np.array([800.0, 1.0]),)),
    (
        flag,
        (
            ROW,
            True,
        ),
    ),
    (asserted, (ROW,)),
    (raised, (ROW,)),
    (cpx, (1.1 + 0.5j,)),
    (lists, (np.array([3.0, 1.0, 2.0]),)),
    (
        matvec,
        (
            MATRIX,
            POSITIVE[:3],
        ),
    ),
    (
        bad_shape,
        (
            np.ones((2, 3)),
            np.ones(4),
        ),
    ),
    (ties, (RNG.normal(size=40),)),
    (
        alias_self,
        (
            ROW,
            POSITIVE,
        ),
    ),
    (
        zero_step_slices,
        (
            ROW,
            2,
        ),
    ),
)


def outcome(f, args):
    """What a call gives, or raises, and of what it warns."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = [x for _, x in leaves("", f(*(x.copy() if isinstance(x, np.ndarray) else x for x in args)))]
        except Exception as error:
            return [type(error), str(error).partition("\n")[0]], set()
    return found, {str(each.message) for each in told if issubclass(each.category, RuntimeWarning)}


def alike(x, y, exact):
    """Whether two results are equal: to the bit, or but for rounding."""
    if not isinstance(x, float | np.ndarray | np.generic):
        return type(x) is type(y) and x == y
    assert type(x) is type(y) and np.shape(x) == np.shape(y)
    if exact:
        return np.array_equal(x, y, equal_nan=True) and np.array_equal(np.signbit(x), np.signbit(y))
    scale = np.max(np.abs(x), initial=1.0, where=np.isfinite(x))
    return np.allclose(
        x, y, rtol=0, atol=(1e-5 if np.asarray(x).dtype == np.float32 else 1e-12) * scale, equal_nan=True
    )


@pytest.mark.parametrize("jit", [*WAYS, pytest.param("numba", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("f", "args"), [pytest.param(*case, id=case[0].__name__) for case in CASES])
@pytest.mark.share(2)
def test_as_the_program_has_it(f, args, jit):
    if jit == "numba":
        pytest.importorskip("numba")
    for plain, compiled in (
        (f, tx.jit(f, jit=jit)),
        (tx.value_and_grad(f, guarded=True), tx.value_and_grad(f, jit=jit)),
    ):
        (wanted, warned), (found, warned_too) = outcome(plain, args), outcome(compiled, args)
        assert len(found) == len(wanted)
        assert all(alike(x, y, jit == "python") for x, y in zip(wanted, found, strict=True)), (wanted, found)
        assert warned == warned_too
