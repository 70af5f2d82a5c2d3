"""Unwraps Tensor arguments to plain data where nothing is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx.tensor.calls.stub_texts import current
from tangentx.tensor.core.containers import LASTING, ROWS, WITHOUT
from tangentx.tensor.core.tensor import Tensor


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
