# grad
import numpy as np


def f(x, a):
    y = 0.0
    for k in range(4):
        if a[k] > 0.0:
            y = y + np.sin(a[k])
        else:
            continue
        y = y * a[k]
    return y * x

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
