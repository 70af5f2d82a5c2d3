# grad
import tangentx as tx
import numpy as np


class Probe:
    def __init__(self, u):
        self.u = u


def read(probe, v):
    return np.sum(probe.u * probe.u) * v


def f(x, a):
    probe = Probe(a)
    y = tx.checkpoint(read, probe, x)
    probe.u[1] *= y
    probe.u = np.sin(probe.u) * y
    probe.u[0] = x
    return np.sum(probe.u)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
