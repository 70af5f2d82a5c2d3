# grad_of_grad
import math
import numpy as np
SCALE = 0.7

def f(x, a, n):
    d = {'a': a[n % 3], 'b': a}
    d['new'] = SCALE
    v = a[1:]
    v[a[-1:0:-1] > 0.8] = np.sin(d['a'] + v[n % 2])
    v[-2:] *= np.cos(v[-1] + d['a'])
    z = np.sum(a[-1:0:-1]) + math.sin(a[n % 3])
    return np.sin(x) + np.sum(a * np.arange(1.0, 4.0)) + 0.87 * np.sum(d['b']) + 1.08 * np.sum(np.sin(v)) + 0.94 * z

# ---- arguments ----
WRT = (0, 1)
a0_0 = np.array([1.296137, -0.857137, 1.040137])
POINTS = [
    [-0.568137, a0_0, 3],
]
