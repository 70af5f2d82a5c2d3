# grad
import numpy as np


def f(x, A):
    u = A.diagonal()
    A[1, 1] = x
    return np.sum(u * u * x)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([[0.51, -0.33, 0.84], [1.21, 0.42, -0.67], [-0.92, 0.73, 0.28]])
POINTS = [
    [0.7, a0_0],
]
