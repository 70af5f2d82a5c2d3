# grad
import numpy as np


def f(x, u):
    a = u * x
    seen = []
    for k in range(3):
        b = a.copy()
        b[k] = a[k] * a[k + 1]
        seen.append(b)
        a = b
    return seen[0][1] * a[0] + seen[1][1] * seen[2][2]

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([0.613, -0.352, 1.147, 0.481])],
]
