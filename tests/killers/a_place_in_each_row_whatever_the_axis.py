# grad
import numpy as np


def f(x, A):
    np.put_along_axis(A, np.array([[2, 0, 1]]), x, axis=0)
    return np.sum(A * A * np.arange(1.0, 4.0))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([[0.51, -0.33, 0.84], [1.21, 0.42, -0.67], [-0.92, 0.73, 0.28]])
POINTS = [
    [0.7, a0_0],
]
