# grad
import numpy as np


def f(x, a):
    w = a[a > 1.0]
    u = a + x
    return np.sum(u * w)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
