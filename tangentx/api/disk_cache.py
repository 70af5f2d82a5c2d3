"""`tx.cache` and ``TANGENTX_CACHE``: where compiled texts are kept for other processes."""

from __future__ import annotations

import os

from tangentx.common import cache_files


def cache(path: str | os.PathLike[str] | None) -> None:
    """Keeps compiled gradients and Jacobians in the directory `path` from now on, for other processes to find; None
    keeps and looks for none.

    ``TANGENTX_CACHE=path`` in the environment does the same for a process from its start. A text that was kept is used
    where the function and all that it reads are as they were when it was compiled: code and files of the functions,
    members of classes, the kinds of outside objects, the versions of Python, NumPy, SciPy and tangentx, options and the
    kinds of the arguments. Else it is compiled anew, and kept beside the other. What runs on Tensors, has rules of the
    user's or writes into memory from outside is compiled in each process; `explain` says what became of each text.

    The directory is made for the user alone (mode 0700). Many processes may share it, and may be ended at any time;
    it may be emptied at any time, too. Of texts it holds 256 MiB, and not much more: the oldest are removed.
    Raises OSError for a directory that cannot be made, and PermissionError (an OSError) for one that belongs to another
    user, or that others can write.

    >>> import tempfile
    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.cache(tempfile.mkdtemp())
    >>> tx.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> tx.cache(None)
    """
    cache_files.choose(path)
