# grad
def step(a, f):
    y = a[3]
    return y

def f(x, a, n):
    z = step(a[:, None].squeeze(-1), x)
    return z

# ---- arguments ----
WRT = (0, 1)
m0_0 = np.zeros(7, np.float64)
a0_0 = np.ndarray((4,), m0_0.dtype, m0_0, 0, (16,))
a0_0[...] = [0.339137, 1.071137, -0.495137, -0.8121370000000001]
POINTS = [
    [1.5761370000000001, a0_0, 3],
]
