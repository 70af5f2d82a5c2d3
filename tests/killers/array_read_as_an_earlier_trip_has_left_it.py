# grad
import numpy as np

def f(x, a):
    c = np.zeros(2)
    total = 0.0
    for k in range(len(a)):
        c[k % 2] += 1.0
        total += np.sum(c * np.sin(a[k] * x))
    return total

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([[0.4, 0.3], [1.1, 0.6], [0.2, 0.9]])],
]
