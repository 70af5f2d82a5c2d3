"""Hand-written members of `Tensor`: its Python protocol, and methods with a meaning of their own."""

from __future__ import annotations

import math
import opcode
import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentx.arrays import as_complex, as_reals, demand_unshared
from tangentx.arrays.libraries import ARRAYS, ELSEWHERE, to_host
from tangentx.errors import NotDifferentiable, NoTemplate, place, span_of
from tangentx.tensor.calls.apply import as_array, as_member, call
from tangentx.tensor.calls.plain_stubs import A_TENSOR
from tangentx.tensor.core.containers import ROWS, raw
from tangentx.tensor.core.devices import device_of
from tangentx.tensor.core.forms import dtype_of
from tangentx.tensor.core.making import escaped
from tangentx.tensor.core.modes import RUNNING, STATE, refusal
from tangentx.tensor.fallback.equal_values import demand_one_history
from tangentx.tensor.fallback.formatted_values import told
from tangentx.tensor.fallback.programs import lost, program_of, stands_in
from tangentx.tensor.graph import autograd
from tangentx.tensor.writes.numpy_writers import put
from tangentx.tensor.writes.storage import detached, set_shape
from tangentx.tensor.writes.writing import overwrite, write

_STORES = tuple(opcode.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opcode.opmap)


def _number_of(t: Any, how: str) -> Any:
    """The plain data of a Tensor that becomes a number: as the user asks, or for NumPy, which stores it in an array."""
    frame = sys._getframe(2)
    if STATE.grad and frame.f_code.co_code[frame.f_lasti] in _STORES:
        return escaped(t, "storing it in a plain array", always=True)
    if STATE.grad and str(frame.f_globals.get("__name__")).startswith("scipy."):
        return escaped(t, "SciPy, which knows plain numbers alone,", always=True)
    return escaped(t, how)


class Nothing:
    """What every class has."""


class Flat:
    """The elements of a Tensor in a row: what ``x.flat`` gives."""

    def __init__(self, t: Any) -> None:
        self.t = t
        self.index = 0

    def __len__(self) -> int:
        return int(self.t.size)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.index >= len(self):
            raise StopIteration
        at = self.index
        found = self[at]
        self.index = at + 1
        return found

    def __getitem__(self, key: Any) -> Any:
        self.index = 0  # as NumPy's goes back to the first
        found = call(np.ravel, (self.t,), {})[key]
        return call(np.copy, (found,), {}) if np.ndim(found) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.index = 0
        demand_unshared(self.t.current, raw(value))
        put(self.t, np.arange(len(self))[raw(key)], value)


