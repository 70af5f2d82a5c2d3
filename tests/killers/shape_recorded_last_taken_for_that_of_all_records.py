# grad
import numpy as np


def f(x, a):
    held = []
    for i in range(4):
        if i % 2:
            held.append(np.tanh(a[:1] * x))
        else:
            held.append(np.tanh(a * x))
    t = 0.0
    for i in range(4):
        s = held.pop()
        t += np.sum(np.sin(s) * a)
    return t

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
