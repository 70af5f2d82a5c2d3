# grad
import numpy as np
BUFFER = np.zeros(3)

def f(x, a, b, A):
    v = A
    q = a
    u = np.atleast_2d(b)
    u[-1] -= q[1]
    return 0.24 * x + 0.24 * a.mean() + 0.1 * b.mean() + np.sum(A * A) + 0.59 * BUFFER.mean() + np.sum(v * v) + 0.45 * q.mean() + 0.45 * u.mean()

# ---- arguments ----
WRT = (0, 1, 2, 3)
a0_1 = np.array([1.113137, 0.143137])
a0_0 = np.array([1.177137, -1.658137, -0.976137])
a0_2 = np.array([[1.165137, 1.041137, 1.1201370000000002], [1.541137, -0.443137, -0.487137]])
POINTS = [
    [1.359137, a0_0, a0_1, a0_2],
]
