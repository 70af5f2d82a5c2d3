# The shape of an array of unknown rank was taken for a tuple of two, so its cotangent in a product for that of a matrix.
import numpy as np

def f(x, a, xs):
    x -= np.dot(a[2] * a[:, np.newaxis][:, 0], a[:, None].squeeze())
    return x

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([1.639137, -0.871137, -1.1911370000000001])
m1_0 = np.zeros(5, np.float64)
a1_0 = np.ndarray((3,), m1_0.dtype, m1_0, 0, (16,))
a1_0[...] = [-1.291137, -0.5621370000000001, 0.373137]
POINTS = [
    [1.210137, a0_0, [1.867137, -1.0761370000000001, 0.265137]],
    [0.285137, a1_0, [0.8901370000000001, 0.232137, 1.464137]],
]
