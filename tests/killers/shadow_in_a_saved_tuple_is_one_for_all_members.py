# batch
import numpy as np


def f(a, b):
    s = 0.0
    for i in range(3):
        s = s + a[i] * np.sin(b[i])
    return s

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 0.2])
a0_1 = np.array([-0.23, 0.842, 0.557])
POINTS = [
    [a0_0, a0_1],
]
