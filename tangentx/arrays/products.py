"""Adjoints of products: of matrices in all ranks, and of ``np.einsum``."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, is_array, is_elsewhere, zeros_of
from tangentx.arrays.shapes import resized
from tangentx.common.float_events import under_events
from tangentx.errors import NotDifferentiable

# Adjoints of matrix products, in all ranks.
#
# Of each product ``z = f(x, y)`` with cotangent `t`, `f_left` gives the cotangent of `x` and `f_right` that of `y`.


def careful(product: Callable[..., Any], x: Any, y: Any, *more: Any) -> Any:
    """``product(x, y, *more)``, where an exact 0 in one factor gives 0 whatever it meets in the other, an infinity or
    a nan: nothing was selected there.

    `product` is linear in both factors, and adds products of their elements.
    """
    found = under_events(lambda: product(x, y, *more), invalid="ignore")
    if not is_elsewhere(found) and not np.isnan(found).any():
        return found
    some, other = np.isfinite(x), np.isfinite(y)
    if not is_elsewhere(found) and np.all(some) and np.all(other):
        return found
    rest = product(np.where(some, x, np.zeros_like(x)), np.where(other, y, np.zeros_like(y)), *more)
    left, right = _ones(np.not_equal(x, 0)), _ones(np.not_equal(y, 0))
    met = product(left, _ones(~other), *more) + product(_ones(~some), right, *more)
    result = np.where(np.equal(met, 0), rest, found)
    return result if is_array(found) else result[()]


def _ones(mask: Any) -> Any:
    return as_array(mask).astype(float)


def careful_matmul(x: Any, y: Any) -> Any:
    """``x @ y``, where what is exactly 0 in one factor gives 0 whatever it meets in the other."""
    return careful(np.matmul, x, y)


def dot_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `x`, of `shape`, in ``np.dot(x, y)``."""
    return careful(_dot_left, t, y, shape)


def _dot_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    if not shape:
        return np.sum(t * y)
    if np.ndim(y) == 0:
        return t * y
    if np.ndim(y) == 1:
        return np.multiply(np.expand_dims(t, -1), y)
    rest = np.ndim(y) - 1
    kept = tuple(i for i in range(np.ndim(y)) if i != np.ndim(y) - 2)
    start = np.ndim(t) - rest
    return np.tensordot(t, y, (tuple(range(start, np.ndim(t))), kept))


def dot_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `y`, of `shape`, in ``np.dot(x, y)``."""
    return careful(_dot_right, t, x, shape)


def _dot_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    if not shape:
        return np.sum(t * x)
    if np.ndim(x) == 0:
        return t * x
    axes = tuple(range(np.ndim(x) - 1))
    result = np.tensordot(x, t, (axes, axes))
    return result if len(shape) == 1 else np.moveaxis(result, 0, len(shape) - 2)


def matmul_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `x`, of `shape`, in ``x @ y``; broadcast stacks are summed."""
    return careful(_matmul_left, t, y, shape)


def _matmul_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    if type(y) is type(t) is np.ndarray and y.ndim == t.ndim == len(shape) == 2:
        return t @ y.T
    if np.ndim(y) == 1:
        return np.multiply(np.expand_dims(t, -1), y) if len(shape) > 1 else np.multiply(t, y)
    if len(shape) == 1:
        rows = np.matmul(y, np.expand_dims(t, -1))[..., 0]
        return np.sum(rows, axis=tuple(range(rows.ndim - 1)))
    return _summed(np.matmul(t, np.swapaxes(y, -1, -2)), shape)


def matmul_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `y`, of `shape`, in ``x @ y``; broadcast stacks are summed."""
    return careful(_matmul_right, t, x, shape)


def _matmul_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    if type(x) is type(t) is np.ndarray and x.ndim == t.ndim == len(shape) == 2:
        return x.T @ t
    if np.ndim(x) == 1:
        if len(shape) == 1:
            return np.multiply(t, x)
        return np.multiply(np.expand_dims(x, -1), np.expand_dims(t, -2))
    if len(shape) == 1:
        return np.tensordot(x, t, (tuple(range(np.ndim(x) - 1)),) * 2)
    return _summed(np.matmul(np.swapaxes(x, -1, -2), t), shape)


def _summed(t: Any, shape: tuple[int, ...]) -> Any:
    """`t` summed over the leading axes that broadcasting gave it."""
    if t.shape == shape:
        return t
    extra = t.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and t.shape[i + extra] != 1)
    return np.reshape(np.sum(t, axis=axes), shape)


def inner_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `x`, of `shape`, in ``np.inner(x, y)``."""
    return careful(_inner_left, t, y, shape)


