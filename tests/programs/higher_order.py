"""Functions as values: nested functions, lambdas, closures over active values, callbacks."""

import functools
import math
import operator

import numpy as np

from tests.programs.case import Program, draw


def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(f, y, t0, t1, steps):
    h = (t1 - t0) / steps
    for n in range(steps):
        y = rk4(f, y, t0 + n * h, h)
    return y


def logistic_growth(rate, capacity, y0):
    """An ODE whose right side is a closure over the parameters."""

    def rhs(t, y):
        return rate * y * (1.0 - y / capacity) + 0.1 * math.sin(t)

    return integrate(rhs, y0, 0.0, 2.0, 4)


def predator_prey(params, y0):
    """A system: the right side makes an array, and captures what it unpacks."""
    a, b, c, d = params

    def rhs(t, y):
        return np.array([a * y[0] - b * y[0] * y[1], c * y[0] * y[1] - d * y[1]])

    y = integrate(rhs, y0, 0.0, 0.5, 3)
    return np.sum(y * y)


def newton(f, slope, x, trips):
    for _ in range(trips):
        x = x - f(x) / slope(x)
    return x


def kepler(mean, eccentricity):
    """A root found by a solver that takes two functions."""
    root = newton(lambda e: e - eccentricity * np.sin(e) - mean, lambda e: 1.0 - eccentricity * np.cos(e), mean, 6)
    return root * root


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += (4.0 if i % 2 else 2.0) * f(a + i * h)
    return total * h / 3.0


def planck_like(temperature, cut):
    """Quadrature of a lambda, from a helper that takes any function."""
    return simpson(lambda e: e**3 * math.exp(-e / temperature), 0.0, cut, 6) * simpson(math.cos, 0.0, cut, 4)


def bisect(f, lo, hi):
    for _ in range(30):
        mid = 0.5 * (lo + hi)
        if f(lo) * f(mid) <= 0.0:
            hi = mid
        else:
            lo = mid
    return mid


def polished_root(a):
    """Bisection finds the place, one step of Newton's method gives it its derivative."""

    def f(x):
        return x * x * x + a * x - 1.0

    x = bisect(f, 0.0, 1.0)
    x = x - f(x) / (3.0 * x * x + a)
    return x - f(x) / (3.0 * x * x + a)


def stepped_down(w, x, y):
    """Steepest descent on a function that is passed, with its slope by hand."""

    def slope(v):
        return x.T @ (x @ v - y) / len(y)

    def walk(step, v, trips):
        for _ in range(trips):
            v = v - 0.1 * step(v)
        return v

    return np.sum(walk(slope, w, 3) ** 2)


def counted_energy(x):
    """`nonlocal`: an accumulator that the closure rebinds, and a counter that has no derivative."""
    total = 0.0
    calls = 0

    def add(v):
        nonlocal total, calls
        total = total + v * x * total + v
        calls += 1
        return calls

    for k in range(4):
        n = add(k * x)
    return total * n


def written_by_a_closure(x):
    """A closure writes into an array that it captured, and reads its neighbours."""
    u = np.zeros(5)
    u[0] = x[0]

    def relax(i, w):
        u[i] = (1.0 - w) * u[i] + w * np.sin(u[i - 1] * x[i])

    for sweep in range(2):
        for i in range(1, 5):
            relax(i, 0.5 + 0.1 * sweep)
    return np.sum(u * u)


def seen_late(x):
    """The closures see the variable as it is when they are called, not as it was when they were made."""
    scale = x
    square = lambda v: scale * v * v
    first = square(2.0)
    scale = x * x
    return first * square(3.0)


def made_in_a_loop(x):
    """One variable for all trips, but one default for each."""
    late, early = [], []
    for i in range(3):
        w = x * i
        late.append(lambda v: v * w + i)
        early.append(lambda v, w=w, i=i: v * w + i)
    return sum([f(x) for f in late]) * sum([f(x) for f in early])


def used_within_a_trip(x, n):
    """Made anew in each trip, over what the trip binds."""
    y = x
    for k in range(n):
        gain = 1.0 + k * x

        def damped(v):
            return gain * v / (1.0 + v * v)

        y = y + integrate(lambda t, v: -gain * v, damped(y), 0.0, 0.2, 2)
    return y


