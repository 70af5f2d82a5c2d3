# grad
import numpy as np


def f(x, a, b):
    n = -a
    y = np.sum(n * (2.0 * b))
    a[0] = x
    return y + np.sum(np.sin(a))

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
a0_1 = np.array([0.213, 0.452, -1.147, 0.281])
POINTS = [
    [0.7, a0_0, a0_1],
]
