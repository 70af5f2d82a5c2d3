"""Sparsity detection: runs the text of a linear function on index sets."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from tangentx import arrays

# Index sets: for each number, the set of inputs that it depends on.
#
# A linear function runs on them as on numbers: a sum is the union, a product with a number the set itself. Arrays of
# them are arrays of objects, so indexing, views, writes and changes of shape are NumPy's own.


class Indices(frozenset[int]):
    """A set of whole numbers with the arithmetic of tangents; any other number stands for the empty set."""

    __slots__ = ()

    def __add__(self, other: Any) -> Indices:
        return Indices(self | other) if isinstance(other, Indices) else self

    __radd__ = __rsub__ = __add__
    __sub__ = __add__

    def __mul__(self, other: Any) -> Indices:
        return self

    __rmul__ = __truediv__ = __mul__

    def __neg__(self) -> Indices:
        return self

    __pos__ = conjugate = __neg__

    @property
    def real(self) -> Indices:
        """The set itself: what is real depends on as much."""
        return self


EMPTY = Indices()


class Sets(np.ndarray[Any, np.dtype[Any]]):
    """An array of index sets; numbers in it stand for the empty one. Its sums do not copy each partial result."""

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any) -> Any:  # type: ignore[override]
        """Unions along axes."""
        return united(self, axis, keepdims)

    mean = sum  # type: ignore[assignment]

    def dot(self, other: Any, out: Any = None) -> Any:
        """As ``@``, for vectors and matrices."""
        return product(self, other)

    def __matmul__(self, other: Any) -> Any:
        return product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return product(other, self)

    def astype(self, *args: Any, **kwargs: Any) -> Any:
        """A copy: sets have no precision."""
        return self.copy()


def is_set(x: Any) -> bool:
    """Whether a value is a set of indices or an array of such."""
    return isinstance(x, Indices) or (isinstance(x, np.ndarray) and x.dtype == object)


def array_of(x: Any) -> Any:
    """An array with room for sets: one of objects, `x` copied."""
    return np.array(x, dtype=object).view(Sets)


def units(shape: tuple[int, ...]) -> Any:
    """For each number of an array of `shape`, the set of its own position, in row-major order; of a number, one set."""
    count = int(np.prod(shape))
    made = np.empty(count, object)
    made[:] = [Indices((k,)) for k in range(count)]
    return made.reshape(shape).view(Sets) if shape else made[0]


def union(parts: Iterable[Any]) -> Indices:
    """The union of sets and of numbers, which are empty."""
    return Indices(frozenset().union(*(p for p in parts if isinstance(p, Indices))))


def united(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Unions along one axis, several, or all."""
    x = np.asarray(x, dtype=object)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = sorted(a % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in gone]
    rows = x.transpose(*kept, *gone).reshape(*(x.shape[a] for a in kept), -1)
    made = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(*made.shape):
        made[place] = union(rows[place])
    shape = [1 if a in gone else n for a, n in enumerate(x.shape)] if keepdims else made.shape
    return made.reshape(shape).view(Sets) if len(shape) else made[()]


def product(a: Any, b: Any) -> Any:
    """``a @ b`` of vectors and matrices: what a row that is not zero reaches."""
    first, second = (x if is_set(x) else np.asarray(x) for x in (a, b))
    if np.ndim(first) > 2 or np.ndim(second) > 2:
        raise TypeError("a product of more than two axes")
    if is_set(second):
        return _reached(first, second)
    turned = _reached(second.T, first.T)
    return turned.T if isinstance(turned, np.ndarray) else turned


def _reached(matrix: Any, sets: Any) -> Any:
    """``matrix @ sets``: exact zeros of the matrix reach nothing."""
    columns = sets if sets.ndim == 2 else sets[:, None]
    rows = matrix if matrix.ndim == 2 else matrix[None]
    made = np.empty((len(rows), columns.shape[1]), object)
    dense = [union(column) for column in columns.T]
    for i, row in enumerate(rows):
        found = np.flatnonzero(row != 0.0)
        for j in range(columns.shape[1]):
            made[i, j] = dense[j] if len(found) == len(row) else union(columns[found, j])
    shape = matrix.shape[:-1] + sets.shape[1:]
    return made.reshape(shape).view(Sets) if shape else made[0, 0]


class Unknown(Exception):
    """The program does something with tangents of which the sets are not known."""


class Swapped:
    """A module, ufunc or class whose functions know index sets."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return swapped(getattr(self._inner, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return applied(self._inner, args, kwargs)


def swapped(value: Any) -> Any:
    """What stands for a module or function where sets flow."""
    return Swapped(value) if isinstance(value, types.ModuleType) or callable(value) else value


def on_sets(function: types.FunctionType) -> Callable[..., Any]:
    """A function of generated text, and those of the same text that it calls, run on index sets."""
    own = function.__globals__
    names: dict[str, Any] = {"__builtins__": own["__builtins__"], "__name__": own["__name__"]}
    for name, value in own.items():
        if isinstance(value, types.FunctionType) and value.__globals__ is own:
            names[name] = types.FunctionType(value.__code__, names, name, value.__defaults__)
        elif name not in names:
            names[name] = swapped(value)
    made: Callable[..., Any] = names[function.__name__]
    return made


def applied(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``fn(*args, **kwargs)``, where some of the arguments may be sets. Raises Unknown."""
    known = isinstance(fn, Hashable)
    if known and fn in _RULES:
        return _RULES[fn](*args, **kwargs)
    if not any(map(_holds, (*args, *kwargs.values()))):
        return _room(fn(*args, **kwargs))
    if known and fn in _NATIVE:
        found = fn(*args, **kwargs)
        return found.view(Sets) if isinstance(found, np.ndarray) and found.dtype == object else found
    return _of_all(fn, args, kwargs)


