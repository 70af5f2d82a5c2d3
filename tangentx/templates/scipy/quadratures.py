"""Integrals of functions: derivatives go through the values at the nodes that the adaptive rule has settled on.

The intervals are those into which QUADPACK divided the range, each with the Gauss-Legendre rule of 21 nodes; of a range
without end they are those of ``t`` in (0, 1], with ``x = bound +- (1 - t) / t``. Whether that gives what was found is
looked at. Nodes move with the ends of the piece that they are in, from one of the limits and `points` to the next: so
what jumps, or has a kink, at one of the points has the derivatives that Leibniz' rule gives. Jumps elsewhere are
refused.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import integrate

from tangentx.arrays import agreed, as_written, settle, valued, without_jumps
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.solvers import solver_of

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(21)


def divided(found: Any, a: Any, b: Any, points: Any) -> tuple[float, float, bool, Any, Any, Any, Any, Any]:
    """What `scipy.integrate.quad` has found with ``full_output``, its error, and whether it is sure of them; and the
    rule: for each node its place and its weight in a piece of length one, which of `a`, `b` and `points` the ends of
    that are, and what is added to it in a range without end. Warns as SciPy does without that option."""
    if len(found) > 3:
        warnings.warn(found[3], integrate.IntegrationWarning, stacklevel=3)
    known = found[0], found[1], len(found) == 3
    count = found[2]["last"]
    low, high = found[2]["alist"][:count, None], found[2]["blist"][:count, None]
    places = (0.5 * (low + high) + 0.5 * (high - low) * _NODES).ravel()
    weights = (0.5 * (high - low) * _WEIGHTS).ravel()
    if a == b:
        places, weights = 0.5 + 0.5 * _NODES, 0.5 * _WEIGHTS
    none = np.zeros_like(places)
    of_a = none.astype(np.int64)
    if a == b:
        return *known, places, weights, of_a, of_a + 1, none
    if np.isfinite(a) and np.isfinite(b):
        return *known, *_in_pieces(places, weights, a, b, points), none
    shifts, weights = (1.0 - places) / places, weights / places**2 * (1.0 if a <= b else -1.0)
    if np.isinf(a) and np.isinf(b):
        shifts, weights, of_a = np.append(shifts, -shifts), np.append(weights, weights), np.append(of_a, of_a)
        return *known, np.zeros(len(shifts)), weights, of_a, of_a, shifts
    return *known, none, weights, of_a, of_a, shifts if max(a, b) == np.inf else -shifts


def _in_pieces(places: Any, weights: Any, a: Any, b: Any, points: Any) -> tuple[Any, Any, Any, Any]:
    """Places and weights in the piece that each node is in, and which of ``a, b, *points`` the ends of that are."""
    ends = np.array([a, b, *(() if points is None else points)], float)
    inside = [i for i in range(2, len(ends)) if min(a, b) < ends[i] < max(a, b)]
    order = np.array([0, *sorted(inside, key=lambda i: abs(ends[i] - a)), 1])
    piece = np.searchsorted(np.abs(ends[order[1:-1]] - a), np.abs(places - a))
    first, last = order[piece], order[piece + 1]
    lengths = ends[last] - ends[first]
    return (places - ends[first]) / lengths, weights / np.abs(lengths), first, last


def integral(
    value: Any,
    func: Any,
    args: Any,
    a: Any,
    b: Any,
    points: Any,
    error: Any,
    sure: Any,
    rule: Any,
    first: Any,
    last: Any,
) -> Any:
    """The integral as a sum over the nodes."""
    shares, weights, shifts = rule
    if np.isinf(a) or np.isinf(b):
        bound = (0.0 if np.isinf(b) else b) if np.isinf(a) else a
        ends = np.zeros(0)
        nodes, scales = bound + shifts, weights
    else:
        ends = np.array([a, b]) * 1.0 if points is None else np.concatenate([np.array([a, b]), np.array(points)])
        nodes = ends[first] + shares * (ends[last] - ends[first])
        scales = weights * (ends[last] - ends[first])
    found = []
    for k in range(len(weights)):
        found.append(float(func(float(nodes[k]), *args)))
    values = np.array(found)
    total = np.sum(scales * values)
    if sure:
        total = without_jumps(total, values, nodes, ends)
    return valued(value, agreed(total, value, error, "integral"))


@solver_of(integrate.quad, form="object", full_output=1)
def quad(
    found: Any,
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
    limit: Any = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: Any = 50,
    limlst: Any = 50,
    complex_func: Any = False,
) -> Any:
    """Integral, by the ends of its range too."""
    if full_output or complex_func or weight is not None:
        raise NotDifferentiable(
            "scipy.integrate.quad has no derivative with `weight`, `complex_func` or `full_output`",
            hint="write the weight into the function, and integrate real and imaginary parts one by one",
        )
    given = args if isinstance(args, tuple) else (args,)
    rule = as_written(
        divided, "(float, float, bool, float64[1], float64[1], int64[1], int64[1], float64[1])", found, a, b, points
    )
    value, error, sure, shares, weights, first, last, shifts = rule
    moved = (shares, weights, shifts)
    return settle(integral, value, func, given, a, b, points, error, sure, moved, first, last), error


def double_integral(value: Any, func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any) -> Any:
    """The integral of an integral."""

    def inner(x: Any) -> Any:
        low = gfun(x) if callable(gfun) else gfun
        high = hfun(x) if callable(hfun) else hfun
        return integrate.quad(lambda y: func(y, x, *args), low, high)[0]

    return valued(value, integrate.quad(inner, a, b)[0])


@solver_of(integrate.dblquad, form="(float, float)")
def dblquad(
    found: Any,
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    """Integral over a region, by what bounds it too."""
    given = args if isinstance(args, tuple) else (args,)
    return settle(double_integral, found[0], func, a, b, gfun, hfun, given), found[1]


@composition(integrate.fixed_quad, domain=())
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """Integral by the Gauss-Legendre rule of `n` nodes."""
    nodes, weights = as_written(np.polynomial.legendre.leggauss, "(float64[1], float64[1])", n)
    middle, half = (a + b) / 2.0, (b - a) / 2.0
    return half * np.sum(weights * func(half * nodes + middle, *args), axis=-1), None
