# grad
import numpy as np


def f(x, a):
    return max(x, a) * 2.0

# ---- arguments ----
WRT = (0,)
POINTS = [
    [0.7, float("nan")],
]
