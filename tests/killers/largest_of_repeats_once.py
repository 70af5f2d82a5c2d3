# grad
import numpy as np
BUFFER = np.zeros(4)

def f(x, a, xs):
    BUFFER[:] = xs[0] - xs[0]
    state = {'a': a[0], 'b': a, 'w': BUFFER}
    np.maximum.at(BUFFER, [0, 2, 1], 0.5 * state['a'] ** 2)
    p = BUFFER[:-1]
    return np.sin(x) + 0.73 * np.sum(np.sin(a)) + np.sum(xs[-1]) * len(xs) + 0.31 * np.sum(np.sin(BUFFER)) + 0.1 * state['a'] + 0.31 * np.sum(np.sin(p))

# ---- arguments ----
WRT = (0, 1, 2)
m0_0 = np.zeros(4, np.float64)
a0_2 = np.ndarray((4,), m0_0.dtype, m0_0, 24, (-8,))
a0_2[...] = [-1.275137, 1.505137, -1.777137, 1.063137]
a0_1 = np.array([0.612137, 1.2091370000000001, 1.476137, -0.207137])
a0_0 = np.array([0.602137, 0.380137, 1.4891370000000002, -1.531137])
POINTS = [
    [0.829137, a0_0, [a0_1, a0_2]],
]
