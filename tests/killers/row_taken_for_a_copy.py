# grad
import numpy as np

def f(x, a, n, idx):
    w = a[:, None].squeeze(-1)
    w[idx] += 0.5 * np.sqrt(1.0 + a[n % 3] ** 2)
    t = w[n % 3]
    a[n % 3] += np.tanh(0.31 * x)
    w[...] *= np.cos(a[::-1])
    return np.sin(x) + np.sum(a * a) + np.sum(w * np.arange(1.0, 4.0)) + np.sin(t)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([-0.9191370000000001, -0.7821370000000001, 0.9361370000000001])
a0_1 = np.array([0, 2, 0])
POINTS = [
    [0.159137, a0_0, 2, a0_1],
]
