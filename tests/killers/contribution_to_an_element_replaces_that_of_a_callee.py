# grad
import numpy as np


def squares(b):
    total = 0.0
    for x in b:
        if x > 3.0:
            break
        total = total + x * x
    return total


def f(b):
    total = 0.0
    for i in range(len(b)):
        total = total + np.sin(b[i])
    return total * squares(b)

# ---- arguments ----
WRT = (0,)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [a0_0],
]
