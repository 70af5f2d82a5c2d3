# grad
from numpy.lib.stride_tricks import sliding_window_view
import numpy as np
SCALE = 0.7

def f(x, a, A, idx):
    state = {'a': SCALE, 'b': a[::-1]}
    view6 = sliding_window_view(a.copy(), 2)
    y = np.sum(view6[-1, ::-1] * 0.87)
    return np.sin(x) + 1.36 * np.sum(np.sin(A)) + 0.94 * np.sum(state['b']) + 1.15 * y

# ---- arguments ----
WRT = (0, 1, 2)
a0_0 = np.array([-1.696137, 0.289137, 0.114137])
a0_1 = np.array([[1.412137, 0.377137, -0.486137], [-0.698137, 0.850137, -1.300137]])
a0_2 = np.array([2, 1, 2])
POINTS = [
    [-1.7211370000000001, a0_0, a0_1, a0_2],
]
