"""Captured variables that generated text reads, where no import can reach them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import CellType
from typing import Any


class Cells:
    """The closure cells of one function as attributes; each access reads the cell anew.

    Raises NameError for a cell that is empty, as the function itself would.
    """

    __slots__ = ("__table",)

    def __init__(self, home: Any) -> None:
        table = dict(zip(home.__code__.co_freevars, home.__closure__ or (), strict=True))
        object.__setattr__(self, "_Cells__table", table)

    def __getattribute__(self, name: str) -> Any:
        # Not __getattr__: a cell may have any name, even that of an attribute of every object.
        table: dict[str, CellType] = object.__getattribute__(self, "_Cells__table")
        if name not in table:
            return object.__getattribute__(self, name)
        try:
            return table[name].cell_contents
        except ValueError:
            message = f"cannot access free variable {name!r} where it is not associated with a value in enclosing scope"
            raise NameError(message, name=name) from None


class Globals:
    """A module's global names as attributes, for a module that cannot be imported; each access looks anew.

    Raises NameError for a name that is neither global nor builtin.
    """

    __slots__ = ("__table",)

    def __init__(self, table: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_Globals__table", table)

    def __getattribute__(self, name: str) -> Any:
        table: Mapping[str, Any] = object.__getattribute__(self, "_Globals__table")
        if name in table:
            return table[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        if name.startswith("__") and name.endswith("__"):
            return object.__getattribute__(self, name)
        raise NameError(f"name {name!r} is not defined", name=name)


def is_of(held: object, home: Any) -> bool:
    """Whether what a text holds are the cells of a function, or the global names of its module."""
    if isinstance(held, Globals):
        return object.__getattribute__(held, "_Globals__table") is home.__globals__
    mine: dict[str, CellType] = object.__getattribute__(held, "_Cells__table")
    others = dict(zip(home.__code__.co_freevars, home.__closure__ or (), strict=True))
    return mine.keys() == others.keys() and all(mine[name] is others[name] for name in mine)
