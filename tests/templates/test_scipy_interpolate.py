"""Objects of SciPy's that interpolate: by the values, the points and the places, made in the program or outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

interpolate = pytest.importorskip("scipy.interpolate")

RNG = np.random.default_rng(0)
X = np.array([0.0, 1.0, 1.7, 3.0, 4.2, 5.0, 5.5])
Y, Y2 = RNG.normal(size=7), RNG.normal(size=(7, 2))
T, INSIDE = np.array([0.2, 1.1, 2.5, 4.4, -0.3]), np.array([[0.2, 1.1], [2.5, 4.1]])
AXES = (np.array([0.0, 1.0, 2.5, 3.0]), np.linspace(-1.0, 1.0, 5))
TABLE, PLACES = RNG.normal(size=(4, 5)), np.array([[0.3, 0.1], [1.7, -0.7], [2.9, 0.9]])
SPLINE, CURVE = interpolate.CubicSpline(X, Y), interpolate.make_interp_spline(X, Y)
SMOOTH, LINES = interpolate.UnivariateSpline(X, Y, s=0.5), interpolate.interp1d(X, Y)
GRID, KNOTS = interpolate.RegularGridInterpolator(AXES, TABLE), interpolate.splrep(X, Y)


def weighed(*found: Any) -> Any:
    return sum(np.sum(z * np.cos(np.arange(np.size(z))).reshape(np.shape(z))) for z in found)


def cubic(x, y, t):
    s = interpolate.CubicSpline(x, y)
    whole = s.antiderivative()
    return weighed(s(t), s(t, 1), s.derivative(2)(t), whole(t), s.c) + s.integrate(0.1, t[0])


def ends(x, y, t):
    first = interpolate.CubicSpline(x, y, bc_type=((1, 0.3), (2, -0.2)))(t)
    around = interpolate.CubicSpline(x, np.append(y[:-1], y[0]), bc_type="periodic")(t)
    return weighed(first, around, interpolate.CubicSpline(x[:3], y[:3])(t), interpolate.CubicSpline(x[:2], y[:2])(t))


def columns(x, y, t):
    return weighed(interpolate.CubicSpline(x, y.T, axis=1, bc_type="natural")(t), interpolate.PPoly(y[None, :-1], x)(t))


def shapes(x, y, t):
    makima = interpolate.Akima1DInterpolator(x, y, method="makima")(t)
    pchip = interpolate.pchip_interpolate(x, y, t)
    hermite = interpolate.CubicHermiteSpline(x, y, np.sin(y))(t)
    return weighed(makima, pchip, interpolate.Akima1DInterpolator(x, y)(t), hermite)


def knots(x, y, t):
    s = interpolate.make_interp_spline(x, y, k=5)
    return weighed(s(t), s(t, 1), interpolate.make_interp_spline(x, y, k=2)(t)) + s.integrate(0.1, 2.0)


def coefficients(c, t):
    s = interpolate.BSpline(CURVE.t, c, 3)
    return weighed(s(t), s.derivative()(t), s.antiderivative()(t), s(t, nu=2)) + s.integrate(0.1, 2.0)


def fitpack(x, y, t):
    tck = interpolate.splrep(x, y)
    other = interpolate.InterpolatedUnivariateSpline(x, y)(t) + interpolate.UnivariateSpline(x, y, s=0)(t)
    return weighed(interpolate.splev(t, tck), other) + interpolate.splint(0.1, 3.0, tck)


def tables(x, y, t):
    near, before = interpolate.interp1d(x, y, kind="nearest")(t), interpolate.interp1d(x, y, kind="previous")(t)
    between, smooth = interpolate.interp1d(x, y)(t), interpolate.interp1d(x, y, kind="cubic")(t)
    outside = interpolate.interp1d(x, y, bounds_error=False, fill_value=(-1.0, 2.0))(t - 1.0)
    return weighed(
        near, before, between, smooth, outside, interpolate.interp1d(x, y, fill_value="extrapolate")(t + 3.0)
    )


def grids(v, p):
    beyond = interpolate.RegularGridInterpolator(AXES, v, bounds_error=False, fill_value=None)(1.2 * p)
    return weighed(interpolate.interpn(AXES, v, p), beyond, interpolate.interpn(AXES, v, p, method="nearest"))


def outside(t):
    values = SPLINE(t), SPLINE.derivative()(t, 1), CURVE(t), CURVE.derivative()(t), SMOOTH(t), SMOOTH(t, 1)
    return weighed(*values, interpolate.splev(t, KNOTS, ext=3)) + SPLINE.integrate(0, t[0]) + SPLINE.c[0, 0]


def outside_tables(p):
    return weighed(LINES(np.abs(p) + 0.05), GRID(p), GRID((p[:, 0], p[:, 1])))


def constants(t):
    return weighed(interpolate.CubicSpline(X, Y)(t)) if isinstance(SPLINE, interpolate.PPoly) else 0.0


def calibration(y, t):
    """A curve through values that are fitted: its roughness, and its distance from what was seen."""
    curve = interpolate.CubicSpline(X, y, bc_type="natural")
    dense = np.linspace(0.0, 5.5, 12)
    return np.mean((curve(t) - np.sin(t)) ** 2) + 0.01 * np.mean(curve(dense, 2) ** 2)


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    constants: (T,),
    columns: (X, Y2, INSIDE),
    cubic: (X, Y, T),
    ends: (X, Y, T),
    shapes: (X, Y, INSIDE),
    knots: (X, Y, INSIDE),
    coefficients: (CURVE.c, INSIDE),
    fitpack: (X, Y, INSIDE),
    tables: (X, Y, INSIDE),
    grids: (TABLE, PLACES),
    outside: (T,),
    outside_tables: (PLACES,),
    calibration: (Y, INSIDE),
}


TWICE = (cubic, coefficients, calibration)


@pytest.mark.share(12)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program(f: Any) -> None:
    args = PROGRAMS[f]
    everything = tuple(range(len(args)))
    value, found = tx.value_and_grad(f, wrt=everything, fallback="error")(*args)
    assert value == pytest.approx(f(*args), rel=1e-13)
    check_grads(f, args, wrt=everything, order=2 if f in TWICE else 1, rtol=1e-5, atol=1e-6)
    rows = tx.vmap(tx.grad(f))(*(np.stack([a, a]) for a in args))
    np.testing.assert_allclose(rows[1], found[0], rtol=1e-9, atol=1e-12)
    leaves = [tx.tensor(a, requires_grad=True) for a in args]
    tx.differentiate(f)(*leaves).backward()
    for leaf, bar in zip(leaves, found, strict=True):
        np.testing.assert_allclose(leaf.grad.numpy(), bar)


def test_an_object_comes_out_as_scipy_s() -> None:
    def f(y):
        s = interpolate.CubicSpline(X, y)
        return s(0.3), s

    gradient, s = tx.grad(f, has_aux=True, fallback="error")(Y)
    assert type(s) is interpolate.CubicSpline
    np.testing.assert_array_equal(s.roots(), interpolate.CubicSpline(X, Y).roots())
    assert gradient == pytest.approx(tx.grad(lambda y: f(y)[0])(Y))
    assert tx.grad(lambda t: SPLINE(t) * len(SPLINE.roots()), fallback="error")(0.3) == pytest.approx(
        SPLINE(0.3, 1) * len(SPLINE.roots())
    )


def test_what_has_no_rule_is_named() -> None:
    for fallback in ("error", "tensor"):
        with pytest.raises(tx.NoTemplate, match=r"(?s)`scipy.interpolate.CubicSpline.roots`.*`antiderivative`"):
            tx.grad(lambda y: interpolate.CubicSpline(X, y).roots()[0], fallback=fallback)(Y)
        with pytest.raises(tx.NoTemplate, match=r"(?s)griddata.*RegularGridInterpolator"):
            tx.grad(lambda y: np.sum(interpolate.griddata(X, y, T)), fallback=fallback)(Y)
    with pytest.raises(tx.NotDifferentiable, match="smoothes"):
        tx.grad(lambda y: interpolate.UnivariateSpline(X, y)(0.3))(Y)
    with pytest.raises(ValueError, match="below"):
        tx.grad(lambda t: LINES(t))(-1.0)


@pytest.mark.thorough
def test_in_checked_mode() -> None:
    def f(y):
        return interpolate.interp1d(X, y)(0.5) + interpolate.CubicSpline(X, y)(0.3)

    with tx.checked():
        np.testing.assert_allclose(tx.grad(f, fallback="error")(Y), tx.grad(f)(Y))


SCATTERED = np.random.default_rng(4).uniform(size=(7, 2))
RADIAL = {
    "thin_plate_spline": None, "linear": None, "cubic": None, "quintic": None,
    "gaussian": 2.0, "multiquadric": 1.5, "inverse_quadratic": 1.0, "inverse_multiquadric": 1.0,
}  # fmt: skip


@pytest.mark.share(1)
@pytest.mark.parametrize("fallback", ["error", "tensor"])
@pytest.mark.parametrize("kernel", RADIAL)
def test_sums_of_radial_functions(kernel: str, fallback: Any) -> None:
    """By points, values and places; the centre and the scale of the polynomial have no part in it."""

    def f(points, values, places):
        found = interpolate.RBFInterpolator(points, values, kernel=kernel, epsilon=RADIAL[kernel], smoothing=0.01)
        return np.sum(np.sin(found(places)) * np.array([1.0, -2.0, 0.5]))

    at = SCATTERED, np.sin(3.0 * SCATTERED[:, 0]) + SCATTERED[:, 1], SCATTERED[:3] + 0.05
    value, found = tx.value_and_grad(f, wrt=(0, 1, 2), fallback=fallback)(*at)
    assert value == pytest.approx(f(*at), rel=1e-11)
    for k, slopes in enumerate(found):
        for place in np.ndindex(slopes.shape):
            step = np.zeros(slopes.shape)
            step[place] = 1e-6
            ends = [f(*(x + sign * step if i == k else x for i, x in enumerate(at))) for sign in (1, -1)]
            assert slopes[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-6)


def test_an_interpolator_from_outside() -> None:
    made = interpolate.RBFInterpolator(SCATTERED, np.stack([SCATTERED[:, 0] ** 2, SCATTERED[:, 1]], axis=1))
    tx.testing.check_grads(lambda t: np.sum(made(t) * np.array([1.0, 2.0])), (SCATTERED[:3] + 0.05,), order=2)
    with pytest.raises(tx.NotDifferentiable, match="neighbors"):
        tx.grad(lambda p: interpolate.RBFInterpolator(p, p[:, 0], neighbors=3)(p).sum())(SCATTERED)
