# grad
import numpy as np

def either(w, c):
    w[0] = c[0] * 2.0
    if c[1] > 5.0:
        return c
    return w

def f(x, a):
    w = a * x
    w = either(w, a)
    return np.sum(np.sin(w) * a) + np.sum(w)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([0.4, 0.3, 1.1])],
]
