"""Elements chosen by conditions: reductions of some of them, and choices between several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import chosen_places, largest_like, length_of
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant, methods

constant(chosen_places, largest_like)

_SOME = "np.array([True, False, True])"


@composition(
    np.sum,
    *methods("sum"),
    domain=("A(4), initial=x", f"A(2,3), axis=0, where={_SOME}", f"A(3), 0, float, None, True, x, {_SOME}"),
)
def sum_of_some(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = 0.0,
    where: Any = True,
) -> Any:
    """Sum of the elements that `where` selects, on top of `initial`."""
    return np.sum(np.where(where, a, 0.0), axis=axis, dtype=dtype, keepdims=keepdims) + initial


@composition(
    np.prod,
    *methods("prod"),
    domain=("A(4), initial=x", f"A(2,3), axis=0, where={_SOME}", f"A(3), 0, float, None, True, x, {_SOME}"),
)
def product_of_some(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = 1.0,
    where: Any = True,
) -> Any:
    """Product of the elements that `where` selects, times `initial`."""
    return np.prod(np.where(where, a, 1.0), axis=axis, dtype=dtype, keepdims=keepdims) * initial


def _with_another(a: Any, x: Any, axis: Any) -> Any:
    """`a` with a slice of one number behind it."""
    return np.concatenate([a, np.zeros_like(np.sum(a, axis=axis, keepdims=True)) + x], axis)


@composition(
    np.max,
    np.amax,
    *methods("max"),
    domain=("A(4), initial=x", f"P(2,3), axis=1, initial=-9.0, where={_SOME}", "A(0), initial=x"),
)
def largest_of_some(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """The largest of `initial` and of the elements that `where` selects."""
    if initial is None:
        raise ValueError("reduction operation 'maximum' does not have an identity, so `where` needs `initial`")
    chosen = np.where(where, a, initial)
    if axis is None:
        found = np.max(np.append(chosen, np.asarray(initial, chosen.dtype)))
        return np.reshape(found, (1,) * np.ndim(a)) if keepdims else found
    if isinstance(axis, int) and keepdims:
        return np.max(_with_another(chosen, initial, axis), axis=axis, keepdims=True)
    if isinstance(axis, int):
        return np.max(_with_another(chosen, initial, axis), axis=axis)
    return np.maximum(np.max(chosen, axis=axis, keepdims=keepdims), initial)


@composition(
    np.min,
    np.amin,
    *methods("min"),
    domain=("A(4), initial=x", f"P(2,3), axis=1, initial=9.0, where={_SOME}", "A(0), initial=x"),
)
def smallest_of_some(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """The smallest of `initial` and of the elements that `where` selects."""
    if initial is None:
        raise ValueError("reduction operation 'minimum' does not have an identity, so `where` needs `initial`")
    chosen = np.where(where, a, initial)
    if axis is None:
        found = np.min(np.append(chosen, np.asarray(initial, chosen.dtype)))
        return np.reshape(found, (1,) * np.ndim(a)) if keepdims else found
    if isinstance(axis, int) and keepdims:
        return np.min(_with_another(chosen, initial, axis), axis=axis, keepdims=True)
    if isinstance(axis, int):
        return np.min(_with_another(chosen, initial, axis), axis=axis)
    return np.minimum(np.min(chosen, axis=axis, keepdims=keepdims), initial)


@composition(np.mean, *methods("mean"), domain=(f"A(2,3), axis=1, where={_SOME}",))
def mean_of_some(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Mean of the elements that `where` selects."""
    total = np.sum(np.where(where, a, 0.0), axis=axis, dtype=dtype, keepdims=keepdims)
    count = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims)
    return (total / count).astype(total.dtype)


