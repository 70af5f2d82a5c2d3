"""Draws of random generators by parameters that vary: the numbers of NumPy, the derivative along the draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

X = np.array([1.3, 0.4, 0.7])
KINDS = (lambda: np.random.default_rng(3), lambda: np.random.RandomState(3))
DRAWS: dict[str, Any] = {
    "normal": lambda r, x: (r.normal(x, x * x), r.normal(x[0], size=(2, 2), scale=0.5), r.normal(scale=x[1])),
    "lognormal": lambda r, x: (r.lognormal(x, 0.3), r.lognormal(0.0, x[0], 4)),
    "exponential": lambda r, x: (r.exponential(x), r.exponential(x[0], (2, 3)), r.exponential(x[2])),
    "gamma": lambda r, x: (r.gamma(2.5, x), r.gamma([0.7, 2.0], x[0], (3, 2))),
    "laplace": lambda r, x: (r.laplace(x, x), r.laplace(x[0], 1.0, 4)),
    "logistic": lambda r, x: (r.logistic(x, x), r.logistic([x[0], 0.2], 1.0)),
    "gumbel": lambda r, x: (r.gumbel(x, x), r.gumbel(x[0], x[1])),
    "rayleigh": lambda r, x: (r.rayleigh(x), r.rayleigh(x[0], 4)),
    "weibull": lambda r, x: (r.weibull(x), r.weibull(x[0], 4)),
    "pareto": lambda r, x: (r.pareto(x + 1.0), r.pareto(x[0] + 1.0, 4)),
    "power": lambda r, x: (r.power(x), r.power(x[0], 4)),
    "uniform": lambda r, x: (r.uniform(-x, x * x), r.uniform(high=x[0], size=4), r.uniform(0.0, x[1])),
    "triangular": lambda r, x: (r.triangular(-x, 0.1 * x, x + 1.0), r.triangular(0.0, x[0], 4.0, (2, 3))),
    "chances in a list": lambda r, x: (r.choice(x, 5, p=[0.2, 0.5, 0.3]), r.poisson([1.0, 2.0, 3.0]) * x),
    "counts": lambda r, x: (r.poisson(x) * x, r.binomial(5, x / 2.0) * x, r.geometric(x[1] / 2.0, 3) * x),
    "choice": lambda r, x: (r.choice(x, 5), r.choice(3, 4, p=x / np.sum(x)) * x[0], r.choice(x, 2, replace=False)),
    "order": lambda r, x: (r.permutation(x), r.permutation(np.outer(x, x)).ravel()),
    "vectors": lambda r, x: (
        r.multivariate_normal(x, np.eye(3)),
        r.multivariate_normal(x, np.diag([1.0, 2.0, 3.0]), 2),
    ),
}


def weighed(*found: Any) -> Any:
    return sum(np.sum(z * np.cos(1.0 + np.arange(np.size(z))).reshape(np.shape(z))) for z in found)


def shuffled(rng, x):
    y = x * x
    rng.shuffle(y)
    return weighed(y) * rng.normal(y[0], 0.1)


def walk(rng, x):
    s = x[0]
    for _ in range(4):
        s = s + rng.normal(0.1 * s, 0.2) * s
    return s


@pytest.mark.share(23)
@pytest.mark.parametrize("make", KINDS, ids=["Generator", "RandomState"])
@pytest.mark.parametrize("name", [*DRAWS, "shuffled", "walk"])
def test_a_draw(name: str, make: Any) -> None:
    draw = {"shuffled": shuffled, "walk": walk}.get(name) or (lambda r, x: weighed(*DRAWS[name](r, x)))

    def f(x):
        return draw(make(), x)

    check_grads(f, (X,), rtol=1e-5)
    own, other = make(), make()
    value, gradient = tx.value_and_grad(lambda x: draw(own, x), fallback="error")(X)
    assert value == pytest.approx(draw(other, X), rel=1e-14)
    assert own.random() == other.random() if make is KINDS[0] else own.rand() == other.rand()

    def on_tensors(x):
        exec("pass")  # not compiled
        return draw(make(), x)

    with pytest.warns(tx.FallbackWarning):
        np.testing.assert_allclose(tx.grad(on_tensors)(X), gradient, rtol=1e-10)


def test_the_functions_of_numpy_s_own_generator() -> None:
    def f(x):
        np.random.seed(1)
        return np.sum(np.random.normal(x, 0.1)) + x[0] * np.random.rand()

    np.random.seed(1)
    np.random.normal(size=3)
    wanted = [1.0 + np.random.rand(), 1.0, 1.0]
    np.testing.assert_allclose(tx.grad(f, fallback="error")(X), wanted)


def test_a_covariance_has_a_derivative_by_its_cholesky_factor() -> None:
    def f(x, method):
        return np.sum(np.random.default_rng(2).multivariate_normal(x, np.diag(x) + 0.1, 4, method=method) ** 2)

    check_grads(lambda x: f(x, "cholesky"), (X,), rtol=1e-5)
    with pytest.raises(tx.NotDifferentiable, match="method='cholesky'"):
        tx.grad(lambda x: f(x, "svd"), fallback="error")(X)


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda r, x: r.gamma(x[0]), "`shape` varies here"),
        (lambda r, x: r.beta(x[0], 1.0), "beta` has no derivative rule"),
        (lambda r, x: r.shuffle(np.outer(x, x)) or x[0], "write `x = rng.permutation"),
    ],
)
def test_what_has_no_derivative_is_refused(draw: Any, said: str) -> None:
    with pytest.raises(tx.TangentxError, match=said):
        tx.grad(lambda x: draw(np.random.default_rng(1), x), fallback="error")(X)


@pytest.mark.parametrize(
    "draw",
    [
        lambda r, x: np.sum(r.normal(x, -x)),
        lambda r, x: np.sum(r.exponential(-x)),
        lambda r, x: np.sum(r.normal(x, 1.0, 2)),
    ],
)
def test_errors_are_numpy_s(draw: Any) -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError):
        draw(rng, X)
    with pytest.raises(ValueError):
        tx.grad(lambda x: draw(rng, x), fallback="error")(X)


def test_rows_permuted() -> None:
    def f(x, axis):
        found = np.random.default_rng(4).permuted(np.outer(x, [1.0, 2.0, 3.0, 4.0]), axis=axis)
        return weighed(np.ravel(found))

    for axis in (None, 0, 1):
        check_grads(lambda x, axis=axis: f(x, axis), (X,))
