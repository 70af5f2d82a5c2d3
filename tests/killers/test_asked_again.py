# grad
import numpy as np


def f(x, a):
    y = x
    while y > 0.2:
        y = y * 0.5 * np.sin(a[0] + 1.0)
    for k in range(3):
        if x > 0.5:
            x = np.sin(x) * a[k] + 0.1
    return x * y

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
