# grad
import numpy as np

def f(w, a):
    b, c, total = w[0], w[1], 0.0
    for k in range(len(a)):
        total += k * b + np.tanh(a[k] @ w) ** 2
        b, c = c, b
    return total

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [np.array([0.7, 0.2]), np.array([[0.4, 0.3], [1.1, 0.6], [0.2, 0.9], [0.5, 0.4]])],
]
