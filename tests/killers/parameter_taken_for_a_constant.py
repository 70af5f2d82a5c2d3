# grad
import numpy as np


def step(v, w):
    for k in range(2):
        v = np.sin(v) * w
        if v > 0.1:
            v = v * w
    return v


def f(x, a):
    return step(x, 2.0) * step(x, 3.0)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