def _holds(x: Any) -> bool:
    """Whether a value is, or holds, sets."""
    if isinstance(x, list | tuple):
        return any(map(_holds, x))
    return any(map(_holds, x.values())) if isinstance(x, dict) else is_set(x)


def _room(x: Any) -> Any:
    """Real arrays that a linear function makes are zeros of tangents: they get room for sets."""
    if isinstance(x, list | tuple | dict):
        raise Unknown("a container of tangents that is made at once")
    return array_of(x) if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else x


def _of_all(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Each number of the result depends on all that any argument does; the shape is that of the result for zeros."""
    found: list[Any] = []

    def plain(x: Any) -> Any:
        if isinstance(x, list | tuple):
            return type(x)(map(plain, x))
        if not is_set(x):
            return x
        found.extend(np.ravel(np.asarray(x, dtype=object)) if isinstance(x, np.ndarray) else [x])
        return np.zeros(x.shape) if isinstance(x, np.ndarray) else 0.0

    given = [plain(x) for x in args]
    result = fn(*given, **{name: plain(x) for name, x in kwargs.items()})
    every = union(found)
    if not isinstance(result, np.ndarray | np.number | float | int):
        raise Unknown(f"`{getattr(fn, '__name__', fn)}` of tangents")
    return _spread(every, np.shape(result))


def _guarded(p: Any, t: Any) -> Any:
    """A product of which one factor is a tangent."""
    found, other = (t, p) if is_set(t) else (p, t)
    if not is_set(found):
        return _room(arrays.guarded(p, t))
    if is_set(other):
        raise Unknown("a product of tangents")
    return _spread(found, np.shape(other))


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    """Sets broadcast against `shape`."""
    shape = np.broadcast_shapes(np.shape(x), shape)
    if isinstance(x, Indices) and not shape:
        return x
    found = np.empty((), object)
    found[()] = x
    return np.broadcast_to(x if isinstance(x, np.ndarray) else found, shape).copy().view(Sets)


def _fitted(t: Any, like: Any, *rest: Any) -> Any:
    """A tangent in the shape of what it belongs to."""
    shape = np.shape(like)
    if not is_set(t):
        return _room(np.broadcast_to(t, shape).copy()) if shape else t
    missing = np.ndim(t) - len(shape)
    if missing > 0:
        t = united(t, tuple(range(missing)))
    narrow = tuple(i for i, n in enumerate(shape) if n == 1 and t.shape[i] != 1)
    return _spread(united(t, narrow, True) if narrow else t, shape)


def _laid_out(t: Any, like: Any) -> Any:
    """A copy of a tangent of an array or number."""
    if not isinstance(like, np.ndarray | np.number | float | int):
        raise Unknown("a structure of tangents")
    return array_of(t) if isinstance(t, np.ndarray) else t


def _zero(like: Any) -> Any:
    if isinstance(like, np.ndarray):
        return array_of(np.zeros(like.shape))
    if isinstance(like, list | tuple | dict):
        raise Unknown("a structure of tangents")
    return 0.0


def _copied(x: Any) -> Any:
    return array_of(x) if isinstance(x, np.ndarray) else x


def _where(test: Any, a: Any, b: Any) -> Any:
    return np.where(test, a, b).astype(object).view(Sets) if is_set(a) or is_set(b) else _room(np.where(test, a, b))


def _summed(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any) -> Any:
    return united(a, axis, bool(keepdims)) if is_set(a) else np.sum(a, axis=axis, keepdims=keepdims)


def _product(a: Any, b: Any) -> Any:
    if is_set(a) and is_set(b):
        raise Unknown("a product of tangents")
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    return product(a, b) if is_set(a) or is_set(b) else _room(np.matmul(a, b))


_RULES: dict[Any, Callable[..., Any]] = {
    arrays.guarded: _guarded,
    **dict.fromkeys((arrays.unbroadcast, arrays.alike, arrays.spread, arrays.moving, arrays.of_rule), _fitted),
    arrays.tangent_as: _laid_out,
    arrays.filled: arrays.filled,
    **dict.fromkeys((arrays.zero, arrays.real_zero, arrays.zeros_as, np.zeros_like), _zero),
    **dict.fromkeys((arrays.clone, arrays.entry_copy, np.copy), _copied),
    np.where: _where,
    **dict.fromkeys((np.sum, np.mean), _summed),
    **dict.fromkeys((np.matmul, np.dot, arrays.careful_matmul), _product),
    arrays.careful: lambda product, *args: product(*args),
}
_NATIVE = frozenset(
    getattr(np, name)
    for name in (
        "add subtract multiply divide negative positive conjugate real concatenate stack hstack vstack column_stack "
        "reshape transpose ravel roll flip expand_dims squeeze broadcast_to repeat tile take moveaxis swapaxes "
        "diagonal diag rot90 outer diff cumsum split atleast_1d atleast_2d delete array asarray pad"
    ).split()
) | {np.add.at}
