# jvp
import numpy as np


def put(u, v):
    for k in range(2):
        u[k] = v * u[k]


def f(x, a):
    put(a, x)
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
