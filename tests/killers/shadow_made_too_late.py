# grad
import numpy as np


def f(x, a):
    u = np.sin(a)
    v = u[1:]
    for k in range(2):
        v[k] = v[k] * x
    return np.sum(u * u)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
