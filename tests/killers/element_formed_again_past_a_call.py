# grad
import numpy as np


def put(u, k, v):
    u[k] = np.sin(v)


def f(x, a):
    y = x
    for k in range(3):
        u = a[k]
        put(a, k, u * y)
        y = y * u
    return y * np.sum(a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
