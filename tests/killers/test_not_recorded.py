# grad
import numpy as np


def f(x, a):
    y, k = 1.0, 0
    while y > 0.3 and k < 3:
        y = y * np.sin(x)
        k += 1
    go = True
    for k in range(3):
        if go:
            x = np.sin(x)
        go = x > 0.6
    return x * y

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
