"""The user's functions as the fallback runs them: new arrays are Tensors, so that writes are recorded.

A function is run with code in which calls and operators ask what is meant (`calls.py`, `special.py`): ``np.zeros`` and
the like, functions of `math`, and other functions of the user's, methods too, are called in a version that does so on
Tensors; as values they stay what they are. A function without source is run as it is, with other globals: names that
are only called stand for such versions.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import itertools
import math
import operator
import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.common.class_aliases import class_behind
from tangentx.common.user_rules import checkpointed
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.templates import always_composed, composed, find, has_composition, solver
from tangentx.tensor.calls.apply import as_array
from tangentx.tensor.calls.library_objects import with_rule
from tangentx.tensor.calls.lifting import lifted, lifted_function
from tangentx.tensor.core.containers import holds_tensor
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.equal_values import ordering
from tangentx.tensor.fallback.formatted_values import reading, telling
from tangentx.tensor.fallback.inner_derivatives import of_ours, taking
from tangentx.tensor.fallback.interposition import CALL, asking, bound_outside, evaluating, mark, names_called
from tangentx.tensor.fallback.introspection import ANSWERS, demand_numbers, shown
from tangentx.tensor.fallback.iteration import READING, Reader
from tangentx.tensor.fallback.known_code import CALLING, is_known, known_function, known_object, of_container
from tangentx.tensor.fallback.library_code import OURS, as_said, is_of_models, is_users, is_users_class, refuse_answer
from tangentx.tensor.fallback.reachable import active_in
from tangentx.tensor.fallback.solver_calls import solving
from tangentx.tensor.fallback.special_methods import OPERATORS, meanings, special, touch
from tangentx.tensor.fallback.unknown_code import guarded
from tangentx.tensor.graph.checkpoints import checkpoint
from tangentx.tensor.writes.numpy_writers import CHANGING

_MAKERS = (
    *(np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like),
    *(np.array, np.arange, np.linspace, np.eye, np.identity),
)
_NUMBERS = (
    complex,
    float,
    *(cls for cls in vars(np).values() if isinstance(cls, type) and issubclass(cls, np.inexact)),
)
_OF_OTHERS = (
    *(cls for cls in _NUMBERS if find(cls)),
    *(f for f in vars(math).values() if callable(f) and (find(f) or has_composition(f))),
)
"""They know nothing of Tensors, but rules for them are known; they may give what is somebody else's."""

_OTHERS = {id(f): f for f in (*_MAKERS, *_OF_OTHERS)}
_ATTRIBUTES = frozenset(f.__name__ for f in _OTHERS.values())
_WRITTEN_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_CONTAINERS = frozenset((list, dict, set, deque))
_OWN = ("__builtins__", "__name__", "__package__", "__spec__", "__file__")


def on_tensors(function: Any) -> Any:
    """What is called in the place of a callable, so that it answers for the values that Tensors stand for."""
    known = _BY_IDENTITY.get(id(function))
    if known is not None:
        return known
    if type(function) is types.BuiltinMethodType and type(function.__self__) in _CONTAINERS:
        return of_container(function, function.__self__, on_tensors)
    home = type(function).__module__
    if hasattr(type(function), "__tangentx_target__") or (home.startswith("tangentx.") and not is_of_models(home)):
        return with_rule(function) or of_ours(function, on_tensors)
    if (cls := class_behind(function)) is not function:
        return on_tensors(cls)
    if id(function) in _OTHERS:
        return _other(function)
    if function is np.ndarray or function is np.fromiter:
        return _new_array if function is np.ndarray else _from_items
    kind = type(function)
    if kind is types.FunctionType:
        return _function(function)
    if kind is types.MethodType:
        return _method(function)
    if kind is functools.partial:
        return functools.partial(on_tensors(function.func), *function.args, **function.keywords)
    if isinstance(function, type) and kind.__call__ is type.__call__:
        return _class(function)
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return _of_lists(function, False)  # a method of it asks no list what is in there
    template = find(function)
    if template is not None and (kind is types.MethodDescriptorType or _is_of_scipy(function)):
        return lifted(function)
    if has_composition(function) and function in CHANGING:
        return _writing_or_not(function)
    home = str(getattr(function, "__module__", None) or "numpy")  # a method of arrays has none
    if template is not None and home.startswith("numpy"):
        return _of_lists(function, template.body is not None and template.body.__module__.endswith(".joining"))
    return _object(function, kind)


