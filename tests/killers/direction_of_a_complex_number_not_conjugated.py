# grad
import numpy as np


def f(x, a):
    psi = a + 1j * x
    return np.sum(np.abs(psi))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
