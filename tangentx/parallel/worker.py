"""The worker: evaluates one shard at a time with a program that it keeps; and what is sent to it."""

from __future__ import annotations

import importlib
import importlib.util
import io
import linecache
import pickle
import traceback
import types
from dataclasses import dataclass, field
from typing import Any

from tangentx.api.decorated import Differentiable
from tangentx.api.derivative import Derivative, derivative_of
from tangentx.api.pickling import Owned
from tangentx.common.bounded_cache import Bounded
from tangentx.common.progress import silently
from tangentx.dispatch.request import Spec
from tangentx.dispatch.tracebacks import raised_at
from tangentx.errors import INSIDE, NotDifferentiable, TangentxError

# Serialisation of functions and data for other processes.
#
# With cloudpickle (the extra `parallel`; Dask brings it) whatever Python can make travels: lambdas, closures, classes
# and functions of a script. Without, functions go by qualified name, as pickle has it. The text of files that another
# machine may not have goes along, for derivatives are made there from the source.

_HINT = "define functions and classes at the top of a module, or install cloudpickle (the extra `parallel`)"


def packed(value: Any, name: str = "") -> bytes:
    """A value as bytes for `unpacked`. Raises NotDifferentiable for what cannot travel, by this name."""
    buffer, texts = io.BytesIO(), dict[str, str]()
    try:
        if importlib.util.find_spec("cloudpickle") is None:
            pickle.Pickler(buffer, 5).dump(value)
        else:
            _pickler(buffer, texts).dump(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise NotDifferentiable(
            f"{name or type(value).__name__} cannot be sent to another process: {error}", hint=_HINT
        ) from error
    return pickle.dumps((texts, buffer.getvalue()), 5)


def unpacked(data: bytes) -> Any:
    """The value that `packed` made bytes of."""
    texts, inner = pickle.loads(data)
    for file, text in texts.items():
        if not linecache.getlines(file):
            linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return pickle.loads(inner)


def _pickler(buffer: io.BytesIO, texts: dict[str, str]) -> Any:
    """A pickler of cloudpickle's which notes the text of each function's file in `texts`."""
    cloudpickle: Any = importlib.import_module("cloudpickle")

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, types.FunctionType):
                file = obj.__code__.co_filename
                if not INSIDE[file] and file not in texts:
                    texts[file] = "".join(linecache.getlines(file))
            if isinstance(obj, types.CodeType):  # cloudpickle 3.1.3 and later leave out the file
                make, args = self.dispatch_table[types.CodeType](obj)
                return _code, (make, args, obj.co_filename)
            if isinstance(obj, Differentiable):
                return Differentiable, (obj._function, obj._spec, obj._owner)
            if isinstance(obj, Derivative):
                return _derivative, (obj._target.function, obj._target.owner, obj._spec)
            return super().reducer_override(obj)

    return Pickler(buffer, 5)


def _code(make: Any, args: tuple[Any, ...], file: str) -> types.CodeType:
    code: types.CodeType = make(*args)
    return code.replace(co_filename=file)


def _derivative(function: Any, owner: tuple[Any, ...], spec: Spec) -> Derivative:
    return derivative_of(Owned(function, owner) if owner else function, spec)


# The worker: evaluates one shard at a time with a program that it keeps.
#
# The caller sends the program and a shard once; later calls name them. A worker that has not got what is named, for
# another had the shard before or because it is new, says so, and gets it sent. So no engine has to say where a task
# will run.

LIMIT_PROGRAMS = 4
"""Of how many programs a worker keeps the shards that it was sent; those least recently used go."""


@dataclass(frozen=True)
class Program:
    """A derivative, and where the parameters stand among its arguments; the rest of them are the shard's."""

    derivative: Any
    places: tuple[int, ...]

    @property
    def name(self) -> str:
        """Of the function that is differentiated."""
        return str(getattr(self.derivative, "__name__", "the function"))

    def arguments(self, parameters: tuple[Any, ...], shard: tuple[Any, ...]) -> list[Any]:
        """The arguments of the derivative."""
        given, rest = dict(zip(self.places, parameters, strict=True)), iter(shard)
        return [given[i] if i in given else next(rest) for i in range(len(parameters) + len(shard))]

    def __call__(self, parameters: tuple[Any, ...], shard: tuple[Any, ...]) -> Any:
        args = self.arguments(parameters, shard)
        return silently(lambda: self.derivative(*args))


@dataclass(frozen=True)
class Task:
    """Shard `number` of `count` of the program `key`; program and shard as bytes, or None where the worker has them."""

    key: str
    number: int
    count: int
    parameters: bytes
    program: bytes | None
    shard: bytes | None


@dataclass(frozen=True)
class Done:
    """The result, as bytes."""

    result: bytes


@dataclass(frozen=True)
class Missing:
    """What is named and has not been sent to this worker."""

    program: bool
    shard: bool


@dataclass(frozen=True)
class Raised:
    """The program raised an exception: itself, or as bytes where it can travel; its text; how Python shows it."""

    error: Any
    text: str
    shown: str


@dataclass
class _Held:
    program: Program | None = None
    shards: dict[int, tuple[Any, ...]] = field(default_factory=dict)


_HELD: Bounded[str, _Held] = Bounded(LIMIT_PROGRAMS)


def work(task: Task, brought: bytes | None = None) -> Done | Missing | Raised:
    """Does a task in a worker; `brought` is its shard, as bytes, where the engine keeps data by itself."""
    held = _HELD.get(task.key)
    if held is None:
        held = _Held()
        _HELD.put(task.key, held, 1)
    if held.program is None and task.program is not None:
        held.program = unpacked(task.program)
    shard = _shard(held, task) if brought is None else unpacked(brought)
    if held.program is None or shard is None:
        return Missing(held.program is None, shard is None)
    try:
        return Done(packed(held.program(unpacked(task.parameters), shard)))
    except Exception as error:
        name_shard(error, held.program, task.number, task.count)
        return _raised(error)


def _shard(held: _Held, task: Task) -> tuple[Any, ...] | None:
    if task.number not in held.shards and task.shard is not None:
        held.shards[task.number] = unpacked(task.shard)
    return held.shards.get(task.number)


def name_shard(error: BaseException, program: Program, number: int, count: int) -> None:
    """Adds a note to an exception: in which shard it was raised, and at which line of the user's."""
    span = (
        None if isinstance(error, TangentxError) else raised_at(error, list(program.derivative._cache.entries.values()))
    )
    place = "" if span is None else f", at {span}: {span.text.strip()}"
    error.add_note(f"in shard {number} of {count} (the first is shard 0){place}")


def _raised(error: Exception) -> Raised:
    shown = "".join(traceback.format_exception(error))
    text = f"{type(error).__name__}: {error}"
    try:
        data = packed(error)
        unpacked(data)  # some can be sent, and not be received
    except Exception:
        return Raised(None, text, shown)
    return Raised(data, text, shown)
