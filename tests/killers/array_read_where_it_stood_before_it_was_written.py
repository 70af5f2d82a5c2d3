# grad
import numpy as np


def f(x, a):
    held = np.zeros((3, 3))
    total = 0.0
    for k in range(3):
        t = np.exp(a * a[k])
        held[k] = t
        t[0] = x
        total = total + np.sum(t * t * a[k])
    return total + np.sum(held)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
