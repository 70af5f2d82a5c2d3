# grad
import numpy as np


def f(x, a):
    u = a[:1] * x
    for k in range(2):
        t = u * 2.0
        u = a * 1.0
        u[...] = t
    return np.sum(u * a)


# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
