# grad
import numpy as np

def f(x, a):
    h = x * 1.5
    total = 0.0
    for k in range(len(a)):
        if k < 2:
            total += np.exp(h) * a[k, 1]
            h = 0.25
    return total

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([[0.4, 0.3], [1.1, 0.6], [0.2, 0.9]])],
]
