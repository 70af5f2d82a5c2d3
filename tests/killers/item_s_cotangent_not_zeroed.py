# grad
import numpy as np


def f(x, a):
    d = {"u": x}
    d["u"] = d["u"] * a[0] + a[1]
    d["u"] = d["u"] * a[2]
    return d["u"] * x

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
