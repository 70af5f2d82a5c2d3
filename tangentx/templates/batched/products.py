"""Products of arrays and matrices, and systems of equations."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import Batch, NoRule, aligned, do, later, of_any, plainly, rank_of


@of_any(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Batch:
    demand_one_batch(a, b)
    if not isinstance(axes, tuple | list):
        axes = (tuple(range(rank_of(a) - axes, rank_of(a))), tuple(range(axes)))
    left, right = ((i,) if np.ndim(i) == 0 else tuple(i) for i in axes)
    left, right = tuple(i % rank_of(a) for i in left), tuple(i % rank_of(b) for i in right)
    if type(a) is Batch:
        return Batch(np.tensordot(a.whole, b, (later(left), right)))
    return Batch(np.moveaxis(np.tensordot(a, b.whole, (left, later(right))), rank_of(a) - len(left), 0))


def demand_one_batch(a: Any, b: Any) -> None:
    """Raises NoRule for a product whose factors are both batches."""
    if type(a) is Batch and type(b) is Batch:
        raise NoRule("a product of two batches")


@of_any(np.dot)
def _dot(a: Any, b: Any) -> Any:
    if 0 in (rank_of(a), rank_of(b)):
        return do(operator.mul, (a, b), {})
    return _tensordot(a, b, ((-1,), (-1 if rank_of(b) == 1 else -2,)))


@of_any(np.inner)
def _inner(a: Any, b: Any) -> Any:
    if 0 in (rank_of(a), rank_of(b)):
        return do(operator.mul, (a, b), {})
    return _tensordot(a, b, ((-1,), (-1,)))


@of_any(np.outer)
def _outer(a: Any, b: Any) -> Batch:
    demand_one_batch(a, b)
    left = np.reshape(a.whole, (a.count, -1, 1)) if type(a) is Batch else np.reshape(a, (-1, 1))
    right = np.reshape(b.whole, (b.count, 1, -1)) if type(b) is Batch else np.reshape(b, (1, -1))
    return Batch(left * right)


@of_any(np.multiply.outer)
def _every_product(a: Any, b: Any) -> Batch:
    return _tensordot(a, b, 0)


@of_any(np.matmul, operator.matmul)
def _matmul(a: Any, b: Any) -> Any:
    demand_one_batch(a, b)
    if max(rank_of(a), rank_of(b)) <= 2 or (rank_of(b) <= 2 and type(a) is Batch):
        return _dot(a, b)
    if type(a) is Batch:
        whole = aligned(a, 1 + rank_of(b) - min(rank_of(b), 2) + min(rank_of(a), 2) - 1)
        if rank_of(a) == 1:
            return Batch(np.squeeze(np.matmul(np.expand_dims(whole, -2), b), -2))
        return Batch(np.matmul(whole, b))
    if rank_of(b) == 1:
        return Batch(np.squeeze(np.matmul(a, np.expand_dims(aligned(b, rank_of(a) - 1), -1)), -1))
    return Batch(np.matmul(a, aligned(b, rank_of(a))))


@of_any(arrays.careful_matmul)
def _careful_matmul(a: Any, b: Any) -> Any:
    return _careful(_matmul, a, b)


@of_any(arrays.careful)
def _careful(product: Any, *args: Any) -> Batch:
    """A product without a nan; else the members are taken one by one."""
    found: Batch = product(*args)
    if np.isnan(found.whole).any():
        raise NoRule("careful")
    return found


@of_any(np.cross, arrays.cross3, arrays.cross_of_space)
def _cross(a: Any, b: Any) -> Batch:
    rank = max(rank_of(a), rank_of(b))
    return Batch(np.cross(*(aligned(x, rank) if type(x) is Batch else x for x in (a, b))))


@of_any(np.einsum)
def _einsum(subscripts: Any, *operands: Any) -> Batch:
    if not isinstance(subscripts, str) or "." in subscripts or "->" not in subscripts:
        raise NoRule("subscripts")
    inputs, output = subscripts.replace(" ", "").split("->")
    new = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in subscripts)
    terms = [new + term if type(o) is Batch else term for term, o in zip(inputs.split(","), operands, strict=True)]
    given = [o.whole if type(o) is Batch else o for o in operands]
    return Batch(np.einsum(f"{','.join(terms)}->{new}{output}", *given))


@of_any(arrays.einsum_of)
def _einsum_of(subscripts: Any, x: Any, y: Any) -> Batch:
    return _einsum(subscripts, *((x,) if y is None else (x, y)))


@of_any(arrays.einsum_left)
def _einsum_left(t: Any, y: Any, shape: Any, subscripts: Any) -> Any:
    return _factor(arrays.einsum_left, t, y, shape, subscripts, 0)


@of_any(arrays.einsum_right)
def _einsum_right(t: Any, x: Any, shape: Any, subscripts: Any) -> Any:
    return _factor(arrays.einsum_right, t, x, shape, subscripts, 1) if "," in subscripts else 0.0


def _factor(fn: Any, t: Any, other: Any, shape: Any, subscripts: Any, which: int) -> Batch:
    """The batch has a letter of its own, in the factor that is sought and in what holds the batch."""
    if not isinstance(subscripts, str) or "." in subscripts:
        raise NoRule("subscripts")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    new = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in subscripts)
    terms = inputs.split(",")
    demand_one_batch(t, other)
    if type(t) is Batch:
        terms[which], output = new + terms[which], new + output
        return Batch(plainly(fn, t.whole, other, (t.count, *shape), f"{','.join(terms)}->{output}"))
    terms = [new + term for term in terms]
    return Batch(plainly(fn, t, other.whole, (other.count, *shape), f"{','.join(terms)}->{output}"))


@of_any(np.linalg.solve)
def _solve(a: Any, b: Any) -> Batch:
    if type(a) is Batch or type(b) is not Batch:
        raise NoRule("solve")
    if np.ndim(a) == 2:  # one factorisation for all columns of all members
        columns = np.moveaxis(b.whole, 1, 0)
        found = np.linalg.solve(a, np.reshape(columns, (len(columns), -1)))
        return Batch(np.moveaxis(np.reshape(found, np.shape(columns)), 0, 1))
    if b.ndim != np.ndim(a):
        raise NoRule("solve")
    return Batch(np.linalg.solve(np.broadcast_to(a, (b.count, *np.shape(a))), b.whole))
