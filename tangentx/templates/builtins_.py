"""Python's own functions of several numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import (
    before,
    give_best,
    guarded,
    if_above,
    if_below,
    merged,
    nested,
    ratio_or_zero,
    repeated,
    sum_of_some,
    take_best,
    total,
    unmerged,
    unnested,
)
from tangentx.templates.registry import adjoint, linear


@linear(
    *(sum, sum_of_some),
    domain=("[x, y, x]", "[x, y], 1.5", "(x,), y", "A(3)", "[A(2), A(2)]", "A(2,3), x"),
    broadcasts=True,
)
def sum_(iterable: Any, start: Any = 0, *, ans_bar: Any) -> Any:
    """Sum of the items, on top of `start`."""
    iterable_bar = repeated(ans_bar, iterable)
    start_bar = ans_bar
    return iterable_bar, start_bar


@linear(math.fsum, domain=("[x, y, x]", "A(3)"))
def fsum(seq: Any, *, ans_bar: Any) -> Any:
    """Exact sum of numbers."""
    seq_bar = repeated(ans_bar, seq)
    return seq_bar


@adjoint(math.prod, domain=("[x, y, x]", "(x, 0.0, y)", "A(3)", "[0.0, y, 0.0]", "[A(2), A(2), A(2)]"))
def prod(iterable: Any, *, ans_bar: Any) -> Any:
    """Product of numbers: for each the product of the others, without division."""
    items = np.asarray(iterable)
    elements = merged(items, 0)
    others = unmerged(before(elements) * np.flip(before(np.flip(elements, -1)), -1), np.shape(items), 0)
    iterable_bar = nested(others * ans_bar, iterable)
    return iterable_bar


@prod.tangent
def prod_tangent(iterable: Any, *, iterable_dot: Any) -> Any:
    """Sum over the elements of tangent times the others."""
    items = np.asarray(iterable)
    elements = merged(items, 0)
    others = unmerged(before(elements) * np.flip(before(np.flip(elements, -1)), -1), np.shape(items), 0)
    ans_dot = np.sum(others * unnested(iterable_dot, iterable), axis=0)
    return ans_dot


@adjoint(math.dist, domain=("[x, y], [y, x]", "(x, y), (0.1, 0.2)", "A(3), A(3)"), singular=True)
def dist(p: Any, q: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Distance of two points; 0 where they meet."""
    slope = guarded(ratio_or_zero(np.asarray(p) - np.asarray(q), ans), ans_bar)
    p_bar = nested(slope, p)
    q_bar = nested(-slope, q)
    return p_bar, q_bar


@dist.tangent
def dist_tangent(p: Any, q: Any, *, ans: Any, p_dot: Any, q_dot: Any) -> Any:
    """The part of the tangents along the line."""
    moved = unnested(p_dot, p) - unnested(q_dot, q)
    ans_dot = np.sum(guarded(ratio_or_zero(np.asarray(p) - np.asarray(q), ans), moved))
    return ans_dot


@adjoint(max, min, domain=("x, y", "y, x, 1", "[x, y, -x]", "A(4)", "(x,)"))
def extreme(*args: Any, ans: Any, ans_bar: Any) -> Any:
    """The largest or the smallest; equal ones share."""
    args_bar = give_best(ans_bar, ans, args)
    return args_bar


@extreme.tangent
def extreme_tangent(*args: Any, ans: Any, args_dot: Any) -> Any:
    """Mean tangent of those that win."""
    ans_dot = take_best(args_dot, ans, args)
    return ans_dot


@linear(repeated, domain=("x, [x, y]", "A(3), A(2,3)"), broadcasts=True)
def repeated_(t: Any, items: Any, *, ans_bar: Any) -> Any:
    """One cotangent for each item."""
    t_bar = total(ans_bar, items)
    return t_bar


@linear(total, domain=("[x, y], [x, y]", "A(2,3), A(2,3)"))
def total_(dots: Any, items: Any, *, ans_bar: Any) -> Any:
    """Sum of the items that have a derivative."""
    dots_bar = repeated(ans_bar, items)
    return dots_bar


@linear(give_best, domain=("x, y, (x, y)", "x, y, ([x, y, y],)", "x, y, (1, y)"))
def give_best_(t: Any, best: Any, args: Any, *, ans_bar: Any) -> Any:
    """Shares of those that equal the best."""
    t_bar = take_best(ans_bar, best, args)
    return t_bar


@linear(if_above, domain=("x, y, 0.5", "x, 0.4, y"))
def if_above_(t: Any, x: Any, bound: Any, *, ans_bar: Any) -> Any:
    """The same share."""
    t_bar = if_above(ans_bar, x, bound)
    return t_bar


@linear(if_below, domain=("x, y, 0.5", "x, 0.4, y"))
def if_below_(t: Any, x: Any, bound: Any, *, ans_bar: Any) -> Any:
    """The same share."""
    t_bar = if_below(ans_bar, x, bound)
    return t_bar


@linear(take_best, domain=("(x, 2.0), y, (x, y)", "([x, 0.3, 0.4],), y, ([x, y, y],)"))
def take_best_(dots: Any, best: Any, args: Any, *, ans_bar: Any) -> Any:
    """Mean of those that belong to the best."""
    dots_bar = give_best(ans_bar, best, args)
    return dots_bar
