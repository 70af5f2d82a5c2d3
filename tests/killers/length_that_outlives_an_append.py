# grad
import numpy as np


def f(x, a):
    rows = [x]
    total = x * len(rows)
    rows.append(x * a)
    return total + rows[1] * len(rows)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, 1.3],
]
