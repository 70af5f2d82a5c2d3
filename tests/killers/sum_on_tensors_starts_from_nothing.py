# on_tensors
import numpy as np


def f(x, a):
    most = max(*a)
    return sum(a, x * x) * most

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 0.2])
POINTS = [
    [0.7, a0_0],
]
