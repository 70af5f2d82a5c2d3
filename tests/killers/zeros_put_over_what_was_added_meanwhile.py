# grad
import numpy as np


def f(x, a):
    a[1:] = 3.0 * a[:-1] + 0.5 * a[0]
    return np.sum(a * a * x)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
