"""Programs as people write them with SciPy: right in every mode, of first and second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx

pytest.importorskip("scipy")
from scipy import integrate, linalg, signal, special, stats
from scipy.spatial.distance import cdist
from scipy.special import expit, logsumexp

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(6, 2)), RNG.normal(size=6)
TIMES, SEEN = np.abs(RNG.normal(size=6)), RNG.random(6) < 0.6
COUNTS = RNG.poisson(2, 6)


def gaussian_process(theta):
    rows = X / np.exp(theta[1])
    covariance = np.exp(2.0 * theta[0]) * np.exp(-0.5 * cdist(rows, rows, "sqeuclidean"))
    factor, lower = linalg.cho_factor(covariance + np.exp(2.0 * theta[2]) * np.eye(len(X)), lower=True)
    weights = linalg.cho_solve((factor, lower), Y)
    return 0.5 * Y @ weights + np.sum(np.log(np.diag(factor)))


def mixture(p):
    parts = stats.norm.logpdf(Y[:, None], p[3:6], np.exp(p[6:9]))
    return -np.sum(logsumexp(parts + special.log_softmax(p[:3]), axis=1))


def logistic(w):
    q, t = expit(X @ w), Y > 0.0
    return -np.sum(special.xlogy(t, q) + special.xlog1py(1.0 - t, -q))


def survival(p):
    law = stats.weibull_min(np.exp(p[0]), scale=np.exp(p[1]))
    return -np.sum(np.where(SEEN, law.logpdf(TIMES), law.logsf(TIMES)))


def counts(w):
    return -stats.poisson.logpmf(COUNTS, np.exp(X @ w)).sum()


def attention(p):
    queries, keys, values = (X @ p[i : i + 4].reshape(2, 2) for i in (0, 4, 8))
    mixed = special.softmax(queries @ keys.T / np.sqrt(2.0), axis=-1) @ values
    return np.sum((0.5 * mixed * (1.0 + special.erf(mixed / np.sqrt(2.0)))) ** 2)


def black_scholes(p):
    spot, strike, rate, sigma, term = p
    N = stats.norm.cdf
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * term) / (sigma * np.sqrt(term))
    return spot * N(d1) - strike * np.exp(-rate * term) * N(d1 - sigma * np.sqrt(term))


def moving_average(p):
    x = signal.lfilter(np.concatenate([np.ones(1), p[:1]]), np.concatenate([np.ones(1), -p[1:]]), Y)
    return np.sum(x**2)


def by_lists(p):
    x = signal.lfilter([1.0, 0.5], np.concatenate([[1.0], -p]), Y) + signal.lfilter([1.0], [1.0, 0.3], Y * p[0])
    return np.sum(x**2)


def matrices(p):
    A = np.array([[p[0], 1.0], [-p[1], p[2]]])
    return np.sum(linalg.expm(A) ** 2) + linalg.det(linalg.sqrtm(A @ A.T + np.eye(2)))


def damped(p):
    t = np.linspace(0.0, 3.0, 9)
    return integrate.simpson(np.exp(-p[0] * t) * np.sin(p[1] * t), x=t)


PROGRAMS: dict[Any, Any] = {
    by_lists: [0.5, -0.3],
    gaussian_process: [0.1, 0.2, -1.0],
    mixture: 0.3 * RNG.normal(size=9),
    logistic: [0.3, -0.4],
    survival: [0.3, 0.2],
    counts: [0.3, -0.4],
    attention: 0.5 * RNG.normal(size=12),
    black_scholes: [1.0, 0.95, 0.05, 0.2, 1.0],
    moving_average: [0.3, 0.5, -0.2],
    matrices: [0.3, 0.5, -0.2],
    damped: [0.5, 2.0],
}


@pytest.mark.share(4)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program(f: Any) -> None:
    x = np.array(PROGRAMS[f])
    gradient = tx.grad(f, fallback="error")
    found = gradient(x)
    steps = 1e-5 * np.eye(len(x))
    np.testing.assert_allclose(found, [(f(x + s) - f(x - s)) / 2e-5 for s in steps], rtol=1e-6, atol=1e-7)
    v = np.cos(np.arange(len(x)))
    assert tx.jvp(f, (x,), (v,), fallback="error")[1] == pytest.approx(found @ v)
    second = tx.jvp(gradient, (x,), (v,), fallback="error")[1]
    differences = (gradient(x + 1e-5 * v) - gradient(x - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(second, differences, rtol=1e-5, atol=1e-6)
    rows = tx.vmap(gradient)(np.stack([x, 1.1 * x]))
    np.testing.assert_allclose(rows, [found, gradient(1.1 * x)])
    leaf = tx.tensor(x, requires_grad=True)
    tx.differentiate(f)(leaf).backward()
    np.testing.assert_allclose(leaf.grad.numpy(), found)
    with tx.checked():
        np.testing.assert_allclose(tx.grad(f, fallback="error")(x), found)


def test_a_list_is_an_array() -> None:
    assert tx.grad(lambda a: logsumexp([a, 2.0 * a, 0.0]), fallback="error")(0.3) == pytest.approx(
        (np.exp(0.3) + 2.0 * np.exp(0.6)) / (1.0 + np.exp(0.3) + np.exp(0.6))
    )
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    found = tx.grad(lambda a: np.sum(linalg.solve(a, [1.0, 2.0])), fallback="error")(a)
    inverse = np.linalg.inv(a)
    np.testing.assert_allclose(found, -np.outer(inverse.T @ np.ones(2), inverse @ [1.0, 2.0]))


def test_the_text_names_what_the_program_does() -> None:
    gradient = tx.grad(lambda x: special.gammaln(x) ** 2, fallback="error")
    gradient(1.5)
    assert "from scipy import special" in gradient.source and "special.psi(x)" in gradient.source


def test_on_tensors_a_function_in_the_way_of_one_is_refused() -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_scipy_programs.*@tx.differentiate"):
        special.logsumexp(tx.tensor([1.0, 2.0], requires_grad=True))


def test_the_distance_of_equal_distributions_has_slope_zero():
    distance = pytest.importorskip("scipy.spatial.distance")
    p = np.array([0.2, 0.3, 0.5])
    for q in (p.copy(), p[::-1].copy()):
        value, slopes = tx.value_and_grad(lambda p, q: distance.jensenshannon(p, q), wrt=(0, 1))(p, q)
        assert value == distance.jensenshannon(p, q)
        assert np.all(np.isfinite(slopes)) and np.any(slopes) == np.any(p != q)