def _inner_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    if not shape:
        return np.sum(t * y)
    if np.ndim(y) == 0:
        return t * y
    rest = np.ndim(y) - 1
    start = np.ndim(t) - rest
    return np.tensordot(t, y, (tuple(range(start, np.ndim(t))), tuple(range(rest))))


def inner_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `y`, of `shape`, in ``np.inner(x, y)``."""
    return careful(_inner_right, t, x, shape)


def _inner_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    if not shape:
        return np.sum(t * x)
    if np.ndim(x) == 0:
        return t * x
    axes = tuple(range(np.ndim(x) - 1))
    return np.tensordot(t, x, (axes, axes))


def outer_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `x`, of `shape`, in ``np.outer(x, y)``."""
    return careful(_outer_left, t, y, shape)


def _outer_left(t: Any, y: Any, shape: tuple[int, ...]) -> Any:
    return np.reshape(np.dot(t, np.ravel(y)), shape)[()]


def outer_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Cotangent of `y`, of `shape`, in ``np.outer(x, y)``."""
    return careful(_outer_right, t, x, shape)


def _outer_right(t: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return np.reshape(np.dot(np.ravel(x), t), shape)[()]


def _contracted(axes: Any, left: int, right: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The contracted axes of both factors, from 0, of a tensordot of ranks `left` and `right`."""
    if np.ndim(axes) == 0 and not isinstance(axes, (list, tuple)):
        return tuple(range(left - axes, left)), tuple(range(axes))
    pair = [(part,) if np.ndim(part) == 0 else tuple(part) for part in axes]
    return tuple(i % left for i in pair[0]), tuple(i % right for i in pair[1])


def tensordot_left(t: Any, y: Any, shape: tuple[int, ...], axes: Any = 2) -> Any:
    """Cotangent of `x`, of `shape`, in ``np.tensordot(x, y, axes)``."""
    return careful(_tensordot_left, t, y, shape, axes)


def _tensordot_left(t: Any, y: Any, shape: tuple[int, ...], axes: Any) -> Any:
    ours, theirs = _contracted(axes, len(shape), np.ndim(y))
    free = tuple(i for i in range(np.ndim(y)) if i not in theirs)
    start = np.ndim(t) - len(free)
    result = np.tensordot(t, y, (tuple(range(start, np.ndim(t))), free))
    order = [i for i in range(len(shape)) if i not in ours]
    order += [ours[theirs.index(j)] for j in sorted(theirs)]
    return np.transpose(result, tuple(np.argsort(order).tolist()))


def tensordot_right(t: Any, x: Any, shape: tuple[int, ...], axes: Any = 2) -> Any:
    """Cotangent of `y`, of `shape`, in ``np.tensordot(x, y, axes)``."""
    return careful(_tensordot_right, t, x, shape, axes)


def _tensordot_right(t: Any, x: Any, shape: tuple[int, ...], axes: Any) -> Any:
    theirs, ours = _contracted(axes, np.ndim(x), len(shape))
    free = tuple(i for i in range(np.ndim(x)) if i not in theirs)
    result = np.tensordot(x, t, (free, tuple(range(len(free)))))
    order = [ours[theirs.index(j)] for j in sorted(theirs)]
    order += [i for i in range(len(shape)) if i not in ours]
    return np.transpose(result, tuple(np.argsort(order).tolist()))


def cross_of_space(a: Any, b: Any) -> Any:
    """`np.cross` of vectors of which one lies in space at least, so that the product is a vector."""
    if np.shape(a)[-1:] == np.shape(b)[-1:] == (2,):
        raise NotDifferentiable(
            "`np.cross` of two vectors in a plane is a number, but the derivative was compiled for a vector",
            hint="write `a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]`",
        )
    return np.cross(a, b)


def cross3(a: Any, b: Any) -> Any:
    """`np.cross` of vectors in space, where an exact 0 in one gives 0 whatever it meets in the other.

    Raises NotDifferentiable for vectors in a plane, whose product is a number.
    """
    if np.shape(a)[-1:] != (3,) or np.shape(b)[-1:] != (3,):
        hint = "write `a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]`"
        raise NotDifferentiable("`np.cross` of vectors with two components has no rule", hint=hint)
    found = under_events(lambda: np.cross(a, b), invalid="ignore")
    if is_elsewhere(found) or not np.isnan(found).any():
        return found
    after, before = [1, 2, 0], [2, 0, 1]
    ahead = careful(np.multiply, a[..., after], b[..., before])
    return ahead - careful(np.multiply, a[..., before], b[..., after])


