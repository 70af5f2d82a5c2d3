# grad
import numpy as np


class Probe:
    def __init__(self, u):
        self.u = u


def f(x, a):
    probe = Probe(a)
    probe.u[0] *= x
    return np.sum(a * a)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
