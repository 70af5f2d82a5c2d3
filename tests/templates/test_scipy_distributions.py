"""SciPy's distributions as they are written in other functions: the same values, wherever they are asked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.templates import compositions
from tangentx.testing import check_grads

stats = pytest.importorskip("scipy.stats")

SHAPES = {
    "t": (2.5,), "gamma": (2.5,), "chi2": (3.3,), "lognorm": (0.7,), "weibull_min": (1.7,), "invgamma": (2.2,),
    "pareto": (2.6,), "beta": (1.5, 2.5), "poisson": (2.4,), "binom": (7, 0.3), "nbinom": (3.5, 0.4), "geom": (0.3,),
    "bernoulli": (0.3,), "genextreme": (0.4,), "genpareto": (0.3,), "truncnorm": (-1.2, 2.3),
}  # fmt: skip
POINTS = np.array([-3.0, -0.2, 0.0, 0.1, 0.5, 0.9, 1.0, 1.5, 4.0, 30.0, np.nan, np.inf, -np.inf])
COUNTS = np.array([-1, 0, 1, 2, 3, 7, 8, 1.5, np.nan])
FRACTIONS = np.array([0.0, 0.2, 0.5, 0.9, 1.0, -0.1, 1.2, np.nan])
WITHOUT_POINT = ("mean", "var", "std", "entropy")
CASES = [
    pytest.param(c, id=f"{type(c.primals[0].__self__).__name__.removesuffix('_gen')}.{c.primals[0].__name__}")
    for c in compositions()
    if c.body.__module__.endswith("_distributions") and "multivariate" not in c.body.__module__
]


def arguments(composition: Any) -> list[tuple[Any, ...]]:
    """Arguments of all sorts: points in and out of the support, shapes and scales that are none."""
    method = composition.primals[0]
    discrete = isinstance(method.__self__, stats.rv_discrete)
    shapes = SHAPES.get(type(method.__self__).__name__.removesuffix("_gen"), ())
    points = COUNTS if discrete else FRACTIONS if method.__name__ in ("ppf", "isf") else POINTS
    found = []
    for given in {shapes, (-1.0,) * len(shapes)}:
        for where in [(), (2,)] if discrete else [(), (0.3, 1.7), (0.0, -1.0), (0.0, 0.0)]:
            shift = where[0] if where and discrete else 0
            first = () if method.__name__ in WITHOUT_POINT else (points + shift,)
            found.append((*first, *given, *where))
    return found


@pytest.mark.parametrize("composition", CASES)
def test_the_body_gives_what_the_method_gives(composition: Any) -> None:
    method = composition.primals[0]
    for args in arguments(composition):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted, found = method(*args), composition.body(*args)
        if method.__name__ == "logcdf" and -1.0 in args[1:]:
            continue  # SciPy forgets some of the parameters that are none
        assert np.shape(found) == np.shape(wanted)
        finite = np.abs(wanted) < 1e15 if "cauchy" in str(type(method.__self__)) else ...
        np.testing.assert_allclose(
            np.asarray(found)[finite], np.asarray(wanted)[finite], rtol=1e-10, atol=1e-14, err_msg=str(args)
        )


def likelihood(p, x):
    return -np.sum(stats.norm.logpdf(x, p[0], scale=np.exp(p[1])))


def test_a_likelihood_on_tensors_and_in_a_batch() -> None:
    p, x = np.array([0.2, 0.1]), np.linspace(-1.0, 2.0, 5)
    wanted = tx.grad(likelihood, fallback="error")(p, x)
    check_grads(lambda p: likelihood(p, x), (p,), order=2)
    at = tx.tensor(p, requires_grad=True)
    tx.differentiate(likelihood)(at, x).backward()
    np.testing.assert_allclose(at.grad.numpy(), wanted)
    rows = tx.vmap(tx.grad(likelihood), in_axes=(0, None))(np.stack([p, 2.0 * p]), x)
    np.testing.assert_allclose(rows[0], wanted)
    np.testing.assert_allclose(rows[1], tx.grad(likelihood)(2.0 * p, x))


def test_shares_of_a_dirichlet_distribution() -> None:
    shares, alpha = np.array([0.2, 0.5, 0.3]), np.array([1.5, 0.7, 2.0])
    assert tx.value_and_grad(lambda a: stats.dirichlet.logpdf(shares, a))(alpha)[0] == pytest.approx(
        stats.dirichlet.logpdf(shares, alpha)
    )
    check_grads(lambda a: stats.dirichlet.logpdf(shares, a), (alpha,), order=2)


def test_vectors_with_a_covariance() -> None:
    def f(x, mean, factor):
        return stats.multivariate_normal(mean, factor @ factor.T).logpdf(x)

    x, mean, factor = np.array([0.3, 0.4]), np.array([0.1, -0.2]), np.array([[1.0, 0.0], [0.3, 2.0]])
    assert tx.value_and_grad(f, fallback="error")(x, mean, factor)[0] == pytest.approx(f(x, mean, factor))
    check_grads(f, (x, mean, factor), wrt=(0, 1, 2), order=2)
    with pytest.raises(tx.NotDifferentiable, match="allow_singular"):
        tx.grad(lambda x: stats.multivariate_normal.logpdf(x, mean, factor @ factor.T, allow_singular=True))(x)


def test_matrices_of_wishart_and_its_inverse() -> None:
    def f(roots, scale, df):
        x, wide = roots @ roots.T, scale @ scale.T
        return stats.wishart.logpdf(x, df, wide) + stats.invwishart(df, wide).logpdf(x)

    roots, scale = np.array([[1.0, 0.2], [0.3, 2.0]]), np.array([[1.5, 0.0], [0.4, 1.0]])
    assert tx.value_and_grad(f, fallback="error")(roots, scale, 3.5)[0] == pytest.approx(f(roots, scale, 3.5))
    check_grads(f, (roots, scale, 3.5), wrt=(0, 1, 2), order=2)
    with pytest.raises(tx.NotDifferentiable, match="one matrix at a time"):
        tx.grad(lambda x: stats.wishart.logpdf(x, 3.0, 1.0))(0.3)


@pytest.mark.share(1)
@pytest.mark.parametrize("c", [0.0, 1e-9, 0.3, -0.4])
def test_tails_by_their_shape(c: float) -> None:
    def f(c, q):
        held = stats.genextreme(c, loc=0.1, scale=1.5)
        far = stats.genpareto.logpdf(np.array([0.2, 1.1]), c, scale=2.0)
        return np.sum(held.logpdf(np.array([0.4, -0.3]))) + np.sum(far) + held.ppf(q) + stats.genpareto.ppf(q, c)

    check_grads(f, (c, 0.3), wrt=(0, 1), order=2, rtol=1e-5)


@pytest.mark.share(1)
@pytest.mark.parametrize("p", [[0.5, 1.3], [-4.0, 0.5], [9.0, 1.1]])  # the middle is inside, far below and far above
def test_a_normal_distribution_between_bounds(p: list[float]) -> None:
    def f(p, x):
        low, high = (0.0 - p[0]) / p[1], (3.0 - p[0]) / p[1]
        one_side = stats.truncnorm.logcdf(x, low, np.inf, p[0], p[1])
        return np.sum(stats.truncnorm.logpdf(x, low, high, loc=p[0], scale=p[1]) + one_side) + p[0] * p[1]

    check_grads(f, (np.array(p), np.array([0.4, 1.9])), wrt=(0, 1), order=2, rtol=1e-5)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda a: stats.gamma.cdf(1.0, a), "no closed form"),
        (lambda a: stats.skewnorm.logpdf(a, 2.0), "`scipy.stats.skewnorm.logpdf` has no derivative rule"),
        (lambda a: stats.norm.expect(lambda x: x, loc=a), "`scipy.stats.norm.expect` has no derivative rule"),
    ],
)
def test_what_has_no_rule_is_refused_by_name(f: Any, name: str) -> None:
    with pytest.raises(tx.NoTemplate, match=f"(?s)test_scipy_distributions.py.*{name}|{name}") as caught:
        tx.grad(f)(0.7)
    assert "test_scipy_distributions.py" in str(caught.value)


def test_a_parameter_that_is_written_afterwards() -> None:
    def f(x):
        scale = x * 1.0
        held = stats.norm(loc=0.0, scale=scale)
        scale *= 3.0
        return np.sum(held.logpdf(np.array([0.5, 0.2])))

    x = np.array([0.3, 1.2])
    wanted = (np.array([0.5, 0.2]) / (3.0 * x)) ** 2 / x - 1.0 / x
    np.testing.assert_allclose(tx.grad(f, fallback="error")(x), wanted, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_density_made_of_its_logarithm_on_tensors() -> None:
    def f(x):
        class Unknown:
            pass

        return np.sum(stats.norm.pdf(x, [0.0, 0.5], scale=2.0)) + np.sum(stats.lognorm.pdf(x, 0.5))

    at = np.array([0.4, 1.3])
    wanted = [(f(at + 1e-6 * e) - f(at - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    np.testing.assert_allclose(tx.grad(f)(at), wanted, rtol=1e-6)


def held_parameters(x: Any, y: Any) -> Any:
    normal, vector = stats.norm(y, scale=x[1]), stats.multivariate_normal(mean=x, cov=np.eye(3))
    counts = stats.poisson(x).logpmf([1, 0, 3]) + stats.nbinom.logpmf([1, 2, 3], 4, x / 2)
    return normal.logpdf(0.3) + normal.ppf(0.2) + normal.mean() + vector.logpdf([0.1, 0.2, 0.3]) + np.sum(counts)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_frozen_distributions_and_lists_on_tensors() -> None:
    def on_tensors(x: Any, y: Any) -> Any:
        exec("pass")  # not compiled
        return held_parameters(x, y)

    def drawn(m: Any) -> Any:
        exec("pass")
        return stats.norm(m, 1.0).rvs()

    args = np.array([0.4, 0.7, 0.9]), 0.6
    wanted = tx.grad(held_parameters, wrt=(0, 1), fallback="error")(*args)
    for one, other in zip(tx.grad(on_tensors, wrt=(0, 1))(*args), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    with pytest.raises(tx.NoTemplate, match="`scipy.stats.norm.rvs` has no derivative rule"):
        tx.grad(drawn)(0.3)
