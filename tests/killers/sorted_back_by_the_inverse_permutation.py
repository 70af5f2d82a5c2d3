# grad
import numpy as np

def f(x, a, A, pair, idx):
    z = a[-1]
    v = a
    a.sort()
    drift = np.sin(max([1.01 * level - A[0, 2] for level in v] + [A[0, -1]]))
    return 1.15 * np.sum(np.tanh(a + v)) + 0.24 * x + np.sum(A * A) + 0.1 * pair[0] + np.sin(z) + np.sin(drift)

# ---- arguments ----
WRT = (0, 1, 2, 3)
a0_2 = np.array([1.300137, -0.391137, 1.726137])
m0_1 = np.zeros(11, np.float64)
a0_1 = np.ndarray((2, 3), m0_1.dtype, m0_1, 0, (48, 16))
a0_1[...] = [[0.324137, -0.5071370000000001, 1.424137], [-0.426137, -1.769137, 0.6741370000000001]]
a0_0 = np.array([-0.297137, 0.823137, -1.454137])
a0_3 = np.array([1, 0, 0])
POINTS = [
    [1.1221370000000002, a0_0, a0_1, (-0.845137, a0_2,), a0_3],
]
