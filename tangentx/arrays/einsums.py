"""Adjoints of ``np.einsum`` with one or two operands."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, zeros_of
from tangentx.arrays.products import careful
from tangentx.arrays.shapes import resized
from tangentx.errors import NotDifferentiable


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
    result = zeros_of(product, shape)
    view = np.einsum(f"{inputs[which]}->{mine}", result)
    view[...] = resized(product, view.shape)
    return result
