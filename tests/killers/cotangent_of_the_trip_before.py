# grad
def f(x):
    last = x
    total = 0.0
    for k in range(3):
        last = x * (k + 1.0)
        total = total + last * last
    return total + last

# ---- arguments ----
WRT = (0,)
POINTS = [
    [0.7],
]
