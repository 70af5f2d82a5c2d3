# grad
import numpy as np

def f(x, a, b):

    def fn0(e):
        a[..., -2:] /= 1.5
    s = fn0(abs(a[3]))
    return a.mean()

# ---- arguments ----
WRT = (0, 1, 2)
a0_1 = np.array([-0.112137, -0.706137, -1.042137])
a0_0 = np.array([-1.450137, -0.257137, -1.655137, 1.028137])
POINTS = [
    [0.626137, a0_0, a0_1],
]
