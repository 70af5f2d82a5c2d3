"""What `scipy.interpolate` has that nothing can be differentiated through, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import interpolate

from tangentx.templates.refusals import refused


def _since_1_15(*names: str) -> list[Callable[..., Any]]:
    """Those of the names that this SciPy has: 1.13 and 1.14 have none of them."""
    return [getattr(interpolate, name) for name in names if hasattr(interpolate, name)]


refused(
    *(interpolate.griddata, interpolate.LinearNDInterpolator, interpolate.CloughTocher2DInterpolator),
    interpolate.NearestNDInterpolator,
    reason="it goes by a triangulation of scattered points, which is found in steps",
    hint="use `scipy.interpolate.RegularGridInterpolator` for points on a grid, or a sum of kernels of `cdist`",
)
refused(
    interpolate.Rbf,
    reason="it solves for weights of kernels",
    hint="use `scipy.interpolate.RBFInterpolator`",
)
refused(
    *(interpolate.BarycentricInterpolator, interpolate.KroghInterpolator, interpolate.barycentric_interpolate),
    *(interpolate.krogh_interpolate, interpolate.lagrange, interpolate.approximate_taylor_polynomial, interpolate.pade),
    *_since_1_15("AAA", "FloaterHormannInterpolator"),
    reason="it makes a polynomial or a fraction of high degree",
    hint="use `scipy.interpolate.make_interp_spline` or `CubicSpline`, or `np.polyfit` and `np.polyval`",
)
refused(
    *(interpolate.LSQUnivariateSpline, interpolate.make_lsq_spline, interpolate.make_smoothing_spline),
    *_since_1_15("make_splrep", "make_splprep", "generate_knots"),
    interpolate.splprep,
    reason="knots or weights of a spline that smoothes are found in steps",
    hint="fit coefficients by `np.linalg.lstsq`, and evaluate them by `scipy.interpolate.BSpline`",
)
refused(
    *(interpolate.BivariateSpline, interpolate.RectBivariateSpline, interpolate.SmoothBivariateSpline),
    *(interpolate.LSQBivariateSpline, interpolate.RectSphereBivariateSpline, interpolate.SmoothSphereBivariateSpline),
    *(interpolate.LSQSphereBivariateSpline, interpolate.bisplev, interpolate.bisplrep, interpolate.interp2d),
    *(interpolate.NdBSpline, interpolate.NdPPoly),
    reason="it is a spline of several variables",
    hint="use `scipy.interpolate.RegularGridInterpolator`, or `scipy.ndimage.map_coordinates` with an order",
)
refused(
    *(interpolate.BPoly, interpolate.insert, interpolate.sproot, interpolate.spalde, interpolate.splder),
    interpolate.splantider,
    reason="it takes a spline apart",
    hint="use `scipy.interpolate.PPoly` or `BSpline`, with their `derivative`, `antiderivative` and `integrate`",
)
