"""Arrays put together, and copies of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import filled, join_like, nested, split_like, unblock, unnested
from tangentx.templates.registry import linear, methods


@linear(
    np.concatenate,
    domain=(
        "[A(2,3), A(1,3)]",
        "(A(2,1), A(2,3)), 1",
        "[A(2), A(0)], axis=-1",
        "[A(2,2), A(3)], None",
        "A(2,3)",
        "[[x, 1.0], A(3), (y,)]",
    ),
)
def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, ans_bar: Any) -> Any:
    """Arrays joined along an axis."""
    arrays_bar = split_like(ans_bar, arrays, axis)
    return arrays_bar


@linear(np.stack, domain=("[A(3), A(3)]", "(A(2,3), A(2,3)), 1", "[A(3), A(3)], axis=-1", "[x, y]", "A(2,3)"))
def stack(arrays: Any, axis: Any = 0, out: Any = None, *, ans_bar: Any) -> Any:
    """Arrays joined along a new axis."""
    arrays_bar = split_like(ans_bar, arrays, axis)
    return arrays_bar


_OLDER_NAMES = tuple(getattr(np, name) for name in ("row_stack",) if hasattr(np, name))
"""Names that NumPy has given up since 2.0, or may."""


@linear(np.vstack, *_OLDER_NAMES, domain=("[A(3), A(2,3)]", "(A(3), A(3))", "[x, y]"))
def vstack(tup: Any, *, ans_bar: Any) -> Any:
    """Rows put below each other."""
    tup_bar = split_like(ans_bar, tup, 0)
    return tup_bar


@linear(np.hstack, np.column_stack, domain=("[A(3), A(3)]", "[A(2,3), A(2,1)]"))
def hstack(tup: Any, *, ans_bar: Any) -> Any:
    """Columns put beside each other."""
    tup_bar = split_like(ans_bar, tup, 1)
    return tup_bar


@linear(np.dstack, domain=("[A(3), A(3)]", "[A(2,3), A(2,3)]", "[A(2,3,1), A(2,3,2)]"))
def dstack(tup: Any, *, ans_bar: Any) -> Any:
    """Layers put behind each other."""
    tup_bar = split_like(ans_bar, tup, 2)
    return tup_bar


@linear(
    np.block,
    domain=(
        "[A(2), A(3)]",
        "[[A(2,2), A(2,1)], [A(1,2), A(1,1)]]",
        "[[A(2), x], [y, A(2)]]",
        "[A(3), x, A(0)]",
        "[[[A(2,2)]], [[A(2,2)]]]",
        "[[A(2,1), A(1,2,2)]]",
        "A(2,3)",
        "[[1.0, x], [A(1), 2.0]]",
    ),
)
def block(arrays: Any, *, ans_bar: Any) -> Any:
    """Blocks put together along the last axes, one for each level of lists."""
    arrays_bar = unblock(ans_bar, arrays)
    return arrays_bar


@linear(unblock, domain=("A(5), [A(2), A(3)]", "A(3,3), [[A(2,2), A(2,1)], [A(1,2), A(1,1)]]", "A(2,3), A(2,3)"))
def unblock_(t: Any, arrays: Any, *, ans_bar: Any) -> Any:
    """Parts of an array, in lists of lists."""
    t_bar = np.block(filled(ans_bar, arrays))
    return t_bar


@linear(np.split, np.array_split, domain=("A(6), 3", "A(2,5), [1, 3], 1", "A(4), [2, 2], axis=-1"))
def split(ary: Any, indices_or_sections: Any, axis: Any = 0, *, ans_bar: Any) -> Any:
    """A list of stretches of an array."""
    ary_bar = np.concatenate(ans_bar, axis)
    return ary_bar


@linear(split_like, domain=("A(5), [A(2), A(3)]", "A(2,3), [A(3), A(3)], 0", "A(4,2), [A(4), A(4)], -1"))
def split_like_(t: Any, arrays: Any, axis: Any = 0, *, ans_bar: Any, t_shape: Any) -> Any:
    """Stretches of an array, one for each of `arrays`."""
    t_bar = join_like(ans_bar, arrays, t_shape, axis)
    return t_bar


@linear(join_like, domain=("[A(2), A(3)], [A(2), A(3)], (5,)", "[A(4), A(4)], [A(4), A(4)], (4,2), -1"))
def join_like_(pieces: Any, arrays: Any, shape: Any, axis: Any = 0, *, ans_bar: Any) -> Any:
    """Inverse of splitting."""
    pieces_bar = split_like(ans_bar, arrays, axis)
    return pieces_bar


@linear(
    np.array,
    np.asarray,
    np.asanyarray,
    np.ascontiguousarray,
    np.asfortranarray,
    domain=("A(2,3)", "[x, y]", "[[x, 1.0], [y, x]]", "[A(2), A(2)]", "A(1)", "A(2), float"),
)
def array(object: Any, dtype: Any = None, copy: Any = None, order: Any = None, *, ans_bar: Any) -> Any:
    """An array made of numbers, of lists, or of an array."""
    object_bar = nested(ans_bar, object)
    return object_bar


@linear(np.copy, *methods("copy"), domain=("A(2,3)", "A(2,3), 'F'", "A()"))
def copy(a: Any, order: Any = "K", *, ans_bar: Any) -> Any:
    """A copy."""
    a_bar = ans_bar
    return a_bar


if hasattr(np, "astype"):  # since NumPy 2.1

    @linear(np.astype, domain=("A(2,3), np.float64", "A(2), complex"))
    def astype_function(x: Any, dtype: Any, copy: Any = True, *, ans_bar: Any) -> Any:
        """Another dtype."""
        x_bar = ans_bar
        return x_bar


@linear(*methods("astype"), domain=("A(2,3), float", "A(2), complex", "C(3), complex"))
def astype(
    a: Any, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: Any = True, copy: Any = True, *, ans_bar: Any
) -> Any:
    """Another dtype."""
    a_bar = ans_bar
    return a_bar


@linear(*methods("tolist"), domain=("A(2,3)", "A(2)", "A()"))
def tolist(a: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Lists of lists of numbers."""
    a_bar = unnested(ans_bar, ans)
    return a_bar


@linear(nested, domain=("A(2), [x, y]", "A(2,2), [[x, y], (x, y)]", "A(2,3), A(2,3)"))
def nested_(t: Any, like: Any, *, ans_bar: Any) -> Any:
    """An array as lists of lists."""
    t_bar = unnested(ans_bar, like)
    return t_bar


@linear(unnested, domain=("[x, y], [x, y]", "A(2,3), A(2,3)"))
def unnested_(bars: Any, like: Any, *, ans_bar: Any) -> Any:
    """Lists of lists as an array."""
    bars_bar = nested(ans_bar, like)
    return bars_bar
