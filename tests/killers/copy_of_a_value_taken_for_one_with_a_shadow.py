# grad
import numpy as np


def f(x, a):
    y = a * x
    w = y.reshape(-1)
    z = w if x > 0.0 else y
    return np.sum(z[:2] * z[1:]) * np.sum(w)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
