"""Cache files: written atomically, verified by digest, in a directory that nobody else can write to.

What a file holds stands before a digest of it, so that one that was cut off or changed is known; it is written under
another name first, and nothing is read that is not the user's own.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import Any

DIGEST = hashlib.sha256().digest_size
_chosen: list[str | None] = []
"""One item where `tx.cache` was called: the directory, or None for none."""


def choose(path: str | os.PathLike[str] | None) -> None:
    """Keeps texts in a directory from now on, or with None nowhere. Raises OSError for one that is not to be used."""
    if path is not None:
        path = os.path.abspath(os.path.expanduser(os.fspath(path)))
        os.makedirs(path, mode=0o700, exist_ok=True)
        if not is_own(path):
            raise PermissionError(f"{path} is another user's, or others can write it: choose another directory")
    _chosen[:] = [path]


def chosen() -> str | None:
    """The directory that the user has asked for, by `tx.cache` or ``$TANGENTX_CACHE``; it may not be usable."""
    if _chosen:
        return _chosen[0]
    given = os.environ.get("TANGENTX_CACHE")
    return os.path.expanduser(given) if given else None


def directory() -> str:
    """The directory asked for, or the user's own for caches, or where neither can be used one of this process alone."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = chosen() or os.path.join(home, "tangentx")
    return path if made(path) else private()


def made(path: str) -> bool:
    """Makes a directory where there is none; whether it is the user's, and nobody else can write it."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError:
        return False
    return is_own(path)


@functools.cache
def private() -> str:
    """A directory of this process alone, where the other one cannot be trusted or made."""
    import shutil
    import tempfile

    found = tempfile.mkdtemp(prefix="tangentx-")
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


def is_own(path: str) -> bool:
    """Whether a file or directory is there, is the user's, and nobody else can write it."""
    try:
        return _is_users(os.lstat(path))
    except OSError:
        return False


def _is_users(found: Any) -> bool:
    if stat.S_ISLNK(found.st_mode):
        return False
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return mine and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def digest(content: bytes) -> bytes:
    """What stands behind a content, by which one that was cut off or changed is known."""
    return hashlib.sha256(content).digest()


def read(path: str) -> bytes | None:
    """What was written; None where there is nothing, or not the whole of it, or what another user may have written."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(number, "rb") as file:
            if not _is_users(os.fstat(number)):
                return None
            found = file.read()
    except OSError:
        return None
    content = found[:-DIGEST]
    return content if digest(content) == found[-DIGEST:] else None


def write(path: str, content: bytes) -> None:
    """Puts a content where `path` says, at once; other processes find the old one, if there was one, until then. Raises
    OSError."""
    import tempfile

    number, name = tempfile.mkstemp(prefix=".", dir=os.path.dirname(path))  # for nobody else to read
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content + digest(content))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def bound(folder: str, limit: int) -> None:
    """Removes the oldest files in a folder and in those in it, until the rest have `limit` bytes at most. Other
    processes may do so at the same time, or read and write there: what one has removed, another does not find."""
    total = 0
    for _, size, path in sorted(_files(folder), reverse=True):
        total += size
        if total > limit:
            with contextlib.suppress(OSError):
                os.unlink(path)
            with contextlib.suppress(OSError):  # there are others in it
                os.rmdir(os.path.dirname(path))


def _files(folder: str) -> Iterator[tuple[int, int, str]]:
    """When each file in a folder and in those in it was written, its size and its path."""
    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                found = os.lstat(file)
                yield found.st_mtime_ns, found.st_size, file
