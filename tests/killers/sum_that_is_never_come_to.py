# grad
import numpy as np


def f(x, a):
    total = x
    for k in range(3):
        rows = []
        for v in a:
            rows.append(v * x)
        if k > 1:
            break
        total = total + sum(rows) * x
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
