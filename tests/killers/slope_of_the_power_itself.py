# grad
import numpy as np


def f(x, a):
    return x * np.sum(a * a) ** 1.5

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
