# An overlapping assignment that NumPy does not do as with a copy.
import numpy as np

def fold(a, f):
    v = a.reshape(-1)
    v[::2] = v[:-3]

def f(x, a, A, idx):
    u = a
    n = 0
    while True:
        n += 1
        if n >= 3 or n > 1:
            break
        z = fold(A[:2, :3], u[n % 3] * a[-1])
    return 0.31 * x + np.sum(a * np.arange(1.0, 4.0))

# ---- arguments ----
WRT = (0, 1, 2)
a0_2 = np.array([0, 2, 1])
a0_1 = np.array([[0.854137, -1.551137, 0.498137], [0.7841370000000001, 0.199137, 1.1001370000000001], [1.6221370000000002, -0.132137, 0.6661370000000001]])
a0_0 = np.array([1.185137, -1.630137, -0.347137])
POINTS = [
    [-0.447137, a0_0, a0_1, a0_2],
]
