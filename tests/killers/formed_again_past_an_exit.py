# grad
import numpy as np


def f(x, a):
    y = x
    for k in range(4):
        if a[k] > 0.0:
            u = a[k] * x
            y = y * np.sin(u)
            if u > 0.5:
                continue
            y = y * u
        y = y * np.cos(a[k] * y)
    return y

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
