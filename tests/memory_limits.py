"""Calls of each kind of public entry with so much memory left: each is right or raises MemoryError, and the next is
right once there is memory again.

``python -m tests.memory_limits NAME [NAME ...] [--left KILOBYTES]`` does it in this process, where `faulthandler` tells
of what ends it. The status is the number of entries whose outcome is another one.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import resource
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.harness.entries import FRESH, KNOWN, same
from tests.harness.surroundings import surroundings

PAGE = 4096
CALLS = 3
"""How often an entry is called at each limit: what one call leaves half done another one finds."""


def limited(entry: Any, left: int) -> list[Any]:
    """What so many calls give while no more than `left` bytes can be had from the system."""
    gc.collect()
    found: list[Any] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
    resource.setrlimit(resource.RLIMIT_AS, (size + left, hard))
    ballast = _ballast()
    try:
        for _ in range(CALLS):
            try:
                found.append(entry())
            except MemoryError:
                found.append(MemoryError)
            except BaseException as error:
                found.append(error)
    finally:
        del ballast[:]
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return found


def _ballast() -> list[Any]:
    """Fills what the allocator has from before, which is not counted when it is given again."""
    held: list[Any] = [None] * 100_000
    for at in range(len(held)):
        try:
            held[at] = bytearray(1 << 15)
        except MemoryError:
            break
    return held


def _with_frames(room: int) -> Any:
    """A function that calls another one where there is room, about so many words of it, for the frames of all calls
    below.

    Where Python 3.11 finds none, it loses a reference to what it calls and raises nothing (a SystemError, or a
    segmentation fault: ten lines that recurse at a limit of memory show it, and no library). A function of so many
    variables has a frame in a block of its own, twice as large as it needs.
    """
    names = "=".join(f"v{k}" for k in range(room + 500))
    space: dict[str, Any] = {}
    exec(f"def roomy(run):\n    if run is None:\n        {names} = None\n    return run()", space)
    return space["roomy"]


ROOM = 1 << 16
WITH_FRAMES = _with_frames(ROOM)
INTERPRETERS = (
    "error return without exception set",
    "returned NULL without setting an exception",
    "returned a result with an exception set",
)
"""How Python says that something written in C has failed, and has not said why: no Python code can be the cause."""


def of_the_interpreter(error: Any) -> bool:
    """Whether this is what Python 3.11 makes of a frame for which it has found no room."""
    return sys.version_info < (3, 12) and type(error) is SystemError and str(error).endswith(INTERPRETERS)


def _outcomes(entry: Any, left: int) -> list[Any]:
    """What the calls give. Where Python 3.11 has lost a frame all the same, they are made again with twice the room,
    which a fault of ours would outlast."""
    found = WITH_FRAMES(lambda: limited(entry, left))
    for times in (1, 2, 3):
        if not any(map(of_the_interpreter, found)):
            break
        found = _with_frames(ROOM << times)(lambda: limited(entry, left))
    return found


def wrong(name: str, entry: Any, left: int) -> list[str]:
    """What was neither right nor a MemoryError."""
    wanted, around = entry(), surroundings()
    outcomes = [one for one in _outcomes(entry, left) if one is not MemoryError and not _is_right(one, wanted)]
    said = [f"{name}, {left} bytes: {one!r}" for one in outcomes]
    if not same(entry(), wanted):
        said.append(f"{name}, {left} bytes: wrong afterwards")
    now = surroundings()
    return said + [f"{name}, {left} bytes: {key} is {now[key]}" for key in around if now[key] != around[key]]


def _is_right(found: Any, wanted: Any) -> bool:
    return not isinstance(found, BaseException) and same(found, wanted)


def main(names: list[str], left: list[int]) -> int:
    """Prints what was wrong; gives of how many entries."""
    warnings.simplefilter("ignore")
    faulthandler.enable()
    np.seterr(all="ignore")
    entries = {**KNOWN, **{f"{name}, new": entry for name, entry in FRESH.items()}}
    failed = 0
    for name in names or entries:
        said = [line for kilobytes in left for line in wrong(name, entries[name], 1024 * kilobytes)]
        print("\n".join(said) or f"{name}: right", flush=True)
        failed += bool(said)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--left", nargs="+", type=int, default=[0, 64, 256, 1024])
    options = parser.parse_args()
    sys.exit(main(options.names, options.left))
