"""How many bytes a derivative records, and holds from its forward to its reverse sweep, in one call: found by a run.

The text is loaded once more, with what it appends to tapes weighed on the way, and at the head of each reverse sweep
the arrays under names that it reads. Ordinary calls run the text as it is printed, and pay nothing for this.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from tangentx.arrays.structures import fields
from tangentx.common.float_events import under_events

REVERSE = re.compile(r" *# ---- reverse sweep ----")
_TAPES = re.compile(r"(\w+_)?tape(_\d*)*")
_RECORD, _HOLD = "record__", "hold__"


@dataclass
class Sizes:
    """Bytes by the function of the text and the name: of each part of what is put on a tape, and of arrays held."""

    taped: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    held: dict[tuple[str, str], int] = field(default_factory=dict)

    def of_tape(self, functions: list[str], tape: str, part: int | None) -> int | None:
        """What is on a tape, or in one part of all that is on it; None where nothing was put there."""
        found = [self.taped[name, tape] for name in functions if (name, tape) in self.taped]
        if not found:
            return None
        return sum(sum(parts.values()) if part is None else parts.get(part, 0) for parts in found)


def sizes_of(function: Any, source: str, values: tuple[Any, ...]) -> Sizes | None:
    """What the derivative records of these values; None where something else than its text runs."""
    plain = getattr(function, "plain", function)
    if not isinstance(plain, FunctionType):
        return None
    found = Sizes()
    given = {id(_owner(array)) for array in _leaves(values) if isinstance(array, np.ndarray)}

    def record(name: str, tape: str, value: Any) -> Any:
        sizes = found.taped.setdefault((name, tape), {})
        for part, each in enumerate(value if type(value) is tuple else (value,)):
            sizes[part] = sizes.get(part, 0) + _bytes(each)
        return value

    def hold(name: str, names: tuple[str, ...], local: dict[str, Any]) -> None:
        seen = set(given)
        for each in names:
            array = local.get(each)
            if isinstance(array, np.ndarray) and id(_owner(array)) not in seen:
                seen.add(id(_owner(array)))
                found.held[name, each] = found.held.get((name, each), 0) + array.nbytes

    space = {**plain.__globals__, _RECORD: record, _HOLD: hold}
    exec(compile(_weighing(source), plain.__code__.co_filename, "exec", dont_inherit=True), space)
    weighed = space[plain.__name__]
    under_events(lambda: weighed(*values), all="ignore")
    return found


def _weighing(source: str) -> ast.Module:
    """The text with calls in it that tell what is recorded, and what is held."""
    tree = ast.parse(source)
    lines = [number for number, line in enumerate(source.splitlines(), 1) if REVERSE.fullmatch(line)]
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and _is_record(node):
                    tape = ast.Constant(node.func.value.id)  # type: ignore[attr-defined]
                    told = [ast.Constant(function.name), tape, *node.args]
                    node.args = [ast.Call(ast.Name(_RECORD, ast.Load()), told, [])]
            for start in lines:
                _tell_held(function, start)
    return ast.fix_missing_locations(tree)


def _is_record(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=tape), attr="append"):
            return bool(_TAPES.fullmatch(tape)) and len(call.args) == 1
    return False


def _tell_held(function: ast.FunctionDef, start: int) -> None:
    """Has the arrays told that the reverse sweep behind a line reads under names of the forward sweep."""
    place = next((k for k, s in enumerate(function.body) if s.lineno > start), 0)
    if not place or function.lineno > start:
        return
    names = _held_names(function, place)
    call = ast.Call(ast.Name("locals", ast.Load()), [], [])
    listed = ast.Tuple([ast.Constant(name) for name in names], ast.Load())
    told = ast.Call(ast.Name(_HOLD, ast.Load()), [ast.Constant(function.name), listed, call], [])
    function.body.insert(place, ast.Expr(told))


def _held_names(function: ast.FunctionDef, place: int) -> list[str]:
    """The names that are bound before a place of a function, and read after it before they are bound anew."""
    before = {
        node.id
        for s in function.body[:place]
        for node in ast.walk(s)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    found: dict[str, None] = {}
    _read_first(function.body[place:], before, found)
    return list(found)


def _read_first(body: list[ast.stmt], old: set[str], found: dict[str, None]) -> None:
    """Adds those of `old` that a block reads before it binds them anew; takes from `old` what it certainly binds."""
    for s in body:
        blocks = [getattr(s, name) for name in ("body", "orelse") if hasattr(s, name)]
        own = [n for part in ast.iter_child_nodes(s) if not isinstance(part, ast.stmt) for n in ast.walk(part)]
        names = [node for node in own if isinstance(node, ast.Name)]
        again = s.target if isinstance(s, ast.AugAssign) else None
        found.update({n.id: None for n in names if n.id in old and (isinstance(n.ctx, ast.Load) or n is again)})
        if isinstance(s, ast.For):
            _read_first(s.body, old - {n.id for n in names if isinstance(n.ctx, ast.Store)}, found)
        elif blocks:
            for block in blocks:
                _read_first(block, set(old), found)
        else:
            old -= {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _owner(array: Any) -> Any:
    """What has the memory of an array."""
    while isinstance(base := getattr(array, "base", None), np.ndarray):
        array = base
    return array


def _leaves(value: Any) -> Iterator[Any]:
    """What is in a structure, once."""
    todo, seen = [value], set[int]()
    while todo:
        each = todo.pop()
        if each is None or isinstance(each, bool | int | float | complex | str | np.ndarray | np.generic):
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            inside = each.values() if isinstance(each, dict) else each if isinstance(each, tuple | list) else None
            todo += (fields(each) or {}).values() if inside is None else inside


def _bytes(value: Any) -> int:
    """Those of numbers, and of arrays whoever has their memory; in structures those of what is in them."""
    found = 0
    for each in _leaves(value):
        if isinstance(each, np.ndarray | np.generic):
            found += each.nbytes
        elif isinstance(each, int | float | complex) and not isinstance(each, bool):
            found += sys.getsizeof(each)
    return found
