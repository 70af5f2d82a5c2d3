# grad
import math
import numpy as np

def f(x, a, n, psi):
    u = a
    u[1:] += 0.5 * u[-1:0:-1].copy()
    q = a[::2]
    a[..., 1:] -= 0.5 * math.tanh(x)
    return np.sin(x) + np.sum(a * a) + 1.22 * psi.imag + np.sum(u * u) + 0.66 * q.mean()

# ---- arguments ----
WRT = (0, 1, 3)
a0_0 = np.array([0.6771370000000001, 0.306137, 1.518137, -1.837137])
POINTS = [
    [1.8381370000000001, a0_0, 2, (0.48250960000000004-0.3618822j)],
]
