# grad
import numpy as np


def f(x, a):
    values = []
    total = 0.0
    for v in a:
        values.append(v * x)
        total = total + np.sum(np.array(values) ** 2)
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
