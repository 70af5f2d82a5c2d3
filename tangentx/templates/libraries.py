"""Rules of libraries that not everybody has: loaded once the user has imported the module that they are for.

Whoever asks for a rule has the function in hand, so the module that has it was imported before.
"""

from __future__ import annotations

import importlib
import sys

_RULES = {
    "scipy.special": (
        *("bessel", "distribution_functions", "elementary", "error_functions", "gamma_functions", "sums"),
        "orthogonal_polynomials",
    ),
    "scipy.stats": (
        *("discrete_distributions", "lifetime_distributions", "multivariate_distributions", "skewed_distributions"),
        *("symmetric_distributions", "frozen_distributions"),
    ),
    "scipy.linalg": (
        *("linear_systems", "factorisations", "lu_factors", "banded_systems", "decompositions", "matrix_functions"),
        *("matrix_equations", "structured_matrices", "refused_linalg"),
    ),
    "scipy.spatial.distance": ("distances",),
    "scipy.signal": ("signals",),
    "scipy.integrate": ("integrals", "quadratures", "initial_values"),
    "scipy.fft": ("transforms", "cosine_transforms"),
    "scipy.optimize": ("roots", "minima"),
    "scipy.spatial.transform": ("rotations",),
    "scipy.ndimage": ("images",),
    "scipy.sparse.linalg": ("sparse_systems",),
    "scipy.sparse": ("sparse_matrices", "sparse_makers"),
    "scipy.interpolate": ("piecewise_polynomials", "b_splines", "interpolated_tables", "refused_interpolate"),
}
"""Public modules, and where their rules are, in `tangentx.templates.scipy`."""
_waiting = dict(_RULES)


def arrived() -> bool:
    """Loads the rules of what has been imported since they were asked for last, and says whether there were any.

    A module that is still being imported, by another thread or further up, is left for the next time.
    """
    ready = [name for name in _waiting if name in sys.modules and not _is_unfinished(name)]
    for name in ready:
        for rules in _RULES[name]:
            importlib.import_module(f"tangentx.templates.scipy.{rules}")
        _waiting.pop(name, None)
    return bool(ready)


def _is_unfinished(name: str) -> bool:
    return bool(getattr(getattr(sys.modules[name], "__spec__", None), "_initializing", False))


def import_all() -> None:
    """Imports every module that there are rules for, where it is installed: for the table of all rules."""
    for name in _RULES:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    arrived()
