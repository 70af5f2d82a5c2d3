"""Known library code that may receive Tensors: of Python's library, NumPy and tangentx.
is what they do with the values, or refuses them itself. All other code is `unknown`.
"""

from __future__ import annotations

import bisect
import builtins
import contextlib
import functools
import heapq
import itertools
import operator
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.common.operator_getters import GETTERS, arguments_of
from tangentx.templates import has_composition
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.rules import rule_of
from tangentx.tensor.core.containers import holds_tensor
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.equal_values import compared, ordering
from tangentx.tensor.fallback.escaped_values import let_go, tells_of_deaths
from tangentx.tensor.fallback.formatted_values import demand_untold, reading
from tangentx.tensor.fallback.introspection import ask, looked_at, shown
from tangentx.tensor.fallback.iteration import Reader
from tangentx.tensor.fallback.library_code import is_users
from tangentx.tensor.fallback.reachable import active_in
from tangentx.tensor.fallback.special_methods import demand_plain, touch
from tangentx.tensor.fallback.unknown_code import guarded

Version = Callable[[Any], Any]
CALLING = (
    *(map, filter, sorted, min, max, functools.reduce, itertools.accumulate, itertools.starmap, itertools.takewhile),
    *(itertools.dropwhile, itertools.filterfalse, itertools.groupby),
)
"""What calls functions that it is given."""
_BUILTINS = frozenset(
    "abs all any ascii bin bool callable chr classmethod complex delattr dict dir divmod enumerate eval exec filter "
    "float format frozenset globals hasattr hash hex id int isinstance issubclass iter len list locals map max min "
    "next object oct ord pow print property range repr reversed round set slice sorted staticmethod str sum super "
    "tuple type vars zip __import__ __build_class__".split()
)
_KNOWN = {id(getattr(builtins, name)) for name in _BUILTINS}
_KNOWN |= {id(cls) for cls in (deque, OrderedDict, functools.partial, functools.cached_property, types.SimpleNamespace)}
_MODULES = frozenset(("operator", "_operator", "itertools", "_functools", "_heapq", "heapq", "_bisect", "bisect"))
_PYTHONS = frozenset("abc collections copy dataclasses enum functools numbers operator types typing weakref".split())
"""Modules of the library that are written in Python and only carry values."""
_SHOWING = frozenset(("logging", "warnings", "pprint", "traceback", "numpy.testing"))
"""Modules that show values, or test them, and give nothing that depends on them."""
_ROWS = (list, tuple, deque)
_COMPARING = frozenset("index count remove __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__".split())
_CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_VALUES = (*_CONTAINERS, str, bytes, int, float, complex, range, slice, type(None))
_GETTERS = (operator.attrgetter, operator.methodcaller)
_WRAPPERS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_DISPATCHED = type(np.sum)
_CACHED = type(functools.lru_cache(lambda: None))
_MANAGED = contextlib.contextmanager(lambda: iter(())).__code__
_WRITING = (heapq.heappush, heapq.heapreplace, heapq.heappushpop, bisect.insort_left, bisect.insort_right)
_WRITING_IDS = {id(f) for f in (*_WRITING, operator.setitem, operator.iconcat)}
_ORDERING_IDS = {id(f) for f in (heapq.heapify, heapq.heappop, bisect.bisect_left, bisect.bisect_right)}


def is_known(function: Any) -> bool:
    """Whether a class, or what is written in C, may be called as it is with Tensors."""
    if id(function) in _KNOWN or isinstance(function, np.ufunc | _DISPATCHED) or any(function is g for g in GETTERS):
        return True
    if isinstance(function, type):
        home = function.__module__
        return issubclass(function, BaseException | np.generic) or home in (*_PYTHONS, "itertools")
    if id(function) in _WRITING_IDS or id(function) in _ORDERING_IDS:
        return False
    home = str(getattr(function, "__module__", None) or type(function).__module__)
    ours = home.partition(".")[0] == "tangentx"
    owner = function.__self__ if isinstance(function, types.BuiltinFunctionType) else None
    plain = isinstance(owner, types.ModuleType) and home in _MODULES
    noted = isinstance(owner, BaseException)  # `add_note`, `with_traceback`: they look at nothing that it holds
    return ours or plain or noted or isinstance(function, operator.itemgetter)


