"""Distributions that hold their parameters: frozen in the program, outside of it, or given as an argument."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx

stats = pytest.importorskip("scipy.stats")

PRIOR = stats.norm(0.5, scale=2.0)


def test_frozen_in_the_program() -> None:
    def f(mean, x):
        law = stats.norm(mean, scale=2.0)
        return law.logpdf(x) + law.cdf(0.1)

    def written(mean, x):
        return stats.norm.logpdf(x, mean, 2.0) + stats.norm.cdf(0.1, mean, 2.0)

    assert tx.grad(f, (0, 1), fallback="error")(0.3, 0.7) == pytest.approx(tx.grad(written, (0, 1))(0.3, 0.7))
    assert tx.jvp(f, (0.3, 0.7), (1.0, 0.0), fallback="error")[0] == pytest.approx(f(0.3, 0.7))


def total(law, x):
    return np.sum(law.logpdf(x))


def test_given_to_a_helper_and_chosen() -> None:
    def f(p, heavy):
        law = stats.t(3.0, p[0], p[1]) if heavy else stats.norm(p[0], p[1])
        return total(law, np.array([0.2, 1.4]))

    p = np.array([0.3, 1.2])
    for heavy in (True, False):
        law = stats.t(3.0, *p) if heavy else stats.norm(*p)
        value, slope = tx.value_and_grad(f, fallback="error")(p, heavy)
        assert value == pytest.approx(total(law, np.array([0.2, 1.4])))
        step = np.array([1e-6, 0.0])
        assert slope[0] == pytest.approx((f(p + step, heavy) - f(p - step, heavy)) / 2e-6, rel=1e-6)


def of_prior(x):
    return PRIOR.logpdf(x)


def test_frozen_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = tx.grad(of_prior, fallback="error")
    assert gradient(0.3) == pytest.approx(0.05)
    monkeypatch.setitem(globals(), "PRIOR", stats.norm(1.5, 2.0))
    assert gradient(0.3) == pytest.approx(0.3)


def test_an_argument() -> None:
    gradient = tx.grad(lambda x, law: law.logpdf(x), fallback="error")
    assert gradient(0.3, stats.norm(0.5, 2.0)) == pytest.approx(0.05)
    assert gradient(0.3, stats.expon(scale=2.0)) == pytest.approx(-0.5)


def test_what_it_cannot_do_is_refused() -> None:
    def drawn(mean):
        return stats.norm(mean, 1.0).rvs()

    with pytest.raises(tx.NoTemplate, match=r"test_distributions.py:\d+: `scipy.stats.norm.rvs` has no"):
        tx.grad(drawn)(0.3)
