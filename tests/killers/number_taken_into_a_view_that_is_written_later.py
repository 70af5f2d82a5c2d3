# grad
import numpy as np


def f(a, b, w):
    w = w.copy()
    v = w.reshape(3)
    y = np.sin((0.3 * a) * v)
    w[...] = w * w
    return np.sum(y) + np.sum(np.sin((0.3 * b) * v))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
a1_0 = np.array([0.3, 0.52, -0.147])
a2_0 = np.array([0.2, -0.5, 0.7])
POINTS = [
    [a0_0, a1_0, a2_0],
]
