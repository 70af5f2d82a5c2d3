# grad
import numpy as np
BUFFER = np.zeros(4)

def f(x, a, b):
    BUFFER[:] = a[::-1]
    s = 3
    return np.sin(x) + np.sum(a * np.arange(1.0, 5.0)) + 0.38 * np.sum(np.sin(b)) + 0.94 * BUFFER.mean() + np.sin(s)

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([-1.181137, 0.988137, 1.127137, 1.187137])
a0_1 = np.array([1.359137, 0.429137, 1.871137])
POINTS = [
    [1.157137, a0_0, a0_1],
]
