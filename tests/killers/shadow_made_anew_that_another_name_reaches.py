# grad
import numpy as np


def f(x, u):
    v = u
    for k in range(3):
        u = u * v[k]
        v = u
    return u[0] * v[1] * x

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
