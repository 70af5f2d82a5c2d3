# grad
import numpy as np


def f(x, A, n):
    u = A * x
    z = A * 0.5
    for k in range(n):
        v = u * u
        w = np.sin(v)
        u[0] = w[1]
        z = z + v * w
    return np.sum(u * z)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([[0.51, -0.33, 0.84], [1.21, 0.42, -0.67], [-0.92, 0.73, 0.28]])
POINTS = [
    [0.7, a0_0, 3],
]
