# grad
import numpy as np


def f(x, a):
    y = np.cos(x) * a[0]
    z = np.cos(x) * a[1] - np.cos(a[0]) * x
    return y * z

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
