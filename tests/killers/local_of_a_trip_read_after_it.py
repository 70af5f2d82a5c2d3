# grad
import numpy as np


def f(x, a):
    s = 0.0
    for k in range(3):
        if k > 0:
            s = s + t * t
        t = np.sin(a[k] * x)
    return s + t

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
