"""Differences of functions of one number."""

import math

import numpy as np
import pytest

from tangentx.testing.differences import DOUBLE, HALF, SINGLE, complex_step, extrapolated, precision


@pytest.mark.parametrize(
    "phi, slope",
    [
        (lambda h: math.exp(1.0 + h), math.e),
        (lambda h: (2.0 + h) ** 7, 448.0),
        (lambda h: 1e6 * math.sin(h), 1e6),
        (lambda h: 3.0, 0.0),
        (lambda h: abs(0.001 + h), 1.0),  # a kink within the largest step
        (lambda h: math.log(0.004 + h), 250.0),  # an edge within it
    ],
)
def test_extrapolated_to_nine_digits(phi, slope):
    assert extrapolated(phi, DOUBLE) == pytest.approx(slope, rel=1e-9, abs=1e-12)


def test_extrapolated_element_by_element():
    found = extrapolated(lambda h: np.array([np.sin(h), np.cos(1.0 + h)]), DOUBLE)
    np.testing.assert_allclose(found, [1.0, -np.sin(1.0)], rtol=1e-10)


def test_nan_where_no_steps_are_left():
    assert np.isnan(extrapolated(lambda h: math.sqrt(h), DOUBLE))


def test_complex_step_is_exact_or_nothing():
    assert complex_step(lambda h: np.exp(1.0 + h)) == pytest.approx(math.e, rel=1e-15)
    assert complex_step(lambda h: math.exp(1.0 + h)) is None  # refuses complex numbers
    assert complex_step(lambda h: abs(1.0 + h)) is None  # returns a real number
    assert complex_step(lambda h: np.ones(2) * h) is None  # no scalar


def test_the_coarsest_leaf_decides():
    assert precision(1.0, np.ones(2)) is DOUBLE
    assert precision(1.0, np.ones(2, np.complex64)) is SINGLE
    assert precision(np.float32(1), np.ones(2, np.float16)) is HALF
    assert precision() is DOUBLE
