# grad
import numpy as np


def f(x, a):
    items = [x]
    for k in range(3):
        items.append(np.sin(items[-1]) * a[k])
    return items[-1] * items[1]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
