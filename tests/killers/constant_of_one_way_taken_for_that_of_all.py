# grad_of_grad
import math
import numpy as np
SCALE = 0.7

def f(x, a, idx):
    if max(SCALE, x) > 0.45:
        return np.sin(x) + np.sum(a * a)
    s = a
    return np.sin(x) + 0.59 * np.sum(np.sin(a))

# ---- arguments ----
WRT = (0, 1)
a0_1 = np.array([2, 0, 1])
a0_0 = np.array([1.050137, 0.7721370000000001, 0.319137])
POINTS = [
    [-0.7591370000000001, a0_0, a0_1],
]
