# grad
import numpy as np


def f(x, C):
    v = C.T.reshape(-1)
    v[1] *= x
    return np.sum(C * C * np.arange(1.0, 4.0))

# ---- arguments ----
WRT = (0, 1)
m0_0 = np.zeros(9, np.float64)
a0_0 = np.ndarray((3, 3), m0_0.dtype, m0_0, 0, (8, 24))
a0_0[...] = [[0.51, -0.33, 0.84], [1.21, 0.42, -0.67], [-0.92, 0.73, 0.28]]
POINTS = [
    [0.7, a0_0],
]
