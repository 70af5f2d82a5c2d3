"""Unrecorded calls of operations: arguments unwrapped, views of Tensors remaining views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS, ELSEWHERE
from tangentx.errors import place
from tangentx.tensor.calls.operation import kept
from tangentx.tensor.calls.rules import Rule
from tangentx.tensor.calls.stub_texts import current
from tangentx.tensor.core.containers import LASTING, ROWS, WITHOUT, like_container, raw, tensors_in
from tangentx.tensor.core.devices import mixed
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.writes.storage import Step, View

# Unwraps Tensor arguments to plain data where nothing is recorded.


def unwrapped(value: Any) -> tuple[Any, Any, bool, Any] | None:
    """The data of an argument, the same again where nobody can change it, whether a gradient is required, and where
    it was made without one.

    None where it may hold Tensors in another way than a row does.
    """
    kind = type(value)
    if kind is Tensor:
        return value.current, None, value._needs, value._made
    if kind in WITHOUT:
        return value, value if kind in LASTING else None, False, None
    if kind not in ROWS:
        return None
    if LASTING.issuperset(map(type, value)):
        return value, value if kind is tuple else None, False, None
    items = []
    late, made = False, None
    for item in value:
        if type(item) is Tensor:
            items.append(item.current)
            late, made = late or item._needs, made or item._made
        elif type(item) in WITHOUT:
            items.append(item)
        else:
            return None
    return items if kind is list else tuple(items), None, late, made


UNWRAPPING: dict[str, Any] = {
    "int_": int, "lasting_": LASTING, "plain_": WITHOUT, "tuple_": tuple, "unwrapped_": unwrapped,
}  # fmt: skip
"""What the lines refer to."""


def unwrapping(x: str, likely: Sequence[Any], holds: bool, otherwise: str) -> tuple[list[str], dict[str, Any]]:
    """The lines that do with the argument `x` what `unwrapped` does, and what they refer to of its own.

    They bind ``xa_`` to the data, ``xh_``, if they are to, to what lasts, make ``late_`` true, and bind ``made_`` to
    where a Tensor was made without gradient; or they go `otherwise`. Of what is like one of the `likely` values nothing
    more is asked than has to be.
    """
    other = [
        f"found_ = unwrapped_({x})",
        "if found_ is None:",
        f"    {otherwise}",
        f"{x}a_, {f'{x}h_' if holds else '_'}, needs_, where_ = found_",
        "late_ = late_ or needs_",
        "made_ = made_ or where_",
    ]
    lines: list[str] = []
    types = {f"{x}t{number}_": type(value) for number, value in enumerate(likely)}
    for name, value in zip(types, likely, strict=True):
        branch = _branch(x, value, f"{x}h_ = " if holds else "", other, otherwise)
        if branch:
            lines += [f"    {'elif' if lines else 'if'} type_({x}) is {name}:", *_indented(branch, 2)]
    lines += [*(["    else:"] if lines else []), *_indented(other, 2 if lines else 1)]
    return lines, {**types, f"{x}last_": [None]}


def _branch(x: str, value: Any, held: str, other: list[str], otherwise: str) -> list[str]:
    """The lines for arguments like this value."""
    kind = type(value)
    lasts = kind in ROWS and LASTING.issuperset(map(type, value))
    if kind is Tensor:
        lines = [*current("", x, f"{x}a_"), f"late_ = late_ or {x}._needs", f"made_ = made_ or {x}._made"]
    elif kind in LASTING:
        return [f"{x}a_ = {held}{x}"]
    elif kind in WITHOUT:
        lines = [f"{x}a_ = {x}"]
    elif kind is tuple and lasts:
        return [
            f"{x}a_ = {held}{x}",
            f"if {x} is not {x}last_[0]:",  # one that is written out in the program is the same at every call
            f"    for item_ in {x}:",
            "        if type_(item_) is not int_ and type_(item_) not in lasting_:",
            *_indented([*other, "break"], 3),
            "    else:",
            f"        {x}last_[0] = {x}",
        ]
    elif kind in ROWS:
        lines = _row(x, kind, otherwise)
    else:
        return []
    return [*([f"{held}None"] if held else []), *lines]


def _row(x: str, kind: type, otherwise: str) -> list[str]:
    """The lines for a list or tuple of Tensors."""
    return [
        "items_ = []",
        f"for item_ in {x}:",
        "    if type_(item_) is Tensor_:",
        "        late_ = late_ or item_._needs",
        "        made_ = made_ or item_._made",
        *current("        ", "item_", "item_"),
        "    elif type_(item_) not in plain_:",
        f"        {otherwise}",
        "    items_.append(item_)",
        f"{x}a_ = {'items_' if kind is list else 'tuple_(items_)'}",
    ]


def _indented(lines: Sequence[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]


# Unrecorded calls of operations, with views of Tensors remaining views.


def unrecorded(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The results of a call where nothing is recorded: as Tensors, views as views."""
    late, made = False, None
    given: list[Any] = []
    for value in (*args, *kwargs.values()):
        found = unwrapped(value)
        if found is None:
            given.append(raw(value))
            late = late or any(t.requires_grad for t in tensors_in(value))
            made = made or made_of(value)
        else:
            given.append(found[0])
            late, made = late or found[2], made or found[3]
    try:
        ans = fn(*given[: len(args)], **dict(zip(kwargs, given[len(args) :], strict=True)))
    except TypeError as error:
        raise mixed(error, *given) from None
    if type(ans) is not np.ndarray:
        return results(ans, Viewed(rule, fn, args, kwargs) if rule.may_view else None, late, made)
    t = wrap(ans)
    if rule.may_view and (ans.base is not None or id(ans) in map(id, given)):
        Viewed(rule, fn, args, kwargs)(t, None)
    t._made = place() if late else made
    return t


