"""Source text shared by the stubs, and its compilation to functions.

What they refer to has names that end with an underscore, so that it is no parameter of NumPy's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tangentx.common import recursion
from tangentx.tensor.core.tensor import Tensor, blank
from tangentx.tensor.core.user_lines import PLACE_NAMES

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep  # the frames of what is written here are ours
_NAMES = {"Tensor_": Tensor, "blank_": blank, "type_": type, **PLACE_NAMES}


def fresh(t: str, data: str) -> list[str]:
    """The lines that make `t` a Tensor of the data without history, as `core.wrap` does."""
    return [
        f"    {t} = blank_()",
        f"    {t}._primal = {data}",
        f"    {t}._node = {t}._view = {t}._content = {t}._made = None",
        f"    {t}._slot = 0",
        f"    {t}._needs = False",
    ]


def current(indent: str, x: str, data: str) -> list[str]:
    """The lines that give the data of the Tensor `x` as they are now."""
    return [
        f"{indent}if {x}._view is not None:",
        f"{indent}    {x}._view.refresh({x})",
        f"{indent}{data} = {x}._primal",
    ]


def compiled(name: str, lines: Sequence[str], names: Mapping[str, Any]) -> dict[str, Any]:
    """What a text binds that refers to these names."""
    space = {**_NAMES, **names}
    exec(recursion.compiled("\n".join(lines) + "\n", f"{_HERE}<{name}>"), space)
    return space