def _is_of_scipy(function: Any) -> bool:
    """Whether it is one of SciPy's functions in C, which know no Tensors."""
    return type(function) is types.BuiltinFunctionType and str(function.__module__).startswith("scipy.")


def _writing_or_not(function: Any) -> Callable[..., Any]:
    """A function of NumPy's that has a rule, and writes into its first argument if it is told to."""
    plain, written = lifted(function), CHANGING[function]
    first = next(iter(inspect.signature(function).parameters))

    def call(*args: Any, **kwargs: Any) -> Any:
        target = args[0] if args else kwargs.get(first)
        return (written if type(target) is Tensor else plain)(*args, **kwargs)

    return call


def _function(function: types.FunctionType) -> Any:
    if again := checkpointed(function):
        return _checkpointed(*again)
    if is_users(function):
        _note(function)
        return asking(function, _MEANINGS) or _shown(function, {})
    if function.__code__.co_filename.startswith(OURS):
        return taking(function, on_tensors)
    if find(function) is not None or has_composition(function):  # of a library whose functions know no Tensors
        return _given_functions(function)
    known = solver(function)
    if known is not None:
        return solving(function, known, on_tensors)
    return known_function(function, on_tensors) or guarded(function)


def _note(function: types.FunctionType) -> None:
    """What the function may bind outside of itself is to be looked at in the end."""
    program = STATE.program
    if program is None:
        return
    names, captured = bound_outside(function.__code__)
    for name in names:
        program.names[id(function.__globals__), name] = function.__globals__
    for name in captured:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        program.touched.add(cell)


def _method(method: types.MethodType) -> Any:
    inner: Any = method.__func__
    ruled = with_rule(method)
    if ruled is not None:
        return ruled
    if find(method) is not None or has_composition(method):
        return lifted(method)
    if type(inner) is not types.FunctionType:
        return guarded(method)
    if inner.__code__.co_filename.startswith(OURS) and not is_users(inner):
        return method if type(method.__self__) is Tensor else taking(method, on_tensors)
    if is_users(inner):
        return types.MethodType(on_tensors(inner), method.__self__)
    return known_function(inner, on_tensors, method) or guarded(method)


def _class(cls: type) -> Any:
    if always_composed(cls):
        return lifted(cls)
    if is_users_class(cls):
        return _noted(_made_by(cls))
    if not is_known(cls):
        return guarded(cls)
    return cls if cls.__module__ == "builtins" else _noted(cls)


def _noted(make: Callable[..., Any]) -> Callable[..., Any]:
    """A class that makes objects of what it is given, which are looked at in the end."""

    def noted(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        for value in (*args, *kwargs.values()):
            touch(made, value)
        return made

    return noted


def _call_of(kind: type) -> Any:
    """What a class has for ``__call__``, if it is one that Python's code makes."""
    if not kind.__flags__ & _WRITTEN_IN_PYTHON:
        return None
    return next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)


def _object(function: Any, kind: type) -> Any:
    """What is neither a function nor a class of Python's: an object that can be called, or a function in C."""
    own = _call_of(kind)
    ruled = with_rule(function)
    if ruled is not None:
        return ruled
    if has_composition(function):
        return _changing(function) if function in CHANGING else lifted(function)
    if is_users(own):
        return types.MethodType(on_tensors(own), function)
    if is_known(function):
        return function
    return known_object(function, on_tensors) or guarded(function)


