# grad
import numpy as np

def f(x, k):
    total = 0.0
    for _ in range(2):
        f = x * 1.0
        for i in range(1, 3):
            f[0] = f[i] * f[i] * k
            total += np.sum(np.sin(f[:2]))
        x = x + f
    return total + np.sum(x * x)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([0.7, 1.2, -0.4]), 0.8],
]
