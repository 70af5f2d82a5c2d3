# grad
import numpy as np


def f(x, a):
    d = {"u": x}
    y = d["u"] * a[0]
    d["v"] = np.sin(y)
    return d["v"] * len(d) * d["u"]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
