# grad
import numpy as np


def f(x, a):
    s = x
    for i in range(2):
        s = s + np.sin(a[i + 2])
        a[i + 1] = s
    return s + np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
