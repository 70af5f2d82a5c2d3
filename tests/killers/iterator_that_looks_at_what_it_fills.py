# grad
import numpy as np


def f(x, a):
    items = [x]
    items.extend(v * items[-1] for v in a)
    return items[-1] * items[1]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
