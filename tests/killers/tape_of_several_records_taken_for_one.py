# grad
import numpy as np


def f(x, a):
    s = x
    for k in range(3):
        s = s * np.sin(s) * a[k]
    return s

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
