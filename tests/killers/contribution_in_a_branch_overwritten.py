# grad
import math


def f(x):
    y = math.sin(x)
    total = y * 3.0
    if x > 0.0:
        total = total + y * x
    return total

# ---- arguments ----
WRT = (0,)
POINTS = [
    [0.7],
]
