# grad
import numpy as np


def f(x, a):
    y, b = x, a[::-1]
    for k in range(3):
        u = a[k]
        b[3 - k] = np.sin(u) * y
        y = y * u
    return y * np.sum(a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
