"""Programs with early exits, odd numbers, views and exceptions in the middle, in each way."""

import dataclasses
import math

import numpy as np
import pytest

import tangentx as tx
from tests.jit.sanitised import alike, outcome
from tests.jit.test_entry import WAYS, own_cache  # noqa: F401

R = np.random.default_rng(11)
CASES = []
x6 = R.normal(size=6)
x0 = np.zeros(0)
f4 = R.normal(size=5).astype(np.float32)
i6 = np.array([3, 1, 4, 1, 5, 2])
m33 = R.normal(size=(3, 3))
z4 = R.normal(size=4) + 1j * R.normal(size=4)


def case(*args):
    """Runs the function with these arguments."""

    def entered(f):
        CASES.append((f, args))
        return f

    return entered


@case(x6, 2.0)
@case(x6 * 0, 2.0)
def early_break(x, t):
    s = 0.0
    for v in x:
        if abs(v) > t * 0.4:
            break
        s = s + v * v
    return s * t


@case(x6)
@case(x0)
def for_else(x):
    s = 1.0
    for k in range(len(x)):
        if x[k] > 5:
            break
        s *= 1.0 + x[k] * 0.1
    else:
        s = s * 3.0
    return s


@case(0.3)
@case(40.0)
def collatz(a):
    n = 0
    while a < 30.0:
        a = a * 1.5 + 0.1
        n += 1
        if n > 50:
            break
    return a * n


@case(2.0, 7)
def newton(a, n):
    y = 1.0
    while True:
        new = 0.5 * (y + a / y)
        if abs(new - y) < 1e-12 or n == 0:
            return new * a
        y = new
        n -= 1


@case(x6, i6)
@case(x6, i6 - 7)
@case(x6, i6[::-1])
def gather(x, i):
    s = 0.0
    for k in range(len(i)):
        s += x[i[k] - 1] * x[k % len(x)]
    return s


@case(x6[::-1])
@case(np.repeat(x6, 2)[::-2])
def neg_view(x):
    y = x[::-1] * 2.0
    y[::2] += x[::2]
    w = y[::-1]
    w[1:] *= w[:-1]
    return np.sum(w * y)


@case(f4)
def single(x):
    s = np.float32(0.0)
    for v in x:
        s = s + v * v * np.float32(0.3)
    return s * 2


@case(f4)
def single_mixed(x):
    y = x * 0.1 + np.sin(x)
    return np.sum(y.astype(np.float64) ** 2) + float(x[0]) * 0.1


@case(m33)
@case(m33.T)
@case(m33[::-1, ::-1])
def masks(a):
    m = a > 0
    b = np.where(m, a * a, -a)
    b[m] = b[m] * 2.0
    return np.sum(b) + np.sum(a[~m])


@case(z4)
def cplx(z):
    w = z * z.conj() + z * 1j
    return np.sum(np.abs(w) ** 2)


@case(0.5 + 0.2j)
def mandel(c):
    z = 0j
    for _ in range(4):
        z = z * z + c
    return abs(z)


@case(x6)
def tuples(x):
    p = (x[0], x[1])
    q = (p[1] * 2.0, p[0])
    for k in range(3):
        p, q = q, (p[0] + q[1] * x[k], p[1])
    return p[0] * q[0] + p[1] * q[1]


@case(x6)
def dicts(x):
    d = {"a": 0.0, "b": 1.0}
    for k in range(len(x)):
        d["a"] = d["a"] + x[k] * d["b"]
        d["b"] = d["b"] * 0.9 + d["a"] * 0.1
    return d["a"] * d["b"]


@dataclasses.dataclass
class P:
    x: float
    v: float


@case(1.0, 0.5, 9)
@case(1.0, 0.5, 0)
def classes(a, b, n):
    p = P(a, b)
    for _ in range(n):
        p = P(p.x + 0.1 * p.v, p.v - 0.1 * math.sin(p.x))
    return p.x**2 + p.v


@case(x6, 1.0)
@case(x6, -100.0)
def raises(x, t):
    s = 0.0
    for k in range(len(x)):
        if x[k] < t * 0.01 - 1.0:
            pass
        elif t < 0:
            raise ValueError(f"bad at {k}")
        s += x[k] ** 3
    return s * t