def make_polynomial(coefficients):
    def polynomial(x):
        total = 0.0
        for c in reversed(coefficients):
            total = total * x + c
        return total

    return polynomial


def composed(f, g):
    return lambda x: f(g(x))


def returned(c, x):
    """Functions that make functions."""
    p = make_polynomial(c)
    q = composed(p, lambda v: np.tanh(v) * c[0])
    return q(x) + composed(q, math.sin)(x)


def recursive_inside(x, n):
    """Recursion through closures: one that calls itself, and two that call each other."""

    def power(k):
        return 1.0 if k == 0 else x * power(k - 1)

    def even(k, y):
        return y * x if k == 0 else odd(k - 1, y * y)

    def odd(k, y):
        return y + x if k == 0 else even(k - 1, y + 1.0)

    return power(n) + even(3, x)


def table_of_functions(x):
    table = {"square": lambda v: v * v * x, "sine": math.sin}
    pair = (lambda v: v / x, lambda v: v + x)
    return table["square"](x) + table["sine"](x) * pair[0](2.0) * pair[1](x)


def nested_twice(a, b):
    """A function inside a function inside a function, each with something of its own."""

    def outer(x):
        scale = a * x

        def inner(y, shift=scale):
            return scale * y + b * x + shift

        return inner(b) * inner(a, x)

    return outer(b) + outer(2.0)


def with_options(f, x, scale=1.0, *, power=2):
    return scale * f(x) ** power


def callback_with_options(x):
    def f(v, w=0.5, *, bias=0.0):
        return v * w * x + bias

    return with_options(f, x) + with_options(lambda v: f(v, bias=x), x, scale=x, power=3)


def oscillator(t, y, stiffness, damping=0.1):
    return np.array([y[1], -stiffness * y[0] - damping * y[1]])


def swung(stiffness, damping):
    """The right side of an ODE with its parameters filled in by `partial`."""
    rhs = functools.partial(oscillator, stiffness=stiffness, damping=damping)
    y = integrate(rhs, np.array([1.0, 0.0]), 0.0, 0.6, 2)
    return y[0] * y[1]


weighted = functools.partial(np.average, weights=np.array([0.2, 0.5, 0.3]))


def given_from_outside(x):
    """A partial made at the top of the module, and one that fills in more of it."""
    first = functools.partial(with_options, math.sin, scale=2.0)
    return weighted(x * x) * functools.partial(first, x[0], power=3)() + first(x[1])


def continued_fraction(terms, x):
    return functools.reduce(lambda tail, a: a + x / tail, reversed(terms), 2.0)


def reduced(x):
    product = functools.reduce(operator.mul, [x, x + 1.0, 2.0 - x])
    matrices = [np.array([[1.0, k * x], [x, 2.0]]) for k in range(4)]
    return product + np.sum(functools.reduce(np.dot, matrices))


def mapped(x, w):
    """`map` and `filter` where they are consumed: by a sum, a list, a loop."""
    squares = list(map(lambda a, b: a * b * b, w, x))
    total = sum(map(math.exp, squares), x[0])
    for k, v in enumerate(map(lambda v: v - 0.1, squares)):
        total += k * v * v
    for v in filter(lambda v: v > 0.0, x):
        if v > 0.9:
            break
        total = total + v * v * v
    return total * max(map(abs, x)) + sum(filter(None, map(lambda v: v * total, w)))


def ranked(x, y):
    """Order statistics: sorted numbers, sorted by a key, the extreme by a key."""
    smallest, _, largest = sorted([x, y, x * y])
    by_distance = sorted([x, 2.0 * y, 3.0], key=lambda v: (v - y) ** 2, reverse=True)
    far = max(by_distance, key=lambda v: abs(v - 1.0))
    return smallest * by_distance[0] + largest * by_distance[-1] ** 2 + far * min(x, -y, key=abs)


def euler(f, y, t, h):
    return y + h * f(t, y)


def heun(f, y, t, h):
    k = f(t, y)
    return y + 0.5 * h * (k + f(t + h, y + h * k))


METHODS = {"euler": euler, "heun": heun, "rk4": rk4}


