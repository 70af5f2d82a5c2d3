"""Names at the top of a generated text: imports, outside objects, and captured variables without a path."""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, CellType, ModuleType
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_library, library_called, path_of
from tangentx.common import naming
from tangentx.common.free_variables import MISSING, static
from tangentx.common.naming import Names, is_identifier
from tangentx.ir.nodes import Ext, Function

# Captured variables that generated text reads, where no import can reach them.


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


# Names at the top of a generated text: imports, and how each outside object is spelled.

# Objects of these packages are spelled by where they live, whatever name the user's program has for them.
_KNOWN = ("builtins", "numpy", "math", "cmath", "operator", "scipy", "tangentx")
_PLAIN = (bool, int, str, type(None))  # constants of these print as what they are


class Scope:
    """The module-level names of one text; `taken` are the names that it must leave alone.

    `functions` gives the printed name of each function of the text, `objects` what has to be put into the
    namespace because no import reaches it, `reads` the members of libraries that the text reads when it runs.
    """

    def __init__(self, taken: Iterable[str] = (), functions: Mapping[Function, str] | None = None) -> None:
        self.functions: dict[Function, str] = dict(functions or {})
        self._user = set(taken) | set(self.functions.values())
        self._names = Names(self._user)
        self.objects: dict[str, object] = {}
        self.reads: dict[tuple[str, tuple[str, ...]], tuple[Any, str, Any]] = {}
        self._modules: dict[str, str] = {}
        self._members: dict[tuple[str, str], str] = {}
        self._held: dict[int, str] = {}
        self._spelled: dict[int, tuple[Any, tuple[str, tuple[str, ...]] | None]] = {}

    def fresh(self, stem: str) -> str:
        """A name like `stem` that nothing has; it is taken from now on."""
        return self._names.fresh(stem)

    def __contains__(self, name: str) -> bool:
        """Whether nothing new may be called `name`."""
        return name in self._names

    def module(self, module: str) -> ast.expr:
        """The module `module`, imported under its last name."""
        if module not in self._modules:
            alias = library_called(module).alias if is_library(module) else module.rpartition(".")[2]
            self._modules[module] = self.fresh(alias)
        return _name(self._modules[module])

    def member(self, module: str, name: str) -> ast.expr:
        """`name` of `module`, imported by itself; a builtin needs no import unless its name is taken."""
        if (module, name) not in self._members:
            free = module == "builtins" and name not in self._user
            self._members[module, name] = name if free else self.fresh(name)
        return _name(self._members[module, name])

    def held(self, stem: str, value: object) -> ast.expr:
        """An object that the namespace holds under a name like `stem`."""
        if id(value) not in self._held:
            stem = stem if is_identifier(stem) else "held"
            self._held[id(value)] = self.fresh(stem)
            self.objects[self._held[id(value)]] = value
        return _name(self._held[id(value)])

    def spelled(self, value: Any) -> ast.expr:
        """`value` by its import path, or held in the namespace where it has none."""
        found = self._spell(value)
        if found is None:
            return self.held(str(getattr(value, "__name__", "held")).rpartition(".")[2], value)
        module, chain = found
        return self._reach(module, chain)

    def external(self, atom: Ext) -> ast.expr:
        """An object of the user's world, read where the user's program reads it."""
        found = self._spell(atom.value)
        if found is not None and (found[0].partition(".")[0] in _KNOWN or is_library(found[0])):
            return self._reach(*found)
        kind, *rest = atom.path if atom.path else ("",)
        if kind == "global" and rest and hasattr(atom.home, "__globals__"):
            return self._global(atom.home.__globals__, tuple(rest))
        if kind == "closure" and rest and getattr(atom.home, "__closure__", None):
            return chained(self._cells(atom.home), tuple(rest))
        if kind == "builtin" and len(rest) == 1:
            return self.member("builtins", rest[0])
        if kind == "object" and rest and isinstance(atom.home, type):  # an attribute of a class
            owner = self._spell(atom.home)
            if owner is not None:
                return chained(self._reach(*owner), tuple(rest))
        if kind == "object" and type(atom.value) in _PLAIN:
            return ast.Constant(atom.value)
        return self.held(atom.name.rpartition(".")[2], atom.value)

    def import_lines(self) -> list[str]:
        """The import statements, in a fixed order."""
        plain = [_import(module, alias) for module, alias in sorted(self._modules.items())]
        grouped: dict[str, list[str]] = {}
        for (module, name), alias in sorted(self._members.items()):
            if module != "builtins" or name != alias:
                grouped.setdefault(module, []).append(name if name == alias else f"{name} as {alias}")
        return plain + [f"from {module} import {', '.join(names)}" for module, names in grouped.items()]

    def _spell(self, value: Any) -> tuple[str, tuple[str, ...]] | None:
        if id(value) not in self._spelled:
            self._spelled[id(value)] = (
                value,
                _elsewhere(value) or spell(value),
            )  # holding the object keeps its id its own
        return self._spelled[id(value)][1]

    def _reach(self, module: str, chain: tuple[str, ...]) -> ast.expr:
        if module.startswith("numpy."):
            module, chain = "numpy", (*module.split(".")[1:], *chain)
        package = module.partition(".")[0]
        if chain and package in ("builtins", "tangentx") and not is_library(module):
            return chained(self.member(module, chain[0]), chain[1:])
        if package in _KNOWN:
            self._note(module, chain)
        return chained(self.module(module), chain)

    def _note(self, module: str, chain: tuple[str, ...]) -> None:
        """Notes the first member on the way that is no module: another may be put in its place."""
        owner: Any = sys.modules[module]
        for part in chain:
            value = static(owner, part)
            if value is MISSING:
                return
            if not isinstance(value, ModuleType):
                self.reads[module, chain] = (owner, part, value)
                return
            owner = value

    def _global(self, table: dict[str, Any], chain: tuple[str, ...]) -> ast.expr:
        module, found = str(table.get("__name__", "")), table.get(chain[0])
        # `np.pi` reads better than `flight.np.pi`, and means the same; likewise for the user's other modules.
        if isinstance(found, ModuleType) and len(chain) > 1 and importable(found.__name__, vars(found)):
            return self._reach(found.__name__, chain[1:])
        if importable(module, table):
            return chained(self.module(module), chain)
        return chained(self._globals(module, table), chain)

    def _cells(self, home: Any) -> ast.expr:
        return self._proxy(home, f"{home.__name__}_free", lambda: Cells(home))

    def _globals(self, module: str, table: Mapping[str, Any]) -> ast.expr:
        return self._proxy(table, f"{module.rpartition('.')[2].strip('_')}_globals", lambda: Globals(table))

    def _proxy(self, key: object, stem: str, make: Any) -> ast.expr:
        if id(key) not in self._held:
            stem = stem if is_identifier(stem) else "free"
            self._held[id(key)] = self.fresh(stem)
            self.objects[self._held[id(key)]] = make()
        return _name(self._held[id(key)])


