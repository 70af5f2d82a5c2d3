"""Methods by PyTorch's names, and ``dim=`` and ``keepdim=``, with PyTorch's meaning.

A name that ndarray has too means what it means there: PyTorch's meaning comes with PyTorch's keywords. So ``x.max(0)``
is the maximum, ``x.max(dim=0)`` a pair of it and the places; ``x.var(dim=0)`` divides by n - 1, as PyTorch does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from tangentx.arrays.libraries import NUMPY, is_elsewhere, library_of, to_host, to_library
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.devices import device_of, wanted
from tangentx.tensor.core.tensor import Tensor

KEYWORDS = frozenset(("dim", "keepdim", "dims", "dim0", "dim1", "unbiased", "correction", "start_dim", "end_dim"))
"""What PyTorch calls its settings, and NumPy does not."""


class Extreme(NamedTuple):
    """What PyTorch gives for extremes along one axis."""

    values: Any
    indices: Any


def spelled(name: str, t: Any, args: Any, kwargs: Any) -> Any:
    """A method that is called with PyTorch's keywords. Raises TypeError for those that it does not have."""
    try:
        method = _SPELLED[name]
    except KeyError:
        raise TypeError(f"`{name}` of a Tensor takes no {', '.join(sorted(KEYWORDS & kwargs.keys()))}") from None
    return method(t, *args, **kwargs)


