# grad
import numpy as np


def f(x, a):
    total = x
    for i in range(3):
        rows = [a[k] * x if i == 0 else rows[k] * a[k] for k in range(3)]
        total = total + rows[i]
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
