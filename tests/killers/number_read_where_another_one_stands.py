# grad
import numpy as np


def f(x, a):
    for k in range(2):
        t = np.tanh(a[k] * x)
        a[2] = t
        a[2] = a[2] * 3.0
        x = x * t
    return x + a[2]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
