# grad
import numpy as np


def f(x, a, b):
    rows = [a, b]
    for k in range(2):
        rows[0][k] *= x
        rows[0] = np.sin(rows[1]) * rows[0]
        rows[0][0] = x
    return np.sum(rows[0] * rows[1])

# ---- arguments ----
WRT = (0, 1, 2)
a0_1 = np.array([-0.23, 0.842, 0.557, -1.121])
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0, a0_1],
]
