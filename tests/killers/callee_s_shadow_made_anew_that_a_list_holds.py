# grad
import numpy as np


def handed_over(u, seen):
    t = u + 1.0
    seen.append(t)
    return t[0] * t[1]


def f(x, u):
    seen = []
    total = handed_over(u, seen) + handed_over(u * u, seen)
    return (total + seen[0][1] * seen[1][2]) * x


# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
