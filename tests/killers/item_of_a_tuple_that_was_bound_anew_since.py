# grad
import numpy as np


def f(x, a):
    y = x
    total = 0.0
    for i in range(3):
        t = (y, np.sum(a))
        y = y * np.sin(y)
        total += t[0] * t[1]
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
