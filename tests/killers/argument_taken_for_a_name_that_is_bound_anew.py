# grad
import numpy as np

def changed(w, c):
    for k in range(2):
        w = w * c
        w[0] = c[1]
    return w

def f(x, a):
    w = a * x
    w = changed(w, a)
    return np.sum(np.sin(w) * a)

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([0.4, 0.3, 1.1])],
]
