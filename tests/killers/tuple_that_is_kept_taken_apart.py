# grad
import numpy as np


def pair(v):
    return v * v, np.sin(v)


def f(x, a):
    first, second = pair(x)
    kept = [pair(a[0])]
    kept.append((first, second))
    return kept[0][1] * kept[1][0]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
