# grad
import numpy as np


def f(x, a):
    return min(x, 1.0) * a

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, 1.3],
]
