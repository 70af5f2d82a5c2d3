# grad
import numpy as np


def f(m, s, x):
    z = (x[:, None, :] - m) * np.exp(-s)
    sums = np.sum(z, axis=2)
    z[0] = 0.0
    return np.sum(sums * sums) + np.sum(z * z)

# ---- arguments ----
WRT = (1,)
a0_0 = np.array([[0.613, -0.352, 1.147], [0.211, 0.5, -0.7]])
a1_0 = np.array([[0.3, 0.52, -0.147], [0.81, -0.5, 0.25]])
a2_0 = np.array([[0.3, 0.52, -1.147], [0.81, -0.15, 0.25], [0.1, 0.2, 0.3], [1.1, 0.7, -0.4]])
POINTS = [
    [a0_0, a1_0, a2_0],
]
