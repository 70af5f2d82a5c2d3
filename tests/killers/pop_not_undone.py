# grad
import numpy as np


def f(x, a):
    items = [x, a[0], a[1]]
    y = 1.0
    while len(items) > 1:
        y = y * np.sin(items[-1]) * items[-2]
        y = y + items.pop()
    return y * items[0]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
