# An overlapping assignment that NumPy does not do as with a copy.
import math

import numpy as np

SCALE = 0.7


def relax(a, b, f=0.5):
    a[:-1] *= np.cos(np.min(np.concatenate([a[::-1][1:], a[::-1][:1]])))
    v = a[:-1]
    v[0] *= np.cos(f)


def fold(a, f):
    v = a.reshape(-1)
    v[::2] = v[:-3]
    for k in reversed(range(4)):
        if not v[k] > 0.45:
            relax(v[:-3], v[3:], **{"f": f})
            np.subtract.at(v, np.array([1, 2, 3]), v[k] ** 2)
            params = {"a": a[k % 2, 2], "b": a, "w": v}
            params["new"] = np.min(np.minimum(a, a[::-1]))
        elif v[k] > a[k % 2, 2]:
            steps = 0
            while True:
                steps += 1
                pair6 = (f, max(v[k], 1.08))
                y, s = pair6
                if steps >= 2 or a[steps % 2, -1] - f > 0.17:
                    break
                v[:-1] = np.array([y, pair6[0], a[1][2], s, pair6[1]])
                w = np.stack([a[1], v[::2], v[::2]]) - np.full((3, 3), s)
                if k < 2:
                    break
                stack = [z * z for z in v if z > -0.24] + [f]
            pair13 = (f, v[k] / (1.5 + v[k] * v[k]))
            g, h = pair13
        else:
            v.flat[[0, 2, 0]] *= np.cos(np.sum(v.reshape(2, 3).copy()))
        f += 1.36 * f
    c = np.tanh(np.ravel(a.T).mean())
    return 0.5 * v[k - 1]


def f(x, a, A, idx):
    fold(A[:2, :3], x + A[0, 2])
    u = a
    u[::-1] += np.tanh(x)
    u[0] = np.sin(np.sin(u[0]))
    for y, c in zip(u, a):
        stack = [A[0, 1]]
        q = u[1:]
        q[0] *= np.cos(x + a[0])
    n = 0
    while True:
        n += 1
        x = 0.5 * (min(a[2], 0.24) / (1.5 + x * x))
        if n >= 3 or n > 1:
            break
        p = np.maximum(A[n % 3, n % 3] * u[::-1], 1.15)
        if x > a[n % 3]:
            z = fold(A[:2, :3], u[n % 3] * a[-1])
            g = 0.5 * sum(1.01 * h - A[n % 3][n % 3] * h_h for h in a if h > -0.17 for h_h in (0.38, p[n % 3]))
            out = np.where(p > 1.29, np.sqrt(np.maximum(p, 1.29) - 1.29), p[::-1])
        else:
            state = {"a": x, "b": A[n % 3, n % 3]}
            state["a"] = state["a"] + state.pop("c", SCALE)
            state["a"] = state["a"] + state.pop("c", u[n % 3])
            total = u[1]
            for key20, drift in state.items():
                total = 0.10 * total + drift * (2.0 if key20 == "a" else p[n % 3])
            p[n % 3] *= np.cos(p[n % 3])
            x = np.sin(A[n % 3, 0])
        if n > 1:
            break
        for r in range(0, 4, 2):
            t = np.sin(max([1.01 * gain - a[n % 3] for gain in u] + [x]))
            if a[n % 3] / (1.5 + SCALE * SCALE) < 0.66:
                continue
            t += 1.22 * np.sum(u.copy())
    return 0.31 * x + np.sum(a * np.arange(1.0, 4.0)) + np.sum(A * A) + 0.17 * u.mean()

# ---- arguments ----
WRT = (0, 1, 2)
a0_2 = np.array([0, 2, 1])
a0_1 = np.array([[0.854137, -1.551137, 0.498137], [0.7841370000000001, 0.199137, 1.1001370000000001], [1.6221370000000002, -0.132137, 0.6661370000000001]])
a0_0 = np.array([1.185137, -1.630137, -0.347137])
a1_1 = np.array([[-0.385137, -0.720137, 1.253137], [-0.9061370000000001, -1.681137, -0.253137], [1.008137, -0.835137, 1.252137]])
a1_2 = np.array([2, 0, 0])
a1_0 = np.array([-1.325137, -0.197137, 0.301137])
POINTS = [
    [-0.447137, a0_0, a0_1, a0_2],
    [0.369137, a1_0, a1_1, a1_2],
]
