# vjp
import numpy as np


def f(x, a):
    for k in range(3):
        a[k] = np.sin(a[k]) * a[k + 1] * x
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
