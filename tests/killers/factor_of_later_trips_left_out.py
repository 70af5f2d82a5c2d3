# grad
import numpy as np

def f(x, a):
    total = 0.0
    for row in a:
        total = 0.9 * total + np.tanh(row[0] * x) ** 2
    return total

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([[0.4, 0.3], [1.1, 0.6], [0.2, 0.9]])],
]
