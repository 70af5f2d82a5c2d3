# grad
import numpy as np

def f(x, a, b, idx):
    u = np.expand_dims(a, 1)
    u[0] *= 3
    p = u
    w = b
    return 0.38 * x + np.sum(a * np.arange(1.0, 5.0)) + np.sum(b * np.arange(1.0, 4.0)) + np.sum(u * u) + 1.36 * p.mean() + 1.22 * np.sum(np.sin(w))

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([0.998137, 0.868137, 1.132137, 1.597137])
a0_2 = np.array([1, 0, 2])
a0_1 = np.array([1.689137, 0.241137, -0.7921370000000001])
POINTS = [
    [0.207137, a0_0, a0_1, a0_2],
]
