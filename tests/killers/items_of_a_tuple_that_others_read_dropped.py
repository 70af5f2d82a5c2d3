# grad
import numpy as np


def f(x, a):
    pairs = [(x, a[0]), (a[1], a[2])]
    y = 0.0
    for pair in pairs:
        y = y + pair[1]
    for i in range(2):
        y = y * pairs[0][i]
    return y

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
