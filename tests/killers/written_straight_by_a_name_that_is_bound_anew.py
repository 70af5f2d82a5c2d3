# jvp
import numpy as np


def f(x, a):
    k = 0
    for i in range(3):
        u = a[k:k + 2]
        k = k + 1
        u[...] = x * (i + 1.0)
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
