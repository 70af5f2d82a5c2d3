# grad
import numpy as np


def f(x):
    return np.sum(np.sin(np.minimum(x, 0.5)))

# ---- arguments ----
WRT = (0,)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [a0_0],
]
