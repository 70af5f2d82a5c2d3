# grad
import numpy as np


def f(x, a):
    u, v = np.split(a, [2])
    u[0] *= x
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
