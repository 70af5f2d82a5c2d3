# grad
import numpy as np


def f(x, a):
    note = [x]

    def noted(v):
        note[0] = np.sin(note[0] + v)
        return v * note[0]

    return sum((noted(v) for v in a), note[0])

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
