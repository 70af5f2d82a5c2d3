# grad
import numpy as np


def f(x, a):
    s = 0.0
    t = x
    for k in range(3):
        t = np.sin(a[k] * x)
        s = s + t * t
    return s + t

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
