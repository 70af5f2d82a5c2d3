# grad
import numpy as np


def f(x, a):
    table = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 0.5]])
    rows = table @ (x * a)
    gone = np.array([False, True, False])
    return np.sum(np.where(gone, 0.0, rows * rows))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352])
POINTS = [
    [0.7, a0_0],
]
