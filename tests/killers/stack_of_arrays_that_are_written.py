# grad
import numpy as np


def f(x, a):
    rows = []
    row = a * x
    rows.append(row)
    row[0] = a[1] * a[2]
    last = rows.pop()
    return np.sum(last * last * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
