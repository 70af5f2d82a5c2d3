# jvp
import numpy as np


def f(x, a):
    u = [x, a[0], a[1]]
    return u[-1] * u.pop() * u[-1] * u.pop() + u[-1]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
