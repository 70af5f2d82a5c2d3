# jvp_of_grad
import numpy as np


def f(x, a):
    y = x
    for k in range(3):
        z = y
        y = np.sin(y) * a[k]
        x = x + z * y
    return x * y

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
