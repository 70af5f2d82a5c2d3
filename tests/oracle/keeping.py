"""Programs as files, text and arguments: what failed once stays as it was, whatever the grammar draws from now on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from .grammar import Program
from .screen import leaves

FAILED = Path(__file__).with_name("failed")
MARK = "\n# ---- arguments ----\n"


def kept() -> list[Path]:
    """The files of programs that failed once, in order."""
    return sorted(FAILED.glob("*.py"))


def read(path: Path) -> Program:
    """The program of a file."""
    source, _, arguments = path.read_text().partition(MARK)
    found: dict[str, Any] = {"np": np}
    exec(compile(arguments, str(path), "exec"), found)
    return Program(source, tuple(found["POINTS"]), found["WRT"], Counter())


def written(program: Program) -> str:
    """The text of the file: arrays that lie in one memory, or are one object, do and are so in it too."""
    lines: list[str] = []
    points: list[str] = []
    for point in program.points:
        arrays = {id(x): x for x in leaves(point) if isinstance(x, np.ndarray)}
        names = {key: f"a{len(points)}_{k}" for k, key in enumerate(arrays)}
        for k, group in enumerate(_together(list(arrays.values()))):
            lines += _in_one_memory(f"m{len(points)}_{k}", [(names[id(x)], x) for x in group])
        points.append(_spelled(point, names))
    body = "".join(f"    {point},\n" for point in points)
    return f"{program.source}{MARK}WRT = {program.wrt!r}\n" + "\n".join(lines) + f"\nPOINTS = [\n{body}]\n"


def _together(arrays: list[Any]) -> Iterator[list[Any]]:
    """The arrays, those together whose stretches of memory meet."""
    held, end = list[Any](), 0
    for x in sorted(arrays, key=byte_bounds):
        low, high = byte_bounds(x)
        if held and low >= end:
            yield held
            held = []
        held, end = [*held, x], max(high, end) if held else high
    if held:
        yield held


def _in_one_memory(memory: str, named: list[tuple[str, Any]]) -> Iterator[str]:
    (name, first), *others = named
    if not others and first.flags.c_contiguous:
        yield f"{name} = np.array({first.tolist()!r})"
        return
    low = min(byte_bounds(x)[0] for _, x in named)
    size = (max(byte_bounds(x)[1] for _, x in named) - low) // first.itemsize
    yield f"{memory} = np.zeros({size}, np.{first.dtype})"
    for name, x in named:
        offset = x.__array_interface__["data"][0] - low
        yield f"{name} = np.ndarray({x.shape}, {memory}.dtype, {memory}, {offset}, {x.strides})"
        yield f"{name}[...] = {x.tolist()!r}"


def _spelled(x: Any, names: dict[int, str]) -> str:
    if isinstance(x, np.ndarray):
        return names[id(x)]
    if isinstance(x, dict):
        return "{" + ", ".join(f"{key!r}: {_spelled(item, names)}" for key, item in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        items = ", ".join(_spelled(item, names) for item in x)
        return f"[{items}]" if isinstance(x, list) else f"({items},)"
    return repr(x)
