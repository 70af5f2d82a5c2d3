# grad
import numpy as np


def f(u, w):
    total = 0.0
    for k in range(2):
        v = u.copy()
        v[0] = v[0] * 2.0
        total = total + (v[0] + 3.0 * v[1]) * (k + 1.0)
        u = w
    return total

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([0.613, -0.352, 1.147]), np.array([0.481, 0.922])],
]
