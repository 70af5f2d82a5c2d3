# grad
import numpy as np


def f(x, a):
    mask = a > 0.5
    y = 0.0
    for k in range(3):
        a[mask] = np.sin(a[mask]) * x
        mask[k] = not mask[k]
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
