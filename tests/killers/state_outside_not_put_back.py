# grad
import numpy as np


BUFFER = np.zeros(4)


def f(x, a):
    BUFFER[:] = a * x
    return np.sum(BUFFER * BUFFER)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
