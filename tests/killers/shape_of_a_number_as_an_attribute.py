# grad_of_grad
import math
import numpy as np
SCALE = 0.7

def f(x, a, xs):
    t = 0.59
    t += 0.45
    x *= np.cos(x * xs[-1 % len(xs)])
    return 1.22 * x + np.sum(a * a) + 0.73 * xs[-1] + 1.08 * t

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([-1.0921370000000001, -1.853137, 0.939137, 1.2471370000000002])
POINTS = [
    [-1.643137, a0_0, [1.041137, 1.8281370000000001]],
]
