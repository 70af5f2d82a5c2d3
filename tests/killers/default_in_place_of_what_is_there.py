# grad
import numpy as np


def f(x, a):
    groups = {}
    for k in range(4):
        groups.setdefault(k % 2, []).append(a[k] * x)
    return sum([v[-1] * len(v) for v in groups.values()])

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
