# grad
from collections import deque

import numpy as np


def f(x, a):
    q = deque([x, a[0], a[1]])
    q.rotate(1)
    return 2.0 * q[0] + 3.0 * q[1] * q[2]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
