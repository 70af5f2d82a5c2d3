# grad
import numpy as np


def f(x, a):
    y = x
    for i in range(2):
        for j in range(3):
            y = np.sin(y) * a[j]
            if a[j] > 1.0:
                return y * x
        y = y * a[i]
    return y

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
