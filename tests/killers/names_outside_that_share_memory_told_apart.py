# grad
import numpy as np

TABLE = np.array([0.5, -1.25, 2.0])
FIRST = TABLE[:1]


def f(x, a):
    TABLE[0] = x * a[0]
    return FIRST[0] * a[1]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352])
POINTS = [
    [0.7, a0_0],
]
