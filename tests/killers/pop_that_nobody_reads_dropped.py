# grad
import numpy as np


def f(x, a):
    items = [x, a[0], a[1]]
    items.pop()
    return np.sin(items[-1]) * items.pop() * items[0]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
