"""A digest of tangentx's own source, so that another version's cached text is never used."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterator

from tangentx.common import cache_files

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@functools.cache
def digest() -> str:
    """A digest of all of our own source files.

    To read them takes longer than to find a text that was kept. So what they come to is kept, too, by the sizes and
    times of all: the system notes the time of each change of a file, and nobody can set it.
    """
    files = sorted(_files(_HOME))
    stamp = hashlib.sha256(repr((_HOME, files)).encode()).hexdigest()[:40]
    place = cache_files.chosen()
    path = None if place is None or not cache_files.made(place) else os.path.join(place, f"own-{stamp}")
    known = None if path is None else cache_files.read(path)
    if known is not None:
        return known.decode()
    found = _content([name for name, *_ in files])
    if path is not None:
        with contextlib.suppress(OSError):
            cache_files.write(path, found.encode())
    return found


def _content(files: list[str]) -> str:
    whole = hashlib.sha256()
    for name in files:
        with open(name, "rb") as file:
            text = file.read()
        whole.update(f"{os.path.relpath(name, _HOME)} {len(text)} ".encode() + text)
    return whole.hexdigest()


def _files(folder: str) -> Iterator[tuple[str, int, int, int, int]]:
    """All source files in a folder and those in it, with size, times of change and number."""
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            found = entry.stat()
            yield entry.path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _files(entry.path)
