"""Elements picked out of arrays, or put into them, by index, mask or turn."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tangentx.arrays import (
    along,
    cycled,
    flat_key,
    mask_like,
    placed,
    positions,
    scatter,
    section_bounds,
    selected,
    share,
    undiag,
    undiagonal,
    unrepeat,
    unselected,
    untake,
    unwindow,
    window,
    winners,
)
from tangentx.templates.registry import constant, elementwise, linear, methods

# Elements picked out of arrays, or put into them.


@linear(
    np.where,
    broadcasts=True,
    stepwise=("condition",),
    domain=(
        "A(2,3) > 0.0, A(2,3), A(3)",
        "A(3) > 0.0, x, A(3)",
        "True, x, y",
        "A(2,1) > 0.0, A(1,3), 0.0",
        "A(0) > 0.0, x, y",
    ),
)
def where(condition: Any, x: Any, y: Any, *, ans_bar: Any) -> Any:
    """Elements of `x` or of `y`; an element that is not chosen gets exactly 0."""
    x_bar = np.where(condition, ans_bar, 0.0)
    y_bar = np.where(condition, 0.0, ans_bar)
    return x_bar, y_bar


@elementwise(np.clip, analytic=False)
def clip(a: Any, a_min: Any = None, a_max: Any = None, *, ans: Any) -> Any:
    """Limits from below and, then, from above; at a limit both share."""
    raised = np.clip(a, a_min, None)
    below = share(raised, a_max, ans)
    return share(a, a_min, raised) * below, share(a_min, a, raised) * below, share(a_max, raised, ans)


@elementwise(*methods("clip"), analytic=False)
def clip_method(a: Any, min: Any = None, max: Any = None, *, ans: Any) -> Any:
    """Limits from below and, then, from above; at a limit both share."""
    raised = np.clip(a, min, None)
    below = share(raised, max, ans)
    return share(a, min, raised) * below, share(min, a, raised) * below, share(max, raised, ans)


@linear(
    operator.getitem,
    domain=(
        "A(4), 1",
        "A(4), slice(None, None, -2)",
        "A(2,3), (slice(None), [0, 0, 2])",
        "A(3), np.array([True, False, True])",
        "A(3), np.array([0, 0, -1])",
        "A(2,3), (..., None, 1)",
    ),
)
def getitem(a: Any, b: Any, *, ans_bar: Any) -> Any:
    """An element or a part of an array; repeated indices add up."""
    a_bar = scatter(ans_bar, a, b)
    return a_bar


@linear(scatter, domain=("A(2), A(4), slice(0, 2)", "A(3), A(4), np.array([0, 0, 1])", "x, A(4), 2"), broadcasts=True)
def scatter_(t: Any, like: Any, key: Any, *, ans_bar: Any) -> Any:
    """Zeros with `t` added in places."""
    t_bar = ans_bar[key]
    return t_bar


@linear(placed, domain=("A(2), A(4), slice(0, 2)", "A(3), A(4), np.array([0, 0, 1])"))
def placed_(t: Any, like: Any, key: Any, *, ans_bar: Any) -> Any:
    """Zeros with `t` written in places."""
    t_bar = winners(ans_bar, key)
    return t_bar


@linear(winners, domain=("A(4), np.array([0, 0, 1])", "A(4), slice(0, 2)", "A(4), 1"))
def winners_(a: Any, key: Any, *, ans_bar: Any) -> Any:
    """Elements at the last occurrence of each index."""
    a_bar = placed(ans_bar, a, key)
    return a_bar


@linear(window, domain=("A(6), (2, 2), (3, -1), 1", "A(4), (2,), (2,), 1"))
def window_(a: Any, shape: Any, steps: Any, start: Any, *, ans_bar: Any, a_shape: Any) -> Any:
    """A view of a row of elements, by its steps along each axis."""
    a_bar = unwindow(ans_bar, a_shape, steps, start)
    return a_bar


@linear(unwindow, domain=("A(2, 2), (6,), (3, -1), 1", "A(2), (4,), (2,), 1"))
def unwindow_(t: Any, shape: Any, steps: Any, start: Any, *, ans_bar: Any, t_shape: Any) -> Any:
    """A row of zeros but for a window."""
    t_bar = window(ans_bar, t_shape, steps, start)
    return t_bar


@linear(
    np.take,
    *methods("take"),
    domain=(
        "A(4), 1",
        "A(4), [0, 0, -1]",
        "A(2,3), np.array([[0, 5], [5, 1]])",
        "A(2,3), [2, 2], 1",
        "A(2,3), [1], axis=0",
        "A(3), [4, -5], None, None, 'wrap'",
        "A(3), [4, -5], mode='clip'",
        "A(), 0",
    ),
)
def take(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", *, ans_bar: Any, a_shape: Any
) -> Any:
    """Elements by their indices along an axis."""
    a_bar = untake(ans_bar, a_shape, indices, axis, mode)
    return a_bar


@linear(untake, domain=("A(2), (4,), [1, 1]", "A(2,2), (2,3), [2, 0], 1", "x, (2,3), 4"))
def untake_(t: Any, shape: Any, indices: Any, axis: Any = None, mode: Any = "raise", *, ans_bar: Any) -> Any:
    """Adjoint of taking."""
    t_bar = np.take(ans_bar, indices, axis=axis, mode=mode)
    return t_bar


@linear(np.repeat, *methods("repeat"), domain=("A(3), 2", "A(2,3), 2", "A(2,3), [1, 3], 0", "A(2,3), 2, axis=-1"))
def repeat(a: Any, repeats: Any, axis: Any = None, *, ans_bar: Any, a_shape: Any) -> Any:
    """Each element repeated."""
    a_bar = unrepeat(ans_bar, a_shape, repeats, axis)
    return a_bar


@linear(unrepeat, domain=("A(6), (3,), 2", "A(4,3), (2,3), [1, 3], 0"))
def unrepeat_(t: Any, shape: Any, repeats: Any, axis: Any = None, *, ans_bar: Any) -> Any:
    """Adjoint of repeating."""
    t_bar = np.repeat(ans_bar, repeats, axis=axis)
    return t_bar


@linear(np.diag, domain=("A(3)", "A(3,3)", "A(3), 1", "A(2,3), -1", "A(2,4), k=2"))
def diag(v: Any, k: Any = 0, *, ans_bar: Any, v_shape: Any) -> Any:
    """A matrix with a given diagonal, or the diagonal of a matrix."""
    v_bar = undiag(ans_bar, v_shape, k)
    return v_bar


@linear(undiag, domain=("A(3,3), (3,)", "A(3), (3,3)", "A(4,4), (3,), 1", "A(1), (2,3), -1"))
def undiag_(t: Any, shape: Any, k: Any = 0, *, ans_bar: Any) -> Any:
    """Adjoint of `diag`."""
    t_bar = np.diag(ans_bar, k)
    return t_bar


@linear(
    np.diagonal,
    *methods("diagonal"),
    domain=("A(3,3)", "A(2,3), 1", "A(2,3,4), -1, 2, 0", "A(2,3,3), axis1=-2, axis2=-1"),
)
def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, *, ans_bar: Any, a_shape: Any) -> Any:
    """Diagonals along two axes."""
    a_bar = undiagonal(ans_bar, a_shape, offset, axis1, axis2)
    return a_bar


@linear(undiagonal, domain=("A(3), (3,3)", "A(2), (2,3), 1", "x, (3,3)"), broadcasts=True)
def undiagonal_(t: Any, shape: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, *, ans_bar: Any) -> Any:
    """Adjoint of taking diagonals."""
    t_bar = np.diagonal(ans_bar, offset, axis1, axis2)
    return t_bar


@linear(np.trace, *methods("trace"), domain=("A(3,3)", "A(2,3), 1", "A(2,3,3), -1, 1, 2"))
def trace(
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
    dtype: Any = None,
    out: Any = None,
    *,
    ans_bar: Any,
    a_shape: Any,
) -> Any:
    """Sums of diagonals."""
    a_bar = undiagonal(np.expand_dims(ans_bar, -1), a_shape, offset, axis1, axis2)
    return a_bar


@linear(np.tril, domain=("A(3,3)", "A(2,3), 1", "A(2,3,3), -1", "A(3)"), broadcasts=True)
def tril(m: Any, k: Any = 0, *, ans_bar: Any) -> Any:
    """The lower triangle."""
    m_bar = np.tril(ans_bar, k)
    return m_bar


@linear(np.triu, domain=("A(3,3)", "A(2,3), 1", "A(2,3,3), -1", "A(3)"), broadcasts=True)
def triu(m: Any, k: Any = 0, *, ans_bar: Any) -> Any:
    """The upper triangle."""
    m_bar = np.triu(ans_bar, k)
    return m_bar


# Rules of elements that a mask selects, and of values taken round and round.

constant(along, flat_key, mask_like, positions, section_bounds)


@linear(
    selected,
    domain=("A(3), np.array([True, False, True])", "A(3), np.array([[True, False, True], [True] * 3])"),
    broadcasts=True,
)
def selected_(a: Any, mask: Any, *, ans_bar: Any) -> Any:
    """The elements where the mask holds."""
    a_bar = unselected(ans_bar, mask)
    return a_bar


@linear(unselected, domain=("A(2), np.array([True, False, True])",))
def unselected_(t: Any, mask: Any, *, ans_bar: Any) -> Any:
    """Zeros where the mask does not hold."""
    t_bar = ans_bar[mask]
    return t_bar


@linear(cycled, domain=("A(3), 3", "A(3), 2", "A(2,2), 7"))
def cycled_(values: Any, count: Any, *, ans_bar: Any, values_shape: Any) -> Any:
    """Values taken from the first again after the last."""
    values_bar = untake(ans_bar, values_shape, np.arange(np.size(ans_bar)), None, "wrap")
    return values_bar
