# grad
import numpy as np


def f(x, a):
    rows = []
    others = [rows]
    for v in a:
        rows.append(v * x)
    last = rows.pop()
    total = 0.0
    for row in others[0]:
        total = total + row * last
    return total

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147])
POINTS = [
    [0.7, a0_0],
]