@composition(
    np.var,
    domain=(
        f"A(2,3), axis=1, where={_SOME}",
        f"A(3), ddof=1, where={_SOME}",
        "A(2,3), axis=1, correction=1, keepdims=True",
        "A(2,3), axis=1, mean=A(2,1)",
    ),
)
def variance_of_some(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Variance of the elements that `where` selects, about `mean` if that is given."""
    middle = np.mean(a, axis=axis, dtype=dtype, keepdims=True, where=where) if mean is None else mean
    deviation = np.where(where, np.abs(a - middle), 0.0)
    count = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims)
    count = np.maximum(count - (ddof if correction is None else correction), 0)
    total = np.sum(deviation**2, axis=axis, dtype=dtype, keepdims=keepdims)
    return (total / count).astype(total.dtype)


@composition(np.std, domain=(f"A(2,3), axis=1, where={_SOME}", "A(2,3), correction=1", "A(2,3), 0, mean=A(1,3)"))
def spread_of_some(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Standard deviation of the elements that `where` selects, about `mean` if that is given."""
    less = ddof if correction is None else correction
    return length_of(np.var(a, axis=axis, dtype=dtype, ddof=less, keepdims=keepdims, where=where, mean=mean))


@composition(*methods("var"), domain=(f"A(2,3), axis=1, where={_SOME}", f"A(3), 0, None, None, 1, True, where={_SOME}"))
def variance_method(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """As the function, which takes more."""
    return np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)


@composition(*methods("std"), domain=(f"A(2,3), axis=1, where={_SOME}", f"A(3), 0, None, None, 1, True, where={_SOME}"))
def spread_method(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """As the function, which takes more."""
    return np.std(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)


@composition(
    np.select,
    domain=(
        "[np.array([True, False, False]), np.array([True, True, False])], [A(3), A(3)], x",
        "[np.array([[True], [False]])], [A(3)]",
        "[np.array([[True], [False]]), np.array([True, False, False])], [A(3), x], A(2,1)",
    ),
    containers=True,
)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Elements of the choice whose condition is the first that holds."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    found = default
    for k in range(len(condlist) - 1, -1, -1):
        found = np.where(condlist[k], choicelist[k], found)
    return found


_GAPS = ("A(4)", "A(2,3), axis=0", "np.array([[1.0, np.nan], [2.0, 3.0]]), axis=1, keepdims=True")


_SOME_GAPS = (*_GAPS, f"A(2,3), axis=1, initial=0.5, where={_SOME}")


def _left_out(a: Any, where: Any) -> Any:
    """The elements that do not count: what is nan, and what `where` does not select."""
    return np.isnan(a) if where is None else np.isnan(a) | ~np.asarray(where)


@composition(np.nansum, domain=_SOME_GAPS)
def sum_of_numbers(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Sum of the elements that are numbers."""
    total = np.sum(np.where(_left_out(a, where), 0.0, a), axis=axis, dtype=dtype, keepdims=keepdims)
    return total if initial is None else total + initial


@composition(np.nanprod, domain=_SOME_GAPS)
def product_of_numbers(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Product of the elements that are numbers."""
    found = np.prod(np.where(_left_out(a, where), 1.0, a), axis=axis, dtype=dtype, keepdims=keepdims)
    return found if initial is None else found * initial


@composition(np.nanmean, domain=(*_GAPS, f"A(2,3), axis=1, where={_SOME}"))
def mean_of_numbers(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = None,
) -> Any:
    """Mean of the elements that are numbers."""
    gone = _left_out(a, where)
    total = np.sum(np.where(gone, 0.0, a), axis=axis, dtype=dtype, keepdims=keepdims)
    count = np.sum(~np.broadcast_to(gone, np.shape(a)), axis=axis, keepdims=keepdims)
    return (total / count).astype(total.dtype)


@composition(np.nanmax, domain=_SOME_GAPS)
def largest_number(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> Any:
    """The largest element that is a number."""
    gone = _left_out(a, where)
    best = np.max(np.where(gone, -np.inf, a), axis=axis, keepdims=keepdims)
    if initial is not None:
        return np.where(np.all(gone, axis=axis, keepdims=keepdims), initial, np.fmax(best, initial))[()]
    if where is not None:
        raise ValueError("reduction operation 'fmax' does not have an identity, so `where` needs `initial`")
    return np.where(np.all(gone, axis=axis, keepdims=keepdims), np.nan, best)[()]


@composition(np.nanmin, domain=_SOME_GAPS)
def smallest_number(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> Any:
    """The smallest element that is a number."""
    gone = _left_out(a, where)
    best = np.min(np.where(gone, np.inf, a), axis=axis, keepdims=keepdims)
    if initial is not None:
        return np.where(np.all(gone, axis=axis, keepdims=keepdims), initial, np.fmin(best, initial))[()]
    if where is not None:
        raise ValueError("reduction operation 'fmin' does not have an identity, so `where` needs `initial`")
    return np.where(np.all(gone, axis=axis, keepdims=keepdims), np.nan, best)[()]


@composition(np.nanvar, domain=(*_GAPS, f"A(2,3), axis=1, ddof=1, where={_SOME}", "A(2,3), 1, mean=A(2,1)"))
def variance_of_numbers(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Variance of the elements that are numbers, about `mean` if that is given."""
    less = ddof if correction is None else correction
    some = ~_left_out(a, where)
    return np.var(a, axis=axis, dtype=dtype, ddof=less, keepdims=keepdims, where=some, mean=mean)


@composition(np.nanstd, domain=(*_GAPS, f"A(2,3), axis=1, where={_SOME}", "A(2,3), 1, correction=1"))
def spread_of_numbers(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Standard deviation of the elements that are numbers, about `mean` if that is given."""
    less = ddof if correction is None else correction
    some = ~_left_out(a, where)
    return np.std(a, axis=axis, dtype=dtype, ddof=less, keepdims=keepdims, where=some, mean=mean)


@composition(
    np.nan_to_num,
    domain=(
        "np.array([1.0, np.nan, -np.inf, np.inf]), posinf=2.0, neginf=-3.0",
        "A(3)",
        "np.array([np.nan, np.inf]), nan=x, posinf=9.0",
        "x",
    ),
)
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in the place of nan and of infinities; what was one of those has no derivative."""
    most = largest_like(x)
    found = np.where(np.isnan(x), nan, x)
    found = np.where(np.isposinf(x), most if posinf is None else posinf, found)
    found = np.where(np.isneginf(x), -most if neginf is None else neginf, found)
    return found[()]


@composition(
    np.choose,
    *methods("choose"),
    domain=(
        "np.array([1, 0, 1]), [A(3), A(3)]",
        "np.array([[1], [0]]), (A(3), x)",
        "np.array([3, -1]), [A(2), y], mode='wrap'",
    ),
    containers=True,
)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """Elements of the choice whose number stands there."""
    if out is not None:
        raise NotDifferentiable("an array for the result, by position", hint="name it: `out=a`")
    places = chosen_places(a, choices, mode)
    found = np.where(places == 0, choices[0], 0.0)
    for k in range(1, len(choices)):
        found = np.where(places == k, choices[k], found)
    return found if np.ndim(a) > 0 else found[()]


@composition(np.real_if_close, domain=("A(3)", "x"))
def real_if_close(a: Any, tol: Any = 100) -> Any:
    """Real numbers as they are; whether complex ones become real is a matter of their values."""
    if np.iscomplexobj(a):
        raise NotDifferentiable("whether np.real_if_close gives real numbers depends on the values", hint="use np.real")
    return np.asarray(a)


@composition(np.asarray_chkfinite, domain=("A(3)",))
def asarray_chkfinite(a: Any, dtype: Any = None) -> Any:
    """An array, if all of it is finite."""
    found = np.asarray(a, dtype)
    if not np.all(np.isfinite(found)):
        raise ValueError("array must not contain infs or NaNs")
    return found
