# grad
import tangentx as tx
import numpy as np


class Probe:
    def __init__(self, gain):
        self.gain = gain


def read(probe, v):
    return probe.gain * probe.gain * v


def f(x, a):
    probe = Probe(x)
    y = tx.checkpoint(read, probe, a[0])
    probe.gain = np.sin(y)
    return y * probe.gain

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
