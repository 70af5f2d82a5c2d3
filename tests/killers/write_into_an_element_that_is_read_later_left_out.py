# grad
import numpy as np

def f(x, a):
    for i in range(len(a)):
        a = np.tanh(np.sin(np.array([a[0], x, x, a[-1]])))
        a = 0.5 * (a[::-1] / (1.5 + a[::-1] ** 2)).copy()
    s = x
    w = np.where(a > 1.22, np.sqrt(np.maximum(a, 1.22) - 1.22), a[::-1])
    return np.sin(x) + np.sum(a * a) + np.sin(s) + np.sum(w * w)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([1.788137, -0.309137, 1.3181370000000001, 1.8521370000000001])
POINTS = [
    [1.046137, a0_0],
]
