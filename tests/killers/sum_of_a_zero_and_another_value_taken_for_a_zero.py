# grad
import numpy as np


def f(x, a):
    return np.sum(np.where(a > 0.5, a * x, 0.5))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
