"""Deep recursion: a larger stack for deep trees, and texts that are nested too deeply for Python's compiler."""

from __future__ import annotations

import ast
import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from tangentx.common.forks import hold
from tangentx.common.scoped_state import holding

# Deep recursion: retries work on deep trees in a thread with a larger stack.

Result = TypeVar("Result")
_STACK, _LIMIT = 512 * 1024 * 1024, 200_000
_NAME = "tangentx on a large stack"
_LOCK = threading.Lock()
hold(_LOCK)
_limits: dict[int, int] = {}  # for each that works on a large stack now, the limit to go back to after the last


def deep(work: Callable[[], Result]) -> Result:
    """The result of `work`; where it recurses too deeply, it is done again with a larger stack.

    Raises RecursionError where that is not enough, or not to be had. `work` takes no lock that its caller holds.
    """
    try:
        return work()
    except RecursionError as error:
        if threading.current_thread().name == _NAME:
            raise
        first = error
    results: list[Result] = []
    faults: list[BaseException] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            results.append(context.run(work))
        except BaseException as fault:
            faults.append(fault)

    try:
        _raise_limit(results)
        thread = _started(run)
        if thread is None:
            raise first
        thread.join()
    finally:
        _lower_limit(results)
    if faults:
        raise faults[0]
    return results[0]


def _started(run: Callable[[], None]) -> threading.Thread | None:
    """A thread with a large stack; None where there is no memory for one."""
    thread = threading.Thread(target=run, name=_NAME)

    def start() -> threading.Thread | None:
        size = threading.stack_size()
        try:
            threading.stack_size(_STACK)
            thread.start()
        except (RuntimeError, MemoryError):
            return None
        finally:
            threading.stack_size(size)
        return thread

    return holding(_LOCK, start)


def _raise_limit(owner: object) -> None:
    """A higher limit of recursion, which is the process's, until the last of those that want it is done."""

    def raised() -> None:
        _limits[id(owner)] = next(iter(_limits.values()), sys.getrecursionlimit())
        sys.setrecursionlimit(max(_limits[id(owner)], _LIMIT))

    holding(_LOCK, raised)


def _lower_limit(owner: object) -> None:
    def lowered() -> None:
        limit = _limits.pop(id(owner), None)
        if limit is not None and not _limits and sys.getrecursionlimit() == max(limit, _LIMIT):
            sys.setrecursionlimit(limit)

    holding(_LOCK, lowered)


# Python's compiler where memory runs out, told from a text that is nested too deeply for it.

_LEAST, _EACH = 1 << 24, 400
"""Bytes that can be had where memory has not run out: in all, and for each character (a tree takes about 150)."""


def compiled(source: str | ast.Module | ast.Expression, file: str, mode: str = "exec", flags: int = 0) -> Any:
    """What ``compile`` makes of a text or a tree, without the settings of this module.

    Python says MemoryError of a text with too many levels, too; that is a RecursionError here. Where there is no memory
    it is a MemoryError in Python 3.11, too, which raises a SystemError there.
    """
    try:
        return compile(source, file, mode, flags, dont_inherit=True)
    except (MemoryError, SystemError) as error:
        if _is_short(len(source) if isinstance(source, str) else 0):
            raise MemoryError from None
        if isinstance(error, SystemError):
            raise
        raise RecursionError("the text is nested too deeply for Python to read it") from None


def parsed(source: str, file: str = "<unknown>", flags: int = 0) -> ast.Module:
    """The tree of a text."""
    tree: ast.Module = compiled(source, file, "exec", flags | ast.PyCF_ONLY_AST)
    return tree


def _is_short(length: int) -> bool:
    """Whether memory has run out for the compiler of a text of that length."""
    try:
        bytearray(_LEAST + _EACH * length)
    except MemoryError:
        return True
    return False
