# grad_of_grad
import math
import numpy as np
SCALE = 0.7

def f(x, a):
    a[:] = x * a[::-1]
    u = a[None]
    u[[0, 0, 0], [0, 2, 0]] /= 1.5
    return 1.36 * x + 0.45 * a.mean() + 0.66 * u.mean()

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([-1.474137, 1.599137, 0.14113699999999998])
POINTS = [
    [0.333137, a0_0],
]
