"""Batched operations at run time, with cotangents in the form of their primals."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tangentx import arrays

# Batched operations at run time: a rule's operations when its cotangent is a batch.
#
# A `Batch` stands for one member of it, whose shape it shows; its members lie along the first axis of `whole`.
# Functions that work on each element need no more than axes that stand below each other; all others have a rule here,
# written with functions that have templates, so that a batched pullback can be differentiated as any other. What has
# none raises NoRule, and is done member by member.
#
# Rules are called with batches in the place of arguments. All operations in a pullback are linear in its cotangent,
# so of a product one factor alone is a batch.

F = TypeVar("F", bound=Callable[..., Any])
RULES: dict[Any, Callable[..., Any]] = {}
"""The rules of single functions: they take batches, and give them."""
AS_WRITTEN: frozenset[Any] = frozenset(
    (
        *(arrays.dot_left, arrays.dot_right, arrays.inner_left, arrays.inner_right, arrays.outer_left),
        *(arrays.outer_right, arrays.tensordot_left, arrays.tensordot_right, arrays.matmul_left, arrays.matmul_right),
        *(arrays.columns_outer, arrays.untile, arrays.arange_dot, arrays.take_best, arrays.unblock),
    )
)
"""Functions whose text is right for batches as it is, once the functions that it calls take them."""


class NoRule(Exception):
    """There is no rule for all members at once."""


class Batch:
    """One member of a batch, as a rule sees it: an array, or a number where it has no axes."""

    __slots__ = ("whole",)
    __array_ufunc__ = None  # so that arrays leave operators to us

    def __init__(self, whole: Any) -> None:
        self.whole = whole

    @property
    def count(self) -> int:
        """How many members there are."""
        return int(self.whole.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """That of one member."""
        return tuple(self.whole.shape[1:])

    @property
    def ndim(self) -> int:
        """The number of axes of one member."""
        return int(self.whole.ndim) - 1

    def __getattr__(self, name: str) -> Any:
        raise NoRule(name)

    def __getitem__(self, key: Any) -> Any:
        return do(operator.getitem, (self, key), {})

    def reshape(self, *shape: Any) -> Any:
        """Each member in another shape."""
        return do(np.reshape, (self, shape[0] if len(shape) == 1 else shape), {})

    def __neg__(self) -> Any:
        return do(operator.neg, (self,), {})

    def _refused(self, *args: Any) -> Any:
        raise NoRule("a branch, a loop or a number")

    __bool__ = __iter__ = __float__ = __complex__ = __int__ = __len__ = __index__ = __array__ = _refused


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    fn = getattr(operator, name)
    return (lambda self, other: do(fn, (self, other), {})), (lambda self, other: do(fn, (other, self), {}))


for _name in ("add", "sub", "mul", "truediv", "matmul"):
    _forward, _reflected = _operators(_name)
    setattr(Batch, f"__{_name}__", _forward)
    setattr(Batch, f"__r{_name}__", _reflected)


def holds_batch(values: Any) -> bool:
    """Whether one of the values is a batch, or a list or tuple that holds one."""
    return any(type(v) is Batch or (isinstance(v, list | tuple) and holds_batch(v)) for v in values)


def rule_for(fn: Any) -> Callable[..., Any] | None:
    """What does a function's work on batches; None where there is nothing."""
    try:
        found = RULES.get(fn)
    except TypeError:
        return None
    if found is None and isinstance(fn, np.ufunc) and fn.signature is None and fn.nout == 1:
        found = RULES[fn] = elementwise(fn)
    return found


def do(fn: Any, args: Any, kwargs: Any) -> Any:
    """``fn(*args, **kwargs)`` where arguments are batches. Raises NoRule."""
    rule = rule_for(fn)
    if rule is None:
        raise NoRule(getattr(fn, "__name__", str(fn)))
    return rule(*args, **kwargs)


def plainly(fn: Any, *args: Any) -> Any:
    """``fn(*args)``, recorded where the first arguments are of a class that records: of functions not NumPy's."""
    record = next((type(a).__tangentx_record__ for a in args if hasattr(type(a), "__tangentx_record__")), None)
    return fn(*args) if record is None else record(fn, args)


def elementwise(fn: Any) -> Callable[..., Any]:
    """The rule of a function of elements."""

    def rule(*args: Any) -> Any:
        rank = max(rank_of(a) for a in args)
        return Batch(plainly(fn, *(aligned(a, rank) if type(a) is Batch else a for a in args)))

    return rule


