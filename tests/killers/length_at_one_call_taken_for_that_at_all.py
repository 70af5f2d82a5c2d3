# grad
import numpy as np


def g(u, v):
    s = u * v
    t = np.tanh(s)
    return np.sum(t * u)


def f(x, a):
    return g(a, a) + g(a, a[:1] * x)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
