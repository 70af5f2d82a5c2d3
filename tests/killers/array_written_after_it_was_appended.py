# grad
import numpy as np


def f(x, a):
    rows = []
    for k in range(2):
        row = a * x
        rows.append(row)
        row[0] = row[1] * x
    return np.sum(sum(rows) * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
