# grad
import numpy as np

def f(x, a):
    total = x * 0.0
    w = a
    for k in range(3):
        total = total + np.sum(np.sin(w) * a)
        w = w * x
        total = total + np.sum(np.sin(w))
    return total

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([0.4, -0.3, 1.1])],
]
