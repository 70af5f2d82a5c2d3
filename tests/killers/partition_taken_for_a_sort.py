# grad
import numpy as np


def f(x, a):
    u = np.arange(1.0, 400.0)[::-1] * x
    u.partition(5)
    return np.sum(u * np.sin(np.arange(1.0, 400.0)))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
