# grad
import numpy as np


def f(x, a, b):
    a[[0, 1, 0]] = b[:3] * x
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
a0_1 = np.array([-0.23, 0.842, 0.557, -1.121])
POINTS = [
    [0.7, a0_0, a0_1],
]
