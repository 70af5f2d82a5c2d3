# grad
import itertools

import numpy as np


def f(x, a):
    rows = [[x, a[0]], [a[1], a[2]]]
    total = 0.0
    for v in itertools.chain.from_iterable(rows):
        rows[1][1] = v * x
        total = total + v * v
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