@case(x6)
def index_error(x):
    y = x.copy()
    s = 0.0
    for k in range(7):
        y[k] *= 2.0
        s += y[k]
    return s


@case(1.0, 0.0)
@case(1.0, 2.0)
def zero_div(a, b):
    s = a
    for k in range(3):
        s = s + a / (b - k + 5 if b > 0 else b)
    return s


@case(np.array([1.0, np.nan, 2.0]))
@case(np.array([1.0, np.inf, -np.inf]))
@case(np.array([0.0, -0.0, 1.0]))
def odd_values(x):
    y = np.maximum(x, 0.5) + np.minimum(x, 2.0) * 0.5
    return np.sum(y * x)


@case(np.array([1.0, np.nan, 2.0]))
@case(np.array([0.0, -0.0, -1.0]))
def odd_scalars(x):
    s = 0.0
    for v in x:
        s = s + max(v, 0.0) * min(v, 1.0) + abs(v)
    return s


@case(x0)
@case(np.zeros((0, 3)))
@case(np.zeros((3, 0)))
def empty(x):
    return np.sum(x * x) + np.sum(x.T, axis=0).sum() * 2.0


@case(np.zeros((0, 3)))
@case(R.normal(size=(4, 3)))
def empty_loop(x):
    s = 0.0
    for r in x:
        s = s + r[0] * r[1] - r[2]
    return s


@case(x6, 3)
def continue_(x, k):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        if i % k == 1:
            continue
        s = s * x[i] + x[i]
    return s


@case(x6)
def nested_break(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(i, len(x)):
            if x[j] * x[i] < -0.2:
                break
            s += x[i] * x[j]
        else:
            s *= 0.5
    return s


@case(x6, i6)
def int_arrays(x, i):
    n = i * 2 - i // 2 + i % 3
    return np.sum(x * n) + np.sum(x**2 / (n + 1))


@case(5, 0.3)
@case(-5, 0.3)
def int_scalars(n, x):
    a = n // 3 + n % 3
    b = -n // 2
    return x**a + x * b + float(n) * x * (n > 0)


@case(x6)
def lists(x):
    held = []
    for k in range(len(x)):
        if x[k] > 0:
            held.append(x[k] * 2.0)
    s = 0.0
    while held:
        s = s * 0.5 + held.pop()
    return s


@case(m33)
def aliasing(a):
    b = a.copy()
    c = b[1]
    b[0] += c
    c *= 2.0
    d = b.T
    d[0] -= b[0]
    return np.sum(b * d)


@case(m33, x6[:3])
def broadcast(a, v):
    b = a * v[:, None] + v
    b -= b.mean(axis=0)
    return np.sum(b * b / (1.0 + a * a))


@case(x6)
def overlap(x):
    y = x.copy()
    y[1:] = y[:-1] * 2.0 + y[1:]
    y[:-1] -= y[1:]
    return np.sum(y * y)


@case(x6)
def accum(x):
    y = np.zeros(3)
    for k in range(6):
        y[k % 3] += x[k] * x[5 - k]
    return np.prod(y)


@case(x6)
def cum(x):
    return np.sum(np.cumsum(x) ** 2) + np.max(x) * np.min(x)


@case(np.array([1.0, 1.0, 0.0, 1.0]))
def ties(x):
    return np.max(x) * 2.0 + np.sum(np.abs(x - 1.0)) + np.min(x)


@case(x6, 4)
def tern(x, n):
    s = 0.0
    for k in range(n):
        s = (s + x[k] if x[k] > 0 else s - x[k] ** 2) * (1.0 if k % 2 else -1.0)
    return s


@case(x6)
def chain(x):
    s = 0.0
    for k in range(1, 5):
        if -1.0 < x[k] < 1.0 and not (x[k - 1] > 0 or x[k + 1] < 0):
            s += x[k]
        else:
            s -= x[k] * x[k - 1]
    return s


@case(2.0)
@case(-2.0)
@case(0.0)
def powers(a):
    return a**2 + a**3 - abs(a) ** 1.5 + (a * a + 1.0) ** -0.5


@case(-8.0)
def croot(a):
    return abs(a ** (1 / 3))


@case(800.0)
def overflow(a):
    return math.exp(a)


@case(-1.0)
def domain(a):
    return math.sqrt(a) * 2


@case(x6)
def np_domain(x):
    return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0 * np.log(np.abs(x) + 1.0)))


