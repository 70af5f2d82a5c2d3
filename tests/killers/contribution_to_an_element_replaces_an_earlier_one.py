# grad
import numpy as np


def f(b):
    total = 0.0
    for i in range(1, len(b)):
        total = total + np.sin(b[i] * b[i - 1])
    return total

# ---- arguments ----
WRT = (0,)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [a0_0],
]