# Adjoints of ``np.einsum`` with one or two operands.


def einsum_of(subscripts: str, x: Any, y: Any) -> Any:
    """``np.einsum(subscripts, x, y)``; `y` is None for a single operand."""
    return np.einsum(subscripts, x) if y is None else np.einsum(subscripts, x, y)


def einsum_left(t: Any, y: Any, shape: tuple[int, ...], subscripts: str) -> Any:
    """Cotangent of `x`, of `shape`, in ``np.einsum(subscripts, x, y)``; `y` is None for a single operand."""
    if y is None:
        return _factor(t, y, shape, subscripts, 0)
    return careful(_factor, t, y, shape, subscripts, 0)


def einsum_right(t: Any, x: Any, shape: tuple[int, ...], subscripts: str) -> Any:
    """Cotangent of `y`, of `shape`, in ``np.einsum(subscripts, x, y)``; 0 for a single operand."""
    if "," not in subscripts:
        return 0.0
    return careful(_factor, t, x, shape, subscripts, 1)


def by_letters(args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments of ``np.einsum`` with letters for the axes, where lists of numbers stand behind the operands."""
    if isinstance(args[0], str):
        return tuple(args)
    return lettered(args[1::2], args[-1] if len(args) % 2 else None), *args[: len(args) // 2 * 2 : 2]


def lettered(inputs: Sequence[Sequence[Any]], output: Sequence[Any] | None) -> str:
    """The subscripts of ``np.einsum`` for axes that are given by number, in the order that the numbers have."""
    numbers = [n for axes in (*inputs, output or ()) for n in axes if n is not Ellipsis]
    letters = string.ascii_lowercase if max(numbers, default=0) < 26 else string.ascii_letters.swapcase()

    def term(axes: Sequence[Any]) -> str:
        return "".join("..." if n is Ellipsis else letters[n] for n in axes)

    return ",".join(map(term, inputs)) + ("" if output is None else f"->{term(output)}")


def pairwise(subscripts: str, ranks: Sequence[int]) -> list[str]:
    """The subscripts of products of two operands each, from the left, that ``np.einsum(subscripts, ...)`` comes to.

    Axes that an ellipsis stands for get letters, for operands of these ranks. One operand alone is one step.
    """
    terms, output = _spelt_out(subscripts.replace(" ", ""), ranks)
    if len(terms) == 1:
        return [f"{terms[0]}->{output}"]
    steps, joined = [], terms[0]
    for k, term in enumerate(terms[1:], 1):
        later = "".join((*terms[k + 1 :], output))
        kept = "".join(c for c in dict.fromkeys(joined + term) if c in later) if k < len(terms) - 1 else output
        steps.append(f"{joined},{term}->{kept}")
        joined = kept
    return steps


def _spelt_out(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, those for an ellipsis in front of the result's if it has none."""
    inputs, arrow, output = subscripts.partition("->")
    terms = inputs.split(",")
    free = [c for c in string.ascii_letters if c not in subscripts]
    counts = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    rest = free[: max((n for n, term in zip(counts, terms, strict=True) if "..." in term), default=0)]
    if not arrow:
        once = sorted(c for c in set(inputs) - {",", "."} if inputs.count(c) == 1)
        output = ("..." if "..." in inputs else "") + "".join(once)
    spelt = [t.replace("...", "".join(rest[len(rest) - n :])) for t, n in zip(terms, counts, strict=True)]
    return spelt, output.replace("...", "".join(rest))


def _letters(subscripts: str) -> tuple[list[str], str]:
    """The letters of each operand and of the result; raises NotDifferentiable for an ellipsis."""
    if "." in subscripts:
        raise NotDifferentiable("np.einsum with an ellipsis has no derivative", hint="name every axis by a letter")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    return inputs.split(","), output


def _factor(t: Any, other: Any, shape: tuple[int, ...], subscripts: str, which: int) -> Any:
    inputs, output = _letters(subscripts)
    mine = "".join(dict.fromkeys(inputs[which]))
    factors, operands = (output, (t,)) if len(inputs) == 1 else (f"{output},{inputs[1 - which]}", (t, other))
    known = "".join(c for c in mine if c in factors)
    product = as_array(np.einsum(f"{factors}->{known}", *operands))
    product = product[tuple(slice(None) if c in factors else None for c in mine)]
    if not mine:  # of an operand without axes `np.einsum` gives no view
        return product
    result = zeros_of(product, shape)
    view = np.einsum(f"{inputs[which]}->{mine}", result)
    view[...] = resized(product, view.shape)
    return result
