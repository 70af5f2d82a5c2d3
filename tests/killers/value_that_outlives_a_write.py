# jvp_of_grad
import numpy as np

def f(x, a):
    params = {'a': x, 'b': a}
    w = a
    a
    s = 0.38 * 0.5 * max([0, w[1], params['a'] * params['a']])
    z = 0.45 * np.tanh(min(params['a'], 1, params['a'] * w[-1]))
    return np.sin(x) + 0.94 * np.sum(np.sin(a)) + 0.66 * params['a'] + 1.29 * np.sum(np.sin(w)) + 0.8 * s + np.sin(z)

# ---- arguments ----
WRT = (0, 1)
m0_0 = np.zeros(7, np.float64)
a0_0 = np.ndarray((4,), m0_0.dtype, m0_0, 0, (16,))
a0_0[...] = [-0.302137, -0.375137, -0.288137, -0.826137]
POINTS = [
    [0.591137, a0_0],
]
