# grad
import numpy as np


def f(x, a, A):
    return np.sum(A[:, :1] * a + A[0, 0] * a) * x

# ---- arguments ----
WRT = (0, 1, 2)
a0_1 = np.array([[0.51, -0.33, 0.84], [1.21, 0.42, -0.67], [-0.92, 0.73, 0.28]])
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0, a0_1],
]