def _when_let_go(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that tells whether an object lives, which it does not where only what is noted of the run has it."""

    @functools.wraps(function, updated=())
    def asked(*args: Any, **kwargs: Any) -> Any:
        if STATE.program is not None:
            let_go(STATE.program)
        return function(*args, **kwargs)

    return asked


def known_function(function: types.FunctionType, version: Version, method: Any = None) -> Any:
    """What is called in the place of a library's function, or of the method that it is of; None where it is unknown."""
    home, called = str(function.__module__), function if method is None else method
    if home in _SHOWING or home.partition(".")[0] in _SHOWING or home.startswith("numpy.testing"):
        return looked_at(called)
    wrapped = getattr(function, "__wrapped__", None)
    if function.__code__ is _MANAGED and is_users(wrapped):
        managed = contextlib.contextmanager(version(wrapped))
        return managed if method is None else types.MethodType(managed, method.__self__)
    if hasattr(function, "dispatch") and hasattr(function, "registry"):
        return lambda *args, **kwargs: version(function.dispatch(shown(args[0]).__class__))(*args, **kwargs)
    if tells_of_deaths(function):
        called = _when_let_go(called)
    if home in _PYTHONS or function.__code__.co_filename == "<string>":
        return called if method is None else of_container(called, method.__self__, version)
    return None


def known_object(function: Any, version: Version) -> Any:
    """What is called in the place of something written in C, or of an object; None where it is unknown."""
    if isinstance(function, _CACHED):
        return _past(function, version)
    if isinstance(function, weakref.ReferenceType):
        return _when_let_go(function)
    if isinstance(function, _GETTERS):
        return _getter(function, version)
    if id(function) in _WRITING_IDS:
        return _writing(function)
    if id(function) in _ORDERING_IDS:
        return functools.partial(ordering, function)
    if isinstance(function, _WRAPPERS):
        return _unbound(function, version)
    if isinstance(function, types.BuiltinMethodType | types.MethodWrapperType):
        own = function.__self__
        if type(own) is np.ndarray:
            return _of_array(function)
        if isinstance(own, _VALUES):
            return of_container(function, own, version)
        if isinstance(own, types.GeneratorType) or isinstance(function, types.MethodWrapperType):
            return of_container(function, own, version)
        if isinstance(own, type) and (issubclass(own, _VALUES) or is_known(own)):  # dict.fromkeys, float.fromhex
            reader = Reader(version)
            return reading(lambda *args: function(*reader.of_method(function.__name__, args[:1]), *args[1:]), function)
    return None


def of_container(method: Any, own: Any, version: Version) -> Callable[..., Any]:
    """A method of a container or of an object, which keeps what it is given."""
    called_as = getattr(method, "__name__", "")
    written = isinstance(own, _ROWS) and called_as in _COMPARING
    sorts = isinstance(own, list) and called_as == "sort"
    reader = Reader(version)

    def called(*args: Any, **kwargs: Any) -> Any:
        for arg in (*args, *kwargs.values()):
            touch(own, arg)
        args = (*reader.of_method(called_as, args),)
        if "key" in kwargs:
            kwargs["key"] = version(kwargs["key"])
        if not written:
            return ordering(method, *args, **kwargs) if sorts else method(*args, **kwargs)
        return compared(lambda: method(*args, **kwargs))

    return called


def _writing(function: Any) -> Callable[..., Any]:
    def called(row: Any, *args: Any, **kwargs: Any) -> Any:
        for arg in args:
            touch(row, arg)
        return ordering(function, row, *args, **kwargs)

    return called


def _unbound(function: Any, version: Version) -> Any:
    """``list.append(row, x)``, ``object.__setattr__(self, name, x)``: the method of its first argument."""

    def called(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is Tensor:
            if not isinstance(shown(args[0]), function.__objclass__):
                return function(shown(args[0]))  # raises
            return version(ask(args[0], function.__name__))(*args[1:], **kwargs)
        if not args or (isinstance(args[0], np.ndarray) or not isinstance(args[0], (*_VALUES, object))):
            return guarded(function)(*args, **kwargs)
        return of_container(_first(function, args[0]), args[0], version)(*args[1:], **kwargs)

    own = function.__objclass__
    return called if own is object or own is np.ndarray or issubclass(own, _VALUES) else None


def _first(function: Any, x: Any) -> Any:
    """A method of what it is given first."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return function(x, *args, **kwargs)

    method.__name__ = function.__name__
    return method


def _past(function: Any, version: Version) -> Callable[..., Any]:
    """A function that remembers what it gave, called itself where it depends on what is differentiated."""

    def called(*args: Any, **kwargs: Any) -> Any:
        inner = function.__wrapped__
        if is_users(inner) and (active_in(inner, args, kwargs) is not None or holds_tensor([args, kwargs])):
            return version(inner)(*args, **kwargs)
        return guarded(function)(*args, **kwargs)

    return called


def _getter(function: Any, version: Version) -> Callable[..., Any]:
    """``attrgetter`` and ``methodcaller``, which look for attributes by themselves."""
    given, named = arguments_of(function)

    def called(x: Any) -> Any:
        if type(x) is not Tensor:
            return function(x)
        if isinstance(function, operator.methodcaller):
            name, *args = given
            return version(ask(x, name))(*args, **named)
        found = tuple(functools.reduce(ask, path.split("."), x) for path in given)
        return found if len(found) > 1 else found[0]

    return called


def _read_off(method: Any, own: Any) -> Callable[..., Any]:
    """The method of an array of texts, from which numbers may be read."""

    def called(*args: Any, **kwargs: Any) -> Any:
        found = method(*args, **kwargs)
        demand_untold(method, found, np.ravel(own).tolist())
        return found

    return called


def _of_array(method: Any) -> Callable[..., Any]:
    """A method of a plain array, which may be given Tensors."""

    def called(*args: Any, **kwargs: Any) -> Any:
        own = method.__self__
        if not holds_tensor(args) and not holds_tensor(kwargs):
            return method(*args, **kwargs) if own.dtype.kind in "biufc" else _read_off(method, own)(*args, **kwargs)
        if own.dtype.kind == "O":
            demand_plain([args, kwargs])
        function = getattr(np.ndarray, method.__name__)
        if rule_of(function) is not None or has_composition(function):
            return call(function, (own, *args), kwargs)
        if own.dtype.kind in "biu":
            return looked_at(method)(*args, **kwargs)
        return guarded(method)(*args, **kwargs)

    return called
