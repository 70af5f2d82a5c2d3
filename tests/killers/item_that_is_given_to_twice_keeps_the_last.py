# grad
import numpy as np


def f(p, x):
    return np.sum(p["b"] ** 2) * x + np.sum(np.tanh(p["b"] * x))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [{"b": a0_0}, 0.7],
]
