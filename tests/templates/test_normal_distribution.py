"""`statistics.NormalDist` in differentiated programs."""

import statistics

import numpy as np
import pytest
from scipy import fft

import tangentx as tx
from tangentx.testing import check_grads

OUTSIDE = statistics.NormalDist(1.0, 2.0)


def of_one(mu, sigma):
    d = statistics.NormalDist(mu, sigma)
    return d.pdf(0.3) + d.cdf(0.2) * d.mean + d.variance * d.zscore(1.1) + d.stdev


def of_several(mu, sigma):
    d = statistics.NormalDist(mu, sigma)
    e = 2.0 * d + OUTSIDE - 0.5
    return (e - d).cdf(0.4) + (-d / 3).pdf(0.1) + OUTSIDE.pdf(mu) + (1.0 - d).cdf(sigma)


def of_quantiles(mu, sigma):
    d = statistics.NormalDist(mu, sigma)
    cuts = d.quantiles(5)
    return cuts[0] * cuts[3] + cuts[1] ** 2 + d.inv_cdf(mu) + statistics.NormalDist().inv_cdf(0.5 * sigma)


@pytest.mark.share(1)
@pytest.mark.parametrize("program", [of_one, of_several, of_quantiles])
def test_normal_distributions(program):
    value, _ = tx.value_and_grad(program, fallback="error")(0.4, 1.3)
    assert np.isclose(value, program(0.4, 1.3), rtol=1e-15)
    check_grads(program, (0.4, 1.3), order=2)


def cosines_of_first_type(x):
    return np.sum(fft.dct(x, 1, norm="ortho") ** 3) + np.sum(fft.idct(x, 1, norm="ortho") * np.arange(5.0))


def test_orthonormal_cosines_of_the_first_type():
    x = np.array([0.3, -1.2, 0.8, 0.4, 2.0])
    assert np.isclose(tx.value_and_grad(cosines_of_first_type, fallback="error")(x)[0], cosines_of_first_type(x))
    check_grads(cosines_of_first_type, (x,), order=2)


def test_windows_by_strides_are_refused():
    with pytest.raises(tx.NoTemplate, match="sliding_window_view"):
        tx.grad(lambda x: np.sum(np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))))(np.ones(3))
