# grad
import numpy as np


def f(x, a):
    u = a[:1] * x
    return np.sum(a * u)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
