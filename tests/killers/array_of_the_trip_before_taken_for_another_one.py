# grad
import numpy as np

def f(x, k):
    last = np.ones(len(x))
    for _ in range(3):
        f = np.zeros(len(x))
        f[0] = k * last[0] * x[0]
        last[1] = f[0] * last[0]
        x = x + f * last
        f[2] = x[0] * f[0]
        f[0] = f[2] * f[0]
        last = f
    return np.sum(x * x * last)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([0.7, 1.2, -0.4]), 0.8],
]