class Members:
    """Members of a Tensor that are neither of the lists above."""

    ndim = property(lambda self: np.ndim(self.current), doc="As an ndarray's.")
    size = property(lambda self: int(np.size(self.current)), doc="The number of elements.")
    dtype = property(lambda self: dtype_of(self.current), doc="As an ndarray's.")
    itemsize = property(lambda self: self.dtype.itemsize, doc="As an ndarray's.")
    nbytes = property(lambda self: self.size * self.itemsize, doc="As an ndarray's.")
    device = property(lambda self: device_of(self.current), doc="Where the memory is: ``cpu``, ``cuda:0``.")
    data = property(
        lambda self: self.detach(), lambda self, value: _refuse_data(), doc="The same memory without history."
    )
    T = property(as_member(np.transpose, (A_TENSOR,)), doc="The axes in reverse order.")
    mT = property(lambda self: call(np.swapaxes, (self, -1, -2), {}), doc="The last two axes exchanged.")
    real = property(
        lambda self: call(np.real, (self,), {}), lambda self, value: _put(self.real, value), doc="The real part."
    )
    imag = property(
        lambda self: call(np.imag, (self,), {}), lambda self, value: _put_imag(self, value), doc="The imaginary part."
    )

    @property
    def flat(self: Any) -> Any:
        """The elements one after the other, to be read and written."""
        return Flat(self)

    @flat.setter
    def flat(self: Any, value: Any) -> None:
        put(self, np.arange(self.size), value)

    @property
    def shape(self: Any) -> Any:
        """As an ndarray's."""
        return np.shape(self.current)

    @shape.setter
    def shape(self: Any, value: Any) -> None:
        set_shape(self, value)

    __getitem__ = as_member(operator.getitem, (A_TENSOR,), (0, slice(None), (0,)))

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        write(self, key, as_array(value) if type(value) in ROWS else value)

    def __len__(self: Any) -> int:
        count: int = len(self.current)
        return count

    def __iter__(self: Any) -> Iterator[Any]:
        iter(self.current)  # raises where there are no items
        return (self[i] for i in range(len(self)))

    def __contains__(self: Any, item: Any) -> bool:
        return raw(item) in self.current

    def __hash__(self: Any) -> int:
        """As the number's where it stands for one, and by identity for a Tensor of the user's, and for a leaf."""
        if (self._node is None and self._needs) or not stands_in(self):
            return object.__hash__(self)
        return hash(self.current)

    def __eq__(self: Any, other: Any) -> Any:
        data = self.current
        found = data == raw(other)
        if RUNNING and found is not False and type(data) is not np.ndarray:
            demand_one_history(self, other, found)
        return found

    def __array__(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        plain = escaped(self, "a function that makes an array", always=True)
        data = np.asarray(plain, dtype)  # CuPy refuses that: its message says what to write
        return data.copy() if copy else data

    def __bool__(self: Any) -> bool:
        return bool(self.current)

    def __int__(self: Any) -> int:
        return int(self.current)

    def __index__(self: Any) -> int:
        return operator.index(self.current)

    def __float__(self: Any) -> float:
        return float(_number_of(self, "float()"))

    def __complex__(self: Any) -> complex:
        return complex(_number_of(self, "complex()"))

    def __round__(self: Any, digits: Any = None) -> Any:
        data = self.current
        number: Any = data[()] if type(data) is np.ndarray and not stands_in(self) else data
        return round(number) if digits is None else round(number, digits)

    def __floor__(self: Any) -> int:
        return int(math.floor(self.current))

    def __ceil__(self: Any) -> int:
        return int(math.ceil(self.current))

    def __trunc__(self: Any) -> int:
        return int(math.trunc(self.current))

    def __divmod__(self: Any, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self: Any, other: Any) -> Any:
        return other // self, other % self

    def __format__(self: Any, form: str) -> str:
        return told(self, format(self.current, form))

    def __str__(self: Any) -> str:
        return told(self, str(self.current))

    def __repr__(self: Any) -> str:
        data = self.current
        if stands_in(self):
            return told(self, repr(data))
        text = repr(data).partition("array(")[2].removesuffix(")") if type(data) in ARRAYS else repr(data)
        text += f", device={self.device!r}" if type(data) in ELSEWHERE else ""
        node = self.grad_fn
        more = f", grad_fn=<{node.name}>" if node is not None else ", requires_grad=True" if self._needs else ""
        return f"tensor({text}{more})"

    def backward(self: Any, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False) -> None:
        """Adds to ``.grad`` of every leaf the derivative of this Tensor times `gradient` (ones where None).

        The graph is freed unless `retain_graph`; with `create_graph` the gradients are recorded themselves. Raises
        NotDifferentiable where there is nothing to follow, or `gradient` has another shape.
        """
        autograd.backward(self, gradient, retain_graph, create_graph)

    def detach(self: Any) -> Any:
        """The same memory without history."""
        return detached(self)

    def __reduce__(self: Any) -> Any:
        if self._node is None:
            return self.as_leaf()
        if program_of(self) is not None:
            raise lost(self, "pickling", "copy it with `np.copy` or `copy.deepcopy`, or pickle the result")
        raise NotDifferentiable(
            "a Tensor that was computed cannot be pickled or copied: its history belongs to this process",
            hint="for a copy write `x.clone()`, to pickle it `x.detach()`",
        )

    def __copy__(self: Any) -> Any:
        return self.__deepcopy__({})

    def __deepcopy__(self: Any, memo: Any) -> Any:
        if stands_in(self):  # the program copies what would be a number or an array
            copied = call(np.copy if type(self._primal) is np.ndarray else operator.pos, (self,), {})
        else:
            remake, args = self.__reduce__()
            copied = remake(*args)
        memo[id(self)] = copied
        return copied

    def numpy(self: Any) -> Any:
        """The array itself, sharing memory; of a Tensor on a device a copy, here. Raises NotDifferentiable where a
        gradient is required."""
        data = escaped(self, "numpy()", always=True)
        return to_host(data) if type(data) in ELSEWHERE else data

    def item(self: Any, *place: Any) -> Any:
        """One element as a plain number."""
        return _plain(escaped(self, "item()")).item(*place)

    def tolist(self: Any) -> Any:
        """Plain numbers in nested lists."""
        return _plain(escaped(self, "tolist()")).tolist()

    def view(self: Any, *shape: Any, dtype: Any = None) -> Any:
        """The same memory, or the same elements in another shape, as in PyTorch. NoTemplate for another dtype."""
        shape = shape if dtype is None else (dtype,)
        if not shape:
            return self[...]
        if len(shape) == 1 and not isinstance(shape[0], int | tuple | list):
            if np.dtype(shape[0]) == self.dtype:
                return self[...]
            wanted = np.dtype(shape[0])
            if self.dtype.kind == "c" and wanted == np.empty(0, self.dtype).real.dtype:
                return call(as_reals, (self,), {})
            if self.dtype.kind == "f" and wanted == np.result_type(self.dtype, 1j):
                return call(as_complex, (self,), {})
            message, hint = "a view of another dtype has no derivative rule", "use `astype`, or `.real` and `.imag`"
            raise refusal(NoTemplate(message, span_of(place()), hint))
        return self.reshape(*shape)

    def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
        """The elements within limits."""
        return call(np.clip, (self, min, max), {})

    def partition(self: Any, kth: Any, axis: int = -1) -> None:
        """Puts the elements on the right side of the k-th, in place."""
        overwrite(self, call(np.partition, (self, kth, axis), {}))

    def put(self: Any, indices: Any, values: Any, mode: str = "raise") -> None:
        """Writes elements by their place in the row of all."""
        put(self, indices, values, mode)

    def numel(self: Any) -> int:
        """The number of elements."""
        return int(np.size(self.current))

    def dim(self: Any) -> int:
        """The number of axes."""
        return int(np.ndim(self.current))

    def fill(self: Any, value: Any) -> None:
        """Every element becomes `value`."""
        write(self, Ellipsis, value)

    def sort(self: Any, axis: int = -1) -> None:
        """Puts the elements in order, in place."""
        overwrite(self, call(np.sort, (self, axis), {}))

    def fill_(self: Any, value: Any) -> Any:
        """Every element becomes `value`; returns itself."""
        if type(self.current) in ARRAYS:
            write(self, Ellipsis, value)
            return self
        return overwrite(self, value)

    def zero_(self: Any) -> Any:
        """Every element becomes 0; returns itself."""
        return self.fill_(0.0)

    def copy_(self: Any, other: Any) -> Any:
        """The elements become those of `other`; returns itself."""
        return self.fill_(other)

    def clamp_(self: Any, min: Any = None, max: Any = None) -> Any:
        """The elements within limits, in place."""
        return overwrite(self, self.clamp(min, max))


def _plain(data: Any) -> Any:
    """An array of a library's as it is, a number as an array."""
    return data if type(data) in ELSEWHERE else np.asarray(data)


def _refuse_data() -> None:
    """PyTorch lets a parameter show other memory so."""
    raise AttributeError("`data` of a Tensor cannot be set: write into it, `with tx.no_grad(): t.copy_(value)`")


def _put(part: Any, value: Any) -> None:
    """Writes into a view, as assignment to an attribute of an ndarray does."""
    part[...] = value


def _put_imag(t: Any, value: Any) -> None:
    if t.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    _put(t.imag, value)