def _elsewhere(value: Any) -> tuple[str, tuple[str, ...]] | None:
    """As `spell`, of a library of arrays other than NumPy, or a function of one."""
    found = path_of(value)
    return None if found is None else (found[0].module, found[1])


def importable(module: str, table: Mapping[str, Any] | None = None) -> bool:
    """Whether an import of `module` gives the module whose globals are `table` (any, where None)."""
    found = sys.modules.get(module)
    if found is None or module == "__main__" or not all(map(is_identifier, module.split("."))):
        return False
    if table is not None and vars(found) is not table:
        return False
    parent, _, last = module.rpartition(".")
    return not parent or getattr(sys.modules.get(parent), last, found) is found


def spell(value: Any) -> tuple[str, tuple[str, ...]] | None:
    """(module, chain of attributes) at which an import finds `value`, or None."""
    if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, np.ufunc | type):
        owner = spell(value.__self__)  # np.add.at, dict.fromkeys
        return None if owner is None else (owner[0], (*owner[1], value.__name__))
    found = naming.spell(value)
    if found is None or not importable(found.module):
        return None
    chain = tuple(found.chain.split(".")) if found.chain else ()
    return (found.module, chain) if all(map(is_identifier, chain)) else None


def chained(base: ast.expr, chain: tuple[str, ...]) -> ast.expr:
    """``base.a.b`` for the chain (a, b)."""
    for part in chain:
        base = ast.Attribute(base, part, ast.Load())
    return base


def _import(module: str, alias: str) -> str:
    if module == alias:
        return f"import {module}"
    parent, _, last = module.rpartition(".")
    if parent and last == alias and hasattr(importlib.import_module(parent), last):
        return f"from {parent} import {last}"
    return f"import {module} as {alias}"


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())
