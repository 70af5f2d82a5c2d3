# grad
import numpy as np


def f(x, a):
    d = {"u": x, "v": a[0]}
    y = d["u"] * a[1]
    d.pop("u")
    d["u"] = np.sin(y)
    return d["u"] * d["v"]

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
