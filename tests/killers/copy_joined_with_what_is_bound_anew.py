# grad
import numpy as np


def f(x, a):
    b = a
    for _ in range(2):
        a, b = b * x, a * b
    return np.sum(a * b)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
