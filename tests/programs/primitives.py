"""Functions that the compiler does not look into, with the rules that their authors gave them."""

import numpy as np

import tangentx as tx
from tests.programs.case import Program, draw


@tx.primitive
def log_sum_exp(x, scale=1.0):
    """The logarithm of a sum of exponentials, computed so that nothing overflows."""
    top = np.max(scale * x)
    return top + np.log(np.sum(np.exp(scale * x - top)))


@log_sum_exp.adjoint
def log_sum_exp_adjoint(x, scale, *, ans, ans_bar):
    share = np.exp(scale * x - ans) * ans_bar
    x_bar = scale * share
    scale_bar = np.sum(x * share)
    return x_bar, scale_bar


@log_sum_exp.tangent
def log_sum_exp_tangent(x, scale, *, ans, x_dot, scale_dot):
    share = np.exp(scale * x - ans)
    ans_dot = np.sum(share * (scale * x_dot + x * scale_dot))
    return ans_dot


@tx.primitive
def softplus(x, sharpness):
    z = sharpness * x
    return (np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z)))) / sharpness


@softplus.partials
def softplus_partials(x, sharpness, *, ans):
    slope = 1.0 / (1.0 + np.exp(-sharpness * x))
    return slope, (x * slope - ans) / sharpness


@tx.primitive
def newton_root(a, b):
    """The real root of ``y**3 + a * y = b`` by Newton's method; its rule is the implicit function theorem."""
    y = 0.0
    for _ in range(60):
        y = y - (y**3 + a * y - b) / (3.0 * y * y + a)
    return y


@newton_root.adjoint
def newton_root_adjoint(a, b, *, ans, ans_bar):
    b_bar = ans_bar / (3.0 * ans * ans + a)
    a_bar = -ans * b_bar
    return a_bar, b_bar


@newton_root.tangent
def newton_root_tangent(a, b, *, ans, a_dot, b_dot):
    ans_dot = (b_dot - ans * a_dot) / (3.0 * ans * ans + a)
    return ans_dot


@tx.primitive
def table_of(kind):
    """Constants by name, from elsewhere."""
    return {"linear": 0.5, "steep": 2.0}[kind]


def cross_entropy(w, x, labels):
    """The mean of what the classes of a linear model miss, a row at a time."""
    total = 0.0
    for i in range(len(labels)):
        scores = w @ x[i]
        total = total + log_sum_exp(scores) - scores[labels[i]]
    return total / len(labels)


def layers(x, sharpness):
    h = x * 1.0
    for i in range(len(h)):
        h[i] = softplus(h[i - 1] + x[i], sharpness)
    return np.sum(softplus(h, 1.5) * log_sum_exp(h, sharpness))


def chain_of_roots(a, b, steps):
    for _ in range(steps):
        if a > 1.0:
            b = newton_root(a, b) + 0.1
        else:
            a = a + b * newton_root(a, 2.0 * b)
    return a * b


def with_constants(x):
    return float(table_of("steep")) * x * x


PROGRAMS = [
    Program(cross_entropy, lambda: (draw(3, 2, seed=1), draw(4, 2, seed=2), np.array([0, 2, 1, 2])), "w"),
    Program(layers, lambda: (draw(3, seed=3), 0.8), ("x", "sharpness")),
    Program(chain_of_roots, lambda: (0.6, 0.9, 4), ("a", "b")),
    Program(with_constants, lambda: (0.7,), "x"),
]
