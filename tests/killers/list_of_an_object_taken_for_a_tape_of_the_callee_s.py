# grad
import numpy as np


class Pushed:
    def __init__(self, first):
        self.items = [first]

    def push(self, v):
        self.items.append(v)


def f(x, u):
    pushed = Pushed(u)
    pushed.push(u * u)
    total = 0.0
    for v in pushed.items:
        total = total + np.sum(v)
    return total * x


# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([0.613, -0.352, 1.147, 0.481])
POINTS = [
    [0.7, a0_0],
]
