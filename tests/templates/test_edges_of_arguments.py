"""Arguments at which NumPy and SciPy give something, and a rule written for others would raise or give another value:
empty, equal, zero and singular ones. Checked mode compares the values, and the shapes of what is empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, linalg, ndimage, signal, special, stats

import tangentx as tx

NONE = np.zeros(0)
NO_ROWS = np.zeros((0, 3))
HALVES = np.full((2, 2), 0.5)
TURNED = np.array([[-4.25, -0.58], [-0.43, -3.77]])

TAKEN: dict[str, tuple[Callable[..., Any], Any]] = {
    "unwrapped": (np.unwrap, NONE),
    "unwrapped columns": (lambda x: np.unwrap(x, axis=0), NO_ROWS),
    "resized": (lambda x: np.resize(x, (2, 2)), NONE),
    "padded": (lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=((1.0, 2.0), (0.7, 1.3))), NO_ROWS),
    "binned": (lambda x: np.histogram(x, 3, weights=x)[0], NONE),
    "smallest": (lambda x: stats.tmin(x, -1.2, 1, False), NO_ROWS),
    "largest": (lambda x: stats.tmax(x, 1.2, 1, False), NO_ROWS),
    "filtered with no width": (lambda x: ndimage.gaussian_filter(x, 0.0), HALVES),
    "filtered along one axis": (lambda x: ndimage.gaussian_filter(x, (0.0, 0.7)), HALVES),
    "one integer appended": (lambda x: np.append(x, 2) * np.arange(1.0, 4.0), np.array([0.3, 0.8])),
    "least squares of no part": (lambda x: linalg.lstsq(x, np.ones((3, 1)), 1.5)[0], np.eye(3, 2) + 0.2),
}  # fmt: skip
if np.lib.NumpyVersion(np.__version__) >= "2.3.0":
    TAKEN["norm"] = (lambda x: np.linalg.norm(x, np.inf) + 0.0 * x, NONE)

REFUSED: dict[str, tuple[Callable[..., Any], Any]] = {
    "condition of a singular matrix": (lambda x: np.linalg.cond(x, np.inf), HALVES),
    "trimmed": (lambda x: stats.trimboth(x, 0.34, 0), NO_ROWS),
    "likelihood of equal numbers": (lambda x: stats.boxcox_llf(0.5, x), np.full(5, 0.5)),
    "factors of a singular matrix": (lambda x: linalg.lu(x, True)[0], np.full((3, 2), 0.5)),
    "factors of nothing": (lambda x: linalg.lu(x, True)[0], np.zeros((0, 3, 3))),
    "polar factors of nothing": (lambda x: linalg.polar(x, "left")[0], NO_ROWS),
    "convolution of nothing": (lambda x: signal.fftconvolve(x, x), NONE),
    "convolved rows of nothing": (lambda x: signal.convolve2d(x, x, "valid"), NO_ROWS),
    "product with nothing": (lambda x: linalg.matmul_toeplitz(np.ones(0), x), NONE),
    "shifted image of nothing": (lambda x: ndimage.shift(x, 0.3, order=1), NO_ROWS),
    "image made smaller than one": (lambda x: ndimage.zoom(x, 0.1, order=1), np.ones(4)),
    "root that is complex": (lambda x: np.real(linalg.sqrtm(x)), TURNED),
    "power that is complex": (lambda x: np.real(linalg.fractional_matrix_power(x, 1.5)), TURNED),
    "root of a singular matrix": (linalg.sqrtm, np.zeros((2, 2))),
    "power of a singular matrix": (lambda x: linalg.fractional_matrix_power(x, 1.5), HALVES),
}


def weighed(fn: Callable[..., Any]) -> Callable[..., Any]:
    def program(x):
        found = fn(x)
        return np.sum(found * np.arange(1.0, 1.0 + np.size(found)).reshape(np.shape(found)))

    return program


@pytest.mark.share(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TAKEN)
def test_what_the_function_takes_the_derivative_takes(name: str) -> None:
    fn, x = TAKEN[name]
    program = weighed(fn)
    found = tx.grad(program, fallback="error", check=True)(x)
    assert found.shape == x.shape
    value, moved = tx.jvp(program, (x,), (np.ones_like(x),), fallback="error", check=True)
    assert value == program(x) or np.isclose(value, program(x))
    assert np.isclose(moved, np.sum(found), rtol=1e-6, atol=1e-9) or not np.isfinite(moved)
    if 0 < np.max(np.abs(found), initial=0.0) < 1e6:
        wanted = [(program(x + e.reshape(x.shape)) - program(x - e.reshape(x.shape))) / 2e-6
                  for e in np.eye(x.size) * 1e-6]  # fmt: skip
        np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused(name: str) -> None:
    fn, x = REFUSED[name]
    weighed(fn)(x)
    for check in (False, True):
        with pytest.raises(tx.NotDifferentiable):
            tx.grad(weighed(fn), fallback="error", check=check)(x)


@pytest.mark.filterwarnings("ignore")
def test_a_line_that_is_infinitely_thin() -> None:
    def line(x):
        return special.voigt_profile(x, 0.0, 0.0)

    assert special.voigt_profile(0.0, 0.0, 0.0) == np.inf
    for x, value in ((0.0, np.inf), (1.5, 0.0)):
        assert tx.value_and_grad(line, check=True)(x)[0] == value


@pytest.mark.filterwarnings("ignore")
def test_a_nearly_singular_matrix_is_inverted_as_scipy_does() -> None:
    program = weighed(linalg.inv)
    assert tx.value_and_grad(program, fallback="error")(HALVES)[0] == program(HALVES)


def test_a_system_is_solved_by_the_function_that_is_called() -> None:
    def solved(a, b):
        return np.sum(linalg.solve(a, b) ** 2)

    a, b = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]]), np.array([1.0, -0.5, 2.0])
    assert "np.linalg.solve(a, b)" not in tx.grad(solved, wrt=(0, 1)).source_for(a, b)
    for wrt, x in ((0, a), (1, b)):
        found = tx.grad(solved, wrt=wrt, check=True)(a, b)
        for e in np.eye(x.size).reshape(-1, *x.shape) * 1e-6:
            more, less = ([v + s * e if k == wrt else v for k, v in enumerate((a, b))] for s in (1, -1))
            np.testing.assert_allclose(np.sum(found * e), (solved(*more) - solved(*less)) / 2, rtol=1e-5, atol=1e-12)


AT_ZERO = {
    "struve": (lambda x: special.struve(0, x), 2.0 / np.pi),
    "struve of order 1": (lambda x: special.struve(1, x), 0.0),
    "modstruve": (lambda x: special.modstruve(0, x), 2.0 / np.pi),
    "berp": (special.berp, 0.0),
    "beip": (special.beip, 0.5),
    "simpson": (lambda x: integrate.simpson(np.array([0.3, 0.7, 1.2, 2.0]), dx=x), 361.0 / 120.0),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_a_slope_at_zero_is_the_limit(name: str) -> None:
    """A recurrence that divides by the argument gives nan there."""
    f, slope = AT_ZERO[name]
    assert tx.grad(lambda x: f(x), fallback="error")(0.0) == pytest.approx(slope, abs=1e-15)
