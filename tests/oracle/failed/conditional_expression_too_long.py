# A definition that a conditional expression took in, which then proved too long.
import math

import numpy as np

SCALE = 0.7


def shift(a, b, h, f):
    z = max(a[3], b[3])
    for k in range(4):
        fn0 = lambda v: np.sin(v * z)
        def fn1(fn, v):
            return fn(0.5 * fn(v)) + a[k % 4]
        s = np.sin(fn1(fn0, math.tanh(f)))
        pair9 = (h, np.dot(b, a[::-1]))
        t, g = pair9
        if s > s:
            z = np.sin(a[k % 4] * t)
            break
    else:
        z = z * f
        count = 0
        while True:
            count += 1
            b = b[::-1][[0, 2, 2, 2]] + a[::-1]
            if count >= 2 or np.sum(np.array([b[count % 4], a[count % 4], z, b[count % 4]])) > 0.66:
                break
            match (h, z):
                case (total, drift) if total > drift:
                    total = np.tanh(total * f)
                    w = b[:-2]
                    w[::-1] += np.sin(a[2:] * a[:-2])
                case (total, _):
                    total = np.sin(total * h)
                    b[count % 4] *= np.cos(0.66 * h)
                    parts = [a, a[::-1], a]
                    y = a[1] ** 2
            f -= 0.52 * np.sum(np.cos(a[::-1]))
            if z > b[count % 4]:
                return np.tanh(1.29 * h)
            z *= np.cos(h / (1.5 + f * f))
        for m in range(1, 2):
            params = {"a": h, "b": math.tanh(h)}
            params["b"] = params.get("b", b[m]) * 1.08
            e = f
            e = e + sum(params.values()) * len(params)
    f += 0.73 * (0.38 * (h / (1.5 + z * z)))
    return np.sin(f)


def relax(a, f):
    a[:-1] -= np.sin(a[:-1])
    return np.tanh(f)


def f(x, a, b, xs, idx):
    x = 0.5 * SCALE
    if not b[2] > 0.10:
        shift(a, a[::-1], SCALE, SCALE)
        state = {"a": xs[-1], "b": a, "w": b}
        state["new"] = np.sqrt(1.0 + SCALE ** 2)
    elif -1.01 < b[0] < 0.31:
        np.putmask(b, b[::-1] > 1.36, [xs[1 % len(xs)], xs[-1]])
        x += 0.10 * (a[3] - (xs[-1] + a[2]))
    z = relax(a[::-1], 1.29 * xs[2 % len(xs)])
    u = a
    u += 0.87 * u[::-1]
    b = u[1:]
    u[0], u[3] = u[3], u[0]
    return np.sin(x) + np.sum(a * np.arange(1.0, 5.0)) + 1.15 * np.sum(np.sin(b)) + xs[-1] * len(xs) + 0.52 * z + 0.87 * u.mean()

# ---- arguments ----
WRT = (0, 1, 2, 3)
m0_0 = np.zeros(7, np.float64)
a0_0 = np.ndarray((4,), m0_0.dtype, m0_0, 0, (16,))
a0_0[...] = [1.564137, -1.488137, 0.7891370000000001, -1.167137]
a0_1 = np.array([0.421137, -1.0701370000000001, 0.8831370000000001])
a0_2 = np.array([0, 1, 2])
a1_0 = np.array([0.7891370000000001, -0.744137, -1.6931370000000001, 0.372137])
a1_1 = np.array([-0.434137, 1.678137, -0.862137])
a1_2 = np.array([2, 1, 0])
POINTS = [
    [-0.872137, a0_0, a0_1, [-0.11813699999999999, 1.890137], a0_2],
    [1.681137, a1_0, a1_1, [0.383137, 1.378137, 1.3221370000000001], a1_2],
]
