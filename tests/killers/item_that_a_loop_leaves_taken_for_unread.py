# grad
import numpy as np


def f(x, a):
    total = row = x
    for row in a:
        total = total + row * row
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
