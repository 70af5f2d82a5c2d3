# on_tensors
import numpy as np


def f(x, a):
    most = max(*a)
    if hasattr(x, "append"):
        return most
    return most * x * x

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 0.2])
POINTS = [
    [0.7, a0_0],
]
