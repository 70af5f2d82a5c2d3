# grad
import numpy as np


def f(x, a):
    u = np.sin(x)
    v = np.sin(x)
    return u * a[0] + v * a[1] ** 2

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
