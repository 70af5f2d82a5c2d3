# grad
import numpy as np


def f(x, a):
    count = np.zeros(4, dtype=int)
    count[0] = 3.0 * x
    count[...] = a * 3.0
    u = count * a
    return np.sum(u * u) + x

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