def _reduction(name: str) -> Callable[..., Any]:
    fn: Any = getattr(np, name)

    def method(t: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        found = call(fn, (t,), {"axis": _axes(dim), "keepdims": bool(keepdim)})
        return found if dtype is None else found.astype(dtype)

    return method


def _axes(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list) else dim


def _extreme(name: str) -> Callable[..., Any]:
    fn: Any = getattr(np, name)
    places: Any = getattr(np, f"arg{name}")

    def method(t: Any, dim: Any = None, keepdim: bool = False) -> Any:
        dim = operator.index(dim)  # of several, or of all, PyTorch has none
        values = call(fn, (t,), {"axis": dim, "keepdims": bool(keepdim)})
        return Extreme(values, Tensor(places(t.current, axis=dim, keepdims=bool(keepdim))))

    return method


def _place(name: str) -> Callable[..., Any]:
    fn: Any = getattr(np, name)

    def method(t: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return fn(t.current, axis=dim, keepdims=bool(keepdim))

    return method


def _spread(name: str) -> Callable[..., Any]:
    fn: Any = getattr(np, name)

    def method(t: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None) -> Any:
        less = int(bool(unbiased)) if correction is None else correction
        return call(fn, (t,), {"axis": _axes(dim), "ddof": less, "keepdims": bool(keepdim)})

    return method


def _along(name: str) -> Callable[..., Any]:
    fn: Any = getattr(np, name)
    return lambda t, dim: call(fn, (t,), {"axis": _axes(dim)})


def _along_axis(t: Any, dim: int, part: Any) -> tuple[Any, ...]:
    """The key of a part along one axis."""
    dim = operator.index(dim)
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"there is no axis {dim} of an array of {t.ndim}")
    return (*[slice(None)] * (dim % t.ndim), part)


def transpose(t: Any, dim0: int, dim1: int) -> Any:
    """Two axes exchanged."""
    return call(np.swapaxes, (t, dim0, dim1), {})


def flatten(t: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from `start_dim` to `end_dim` as one."""
    shape = t.shape or (1,)
    first, last = start_dim % len(shape), end_dim % len(shape)
    if first > last:
        raise ValueError(f"start_dim {start_dim} comes after end_dim {end_dim}")
    joined = int(np.prod(shape[first : last + 1], dtype=int))
    return call(np.reshape, (t, (*shape[:first], joined, *shape[last + 1 :])), {})


def squeeze(t: Any, dim: Any) -> Any:
    """Without these axes, as far as they have length one."""
    dims = dim if isinstance(dim, tuple | list) else (dim,)
    gone = tuple(i for i in dims if t.shape[i] == 1)
    return call(np.squeeze, (t,), {"axis": gone}) if gone else t[...]


_DEVICES = ("cpu", "cuda", "gpu", "mps", "meta")


def _on(t: Any, device: Any) -> Any:
    """A Tensor on a device, which is a transfer that its gradient goes back."""
    library, around = wanted(device)
    here = device_of(t.current)
    if library is NUMPY:
        return t if here == "cpu" else call(to_host, (t,), {})
    if here == device or (here != "cpu" and not (isinstance(device, str) and ":" in device)):
        return t
    with around:
        return call(to_library, (t, library.module), {})


class Names:
    """Methods that ndarray has not."""

    def relu(self: Any) -> Any:
        """The elements that are positive, 0 for others; its derivative at 0 is 0."""
        return call(np.where, (self.current <= 0, 0.0, self), {})

    def sigmoid(self: Any) -> Any:
        """``1 / (1 + exp(-x))``, without overflow and without loss of digits."""
        return call(np.exp, (-call(np.logaddexp, (-self, 0.0), {}),), {})

    def logsumexp(self: Any, dim: Any, keepdim: bool = False) -> Any:
        """The logarithm of the sum of exponentials over axes."""
        most = np.max(self.current, axis=_axes(dim), keepdims=True)
        most = np.where(np.isfinite(most), most, 0.0)
        total = call(np.sum, (call(np.exp, (self - most,), {}),), {"axis": _axes(dim), "keepdims": bool(keepdim)})
        return call(np.log, (total,), {}) + (most if keepdim else np.squeeze(most, _axes(dim)))

    def log_softmax(self: Any, dim: Any) -> Any:
        """The logarithm of `softmax`."""
        return self - Names.logsumexp(self, dim, True)

    def softmax(self: Any, dim: Any) -> Any:
        """Exponentials, divided by their sum along an axis."""
        return call(np.exp, (Names.log_softmax(self, dim),), {})

    def norm(self: Any, p: Any = None, dim: Any = None, keepdim: bool = False, **numpys: Any) -> Any:
        """The norm of all elements in one row, or of those along axes: the Euclidean one, or that of a number `p`. With
        NumPy's keywords (`axis=`, `ord=`) it is ``numpy.linalg.norm``."""
        if numpys:
            return call(np.linalg.norm, (self, *(() if p is None else (p,))), numpys)
        euclidean = p in (None, 2, "fro")
        if isinstance(p, str) and not euclidean:
            return call(np.linalg.norm, (self, p, _axes(dim), bool(keepdim)), {})
        several = isinstance(dim, list | tuple) and len(dim) > 1
        if several and not euclidean:
            raise TypeError(f"`norm` of a Tensor by {p} goes along one axis, or over all elements")
        if dim is None and not euclidean:
            found = call(np.linalg.norm, (call(np.ravel, (self,), {}), p), {})
            return call(np.reshape, (found, (1,) * self.ndim), {}) if keepdim else found
        order = () if euclidean else (p,)
        return call(np.linalg.norm, (self, *order), {"axis": _axes(dim), "keepdims": bool(keepdim)})

    def permute(self: Any, *dims: Any) -> Any:
        """The axes in another order, given as one tuple or as several numbers."""
        order = dims[0] if len(dims) == 1 and isinstance(dims[0], tuple | list) else dims
        return call(np.transpose, (self, tuple(order)), {})

    def movedim(self: Any, source: Any, destination: Any) -> Any:
        """Axes moved to other places."""
        return call(np.moveaxis, (self, source, destination), {})

    def unsqueeze(self: Any, dim: int) -> Any:
        """With a new axis of length one."""
        return call(np.expand_dims, (self, dim), {})

    def expand(self: Any, *sizes: Any) -> Any:
        """Repeated along axes of length one to these sizes, without a copy; -1 keeps a size."""
        given = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
        mine = (None,) * (len(given) - self.ndim) + self.shape
        if any(n == -1 and old is None for n, old in zip(given, mine, strict=True)):
            raise ValueError("the size of a new axis cannot be kept")
        return call(
            np.broadcast_to, (self, tuple(old if n == -1 else n for n, old in zip(given, mine, strict=True))), {}
        )

    def expand_as(self: Any, other: Any) -> Any:
        """`expand` to the shape of another."""
        return Names.expand(self, np.shape(other))

    def masked_fill(self: Any, mask: Any, value: Any) -> Any:
        """A copy with a value where a mask holds."""
        return call(np.where, (mask, value, self), {})

    def gather(self: Any, dim: int, index: Any) -> Any:
        """Elements by their places along an axis."""
        return call(np.take_along_axis, (self, index, dim), {})

    def index_select(self: Any, dim: int, index: Any) -> Any:
        """The parts at these places along an axis."""
        return call(np.take, (self, index, dim), {})

    def select(self: Any, dim: int, index: int) -> Any:
        """The part at one place along an axis, which is gone; it shares memory."""
        return self[_along_axis(self, dim, operator.index(index))]

    def narrow(self: Any, dim: int, start: int, length: int) -> Any:
        """So many places along an axis from `start` on; it shares memory."""
        size = self.shape[dim]
        first = start + size if start < 0 else start
        if first < 0 or not 0 <= length <= size - first:
            raise IndexError(f"{length} places from {start} on are not among the {size} of axis {dim}")
        return self[_along_axis(self, dim, slice(first, first + length))]

    def split(self: Any, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
        """Parts along an axis, of one size (the last may be smaller) or of a list of sizes; they share memory."""
        size = self.shape[dim]
        if isinstance(split_size, list | tuple):
            if sum(split_size) != size:
                raise ValueError(f"the sizes {list(split_size)} do not make up the {size} places of axis {dim}")
            starts = [sum(split_size[:k]) for k in range(len(split_size))]
            return tuple(Names.narrow(self, dim, k, n) for k, n in zip(starts, split_size, strict=True))
        if split_size < 1:
            raise ValueError(f"parts of {split_size} places cannot be made")
        starts = list(range(0, size, split_size)) or [0]
        return tuple(Names.narrow(self, dim, k, min(split_size, size - k)) for k in starts)

    def chunk(self: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
        """At most so many parts along an axis, of one size but for the last; they share memory."""
        if chunks < 1:
            raise ValueError(f"{chunks} parts cannot be made")
        return Names.split(self, max(1, -(-self.shape[dim] // chunks)), dim)

    def unbind(self: Any, dim: int = 0) -> tuple[Any, ...]:
        """The parts along an axis, one by one."""
        return tuple(Names.select(self, dim, k) for k in range(self.shape[dim]))

    def amax(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """The maximum over axes, of which equal elements share the gradient."""
        return call(np.max, (self,), {"axis": _axes(dim), "keepdims": bool(keepdim)})

    def amin(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """The minimum over axes, of which equal elements share the gradient."""
        return call(np.min, (self,), {"axis": _axes(dim), "keepdims": bool(keepdim)})

    def view_as(self: Any, other: Any) -> Any:
        """In the shape of another."""
        return call(np.reshape, (self, np.shape(other)), {})

    def type_as(self: Any, other: Any) -> Any:
        """In the dtype of another."""
        return self.astype(other.dtype)

    def contiguous(self: Any) -> Any:
        """Itself."""
        return self

    def cpu(self: Any) -> Any:
        """With its memory here: itself, or a copy of what lies on a device."""
        return _on(self, "cpu")

    def to(self: Any, *args: Any, device: Any = None, dtype: Any = None) -> Any:
        """With a dtype or on a device ("cpu", "cuda", "cuda:1", cupy), or with both of another Tensor; itself where
        nothing changes."""
        for given in args:
            if type(given) is Tensor:
                data = given.current
                device, dtype = library_of(data).namespace if is_elsewhere(data) else "cpu", given.dtype
            elif isinstance(given, ModuleType) or (isinstance(given, str) and given.partition(":")[0] in _DEVICES):
                device = given
            else:
                dtype = given
        found = self if device is None else _on(self, device)
        return found if dtype is None or found.dtype == np.dtype(dtype) else found.astype(dtype)

    def cuda(self: Any, device: Any = None) -> Any:
        """On a device, the first one or that of a number."""
        return _on(self, "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device)

    def double(self: Any) -> Any:
        """As float64."""
        return self.astype(np.float64)

    def float(self: Any) -> Any:
        """As float32."""
        return self.astype(np.float32)

    def mv(self: Any, vector: Any) -> Any:
        """The product with a vector."""
        return call(np.matmul, (self, vector), {})

    def bmm(self: Any, other: Any) -> Any:
        """The products of the matrices of two stacks."""
        return call(np.matmul, (self, other), {})


_SPELLED: dict[str, Callable[..., Any]] = {
    **{name: _reduction(name) for name in ("sum", "mean", "prod")},
    **{name: _extreme(name) for name in ("max", "min")},
    **{name: _place(name) for name in ("argmax", "argmin", "any", "all")},
    **{name: _spread(name) for name in ("var", "std")},
    **{name: _along(name) for name in ("cumsum", "cumprod")},
    "flip": lambda t, dims: call(np.flip, (t, _axes(dims)), {}),
    "roll": lambda t, shifts, dims: call(np.roll, (t, shifts, _axes(dims)), {}),
    "argsort": lambda t, dim: np.argsort(t.current, axis=dim),
    "diagonal": lambda t, offset=0, dim1=0, dim2=1: call(np.diagonal, (t, offset, dim1, dim2), {}),
    "transpose": transpose,
    "swapaxes": transpose,
    "flatten": flatten,
    "squeeze": squeeze,
}
