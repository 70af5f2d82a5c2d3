# grad
import numpy as np


def f(x, a):
    items = [x, a[0]]
    for k in range(3):
        items[0] = np.sin(items[0]) * items[1]
    return items[0]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
