# vjp
import math

import numpy as np

SCALE = 0.7


def f(x, a, A):
    u = np.zeros((3, 3,))
    s = u[1, 1]
    return 1.01 * x + np.sum(a * a) + np.sum(A * A) + 0.94 * u.mean() + np.sin(s)

# ---- arguments ----
WRT = (0, 1, 2)
a0_1 = np.array([[-0.5271370000000001, 1.8701370000000002, 0.5461370000000001], [0.836137, 1.179137, 1.744137]])
m0_1 = np.zeros(5, np.float64)
a0_0 = np.ndarray((3,), m0_1.dtype, m0_1, 0, (16,))
a0_0[...] = [0.194137, 1.2291370000000001, -1.025137]
POINTS = [
    [-1.083137, a0_0, a0_1],
]
