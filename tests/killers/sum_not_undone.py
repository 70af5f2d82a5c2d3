# grad
import numpy as np


def f(x, a):
    np.add.at(a, [0, 0], np.sin(a[0]) * x)
    b = np.sin(a)
    np.add.at(a, [1, 1], np.sum(b * a))
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