def made_of(values: Any) -> Any:
    """Where the first of some Tensors was made without gradient that was."""
    return next((t._made for t in tensors_in(values) if t._made is not None), None)


class Viewed:
    """Makes results that share memory with an argument views of that Tensor."""

    __slots__ = ("args", "fn", "held", "kwargs", "rule")

    def __init__(self, rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.rule, self.fn, self.args, self.kwargs = rule, fn, args, kwargs
        self.held: dict[int | str, tuple[Any, Any]] = {}

    def __call__(self, t: Tensor, item: int | None) -> None:
        ans = t._primal
        if not self.rule.may_view or type(ans) not in ARRAYS:
            return
        given: list[tuple[int | str, Any]] = [*enumerate(self.args), *self.kwargs.items()]
        for position, value in given:
            if type(value) is not Tensor or type(value._primal) is not type(ans):
                continue
            own = value._primal
            if type(ans) in ELSEWHERE:  # whose `base` may be another object each time it is asked for
                if ans is own or np.may_share_memory(ans, own):
                    View.enter(t, value, Step, (self.fn, *self._others(position), position, item))
                    return
                continue
            base = ans.base
            strided = base is not None and type(base) is not np.ndarray and np.may_share_memory(ans, own)
            if ans is own or strided or (base is not None and (base is own or base is own.base)):
                View.enter(t, value, Step, (self.fn, *self._others(position), position, item))
                return

    def _others(self, position: int | str) -> tuple[Any, Any]:
        """What the call was given beside the viewed argument, which nobody writes; one list for all results."""
        if position not in self.held:
            by_place = tuple(kept(raw(arg)) if j != position else None for j, arg in enumerate(self.args))
            by_name = {name: kept(raw(arg)) for name, arg in self.kwargs.items() if name != position}
            self.held[position] = by_place, by_name
        return self.held[position]


def results(ans: Any, viewed: Viewed | None, late: bool, made: Any = None) -> Any:
    """Results that are not recorded; `late` notes where, for the message of a backward that comes too late.

    `made` is where an argument was made without gradient: so are they.
    """
    return _wrapped(ans, viewed, None, place() if late else made)


def _wrapped(ans: Any, viewed: Viewed | None, number: int | None, where: Any) -> Any:
    """One result, or those of a list or tuple, of which the first have their number as views."""
    if isinstance(ans, list | tuple):
        inside = viewed if number is None else None
        return like_container(ans, [_wrapped(item, inside, i, where) for i, item in enumerate(ans)])
    plain = isinstance(ans, np.ndarray | np.generic | int | float | complex) or type(ans) in ELSEWHERE
    if not plain or isinstance(ans, bool):
        return ans
    t = wrap(ans)
    t._made = where
    if viewed is not None:
        viewed(t, number)
    return t


def wrapped(value: Any, made: Any = None) -> Any:
    """Plain results as Tensors without history, in their structure; `made` is where, if that was without gradient."""
    if isinstance(value, dict):
        return {key: wrapped(item, made) for key, item in value.items()}
    return value if type(value) is Tensor else results(value, None, False, made)
