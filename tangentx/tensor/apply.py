"""Calls of operations on Tensors: run on the data, recorded by the rule of their template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.errors import NoTemplate
from tangentx.templates import composed
from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.forms import inexact
from tangentx.tensor.modes import STATE, refusal
from tangentx.tensor.operation import LASTING, Operation, kept, root_of
from tangentx.tensor.places import place, span_of
from tangentx.tensor.quick import binary, unary
from tangentx.tensor.rules import Rule, rule_of
from tangentx.tensor.storage import View, step_of

_CONTAINERS = (list, tuple, dict)
_ROWS = frozenset((list, tuple))
_WITHOUT = LASTING | {np.ndarray, np.float32, np.complex128, slice, np.dtype}  # types of values that hold no Tensor


def holds_tensor(value: Any) -> bool:
    """Whether a value is, or holds in lists, tuples and dicts, a Tensor."""
    if type(value) is Tensor:
        return True
    if type(value) in _ROWS and _WITHOUT.issuperset(map(type, value)):
        return False
    stack = [value]
    seen: set[int] = set()  # a list may hold itself
    while stack:
        value = stack.pop()
        if type(value) is Tensor:
            return True
        if isinstance(value, list | tuple | dict) and id(value) not in seen:
            seen.add(id(value))
            stack.extend(value.values() if isinstance(value, dict) else value)
    return False


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The Tensors that a value is or holds, in order."""
    if type(value) is Tensor:
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def raw(value: Any) -> Any:
    """The value with plain data for its Tensors."""
    kind = type(value)
    if kind is Tensor:
        return value.current
    if isinstance(value, _CONTAINERS) and kind is not np.ndarray and holds_tensor(value):
        if isinstance(value, dict):
            return {key: raw(item) for key, item in value.items()}
        return like_container(value, [raw(item) for item in value])
    return value


def as_array(value: Any) -> Any:
    """A list of Tensors and numbers as the array that NumPy would make of it, recorded; anything else as it is."""
    return call(np.array, (value,), {}) if isinstance(value, list | tuple) and holds_tensor(value) else value


