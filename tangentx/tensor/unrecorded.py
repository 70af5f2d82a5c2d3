"""Calls of operations where nothing is recorded, and their results as Tensors: views as views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.holding import CONTAINERS, ROWS, holds_tensor, like_container, raw, tensors_in
from tangentx.tensor.operation import kept
from tangentx.tensor.places import place
from tangentx.tensor.rules import Rule
from tangentx.tensor.storage import Step, View


def unrecorded(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The results of a call where nothing is recorded: as Tensors, views as views."""
    late = False
    data: list[Any] = []
    for value in args:
        if type(value) is Tensor:
            if value._view is not None:
                value._view.refresh(value)
            late = late or value._needs
            value = value._data
        elif isinstance(value, CONTAINERS) and holds_tensor(value):
            late = late or any(t.requires_grad for t in tensors_in(value))
            value = like_container(value, [raw(item) for item in value]) if type(value) in ROWS else raw(value)
        data.append(value)
    ans = fn(*data, **{name: raw(value) for name, value in kwargs.items()}) if kwargs else fn(*data)
    if type(ans) is not np.ndarray:
        return results(ans, Viewed(rule, fn, args, kwargs) if rule.may_view else None, late)
    t = wrap(ans)
    if rule.may_view and (ans.base is not None or id(ans) in map(id, data)):
        Viewed(rule, fn, args, kwargs)(t, None)
    if late:
        t._made = place()
    return t


class Viewed:
    """Makes results that share memory with an argument views of that Tensor."""

    __slots__ = ("args", "fn", "held", "kwargs", "rule")

    def __init__(self, rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.rule, self.fn, self.args, self.kwargs = rule, fn, args, kwargs
        self.held: dict[int, tuple[Any, Any]] = {}

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
                View.enter(t, value, Step, (self.fn, *self._others(i), i, item))
                return

    def _others(self, position: int) -> tuple[Any, Any]:
        """What the call was given beside the viewed argument, which nobody writes; one list for all results."""
        if position not in self.held:
            by_place = tuple(kept(raw(arg)) if j != position else None for j, arg in enumerate(self.args))
            self.held[position] = by_place, {name: kept(raw(arg)) for name, arg in self.kwargs.items()}
        return self.held[position]


def results(ans: Any, viewed: Viewed | None, late: bool) -> Any:
    """Results that are not recorded; `late` notes where, for the message of a backward that comes too late."""
    if isinstance(ans, list | tuple):
        return like_container(ans, [_wrapped_item(item, viewed, i) for i, item in enumerate(ans)])
    t = _wrapped_item(ans, viewed, None)
    if late and type(t) is Tensor:
        t._made = place()
    return t


def _wrapped_item(item: Any, viewed: Viewed | None, number: int | None) -> Any:
    if type(item) is not np.ndarray:
        if isinstance(item, list | tuple):
            return results(item, None, False)
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
    return value if type(value) is Tensor else results(value, None, False)
