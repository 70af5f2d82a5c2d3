"""Programs that failed once are right now; a file holds all of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .grammar import Values
from .harness import check
from .keeping import kept, read, written
from .screen import judge, leaves
from .survey import BAD, program_of


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.share(1)
@pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
def test_programs_that_failed_once(path: Path) -> None:
    program = read(path)
    judge(program, program.points[0], 0)
    for off, order2 in (((), True), ("all", False)):
        outcome = check(program, order2, off, pull=True)
        assert outcome.status not in BAD, outcome.details


def test_there_are_some() -> None:
    assert len(kept()) >= 2


def test_a_program_is_the_same_in_a_file(tmp_path: Path) -> None:
    path, layouts = tmp_path / "program.py", set()
    for seed in range(60):
        program = program_of(seed)
        path.write_text(written(program))
        again = read(path)
        assert (again.source, again.wrt) == (program.source, program.wrt)
        assert list(map(portrait, again.points)) == list(map(portrait, program.points))
        assert list(map(shared, again.points)) == list(map(shared, program.points))
        layouts |= {portrait(x)[1] for x in leaves(program.points) if isinstance(x, np.ndarray)}
    assert len(layouts) > 10


def portrait(x: Any) -> Any:
    """A structure with the dtypes, strides and values of its arrays."""
    if isinstance(x, np.ndarray):
        return x.dtype.str, x.strides, x.tolist()
    if isinstance(x, dict):
        return [(key, portrait(item)) for key, item in x.items()]
    return (type(x), [portrait(item) for item in x]) if isinstance(x, (list, tuple)) else x


def shared(point: Values) -> list[tuple[bool, int]]:
    """Of each two arrays that share memory whether they are one object, and how far one lies behind the other."""
    arrays = [x for x in leaves(point) if isinstance(x, np.ndarray)]
    places = [x.__array_interface__["data"][0] for x in arrays]
    pairs = [(i, j) for i, x in enumerate(arrays) for j, y in enumerate(arrays) if np.shares_memory(x, y)]
    return [(arrays[i] is arrays[j], places[i] - places[j]) for i, j in pairs]
