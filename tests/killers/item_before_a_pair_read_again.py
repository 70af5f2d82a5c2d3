# grad
import itertools

import numpy as np


def f(x, a):
    items = [x, a[0], a[1], x * a[2]]
    total = 0.0
    for p, q in itertools.pairwise(items):
        items[1] = 0.5 * x
        items[2] = np.sin(x)
        total = total + p * q
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
