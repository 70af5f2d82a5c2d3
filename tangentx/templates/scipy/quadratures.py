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
from tangentx.templates.solver_table import solver_of

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


def triple_integral(
    value: Any, func: Any, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any
) -> Any:
    """The integral of an integral of an integral."""

    def inner(y: Any, x: Any) -> Any:
        low = qfun(x, y) if callable(qfun) else qfun
        high = rfun(x, y) if callable(rfun) else rfun
        return integrate.quad(lambda z: func(z, y, x, *args), low, high)[0]

    return valued(value, integrate.dblquad(inner, a, b, gfun, hfun)[0])


@solver_of(integrate.tplquad, form="(float, float)")
def tplquad(
    found: Any,
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    """Integral over a body, by what bounds it too."""
    given = args if isinstance(args, tuple) else (args,)
    return settle(triple_integral, found[0], func, a, b, gfun, hfun, qfun, rfun, given), found[1]


def nested_integral(value: Any, func: Any, ranges: Any, args: Any) -> Any:
    """The integral over a box, from the last of its ranges inwards."""
    count = len(ranges)
    if count == 1:
        model = integrate.quad(lambda x: func(x, *args), ranges[0][0], ranges[0][1])[0]
    elif count == 2:
        first, second = ranges[0], ranges[1]
        model = integrate.dblquad(lambda x, y: func(x, y, *args), second[0], second[1], first[0], first[1])[0]
    elif count == 3:
        first, second, third = ranges[0], ranges[1], ranges[2]
        model = integrate.tplquad(
            lambda x, y, z: func(x, y, z, *args), third[0], third[1], second[0], second[1], first[0], first[1]
        )[0]
    else:
        raise NotDifferentiable(
            "scipy.integrate.nquad has a derivative for one to three ranges", hint="integrate one of them by itself"
        )
    return valued(value, model)


@solver_of(integrate.nquad, form="(float, float)")
def nquad(found: Any, func: Any, ranges: Any, args: Any = None) -> Any:
    """Integral over a box, by its ends too."""
    return settle(nested_integral, found[0], func, tuple(ranges), () if args is None else args), found[1]


def divided_evenly(func: Any, a: Any, b: Any, args: Any, options: Any) -> tuple[Any, float]:
    """The intervals into which `scipy.integrate.quad_vec` divides a range, as shares of it, and its error."""
    epsabs, epsrel, norm, limit, quadrature, points = options
    more = {} if quadrature is None else {"quadrature": quadrature}
    found = integrate.quad_vec(
        func, a, b, epsabs, epsrel, norm, limit=limit, points=points, full_output=True, args=args, **more
    )
    return (np.asarray(found[2].intervals, float) - a) / (b - a), float(found[1])


@composition(integrate.quad_vec, domain=(), containers=True)
def quad_vec(
    f: Any,
    a: Any,
    b: Any,
    epsabs: Any = 1e-200,
    epsrel: Any = 1e-08,
    norm: Any = "2",
    cache_size: Any = 100e6,
    limit: Any = 10000,
    workers: Any = 1,
    points: Any = None,
    quadrature: Any = None,
    full_output: Any = False,
    *,
    args: Any = (),
) -> Any:
    """Integral of a function that gives an array, over a range with ends, at which the derivatives have no jumps."""
    if full_output or workers != 1 or points is not None or np.isinf(a) or np.isinf(b):
        raise NotDifferentiable(
            "scipy.integrate.quad_vec has a derivative over a range with ends, without `points`, `workers` and "
            "`full_output`",
            hint="substitute a variable whose range has ends, and split the range at the points",
        )
    options = (epsabs, epsrel, norm, limit, quadrature, points)
    parts, error = as_written(divided_evenly, "(float64[2], float)", f, a, b, args, options)
    total = 0.0
    for k in range(len(parts)):
        middle, half = 0.5 * (parts[k, 0] + parts[k, 1]), 0.5 * (parts[k, 1] - parts[k, 0])
        for i in range(len(_NODES)):
            node = a + (b - a) * (middle + half * _NODES[i])
            total = total + (b - a) * half * _WEIGHTS[i] * f(node, *args)
    return total, error


@composition(integrate.fixed_quad, domain=())
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """Integral by the Gauss-Legendre rule of `n` nodes."""
    nodes, weights = as_written(np.polynomial.legendre.leggauss, "(float64[1], float64[1])", n)
    middle, half = (a + b) / 2.0, (b - a) / 2.0
    return half * np.sum(weights * func(half * nodes + middle, *args), axis=-1), None
