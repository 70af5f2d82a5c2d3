# grad
import numpy as np


def f(x, a):
    y = np.sum(np.sin(a) * x)
    a[0] = x
    return y + np.sum(np.sin(a) * np.cos(a))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
