"""Cosine and sine transforms of types 2 and 3, by the orthonormal one, whose adjoint is its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft as transforms

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import linear
from tangentx.templates.scipy.precisions import in_precision_of


def cosines(x: Any, back: Any) -> Any:
    """The orthonormal cosine transform of type 2 along the last axis, or its inverse."""
    return transforms.idct(x, norm="ortho") if back else transforms.dct(x, norm="ortho")


def sines(x: Any, back: Any) -> Any:
    """The orthonormal sine transform of type 2 along the last axis, or its inverse."""
    return transforms.idst(x, norm="ortho") if back else transforms.dst(x, norm="ortho")


@linear(cosines, domain=("A(4), False", "A(2,3), True"))
def cosines_(x: Any, back: Any, *, ans_bar: Any) -> Any:
    """The transform the other way."""
    x_bar = cosines(ans_bar, 1 - back)
    return x_bar


@linear(sines, domain=("A(4), False", "A(2,3), True"))
def sines_(x: Any, back: Any, *, ans_bar: Any) -> Any:
    """The transform the other way."""
    x_bar = sines(ans_bar, 1 - back)
    return x_bar


def _lengths(size: Any, last: Any) -> Any:
    """By what the plain transform of type 2 is longer than the orthonormal one, for each frequency."""
    special = size - 1 if last else 0
    return np.where(np.arange(size) == special, 2.0 * np.sqrt(1.0 * size), np.sqrt(2.0 * size))


def _transformed(
    x: Any,
    back: Any,
    odd: Any,
    type: Any = 2,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """A transform of type 2 or 3, forth or back: of type 3 is that of type 2 back, but for its length."""
    if type not in (2, 3) or n is not None or orthogonalize is not None:
        raise NotDifferentiable(
            "cosine and sine transforms of scipy.fft have a derivative for types 2 and 3, without `n`",
            hint="pad or cut the array before",
        )
    rows = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    size = np.shape(rows)[-1]
    forth = (type == 2) is not back
    if norm == "ortho":
        found = sines(rows, not forth) if odd else cosines(rows, not forth)
        return np.moveaxis(found, -1, axis)
    lengths = _lengths(size, odd)
    if forth:
        found = (sines(rows, False) if odd else cosines(rows, False)) * lengths
        plain = type == 2
    else:
        found = sines(rows / lengths, True) if odd else cosines(rows / lengths, True)
        found = found * (2.0 * size)
        plain = type == 3
    shortened = norm == "forward" if plain else norm != "forward"
    return in_precision_of(rows, np.moveaxis(found / (2.0 * size) if shortened else found, -1, axis))


_CALLS = ("A(5)", "A(4,3), 3, axis=0", "A(4), norm='ortho'", "A(4), norm='forward'")


@composition(transforms.dct, domain=_CALLS)
def dct(x: Any, *given: Any, **options: Any) -> Any:
    """Cosine transform."""
    return _transformed(x, False, False, *given, **options)


@composition(transforms.idct, domain=_CALLS)
def idct(x: Any, *given: Any, **options: Any) -> Any:
    """Inverse of the cosine transform."""
    return _transformed(x, True, False, *given, **options)


@composition(transforms.dst, domain=_CALLS)
def dst(x: Any, *given: Any, **options: Any) -> Any:
    """Sine transform."""
    return _transformed(x, False, True, *given, **options)


@composition(transforms.idst, domain=_CALLS)
def idst(x: Any, *given: Any, **options: Any) -> Any:
    """Inverse of the sine transform."""
    return _transformed(x, True, True, *given, **options)
