# grad
import numpy as np


def f(x, w):
    e = np.exp(x - np.max(x, axis=0))
    return np.sum(e * w) / np.sum(e)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([[0.613, -0.352], [1.147, 0.481]]), np.array([[0.7, -1.3], [0.2, 0.9]])],
]