def like_container(value: Any, items: list[Any]) -> Any:
    """The items as a list or tuple of the class of `value`."""
    if isinstance(value, list):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def call(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of ``fn(*args, **kwargs)`` as Tensors, recorded where an argument requires a gradient.

    Raises NoTemplate where there is no rule for it.
    """
    rule = rule_of(fn)
    if rule is None or rule.constant:
        return _without_rule(fn, args, kwargs, None) if rule is None else _constant(fn, args, kwargs)
    if rule.quick == len(args) and not kwargs:
        if rule.quick == 1:
            return unary(rule, args[0])
        if not (isinstance(args[0], _CONTAINERS) or isinstance(args[1], _CONTAINERS)):
            return binary(rule, args[0], args[1])
    array = bool(args) and type(args[0]) is Tensor and type(args[0]._data) is np.ndarray
    if rule.reduces and len(args) == 1 and not kwargs and array:
        return unary(rule, args[0])
    if not STATE.grad and (rule.owner is None or array):
        return _unrecorded(rule, fn, args, kwargs)
    try:
        values = args if rule.simple == len(args) and not kwargs else rule.arranged(args, kwargs)
    except NoTemplate as error:
        return _without_rule(fn, args, kwargs, error)
    places: list[int] = []
    data: list[Any] = []
    nested = False
    for i, value in enumerate(values):
        if type(value) is Tensor:
            if value._view is not None:
                value._view.refresh(value)
            data.append(value._data)
            if value._needs and rule.with_cotangent[i]:
                places.append(i)
        elif isinstance(value, _CONTAINERS) and holds_tensor(value):
            nested = True
            data.append(raw(value))
            if rule.with_cotangent[i] and any(t.requires_grad for t in tensors_in(value)):
                places.append(i)
        else:
            data.append(value)
    ans = _run(rule, fn, args, kwargs, data)
    if places and STATE.grad and not rule.whole_numbers(ans):
        return Operation.record(rule, tuple(places), values, data, ans, nested, _Viewed(rule, fn, args, kwargs))
    return _wrapped(ans, _Viewed(rule, fn, args, kwargs) if rule.may_view else None, bool(places))


def _run(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], data: list[Any]) -> Any:
    if rule.owner is not None and not isinstance(data[0], rule.owner):
        number = data[0] if isinstance(data[0], np.generic | np.ndarray) else np.asarray(data[0])[()]
        fn = getattr(type(number), fn.__name__)
        return fn(number, *map(raw, args[1:]), **{name: raw(value) for name, value in kwargs.items()})
    if kwargs or rule.star >= 0:
        return fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
    return fn(*data[: len(args)])


def _unrecorded(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The results of a call where nothing is recorded: as Tensors, views as views."""
    late = False
    data: list[Any] = []
    for value in args:
        if type(value) is Tensor:
            if value._view is not None:
                value._view.refresh(value)
            late = late or value._needs
            value = value._data
        elif isinstance(value, _CONTAINERS) and holds_tensor(value):
            late = late or any(t.requires_grad for t in tensors_in(value))
            value = like_container(value, [raw(item) for item in value]) if type(value) in _ROWS else raw(value)
        data.append(value)
    ans = fn(*data, **{name: raw(value) for name, value in kwargs.items()}) if kwargs else fn(*data)
    if type(ans) is not np.ndarray:
        return _wrapped(ans, _Viewed(rule, fn, args, kwargs) if rule.may_view else None, late)
    t = wrap(ans)
    if rule.may_view and (ans.base is not None or id(ans) in map(id, data)):
        _Viewed(rule, fn, args, kwargs)(t, None)
    if late:
        t._made = place()
    return t


class _Viewed:
    """Makes a result that shares memory with an argument a view of that Tensor."""

    __slots__ = ("args", "fn", "kwargs", "rule")

    def __init__(self, rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.rule, self.fn, self.args, self.kwargs = rule, fn, args, kwargs

    def __call__(self, t: Tensor, item: int | None) -> None:
        ans = t._data
        if not self.rule.may_view or type(ans) is not np.ndarray:
            return
        for i, value in enumerate(self.args):
            if type(value) is not Tensor or type(value._data) is not np.ndarray:
                continue
            own = value._data
            base = ans.base
            strided = base is not None and type(base) is not np.ndarray and np.may_share_memory(ans, own)
            if ans is own or strided or (base is not None and (base is own or base is own.base)):
                args = [kept(raw(arg)) if j != i else None for j, arg in enumerate(self.args)]
                named = {name: kept(raw(arg)) for name, arg in self.kwargs.items()}
                View.enter(t, value, step_of(self.fn, args, named, i, item))
                return


def _wrapped(ans: Any, viewed: _Viewed | None, late: bool) -> Any:
    """Results that are not recorded; `late` notes where, for the message of a backward that comes too late."""
    if isinstance(ans, list | tuple):
        return like_container(ans, [_wrapped_item(item, viewed, i) for i, item in enumerate(ans)])
    t = _wrapped_item(ans, viewed, None)
    if late and type(t) is Tensor:
        t._made = place()
    return t


def _wrapped_item(item: Any, viewed: _Viewed | None, number: int | None) -> Any:
    if isinstance(item, list | tuple):
        return _wrapped(item, None, False)
    if not isinstance(item, np.ndarray | np.generic | int | float | complex) or isinstance(item, bool):
        return item
    t = wrap(item)
    if viewed is not None:
        viewed(t, number)
    return t


def wrapped(value: Any) -> Any:
    """Plain results as Tensors without history, in their structure."""
    if isinstance(value, dict):
        return {key: wrapped(item) for key, item in value.items()}
    return value if type(value) is Tensor else _wrapped(value, None, False)


def _constant(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Real results are Tensors without history, whole numbers and truth values are plain."""
    args = [raw(arg) for arg in args]
    owner = getattr(fn, "__objclass__", None)
    if owner is not None and not isinstance(args[0], owner):
        number = args[0] if isinstance(args[0], np.generic | np.ndarray) else np.asarray(args[0])[()]
        fn, args = getattr(type(number), fn.__name__), [number, *args[1:]]
    ans = fn(*args, **{name: raw(value) for name, value in kwargs.items()})
    return wrap(ans) if isinstance(ans, np.ndarray | float | complex) and inexact(ans) else ans


def _without_rule(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], error: NoTemplate | None) -> Any:
    """A composition's body, or the plain function where nothing requires a gradient."""
    body = composed(fn, args, kwargs)
    if body is not None:
        from tangentx.tensor.lifting import lifted_function

        return lifted_function(body)(*args, **kwargs)
    if STATE.grad and any(t.requires_grad for t in tensors_in([list(args), dict(kwargs)])):
        name = getattr(fn, "__name__", str(fn))
        message = f"`{name}` has no derivative rule" if error is None else error.message
        hint = "write it with operations that have one, or use `x.detach()` where it is constant"
        raise refusal(NoTemplate(message, span_of(place()), hint))
    for t in tensors_in([list(args), dict(kwargs)]):
        root_of(t)._exported = True
    ans = fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
    return _wrapped(_read_only(ans), None, False)


def _read_only(ans: Any) -> Any:
    """Arrays that may share memory with a Tensor, which would not know of a write: they are not written."""
    if isinstance(ans, list | tuple):
        return like_container(ans, [_read_only(item) for item in ans])
    if type(ans) is np.ndarray:
        ans = ans.view()
        ans.flags.writeable = False
    return ans
