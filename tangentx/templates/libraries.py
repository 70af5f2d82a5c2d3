"""Rules of optional libraries, loaded when the user has imported the library.

Whoever asks for a rule has the function in hand, so the module that has it was imported before. Other packages bring
rules by entry points of the group ``tangentx.rules``: the name is that of the module which the rules are for, the value
that of the module which declares them with `tx.rule`. In a package's own file::

    [project.entry-points."tangentx.rules"]
    "astropy.cosmology" = "rules_for_astropy.cosmology"
"""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import warnings

_RULES = {
    "scipy.special": (
        *("bessel", "distribution_functions", "elementary", "error_functions", "gamma_functions"),
        *("orthogonal_polynomials", "joint_functions"),
    ),
    "scipy.stats": (
        *("discrete_distributions", "lifetime_distributions", "multivariate_distributions", "skewed_distributions"),
        *("symmetric_distributions", "frozen_distributions", "descriptive_statistics", "kernel_densities"),
        *("tail_distributions", "refused_stats"),
    ),
    "scipy.linalg": (
        *("linear_systems", "decompositions", "matrix_functions"),
        *("matrix_equations", "structured_matrices", "refused_linalg"),
    ),
    "scipy.spatial": ("distance_tables",),
    "scipy.spatial.distance": ("distances",),
    "scipy.signal": ("signals", "resampled_signals", "short_time_transforms", "refused_signal"),
    "scipy.integrate": ("integrals", "quadratures", "initial_values", "refused_integrate"),
    "scipy.fft": ("transforms",),
    "scipy.optimize": ("roots", "minima"),
    "scipy.spatial.transform": ("rotations",),
    "scipy.ndimage": ("images", "ranked_filters", "labelled_images"),
    "scipy.sparse.linalg": ("sparse_systems",),
    "scipy.sparse": ("sparse_matrices",),
    "scipy.interpolate": (
        "piecewise_polynomials",
        "b_splines",
        "interpolated_tables",
        "radial_functions",
        "refused_interpolate",
    ),
}
"""Public modules, and where their rules are, in `tangentx.templates.scipy`."""
GROUP = "tangentx.rules"
"""The group of entry points by which packages bring rules."""
_waiting: dict[str, tuple[str, ...]] = {}
_brought: list[bool] = []
"""Has an element once `_waiting` has been filled."""


def _fill() -> None:
    """Looks up, once, what there is to be loaded."""
    for name, rules in _RULES.items():
        _waiting[name] = tuple(f"tangentx.templates.scipy.{each}" for each in rules)
    for point in importlib.metadata.entry_points(group=GROUP):
        _waiting[point.name] = (*_waiting.get(point.name, ()), point.module)
    _brought.append(True)


def arrived() -> bool:
    """Loads the rules of what has been imported since they were asked for last, and says whether there were any.

    A module that is still being imported, by another thread or further up, is left for the next time, and so are rules
    of packages until this one, which they import, is there. Those that cannot be loaded are left out, with a warning.
    """
    if not _brought:
        _fill()
    if sys.modules.keys().isdisjoint(_waiting):
        return False
    ready = [name for name in _waiting if name in sys.modules and not _is_unfinished(name)]
    later = bool(ready) and any(_is_unfinished(name) for name in tuple(sys.modules) if name.startswith("tangentx"))
    for name in ready:
        known = _waiting.pop(name, ())
        left = tuple(rules for rules in known if later and not rules.startswith("tangentx."))
        if left:
            _waiting[name] = left
        for rules in known:
            if rules not in left:
                _load(name, rules)
    return bool(ready)


def _load(name: str, rules: str) -> None:
    if rules.startswith("tangentx."):
        importlib.import_module(rules)
        return
    try:
        importlib.import_module(rules)
    except Exception as error:
        message = f"the rules for {name} in {rules} (an entry point of {GROUP}) cannot be loaded: {error!r}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def _is_unfinished(name: str) -> bool:
    return bool(getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False))


def import_all() -> None:
    """Imports every module that there are rules for, where it is installed: for the table of all rules."""
    for name in _RULES:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    arrived()
