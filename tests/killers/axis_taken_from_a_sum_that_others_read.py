# grad
import numpy as np


def f(a, b, m):
    return np.sum(np.sin(a[:, None] + b[:, None] + m))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
a0_1 = np.array([-0.23, 0.842, 0.557])
m0_2 = np.array([[0.71, -0.42], [1.37, 0.18], [-0.93, 0.66]])
POINTS = [
    [a0_0, a0_1, m0_2],
]
