# grad
import numpy as np

def f(x, a, n):
    a *= a
    v = a
    w = v[:, None][:, 0]
    w[..., -1:0:-1] = np.sin(w[n % 2])
    z = 1.15 * x if type(a) is np.ndarray else a[n % 3] * np.max(a[-1:0:-1])
    return np.sin(x) + 0.8 * a.mean() + np.sum(v * v) + np.sum(w * w) + np.sin(z)

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([1.6001370000000001, -1.585137, -1.681137])
POINTS = [
    [1.632137, a0_0, 3],
]
