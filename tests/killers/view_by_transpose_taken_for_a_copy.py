# grad
import numpy as np
SCALE = 0.7

def step(a, h, f):
    a += a

def f(x, a):
    v = a
    u = np.squeeze(a[None], 0)
    q = np.outer(v.ravel(), a[::-1])
    step(np.ravel(v.T), SCALE, SCALE)
    return np.sin(x) + np.sum(a * a) + 1.08 * v.mean() + 0.31 * np.sum(np.sin(u)) + np.sum(q * np.arange(1.0, 4.0))

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([-0.9291370000000001, -1.165137, -0.8811370000000001])
POINTS = [
    [0.9331370000000001, a0_0],
]
