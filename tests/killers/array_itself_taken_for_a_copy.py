# grad
import numpy as np


def f(n, x):
    y = np.diff(x, n)
    x[0] = 5.0 * x[1]
    return np.sum(y * y)

# ---- arguments ----
WRT = (1,)
a0_1 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0, a0_1],
]
