# grad
import numpy as np


def f(x, a):
    psi = np.exp(1j * a) * x
    return (np.sum(psi) * (0.3 + 0.7j)).imag

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
