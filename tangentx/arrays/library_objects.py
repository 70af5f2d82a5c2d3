"""Objects of libraries that are represented by a few of their attributes.

A table by names: the libraries are not imported. What the attributes hold decides what the object's methods do, and a
program may read them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

_Maker = Callable[[Any, dict[str, Any]], Any]


class Parts(NamedTuple):
    """The attributes by which objects of a class are known, the function that makes one of them, and those of the
    attributes that may be None."""

    names: tuple[str, ...]
    make: _Maker
    absent: tuple[str, ...] = ()

    def made(self, cls: Any, parts: dict[str, Any]) -> Any:
        """An object of the class; where compiled code has left out what it never reads, a record of the rest."""
        if any(_is_left_out(value) for name, value in parts.items() if name not in self.absent):
            return SimpleNamespace(**parts)
        return self.make(cls, parts)


def _is_left_out(value: Any) -> bool:
    return value is None or (isinstance(value, tuple) and any(map(_is_left_out, value)))


def _fast(cls: Any, parts: dict[str, Any]) -> Any:
    return cls.construct_fast(*parts.values())


def _by_name(cls: Any, parts: dict[str, Any]) -> Any:
    return cls(**parts)


def _of_knots(cls: Any, parts: dict[str, Any]) -> Any:
    return cls._from_tck(parts["_eval_args"], parts["ext"])


def _of_grid(cls: Any, parts: dict[str, Any]) -> Any:
    grid, values, *others = parts.values()
    return cls(grid, values, *others)


def _of_table(cls: Any, parts: dict[str, Any]) -> Any:
    """An `interp1d`, whose values are kept with the axis of the points first and the others joined."""
    spline: Any = parts.get("_spline")
    fill: Any = "extrapolate"
    kind = parts["_kind"] if spline is None else spline.k
    y = parts["_y"].reshape(len(parts["x"]), *parts["_y_extra_shape"])
    if not parts["_extrapolate"]:
        fill = (parts["_fill_value_below"], parts["_fill_value_above"])
    made = cls(parts["x"], y, kind, 0, False, parts["bounds_error"], fill, True)
    made._y_axis = parts["_y_axis"]
    for name in ("_side", "_fill_value_below", "_fill_value_above"):
        setattr(made, name, parts.get(name))
    if spline is None:
        made._spline = None
    return made


def _of_kernels(cls: Any, parts: dict[str, Any]) -> Any:
    """An `RBFInterpolator`, whose weights are found again where it is made, and taken as they are."""
    degrees = parts["powers"].sum(axis=1)
    values = parts["d"].reshape(len(parts["y"]), *parts["d_shape"])
    smooth, kernel, width = parts["smoothing"], parts["kernel"], float(parts["epsilon"])
    made = cls(parts["y"], values, None, smooth, kernel, width, int(degrees.max(initial=-1)))
    for name in ("_shift", "_scale", "_coeffs"):
        setattr(made, name, parts[name])
    return made


def _of_quaternions(cls: Any, parts: dict[str, Any]) -> Any:
    quaternions = parts["_quat"]
    return cls(quaternions[0] if parts["_single"] else quaternions, normalize=False)


def _of_turns(cls: Any, parts: dict[str, Any]) -> Any:
    """A `Slerp`, which keeps the rotations but for the last, and how one becomes the next."""
    rotations = parts["rotations"]
    last = rotations[-1] * type(rotations).from_rotvec(parts["rotvecs"][-1])
    return cls(parts["times"], type(rotations).concatenate([rotations, last]))


def _compressed(cls: Any, parts: dict[str, Any]) -> Any:
    return cls((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])


def _triplets(cls: Any, parts: dict[str, Any]) -> Any:
    return cls((parts["data"], (parts["row"], parts["col"])), shape=parts["shape"])


def _diagonals(cls: Any, parts: dict[str, Any]) -> Any:
    return cls((parts["data"], parts["offsets"]), shape=parts["shape"])


def _kernels(cls: Any, parts: dict[str, Any]) -> Any:
    return cls(parts["dataset"], float(parts["factor"]), parts["weights"])


def _by_powers(cls: Any, parts: dict[str, Any]) -> Any:
    made = cls(parts["coeffs"])
    made._coeffs = parts["coeffs"]
    return made


def _normal(cls: Any, parts: dict[str, Any]) -> Any:
    return cls(parts["_mu"], parts["_sigma"])


_SERIES = ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre")
_KNOTS = Parts(("_eval_args", "ext"), _of_knots)
_PIECEWISE = Parts(("c", "x", "extrapolate", "axis"), _fast)
_KNOWN: dict[str, dict[str, Parts]] = {
    "statistics": {"NormalDist": Parts(("_mu", "_sigma"), _normal)},
    "numpy": {
        "poly1d": Parts(("coeffs",), _by_powers),
        **dict.fromkeys(_SERIES, Parts(("coef", "domain", "window"), _by_name)),
    },
    "scipy": {
        **dict.fromkeys(("PPoly", "CubicSpline", "CubicHermiteSpline"), _PIECEWISE),
        **dict.fromkeys(("PchipInterpolator", "Akima1DInterpolator"), _PIECEWISE),
        "BSpline": Parts(("t", "c", "k", "extrapolate", "axis"), _fast),
        **dict.fromkeys(("UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline"), _KNOTS),
        "RegularGridInterpolator": Parts(
            ("grid", "values", "method", "bounds_error", "fill_value"), _of_grid, ("fill_value",)
        ),
        "RBFInterpolator": Parts(
            (
                *("y", "d", "d_shape", "smoothing", "kernel", "epsilon", "powers"),
                *("_shift", "_scale", "_coeffs"),
            ),
            _of_kernels,
        ),
        "Rotation": Parts(("_quat", "_single"), _of_quaternions),
        "gaussian_kde": Parts(("dataset", "weights", "factor"), _kernels),
        "Slerp": Parts(("times", "timedelta", "rotations", "rotvecs"), _of_turns),
        **dict.fromkeys(
            ("csr_matrix", "csr_array", "csc_matrix", "csc_array"),
            Parts(("data", "indices", "indptr", "shape"), _compressed),
        ),
        **dict.fromkeys(("coo_matrix", "coo_array"), Parts(("data", "row", "col", "shape"), _triplets)),
        **dict.fromkeys(("dia_matrix", "dia_array"), Parts(("data", "offsets", "shape"), _diagonals)),
        "interp1d": Parts(
            (
                *("x", "_y", "_y_axis", "_y_extra_shape", "_kind", "_spline", "_side", "bounds_error"),
                *("_extrapolate", "_fill_value_below", "_fill_value_above"),
            ),
            _of_table,
            ("_spline", "_side"),
        ),
    },
}


def parts_of(cls: type) -> Parts | None:
    """What objects of a class are made of; None for a class that is not in the table.

    >>> parts_of(dict) is None
    True
    """
    package = _KNOWN.get((getattr(cls, "__module__", None) or "").partition(".")[0])
    return package.get(cls.__name__) if package is not None else None


def made_of(cls: Any, **parts: Any) -> Any:
    """An object of a class in the table, by its attributes."""
    known = parts_of(cls)
    assert known is not None
    return known.made(cls, parts)
