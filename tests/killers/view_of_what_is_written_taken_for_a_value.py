# grad
import numpy as np


def f(x, a):
    y = a * x
    w = y.reshape(-1)
    y[0] = a[1] * a[2]
    return np.sum(w * w * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
