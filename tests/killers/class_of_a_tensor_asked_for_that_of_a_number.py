# on_tensors
import numpy as np


def f(x, a):
    items = [1.0, *a]
    if type(x) is float:
        return max(*a) * x * x * items[-1]
    return x * items[-1]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 0.2])
POINTS = [
    [0.7, a0_0],
]
