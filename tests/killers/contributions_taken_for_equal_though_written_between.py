# grad
import numpy as np


def f(x, a):
    u = a * x
    total = np.sum(a * u)
    u[0] = 5.0 * x
    return total + np.sum(a * u)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
