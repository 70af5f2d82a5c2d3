# grad
import numpy as np


def f(x, A):
    A.flat[[0, 2, 4]] = [x, A[0, 0]]
    return np.sum(A * A)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([[0.51, -0.33, 0.84], [1.21, 0.42, -0.67], [-0.92, 0.73, 0.28]])
POINTS = [
    [0.7, a0_0],
]
