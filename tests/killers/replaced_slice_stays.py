# grad
import numpy as np


def f(x, a):
    items = [x, a[0], a[1]]
    items[1:] = [x * x]
    return items[0] * items[-1] * len(items)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
