"""Functions in place of derivatives, for the tests of the harness: each shows a fault, or hides it, in its way."""


def restores(x):
    """Works on a copy."""
    y = x.copy()
    for k in range(3):
        y[k] = y[k] * 2.0
    return y


def leaves_a_mark(x):
    """Undoes what it does, unless something happens in between."""
    y = x * 2.0
    old = x[0]
    x[0] = 7.0
    y[0] = old
    x[0] = old
    return y


def swallows(x):
    y = x * 1.0
    try:
        y = y * 2.0
        y = y * 0.5
    except Exception:
        y = x * 1.0
    return y
