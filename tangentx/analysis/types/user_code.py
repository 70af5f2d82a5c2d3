"""The user's own code and objects, told from those of libraries."""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from tangentx.analysis.types.kinds import Box, Kind, Num, Region, Some, varied
from tangentx.errors import is_library

# Tells the user's own code from library code.
#
# The user's own is what has the top-level package or module of the function that is differentiated, and all that lies
# neither in Python's library nor in a directory of installed packages.


def is_foreign(fn: Any, home: str) -> bool:
    """Whether a function or class lies in Python's library or in an installed package that is not `home`."""
    fn = getattr(fn, "__func__", fn)
    name = str(getattr(fn, "__module__", None) or "")
    top = name.partition(".")[0]
    if top in (home, "tangentx", "__main__"):
        return False
    code = getattr(fn, "__code__", None)
    if isinstance(fn, types.FunctionType) and code is not None and os.path.isabs(code.co_filename):
        return is_library(code.co_filename)
    if top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is not None and is_library(file)


_FRAMES = frozenset(("_getframe", "currentframe", "_getframemodulename"))
"""By these names Python's library gives the frame that calls."""


def asks_frames(fn: Any) -> bool:
    """Whether a function, or one of the user's that its code names, looks at the frames that it is called from.

    They are not those of the program where it is called from a text that was made of it.
    """
    waiting, met = [fn], set()
    while waiting:
        function = waiting.pop()
        function = inspect.unwrap(getattr(function, "__func__", function)) if callable(function) else function
        if id(function) in met or not isinstance(function, types.FunctionType):
            continue
        met.add(id(function))
        if is_library(function.__code__.co_filename):
            continue
        names = set(_names(function.__code__))
        values = [function.__globals__[name] for name in names & function.__globals__.keys()]
        if names & _FRAMES or any(value is inspect for value in values) and "stack" in names:
            return True
        if any(value is asked for value in values for asked in (sys._getframe, inspect.currentframe, inspect.stack)):
            return True
        waiting += [*values, *inspect.getclosurevars(function).nonlocals.values()]
    return False


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


# Objects of user-defined classes as operands of operations that are typed by samples.
#
# Python and its libraries call special methods of what they are given (`sum` adds, `max` compares), or hand one of
# the objects on (`random.choice`). What a method of the user's gives there is code without a rule, and an object that
# comes back would count as a constant, whatever stands in it.

_CALLED = frozenset(
    f"__{name}__"
    for names in (
        "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift",
        "radd rsub rmul rtruediv rfloordiv rmod rdivmod rpow rmatmul rand ror rxor rlshift rrshift",
        "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift",
        "lt le gt ge neg pos abs invert round float complex iter next reversed getitem call",
        "array array_ufunc array_function",
    )
    for name in names.split()
)
"""Special methods that give what varies, or choose it."""


def hands_on(fn: Any, kinds: Iterable[Kind], result: Kind | None = None) -> bool:
    """Whether an operation that is not ours would call methods of the user's, or has given an object of theirs."""
    if str(getattr(fn, "__module__", "")).startswith("tangentx."):
        return False
    return any(_has_methods(kind) for kind in kinds) or (result is not None and _is_object(result))


def makes_exception(fn: Any, kinds: Iterable[Kind]) -> bool:
    """Whether it is a call of a class of exceptions that is given numbers, arrays and lists of them. These may vary, as
    long as the exception is raised and nobody reads it. Code of the user's is given no memory: it might write there."""
    if not (isinstance(fn, type) and issubclass(fn, BaseException)):
        return False
    theirs = any(isinstance(method, types.FunctionType) for method in (fn.__init__, fn.__new__))
    return all(isinstance(kind, Num) or not varied(kind) or (not theirs and _is_plain(kind)) for kind in kinds)


def _is_plain(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    """Whether there are no objects in it."""
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return not isinstance(kind, Some)
    return kind.cls in (list, tuple, dict) and all(
        _is_plain(item, (*seen, node)) for item in (*node.fields.values(), node.elt)
    )


def _has_methods(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    """Whether there is an object, at any depth, whose class has special methods of its own."""
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return False
    own = (vars(c) for c in kind.cls.__mro__ if c.__module__ != builtins.__name__)
    if kind.cls not in (list, tuple, dict) and not all(_CALLED.isdisjoint(names) for names in own):
        return True
    return any(_has_methods(item, (*seen, node)) for item in (*node.fields.values(), node.elt))


def _is_object(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    """Whether it is, or holds at any depth, an object that is not followed but may hold what varies; what texts tell is
    known."""
    if isinstance(kind, Some):
        return kind.cls not in (str, bytes)
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return False
    return any(_is_object(item, (*seen, node)) for item in (*node.fields.values(), node.elt))
