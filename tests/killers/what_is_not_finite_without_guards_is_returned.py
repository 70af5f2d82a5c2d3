# grad
import numpy as np


def f(x, a):
    u = np.sqrt(np.maximum(a, 0.5) - 0.5)
    u[a <= 0.5] = x
    return np.sum(u * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
