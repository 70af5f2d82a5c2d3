"""Discrete Fourier transforms by SciPy's names, cosine and sine transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft as transforms

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant, linear
from tangentx.templates.scipy.precisions import in_precision_of

# Discrete Fourier transforms by SciPy's names: NumPy's.


@composition(transforms.fft, domain=("C(4)", "A(3,2), axis=0"))
def fft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.fft(x, n, axis, norm)


@composition(transforms.ifft, domain=("C(4)",))
def ifft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.ifft(x, n, axis, norm)


@composition(transforms.rfft, domain=("A(5)",))
def rfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.rfft(x, n, axis, norm)


@composition(transforms.irfft, domain=("C(3), 5",))
def irfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along one axis."""
    return np.fft.irfft(x, n, axis, norm)


@composition(transforms.hfft, domain=("C(3), 5",))
def hfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.hfft(x, n, axis, norm)


@composition(transforms.ihfft, domain=("A(5)",))
def ihfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along one axis."""
    return np.fft.ihfft(x, n, axis, norm)


@composition(transforms.fft2, domain=("C(2,3)",))
def fft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.fft2(x, s, axes, norm)


@composition(transforms.ifft2, domain=("C(2,3)",))
def ifft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.ifft2(x, s, axes, norm)


@composition(transforms.rfft2, domain=("A(2,3)",))
def rfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.rfft2(x, s, axes, norm)


@composition(transforms.irfft2, domain=("C(2,3), (2,4)",))
def irfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.irfft2(x, s, axes, norm)


@composition(transforms.fftn, domain=("C(2,3)",))
def fftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.fftn(x, s, axes, norm)


@composition(transforms.ifftn, domain=("C(2,3)",))
def ifftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.ifftn(x, s, axes, norm)


@composition(transforms.rfftn, domain=("A(2,3)",))
def rfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.rfftn(x, s, axes, norm)


@composition(transforms.irfftn, domain=("C(2,3), (2,4), (0,1)",))
def irfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.irfftn(x, s, axes, norm)


@composition(transforms.fftshift, domain=("C(4)", "A(3,4), 0", "A(3,4)"))
def fftshift(x: Any, axes: Any = None) -> Any:
    """Frequencies in order, the lowest first."""
    return np.fft.fftshift(x, axes)


@composition(transforms.ifftshift, domain=("C(5)", "A(3,4), (0,1)"))
def ifftshift(x: Any, axes: Any = None) -> Any:
    """Frequencies as transforms have them."""
    return np.fft.ifftshift(x, axes)


# Cosine and sine transforms, of types 2 and 3 by the orthonormal one, whose adjoint is its inverse.


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


def first_type(x: Any, odd: Any) -> Any:
    """The plain transform of type 1 along the last axis."""
    return transforms.dst(x, 1) if odd else transforms.dct(x, 1)


def fourth_type(x: Any, odd: Any) -> Any:
    """The plain transform of type 4 along the last axis."""
    return transforms.dst(x, 4) if odd else transforms.dct(x, 4)


def times_counted(size: Any, odd: Any) -> Any:
    """How often the transform of type 1 counts each element."""
    places = np.arange(size)
    return np.where((places > 0) & (places < size - 1) | (odd == 1), 2.0, 1.0)


constant(times_counted)


@linear(first_type, domain=("A(4), True", "A(2,3), False", "A(2), False"))
def first_type_(x: Any, odd: Any, *, ans_bar: Any, x_shape: Any) -> Any:
    """The same transform but for the ends, which the cosines count once."""
    counts = times_counted(x_shape[-1], odd)
    x_bar = counts * first_type(ans_bar / counts, odd)
    return x_bar


@linear(fourth_type, domain=("A(4), True", "A(2,3), False"))
def fourth_type_(x: Any, odd: Any, *, ans_bar: Any) -> Any:
    """The same transform."""
    x_bar = fourth_type(ans_bar, odd)
    return x_bar


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
    """A transform forth or back: of type 3 is that of type 2 back, but for its length."""
    if orthogonalize is not None:
        raise NotDifferentiable(
            "cosine and sine transforms of scipy.fft have a derivative without `orthogonalize`",
            hint="scale what stands at the ends yourself",
        )
    rows = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    if n is not None:
        rows = _of_length(rows, n)
    if type == 1 or type == 4:
        found = _of_its_own_inverse(rows, back, odd, type, norm)
    else:
        found = _of_the_others_inverse(rows, back, odd, type, norm)
    return in_precision_of(rows, np.moveaxis(found, -1, axis))


def _of_length(rows: Any, n: Any) -> Any:
    """Rows cut to a length, or with zeros behind."""
    size = np.shape(rows)[-1]
    if n <= size:
        return rows[..., :n]
    return np.concatenate([rows, np.zeros((*np.shape(rows)[:-1], n - size), rows.dtype)], axis=-1)


def _of_its_own_inverse(rows: Any, back: Any, odd: Any, type: Any, norm: Any) -> Any:
    """A transform of type 1 or 4, whose inverse is itself, but for its length."""
    size = np.shape(rows)[-1]
    if type == 1 and norm == "ortho" and not odd:  # the first and the last element count more
        places = np.arange(size)
        weights = np.where((places == 0) | (places == size - 1), np.sqrt(2.0), 1.0)
        found = first_type(rows * weights, 0) / (weights * np.sqrt(2.0 * (size - 1)))
        return in_precision_of(rows, found)
    length = 2.0 * size if type == 4 else 2.0 * (size + 1) if odd else 2.0 * (size - 1)
    found = first_type(rows, 1 * odd) if type == 1 else fourth_type(rows, 1 * odd)
    if norm == "ortho":
        return found / np.sqrt(length)
    shortened = norm != "forward" if back else norm == "forward"
    return found / length if shortened else found


def _of_the_others_inverse(rows: Any, back: Any, odd: Any, type: Any, norm: Any) -> Any:
    """A transform of type 2 or 3, by the orthonormal one."""
    size = np.shape(rows)[-1]
    forth = (type == 2) is not back
    if norm == "ortho":
        return sines(rows, not forth) if odd else cosines(rows, not forth)
    lengths = _lengths(size, odd)
    if forth:
        found = (sines(rows, False) if odd else cosines(rows, False)) * lengths
        plain = type == 2
    else:
        found = sines(rows / lengths, True) if odd else cosines(rows / lengths, True)
        found = found * (2.0 * size)
        plain = type == 3
    shortened = norm == "forward" if plain else norm != "forward"
    return found / (2.0 * size) if shortened else found


_CALLS = (
    "A(5)",
    "A(4,3), 3, axis=0",
    "A(4), norm='ortho'",
    "A(4), norm='forward'",
    "A(5), 1",
    "A(4,2), 4, axis=0",
    "A(4), 4, norm='ortho'",
    "A(3), 1, 5, norm='forward'",
    "A(2,5), 2, 3",
)


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


def _along_axes(transform: Any, x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
    """A transform along one axis after the other."""
    rank = np.ndim(x)
    lengths = (s,) if isinstance(s, int) else s
    if axes is None:
        along = tuple(range(rank - (rank if lengths is None else len(lengths)), rank))
    else:
        along = (axes,) if isinstance(axes, int) else tuple(axes)
    for k in range(len(along)):
        n = None if lengths is None else lengths[k]
        x = transform(x, type, n, along[k], norm, orthogonalize=orthogonalize)
    return x


_TABLES = ("A(3,4)", "A(2,3,4), axes=(0, 2)", "A(3,4), 3, (2, 5), norm='ortho'", "A(3,2), 2, None, [0]", "A(4), 4")


@composition(transforms.dctn, domain=_TABLES)
def dctn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    orthogonalize: Any = None,
) -> Any:
    """Cosine transform of a table."""
    return _along_axes(transforms.dct, x, type, s, axes, norm, orthogonalize)


@composition(transforms.idctn, domain=_TABLES)
def idctn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    orthogonalize: Any = None,
) -> Any:
    """Inverse of the cosine transform of a table."""
    return _along_axes(transforms.idct, x, type, s, axes, norm, orthogonalize)


@composition(transforms.dstn, domain=_TABLES)
def dstn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    orthogonalize: Any = None,
) -> Any:
    """Sine transform of a table."""
    return _along_axes(transforms.dst, x, type, s, axes, norm, orthogonalize)


@composition(transforms.idstn, domain=_TABLES)
def idstn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    orthogonalize: Any = None,
) -> Any:
    """Inverse of the sine transform of a table."""
    return _along_axes(transforms.idst, x, type, s, axes, norm, orthogonalize)
