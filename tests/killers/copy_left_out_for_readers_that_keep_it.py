# jvp_of_grad
import numpy as np

def fold(a, b, f):
    pass

def f(x, a, b):
    a = a
    a[np.newaxis, -2:] **= 2
    return np.sin(x) + np.sum(a * np.arange(1.0, 4.0))

# ---- arguments ----
WRT = (0, 1, 2)
m0_0 = np.zeros(3, np.float64)
a0_1 = np.ndarray((2,), m0_0.dtype, m0_0, 0, (16,))
a0_1[...] = [-0.361137, 0.136137]
a0_0 = np.array([1.513137, 1.710137, 0.304137])
POINTS = [
    [-1.633137, a0_0, a0_1],
]
