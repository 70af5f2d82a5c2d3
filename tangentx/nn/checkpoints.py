"""Files of arrays that are never half written: a new one takes the place of the old one when it is whole."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tangentx.arrays.libraries import to_host


def write_whole(path: Any, arrays: Mapping[str, Any]) -> None:
    """Writes an .npz file; its name gets this ending where it has another, as by ``numpy.savez``.

    The arrays are written beside it first, and to the disk: an interruption leaves the old file, and nothing else.
    """
    wanted = Path(path)
    target = wanted if wanted.suffix == ".npz" else wanted.with_name(wanted.name + ".npz")
    handle, name = tempfile.mkstemp(suffix=".part", prefix=target.name, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            write_arrays(file, arrays)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode_of(target))
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def write_arrays(file: Any, arrays: Mapping[str, Any]) -> None:
    """Writes arrays, from whatever device they lie on, to an open file."""
    np.savez(file, **{name: to_host(value) for name, value in arrays.items()})


def read_whole(file: Any) -> dict[str, Any]:
    """The arrays of an .npz file. Raises ValueError for one that is not whole, or no such file."""
    try:
        if not isinstance(file, str | os.PathLike):
            return _arrays_of(file)
        with open(file, "rb") as opened:  # which NumPy leaves open where it raises
            return _arrays_of(opened)
    except (zipfile.BadZipFile, EOFError, ValueError, TypeError) as error:
        message = f"{file} is no whole .npz file of arrays ({error}): it was not written by `save`, or cut short since"
        raise ValueError(message) from None


def _arrays_of(file: Any) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as found:
        return dict(found)


def _mode_of(path: Path) -> int:
    """The permissions of a file, or those that a new one gets."""
    if path.exists():
        return path.stat().st_mode
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
