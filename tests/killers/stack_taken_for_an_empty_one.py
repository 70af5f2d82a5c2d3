# grad
import numpy as np


def f(x, a):
    rows = []
    for v in a:
        rows.append(np.sin(v * x))
    last = rows.pop()
    return last * last * x

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
