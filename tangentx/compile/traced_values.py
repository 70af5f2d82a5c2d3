"""Records the values of local variables while the user's functions run, for checked mode.

Python tells of each instruction, before it is run, in the frames that are asked for: after one that binds a local name,
or stores into what one holds, the value is noted.
"""

from __future__ import annotations

import dis
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from tangentx.arrays.sweep_checks import MOST, History, Place

T = TypeVar("T")
_BINDING = {"STORE_FAST": (0,), "STORE_FAST_LOAD_FAST": (0,), "STORE_FAST_STORE_FAST": (0, 1)}
_STORED = re.compile(r"([^\W\d]\w*)\s*\[")


def codes_of(functions: Iterable[Any]) -> frozenset[types.CodeType]:
    """The code of the functions, and of those that are made inside."""
    found: set[types.CodeType] = set()
    todo = [f.__code__ for f in functions if isinstance(f, types.FunctionType)]
    while todo:
        code = todo.pop()
        if code not in found:
            found.add(code)
            todo += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return frozenset(found)


def traced(codes: frozenset[types.CodeType], run: Callable[[], T]) -> tuple[T, History]:
    """What `run` gives, and what code of these binds meanwhile: nothing where something else traces already."""
    history = History()
    if sys.gettrace() is not None:
        return run(), history
    try:
        sys.settrace(_tracer(codes, history))
        return run(), history
    finally:
        sys.settrace(None)


def _tracer(codes: frozenset[types.CodeType], history: History) -> Callable[..., Any]:
    bound: dict[types.FrameType, tuple[Place, ...]] = {}

    def inside(frame: types.FrameType, event: str, arg: Any) -> Any:
        for place in bound.pop(frame, ()):
            if place[2] in frame.f_locals:
                history.told(place, frame.f_locals[place[2]])
        if event == "opcode" and history.notes <= MOST:
            found = _places(frame.f_code).get(frame.f_lasti)
            if found is not None:
                bound[frame] = found
        return inside

    def called(frame: types.FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in codes or history.notes > MOST:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return inside

    return called


@lru_cache(maxsize=1000)
def _places(code: types.CodeType) -> dict[int, tuple[Place, ...]]:
    """By the place of an instruction, where and what it binds: names that no other function shares, and of which the
    line binds no second one, for a place does not say which of the two it is."""
    shared = {*code.co_cellvars, *code.co_freevars}
    found: dict[int, tuple[Place, ...]] = {}
    columns: dict[Place, set[int | None]] = {}
    for instruction in dis.get_instructions(code):
        at = instruction.positions
        names = [name for name in _names(code, instruction) if name not in shared]
        if names and at is not None and at.lineno is not None:
            found[instruction.offset] = tuple((code.co_filename, at.lineno, name) for name in names)
            for place in found[instruction.offset]:
                columns.setdefault(place, set()).add(at.col_offset)
    return {at: tuple(place for place in places if len(columns[place]) == 1) for at, places in found.items()}


def _names(code: types.CodeType, instruction: dis.Instruction) -> list[str]:
    given = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
    if instruction.opname in _BINDING:
        return [given[k] for k in _BINDING[instruction.opname]]
    at = instruction.positions
    if instruction.opname != "STORE_SUBSCR" or at is None or at.lineno is None or at.lineno != at.end_lineno:
        return []
    text = linecache.getline(code.co_filename, at.lineno).encode()[at.col_offset : at.end_col_offset].decode()
    match = _STORED.match(text)
    return [match[1]] if match is not None and text.count("[") == 1 and match[1] in code.co_varnames else []
