"""Library objects that hold Tensors: a class of the same name whose methods are recorded."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.arrays import made_of, parts_of
from tangentx.common.naming import public_name
from tangentx.errors import NoTemplate, place, span_of
from tangentx.templates import (
    always_composed,
    composed_body,
    has_composition,
    is_distribution,
    no_rule_of_member,
    thawed,
)
from tangentx.templates.distributions import Thawed
from tangentx.templates.refusals import advice
from tangentx.tensor.calls.lifting import INSTEAD, is_text, lifted, lifted_function
from tangentx.tensor.core.containers import holds_tensor
from tangentx.tensor.core.modes import refusal


def made_on_tensors(cls: Any, **parts: Any) -> Any:
    """What `made_of` gives, or where a part holds Tensors its stand-in, which is a `cls` too."""
    cls = getattr(cls, "__wrapped__", cls)  # a lifted module has what makes objects of it
    if "__tangentx_parts__" in vars(cls):
        cls = cls.__mro__[1]
    if not holds_tensor(parts):
        return made_of(cls, **parts)
    made = object.__new__(_stand_in(cls))
    made.__dict__.update(parts)
    return made


_REFLECTED = frozenset(f"__{name}__" for name in ("add", "sub", "mul", "matmul", "truediv", "pow"))


def _turned(operator: Any) -> Any:
    """The operator of what stands behind it, by that of an object of a library that stands before it."""
    return lambda behind, before: operator(before, behind) if parts_of(type(before)) is not None else NotImplemented


@functools.cache
def _stand_in(cls: Any) -> Any:
    """A class below `cls` whose attributes are plain, and whose methods record."""
    known = parts_of(cls)
    assert known is not None
    names: dict[str, Any] = {"__tangentx_parts__": known.names, "__module__": cls.__module__}
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        of_property = isinstance(found, property)
        function = found.fget if of_property else found
        if always_composed(function):
            body = lifted_function(composed_body(function))
            names[name] = property(body) if of_property else body
    for name in _REFLECTED & names.keys():
        # what stands behind a plain object is asked first, for its class is below that of the other
        names.setdefault(f"__r{name.removeprefix('__')}", _turned(names[name]))
    names.update(dict.fromkeys(known.names))
    names["__dataclass_fields__"] = dict.fromkeys(known.names)  # whoever looks for Tensors looks there
    return type(cls.__name__, (cls,), names)


def with_rule(function: Any) -> Any:
    """What stands for an object that is called, or for a method of one, by a rule; None where there is none."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.random.Generator | np.random.RandomState):
        draw = getattr(type(owner), function.__name__)
        return functools.partial(lifted(draw), owner) if always_composed(draw) else None
    held = thawed(function)
    if held is not None:
        return functools.partial(_of_distribution, held)
    if is_distribution(function):
        return functools.partial(_held, function)
    inner = getattr(function, "__func__", None)
    if inner is None:
        owner, inner = function, inspect.getattr_static(type(function), "__call__", None)
    if is_text(inner):  # a method of an object that a rule's body makes
        return functools.partial(lifted_function(inner), owner)
    if "__tangentx_parts__" in vars(type(owner)):
        return _of_stand_in(owner, function, inner)
    if parts_of(type(owner)) is None or not always_composed(inner):
        return None
    return functools.partial(lifted(inner), owner)


def _of_distribution(held: Thawed, *args: Any, **kwargs: Any) -> Any:
    """A method of a frozen distribution, called with what that holds behind other arguments."""
    return lifted(held.method)(*args, *held.args, **held.kwargs, **kwargs)


@dataclass
class HeldParameters:
    """What a call of a distribution gives where its parameters hold Tensors, which SciPy's own cannot."""

    dist: Any
    args: tuple[Any, ...]
    kwds: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        method = None if name.startswith("__") else getattr(self.dist, name, None)
        if method is None:
            raise AttributeError(f"a frozen `{public_name(self.dist)}` has no attribute '{name}'")
        if not has_composition(method):
            message = f"`{public_name(self.dist)}.{name}` has no derivative rule"
            raise refusal(NoTemplate(message, span_of(place()), advice(method)))
        return functools.partial(_of_distribution, Thawed(method, self.args, self.kwds))


def _held(distribution: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a distribution, which holds its parameters."""
    plain = not holds_tensor(args) and not holds_tensor(kwargs)
    return distribution(*args, **kwargs) if plain else HeldParameters(distribution, args, kwargs)


def _of_stand_in(owner: Any, function: Any, inner: Any) -> Any:
    """A method of an object that holds Tensors. Raises NoTemplate for one that has no rule."""
    if function is owner:
        return functools.partial(inner, owner)
    if function.__name__ in vars(type(owner)) or inner in vars(type(owner)).values():
        return function
    message, hint = no_rule_of_member(type(owner).__mro__[1], function.__name__)
    raise refusal(NoTemplate(message, span_of(place()), hint))


INSTEAD[made_of] = made_on_tensors
