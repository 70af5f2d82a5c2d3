# grad
import numpy as np


def f(x, y, h):
    places = [x * h, y * h]
    for k in range(2):
        places[0] = places[0][: k + 1]
        places[1] = places[1] * places[0]
    return np.sum(places[0] * places[1])

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([0.7, -0.4, 1.1])
a0_1 = np.array([0.3, 0.9, -1.2])
POINTS = [
    [a0_0, a0_1, 0.7],
]