@case(m33)
def matmul(a):
    b = a @ a.T
    for _ in range(3):
        b = b @ a * 0.3 + a
    return np.trace(b) + np.sum(b[:, ::-1] @ a[0])


@case(R.normal(size=(2, 3, 4)))
def three(a):
    b = np.transpose(a, (2, 0, 1))
    return np.sum(b[1:] * b[:-1]) + np.sum(a[:, ::-1, ::2] ** 2)


@case(x6, True)
@case(x6, False)
def flag(x, yes):
    n = None
    for v in x:
        if n is None or (yes and v > n):
            n = v * 1.0
    return n * 2.0


@case(x6)
def reuse(x):
    y = x
    for k in range(3):
        t = y * y
        y = t + x
        t[0] = 5.0
    return np.sum(y)


@case(x6)
def swap(x):
    y = x.copy()
    for k in range(3):
        y[k], y[5 - k] = y[5 - k] * 2.0, y[k]
    return np.sum(y * x)


@case(f4, x6[:5])
def mixed_prec(a, b):
    return np.sum(a * b) + np.sum(a * a)


@case(x6)
def assert_(x):
    s = np.sum(x * x)
    assert s > 100.0, "small"
    return s


@case(R.normal(size=(5, 2)))
@case(R.normal(size=(5, 3))[:, ::-1])
def norms(p):
    d = p[:, None] - p[None]
    r = np.sqrt(np.sum(d * d, axis=-1) + 1e-3)
    return np.sum(1.0 / r)


@case(R.normal(size=12))
def written_and_read(u):
    u = u.copy()
    for _ in range(4):
        v = u[1:-1]
        v += 0.2 * u[:-2]
        w = v * v
        u[2:] = u[2:] * 0.5 + w
        v *= 0.9
        u[:-2] -= w * v
    return np.sum(u * u)


@case(R.normal(size=6), R.normal(size=6))
def two_parts(x, y):
    x = x.copy()
    a, b = x[1:], x[:-1]
    a += y[1:]
    c = a * b
    b -= c
    d = a * a + b
    a[:] = d * b
    return np.sum(x * c) + np.sum(d)


@case(R.normal(size=(7, 7)))
def stencil_under_two_names(u):
    u = u.copy()
    v = u
    for _ in range(3):
        bend = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * bend
        r = u[1:-1, 1:-1]
        r *= 1.0 + 0.1 * r
        u[0] = u[1] * r[0, 0]
    return np.sum(v * v)


@case(R.normal(size=(6, 5)))
@case(np.asfortranarray(R.normal(size=(6, 5))))
def rows_and_columns(a):
    a = a.copy()
    for _ in range(3):
        a[1:] += 0.3 * a[:-1] * a[1:]
        a[:, :-1] -= 0.1 * a[:, 1:] * a[:, :-1]
        a[:-1] *= a[1:] + 0.5
    return np.sum(a)


@case(np.array([0.0, -0.0, 2.0, -3.0]))
def zeros_with_signs(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = -x[i]
    y *= -1.0
    return np.sum(y * x)


@case(np.array([1.5, -0.3, 0.2, -4.0, 0.0]), -3)
def inverted(x, k):
    m = x > 0
    y = np.where(~m, x * x, x)
    n = np.invert(m) | (x > 1)
    t = np.sum(y * np.bitwise_and(n, ~m))
    for i in range(3):
        t += x[~i] * (~k) + (~(i > 1)) * x[0]
        if ~m[i] and not ~k == 5:
            t += x[i]
    return t


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda k: f"{CASES[k][0].__name__}{k}")
def test_as_the_generated_python(case, jit):
    f, args = CASES[case]
    wanted = outcome(tx.value_and_grad(f, guarded=True), args)
    found = outcome(tx.value_and_grad(f, jit=jit), args)
    assert len(found) == len(wanted)
    for a, b in zip(wanted, found, strict=True):
        assert type(a) is type(b)
        assert (
            np.array_equal(a, b, equal_nan=True) if jit == "python" and not isinstance(a, type | str) else alike(a, b)
        )
