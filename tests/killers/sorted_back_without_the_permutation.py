# grad
import numpy as np

def shift(box, f):
    u = np.outer(np.full((2,), box['a']), box['b']) * np.full((2, 4), f)
    return u[0, 0]

def f(x, a, b):
    for k in range(1, 4):
        b[1:].sort()
        mask6 = a[1:] > 1.29
    g = x * k
    state16 = {'a': b[-1], 'b': a[::-1]}
    e = shift(state16, a[k] * a[k - 1])
    return np.sin(x) + 0.45 * a.mean() + 0.66 * np.sum(np.sin(b)) + 0.66 * g + 0.24 * state16['a'] + 0.45 * e

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([0.14213699999999999, -0.732137, 1.184137, 1.1081370000000001])
a0_1 = np.array([1.444137, 1.2471370000000002, -0.693137])
POINTS = [
    [-0.734137, a0_0, a0_1],
]
