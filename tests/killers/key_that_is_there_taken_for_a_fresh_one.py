# grad
import numpy as np


def f(x, a):
    rows = {1: x}
    for k in range(3):
        rows[k] = a[k] * x
    return rows[1] * rows[0]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
