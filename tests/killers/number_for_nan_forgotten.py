# grad
import numpy as np


def f(x, a):
    a[0] = np.nan
    np.nan_to_num(a, copy=False, nan=0.7)
    return np.sum(a * a) * x

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