def by_any_method(x, method):
    """A function chosen by name, by a condition while the program runs, and in a loop over several."""
    total = METHODS[method](lambda t, y: -x * y, x, 0.0, 0.1)
    for step in (euler, heun):
        for k in range(2):
            chosen = step if total > 0.8 else METHODS[method]
            total = total + chosen(lambda t, y: y * np.sin(x + t), total, 0.1 * k, 0.1)
    for part in [math.exp, lambda v: v * v * x, functools.partial(euler, lambda t, y: -y, t=0.0, h=x)]:
        total += part(0.5 * x)
    return total


def logged(times):
    def decorate(f):
        @functools.wraps(f)
        def inner(*args, **options):
            return times * f(*args, **options)

        return inner

    return decorate


@logged(2.0)
def decorated_cube(x, *, shift=0.0):
    return (x + shift) ** 3


def of_decorated(x):
    """Decorators at the top of the module and inside the function, with arguments of their own."""

    @logged(x)
    def square(y):
        return y * y

    return decorated_cube(x, shift=x) + square(x) * decorated_cube(0.5)


class Potential:
    def __init__(self, depth, width):
        self.depth = depth
        self.width = width

    def force(self, t, y):
        return -self.depth * y / self.width

    def __call__(self, y):
        return 0.5 * self.depth * y * y / self.width


def in_a_potential(x, potential):
    """A method and an object that can be called, as callbacks."""
    y = integrate(potential.force, x, 0.0, 0.4, 2)
    samples = list(map(potential, [x, y]))
    return simpson(potential, 0.0, y, 4) + samples[0] * samples[1]


def chosen_while_running(x, w):
    """Closures chosen by conditions on values, in branches and in a loop, and called later."""
    if x > 0.5:

        def gain(v):
            return v * w + x

    else:

        def gain(v):
            return v / (1.0 + w * w)

    total = 0.0
    for k in range(4):
        bend = (lambda v: v * v * w - k * x) if total > 0.9 else math.sin
        total = total + gain(bend(x + 0.1 * k))
    return total


PROGRAMS = [
    Program(logistic_growth, lambda: (0.8, 2.5, 0.6), ("rate", "capacity", "y0")),
    Program(predator_prey, lambda: (np.array([1.1, 0.4, 0.1, 0.4]), np.array([1.5, 1.0])), ("params", "y0")),
    Program(kepler, lambda: (0.9, 0.3), ("mean", "eccentricity")),
    Program(planck_like, lambda: (0.8, 1.3), ("temperature", "cut")),
    Program(polished_root, lambda: (0.7,), "a", smooth=False, kink="one Newton step is exact to first order"),
    Program(stepped_down, lambda: (draw(3, seed=1), draw(4, 3, seed=2), draw(4, seed=3)), ("w", "x")),
    Program(counted_energy, lambda: (0.7,), "x"),
    Program(written_by_a_closure, lambda: (draw(5, seed=4),), "x"),
    Program(seen_late, lambda: (0.8,), "x"),
    Program(made_in_a_loop, lambda: (0.9,), "x"),
    Program(used_within_a_trip, lambda: (0.6, 3), "x"),
    Program(returned, lambda: (np.array([0.3, -0.5, 0.8]), 0.7), ("c", "x")),
    Program(recursive_inside, lambda: (0.9, 4), "x"),
    Program(table_of_functions, lambda: (0.8,), "x"),
    Program(nested_twice, lambda: (0.7, 0.4), ("a", "b")),
    Program(callback_with_options, lambda: (0.9,), "x"),
    Program(swung, lambda: (1.5, 0.2), ("stiffness", "damping")),
    Program(given_from_outside, lambda: (draw(3, seed=5, low=0.2),), "x"),
    Program(continued_fraction, lambda: ([1.0, 0.5, 1.5], 0.7), ("terms", "x")),
    Program(reduced, lambda: (0.6,), "x"),
    Program(mapped, lambda: (np.array([0.4, 0.7, -0.3]), np.array([0.5, 1.2, 0.8])), ("x", "w")),
    Program(ranked, lambda: (0.7, 1.4), ("x", "y")),
    Program(by_any_method, lambda: (0.7, "rk4"), "x"),
    Program(of_decorated, lambda: (0.8,), "x"),
    Program(in_a_potential, lambda: (0.9, Potential(1.5, 0.6)), "x"),
    Program(chosen_while_running, lambda: (0.7, 0.4), ("x", "w")),
]
