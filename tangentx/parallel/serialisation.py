"""Serialisation of functions and data for other processes.

With cloudpickle (the extra `parallel`; Dask brings it) whatever Python can make travels: lambdas, closures, classes and
functions of a script. Without, functions go by qualified name, as pickle has it. The text of files that another machine
may not have goes along, for derivatives are made there from the source.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import linecache
import pickle
import types
from typing import Any

from tangentx.api.decorated import Differentiable
from tangentx.api.derivative import Derivative, derivative_of
from tangentx.api.pickling import Owned
from tangentx.dispatch.request import Spec
from tangentx.errors import INSIDE, NotDifferentiable

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
