# grad
import numpy as np


def f(u, w):
    total = 0.0
    for _ in range(2):
        v = u.copy()
        v[0] = v[0] * 2.0
        total = total + np.sum(v * v * v)
        u = w
    return total

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([0.613, -0.352, 1.147]), np.array([0.481, 0.922])],
]
