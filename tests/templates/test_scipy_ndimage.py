"""Images that are filtered, and read between their elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

ndimage = pytest.importorskip("scipy.ndimage")
detrend, dct = pytest.importorskip("scipy.signal").detrend, pytest.importorskip("scipy.fft").dct

RNG = np.random.default_rng(0)
IMAGE, PLACES = RNG.normal(size=(6, 7)), 1.2 + 2.5 * RNG.random((2, 5))
GRID = np.indices((9, 8)) * 1.0
MOVING = np.exp(-((GRID[0] - 4.0) ** 2 + 0.7 * (GRID[1] - 3.5) ** 2) / 6.0)
STILL = np.exp(-((GRID[0] - 4.6) ** 2 + 0.7 * (GRID[1] - 3.2) ** 2) / 6.0)


def weighed(*found: Any) -> Any:
    return sum(np.sum(z * np.cos(np.arange(np.size(z))).reshape(np.shape(z))) for z in found)


def read(image, places):
    cubic, line = ndimage.map_coordinates(image, places), ndimage.map_coordinates(image, places, order=1)
    far = ndimage.map_coordinates(image, 4.0 * places - 9.0, mode="nearest", order=1)
    folded = ndimage.map_coordinates(image, 4.0 * places - 9.1, mode="reflect", order=2)
    return weighed(cubic, line, far, folded, ndimage.map_coordinates(image, places, mode="nearest"))


def smooth(image):
    mean = ndimage.uniform_filter(image, (2, 3), mode="nearest")
    edges = np.hypot(ndimage.sobel(image, 0), ndimage.sobel(image, 1))
    return weighed(ndimage.gaussian_filter(image, 0.8), mean, edges, ndimage.laplace(image, mode="wrap"))


def kernels(image, w):
    rows = ndimage.convolve1d(image, w[0], 0, mode="constant", cval=0.3)
    return weighed(ndimage.convolve(image, w), ndimage.correlate(image, w, mode="mirror"), rows)


def widths(image, s):
    return weighed(ndimage.gaussian_filter1d(image, s, 0), ndimage.gaussian_filter1d(image, s, order=1))


def bent(image, matrix, away):
    moved = ndimage.affine_transform(image, np.eye(2) + 0.1 * matrix, away, order=1, mode="mirror")
    return weighed(moved, ndimage.shift(image, away, mode="mirror"), *ndimage.center_of_mass(np.exp(image)))


def regions(image, s):
    """What is measured of labels that are listed has an axis."""
    means = ndimage.mean(image, np.arange(image.size).reshape(image.shape) % 3, [0, 2])
    return means[1] * s - means[0] + ndimage.sum_labels(image, image > 0.0, 1)


def registration(p):
    """The difference of a still image from one that is turned and moved."""
    c, s = np.cos(p[0]), np.sin(p[0])
    matrix = np.array([[c, -s], [s, c]])
    middle = np.array([4.0, 3.5])
    places = np.tensordot(matrix, GRID - middle[:, None, None], 1) + (middle + p[1:])[:, None, None]
    return np.mean((ndimage.map_coordinates(MOVING, places, order=3, mode="nearest") - STILL) ** 2)


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    widths: (IMAGE, 0.7),
    smooth: (IMAGE,),
    read: (IMAGE, PLACES),
    kernels: (IMAGE, RNG.normal(size=(3, 2))),
    bent: (IMAGE, RNG.normal(size=(2, 2)), np.array([0.3, -0.2])),
    regions: (IMAGE, 0.7),
    registration: (np.array([0.1, 0.3, -0.2]),),
}


@pytest.mark.share(12)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program(f: Any) -> None:
    args = PROGRAMS[f]
    everything = tuple(range(len(args)))
    value, found = tx.value_and_grad(f, wrt=everything, fallback="error")(*args)
    assert value == pytest.approx(f(*args), rel=1e-12)
    check_grads(f, args, wrt=everything, order=2 if f in (read, registration) else 1, rtol=1e-5, atol=1e-6)
    rows = tx.vmap(tx.grad(f))(*(np.stack([a, a]) for a in args))
    np.testing.assert_allclose(rows[1], found[0], rtol=1e-9, atol=1e-12)


def test_a_mode_without_derivative_says_so() -> None:
    with pytest.raises(tx.NotDifferentiable, match="'mirror'"):
        tx.grad(lambda a: np.sum(ndimage.map_coordinates(a, PLACES, mode="wrap")))(IMAGE)


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_mode_that_the_run_chooses(wrapped: bool) -> None:
    def program(image, wrapped):
        mode = "wrap" if wrapped else "nearest"
        return np.sum(ndimage.uniform_filter(image, 3, mode=("mirror", mode)) ** 2)

    check_grads(lambda image: program(image, wrapped), (IMAGE[:3, :3],), order=1)


IN_SINGLE = {
    "gaussian_filter": lambda x: ndimage.gaussian_filter(x, 1.0),
    "uniform_filter": lambda x: ndimage.uniform_filter(x, 3),
    "sobel": ndimage.sobel,
    "laplace": ndimage.laplace,
    "correlate": lambda x: ndimage.correlate(x, np.ones((3, 2))),
    "shift": lambda x: ndimage.shift(x, 0.3),
    "map_coordinates": lambda x: ndimage.map_coordinates(x, [[0.3, 1.0], [0.2, 0.5]]),
    "detrend": detrend,
    "dct": dct,
}


@pytest.mark.share(3)
@pytest.mark.parametrize("function", IN_SINGLE.values(), ids=IN_SINGLE)
def test_single_precision_stays(function: Any) -> None:
    x = np.linspace(0.1, 1.0, 12, dtype=np.float32).reshape(3, 4) ** 2
    value, gradient = tx.value_and_grad(lambda x: np.sum(function(x)), fallback="error")(x)
    assert value.dtype == gradient.dtype == np.float32
    assert value == pytest.approx(np.sum(function(x)), rel=1e-5, abs=1e-5)
    assert tx.jvp(lambda x: function(x), (x,), (x,), fallback="error")[1].dtype == np.float32


def test_places_without_a_fraction_are_refused() -> None:
    """SciPy casts them to integers, so that what it gives there is no value of the image."""

    def far(image):
        return np.sum(ndimage.map_coordinates(image, np.full((2, 3), 1e100), mode="mirror"))

    assert np.isfinite(far(IMAGE))
    with pytest.raises(tx.NotDifferentiable, match="so far outside"):
        tx.grad(far, fallback="error")(IMAGE)


def test_a_negative_width_raises_or_leaves_the_image_as_it_is() -> None:
    with pytest.raises(ValueError, match="negative"):
        tx.grad(lambda x: np.sum(ndimage.gaussian_filter1d(x, -0.8)), fallback="error")(IMAGE)
    program = lambda x: np.sum(ndimage.gaussian_filter(x, -0.8) * IMAGE)
    value, found = tx.value_and_grad(program, fallback="error")(IMAGE)
    assert value == program(IMAGE)
    np.testing.assert_array_equal(found, IMAGE)


def test_labels_that_are_nowhere_give_what_scipy_gives() -> None:
    labels = np.arange(42).reshape(6, 7) % 3

    def program(x):
        return np.sum(ndimage.maximum(x, labels, [[1, 2], [5, 7]]) * np.array([[1.0, 2.0], [3.0, 4.0]]))

    value, found = tx.value_and_grad(program, fallback="error")(IMAGE)
    assert value == program(IMAGE)
    assert np.sum(found) == 3.0
