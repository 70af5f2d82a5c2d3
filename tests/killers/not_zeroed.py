# grad
import numpy as np

def f(x, a, n):
    w = a
    w[n % 2] -= x
    return np.sum(a * np.arange(1.0, 4.0))

# ---- arguments ----
WRT = (0, 1)
m0_0 = np.zeros(5, np.float64)
a0_0 = np.ndarray((3,), m0_0.dtype, m0_0, 0, (16,))
a0_0[...] = [0.7551370000000001, 1.136137, 0.485137]
POINTS = [
    [0.969137, a0_0, 2],
]
