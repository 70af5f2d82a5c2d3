# grad
import numpy as np

def f(x, a):
    y = np.zeros(2)
    for k in range(len(a)):
        t = np.tanh(a[k, 0] * x)
        y[k % 2] = t * t
    return 2.0 * y[0] - y[1]

# ---- arguments ----
WRT = (0, 1)
POINTS = [
    [0.7, np.array([[0.4, 0.3], [1.1, 0.6], [0.2, 0.9]])],
]