def aligned(t: Batch, rank: int) -> Any:
    """The whole of a batch, whose members get `rank` axes at least."""
    missing = rank - t.ndim
    return t.whole if missing <= 0 else np.reshape(t.whole, (t.count, *(1,) * missing, *t.shape))


def whole_of(t: Any, count: int) -> Any:
    """The whole of a batch, or of one whose members are all the same."""
    return t.whole if type(t) is Batch else plainly(arrays.over, t, count)


def rank_of(a: Any) -> int:
    """The number of axes of an operand, of one member of a batch."""
    return a.ndim if type(a) is Batch else int(np.ndim(a))


def refuse_settings(*settings: Any) -> None:
    """Refuses settings of which a rule knows nothing."""
    if any(value is not None for value in settings):
        raise NoRule("a setting")


def of_first(*fns: Any) -> Callable[[F], F]:
    """Declares the rule of functions of which only the first argument is a batch: given its whole, it gives a whole."""

    def declare(body: F) -> F:
        def rule(t: Any, *args: Any, **kwargs: Any) -> Any:
            if type(t) is not Batch or holds_batch((*args, *kwargs.values())):
                raise NoRule(body.__name__)
            return Batch(body(t.whole, *args, **kwargs))

        for fn in fns:
            RULES[fn] = rule
        return body

    return declare


def of_any(*fns: Any) -> Callable[[F], F]:
    """Declares the rule of functions of which any argument may be, or hold, a batch."""

    def declare(body: F) -> F:
        for fn in fns:
            RULES[fn] = body
        return body

    return declare


def later(axis: Any) -> Any:
    """An axis of a member, or several, counted in the whole."""
    if isinstance(axis, tuple | list):
        return tuple(later(i) for i in axis)
    return int(axis) + 1 if axis >= 0 else int(axis)


def every_axis(w: Any) -> tuple[int, ...]:
    """The axes of the members, counted in the whole."""
    return tuple(range(1, w.ndim))


def as_rows(w: Any) -> Any:
    """Each member as a row."""
    return np.reshape(w, (len(w), size_of(w)))


def size_of(w: Any) -> int:
    """The number of elements of a member."""
    return volume(w.shape[1:])


def volume(shape: Any) -> int:
    """The number of elements of an array of a shape."""
    return int(np.prod(shape, dtype=int))


# Cotangents converted to the form of their primals.


@of_any(arrays.unbroadcast, arrays.spread)
def unbroadcast(t: Any, like: Any) -> Batch:
    """A cotangent in the shape, the domain and the dtype of what it belongs to."""
    if type(like) is Batch and type(t) is Batch:
        return Batch(refitted(t, like.shape, like.whole.dtype))
    if type(t) is Batch:
        return Batch(refitted(t, tuple(np.shape(like)), getattr(like, "dtype", None)))
    return Batch(refitted(Batch(whole_of(t, like.count)), like.shape, like.whole.dtype))


@of_any(arrays.of_rule)
def _of_rule(given: Any, like: Any, result: Any, rule: str, name: str) -> Any:
    """What a rule of the user's gives; for what does not fit it is told one by one."""
    if isinstance(like, list | tuple) and isinstance(given, list | tuple) and len(given) == len(like):
        return [
            _of_rule(g, x, None, rule, name) if type(g) is Batch else arrays.of_rule(g, x, None, rule, name)
            for g, x in zip(given, like, strict=True)
        ]
    if type(given) is not Batch or isinstance(like, list | tuple | dict) or not arrays.has_derivative(like):
        raise NoRule("what a rule gives")
    shape = tuple(np.shape(like))
    spread = not isinstance(result, list | tuple) and given.shape == tuple(np.shape(result))
    if given.shape != shape and not (spread and given.shape == np.broadcast_shapes(given.shape, shape)):
        raise NoRule("what a rule gives")
    return unbroadcast(given, like)


def refitted(t: Batch, shape: tuple[int, ...], dtype: Any) -> Any:
    """The whole of a batch with each member in the shape, the domain and the dtype of what it belongs to."""
    extra = t.ndim - len(shape)
    whole = np.sum(t.whole, axis=tuple(range(1, 1 + extra))) if extra > 0 else aligned(t, len(shape))
    if np.shape(whole)[1:] == shape and (dtype is None or whole.dtype == dtype):
        return whole
    like = np.broadcast_to(np.zeros((), whole.dtype if dtype is None else dtype), (t.count, *shape))
    return plainly(arrays.unbroadcast, whole, like)
