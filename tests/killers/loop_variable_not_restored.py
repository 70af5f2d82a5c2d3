# grad
import numpy as np


def f(x, a):
    k = 0
    for j in range(2):
        x = np.sin(x) * a[k]
        for k in range(2 + j):
            x = x * a[k]
    return x * k

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
