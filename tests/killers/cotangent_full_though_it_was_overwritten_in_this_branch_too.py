# grad
import numpy as np


def f(x, c):
    if c > 5.0:
        y = np.sqrt(x)
        y[0] = c
    else:
        y = np.log(x)
        y[0] = 0.5 * c
    return np.sum(y)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([0.0, 0.7, 1.3]), 0.4],
]