def _changing(function: Any) -> Callable[..., Any]:
    """A function that may write into its first argument, which a Tensor or an array answers for; a list is copied."""
    copying = lifted(function)

    def changing(x: Any, *args: Any, **kwargs: Any) -> Any:
        return (copying if isinstance(x, list | tuple) else function)(x, *args, **kwargs)

    return changing


def _checkpointed(again: Any) -> Callable[..., Any]:
    """`checkpoint`, or a function that it has made of another: what is run again is run on Tensors."""
    if again is not None:
        return functools.partial(checkpoint, on_tensors(again))
    return lambda function, *args: checkpoint(on_tensors(function), *args)


def _summed(items: Any, start: Any) -> Any:
    return functools.reduce(_MEANINGS[mark("add")], _MEANINGS[mark("iteration")](items), start)


def _looked_up(x: Any, name: str, *otherwise: Any) -> Any:
    """``getattr``; of an object of the user's its properties too."""
    try:
        return _MEANINGS[mark("attribute")](x, name)
    except AttributeError:
        if not otherwise:
            raise
        return otherwise[0]


def _is_there(x: Any, name: str) -> bool:
    """``hasattr``."""
    missing = object()
    return hasattr(shown(x), name) if type(x) is Tensor else _looked_up(x, name, missing) is not missing


