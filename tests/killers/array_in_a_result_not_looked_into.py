# grad
import numpy as np

def f(u, c):
    for i in range(1, len(u)):
        u[i] = c * u[i - 1]
    return np.sum(u * u)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([0.7, 1.2, -0.4]), 0.8],
]
