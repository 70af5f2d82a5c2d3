# grad
import numpy as np


def f(x, a):
    np.put(a, [0, 1, 2], [x, 2.0 * x])
    return np.sum(a * a * np.arange(1.0, 5.0))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