def _of_said(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that makes an array of what it is given first."""

    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        return function(as_said(first, on_tensors), *args, **kwargs)

    return call


def _printed(*args: Any, **kwargs: Any) -> None:
    """``print``, but for what runs once more."""
    if not STATE.quiet:
        print(*args, **kwargs)


_WRITTEN_OUT = (
    np.array2string, np.array_str, np.array_repr, np.format_float_positional, np.format_float_scientific,
)  # fmt: skip
_READER = Reader(on_tensors)
_MEANINGS = {CALL: on_tensors, **meanings(on_tensors, is_users)}
_BY_IDENTITY: dict[int, Callable[..., Any]] = {
    **ANSWERS,
    **{id(f): _of_said(ANSWERS[id(f)]) for f in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)},
    id(print): _printed,
    id(getattr): _looked_up,
    id(hasattr): _is_there,
    **{id(f): reading(evaluating(f, _MEANINGS), f) for f in (eval, exec)},
    **{id(f): special(f, f"__{f.__name__}__", on_tensors, is_users) for f in (abs, round, len, divmod, next)},
    **{id(f): special(lifted(f), f"__{f.__name__}__", on_tensors, is_users) for f in (int, bool, hash, iter)},
    **{id(f): telling(special(lifted(f), f"__{f.__name__}__", on_tensors, is_users)) for f in (str, repr)},
    **{id(f): telling(lifted(f)) for f in _WRITTEN_OUT},
    **{id(f): reading(special(lifted(f), f"__{f.__name__}__", on_tensors, is_users), f) for f in (float, complex)},
    id(sum): lambda items, /, start=0: _summed(items, start),
    **{id(f): _MEANINGS[mark(name)] for name, f in OPERATORS.items()},
    id(setattr): lambda x, name, value: _MEANINGS[mark("setting")](value, x, name),
    id(operator.setitem): lambda x, key, value: _MEANINGS[mark("store")](value, x, key),
    id(operator.contains): lambda row, x: _MEANINGS[mark("in")](x, row),
}
"""What is called in the place of functions of Python's: those that ask, and those that call a special method."""


def _made_by(cls: type) -> Any:
    """What makes an object of a class: ``__new__`` and ``__init__`` of the user's run on Tensors."""
    new: Any = getattr(cls, "__new__", None)
    start: Any = getattr(cls, "__init__", None)
    after: Any = getattr(cls, "__post_init__", None)
    written = [f for f in (new, start) if is_users(f) and f.__code__.co_filename != "<string>"]
    late = is_users(after) and dataclasses.is_dataclass(cls) and cls.__dictoffset__ != 0
    if not (written or late) or not (new is object.__new__ or new in written):
        return cls

    def make(*args: Any, **kwargs: Any) -> Any:
        made: Any = on_tensors(new)(cls, *args, **kwargs) if new in written else object.__new__(cls)
        if late and start not in written:
            # What a dataclass has been given for `__init__` asks the object for what comes after.
            own = vars(made)
            own["__post_init__"] = types.MethodType(on_tensors(after), made)
            start(made, *args, **kwargs)
            del own["__post_init__"]
        elif isinstance(made, cls):
            on_tensors(start)(made, *args, **kwargs)
        return made

    return make


def _of_lists(function: Any, joins: bool) -> Any:
    """A function of NumPy that also takes lists with Tensors in them for arrays; it would look for Tensors alone."""

    protocol = (
        "__array_ufunc__" if isinstance(getattr(function, "__self__", function), np.ufunc) else "__array_function__"
    )

    def given(value: Any) -> Any:
        value = as_said(value, on_tensors, protocol)
        if not isinstance(value, list | tuple) or not holds_tensor(value) or function is np.block:
            return value  # NumPy looks for Tensors in the lists of lists of `block`, each of which means an axis
        return type(value)(map(as_array, value)) if joins else as_array(value)

    def call(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(given, args))
        if hasattr(function, "_implementation") and args and type(args[0]) is not Tensor:
            # NumPy looks for Tensors where it expects arrays: it would not see the order of a norm.
            for value in (*args, *kwargs.values()):
                if type(value) is Tensor:
                    return value.__array_function__(function, (Tensor,), args, kwargs)
        return function(*args, **kwargs)

    return call


def _handing(function: Callable[..., Any]) -> Callable[..., Any]:
    """What calls a function that it is given."""
    orders = any(function is each for each in (sorted, max, min))

    def hand(*args: Any, **kwargs: Any) -> Any:
        given = [on_tensors(a) if callable(a) else a for a in args]
        named = {name: on_tensors(a) if callable(a) else a for name, a in kwargs.items()}
        return ordering(function, *given, **named) if orders else function(*given, **named)

    return hand


def _given_functions(whole: types.FunctionType) -> Callable[..., Any]:
    """An operation, to which functions of the program's may be given (not classes, which may be dtypes); where one of
    those can come to what is differentiated, the library, which knows no Tensors, is not to run it."""
    function = lifted(whole)

    def version(value: Any) -> Any:
        return on_tensors(value) if isinstance(value, types.FunctionType | types.MethodType) else value

    def call(*args: Any, **kwargs: Any) -> Any:
        given, named = [version(a) for a in args], {name: version(value) for name, value in kwargs.items()}
        functions = [a for a in (*args, *kwargs.values()) if isinstance(a, types.FunctionType | types.MethodType)]
        body = composed(whole, given, named) if functions and active_in(functions) is not None else None
        return (function if body is None else lifted_function(body))(*given, **named)

    return call


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """``max`` and ``min``, whose derivative equal numbers share."""
    plainly, record = _handing(function), lifted(function)

    def extreme(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 0 or kwargs.get("key") is not None or kwargs.keys() - {"key", "default"}:
            return plainly(*args, **kwargs)
        items = args if len(args) > 1 else tuple(args[0])
        if len(items) == 0 or (len(args) > 1 and "default" in kwargs):
            return plainly(*(args if len(args) > 1 else (items,)), **kwargs)
        numbers = len(items) > 1 and all(isinstance(shown(x), float | int | np.generic) for x in items)
        if not numbers:
            return plainly(*args) if len(args) > 1 else plainly(items)
        found = record(*items)
        equal = [x for x in items if type(x) is Tensor and x.requires_grad and x.current == shown(found)]
        if inexact(shown(found)) or not equal:
            return found
        like = type(equal[0].current)  # a whole number that one being differentiated equals: they share, as reals
        return record(*(x if type(x) is Tensor else like(x) for x in items))

    return extreme


_BY_IDENTITY |= {id(f): _handing(f) for f in CALLING} | {id(f): _extreme(f) for f in (max, min)}


def called(function: Any) -> Callable[[Sequence[Any]], Any]:
    """The function as one of a sequence of values by parameter."""
    owned = len(function._target.owner) if hasattr(function, "_bound_to") else 0
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())

    def call(values: Sequence[Any]) -> Any:
        if STATE.program is not None and not STATE.program.home:
            STATE.program.home = str(getattr(function, "__module__", None) or "").partition(".")[0]
        run = on_tensors(function)
        if owned:
            run, values = function._bound_to(tuple(values[:owned])), values[owned:]
        placed: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, value in zip(parameters, values, strict=True):
            if parameter.kind is parameter.VAR_POSITIONAL:
                placed += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                named |= value
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                placed.append(value)
        try:
            return run(*placed, **named)
        except ValueError as error:
            refuse_answer(error)
            raise

    return call


def _shown(value: Any, known: dict[int, Any]) -> Any:
    """What stands for a function or a module that is called by name; `known` is what has been made for this run."""
    if id(value) in known:
        return known[id(value)]
    if value is np or value is math:
        return _Module(value)
    if id(value) in _OTHERS:
        return _other(value)
    if type(value) is not types.FunctionType:
        return value
    names = names_called(value.__code__, _ATTRIBUTES)
    if names is None or not is_users(value):
        return value
    space = _Names(value.__globals__, names, known)
    made = types.FunctionType(value.__code__, space, value.__name__, value.__defaults__, value.__closure__)
    made.__kwdefaults__ = value.__kwdefaults__
    made.__qualname__ = value.__qualname__
    made.__dict__ = value.__dict__  # attributes that it keeps are kept in both
    known[id(value)] = made
    return made


class _Names(dict[str, Any]):
    """The globals of a function, read as they are at that moment, with others in the place of those in `called`, and
    Python's functions that ask what a value is."""

    def __init__(self, names: dict[str, Any], called: frozenset[str], known: dict[int, Any]) -> None:
        super().__init__({name: names[name] for name in _OWN if name in names})
        self._names, self._called, self._known = names, called, known

    def __getitem__(self, name: str) -> Any:
        if name not in self._names and name in self._called:
            known = _BY_IDENTITY.get(id(vars(builtins).get(name)))
            if known is not None:
                return known
        value = self._names[name]
        return _shown(value, self._known) if name in self._called else value


class _Module:
    """A module with functions that make or take Tensors."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return _other(value) if id(value) in _OTHERS else value


def _new_array(shape: Any, dtype: Any = float, buffer: Any = None, **layout: Any) -> Any:
    """``np.ndarray(shape)``: an array that is to be filled, or one that shows a buffer."""
    if type(buffer) is Tensor:
        hint = "make it outside of the differentiated function, or copy with np.array"
        raise NotDifferentiable("np.ndarray that shows the memory of another array", span_of(place()), hint)
    if buffer is not None or layout:
        return np.ndarray(shape, dtype, buffer, **layout)
    return _other(np.empty)(shape, dtype)


def _from_items(items: Any, dtype: Any, count: int = -1) -> Any:
    """``np.fromiter(items, dtype, count)``"""
    items = _READER.items(items)
    taken = list(items if count < 0 else itertools.islice(items, count))
    if len(taken) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(taken)} items.")
    return _other(np.array)(taken, dtype)


def _other(function: Callable[..., Any]) -> Callable[..., Any]:
    record: Callable[..., Any] = reading(lifted(function), function)
    if all(function is not maker for maker in _MAKERS):
        return record

    def make(*args: Any, **kwargs: Any) -> Any:
        made = record(*(as_said(arg, on_tensors) for arg in args), **kwargs)
        demand_numbers(made, (args, kwargs))
        own = type(made) is np.ndarray and made.flags.owndata and kwargs.get("copy", True) is True
        return wrap(made) if own and inexact(made) else made

    return make


_BY_IDENTITY |= {id(f): _READER.called(f, on_tensors(f)) for f in READING} | {id(reversed): _READER.backward}
