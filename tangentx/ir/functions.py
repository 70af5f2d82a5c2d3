"""Functions and objects of several classes, by the classes by which kinds tell them apart."""

from __future__ import annotations

import functools
import types
from typing import Any, ClassVar

from tangentx.ir.nodes import Function, Link

# Functions as values: the classes by which kinds tell callees apart.
#
# Where the program runs such a value is a plain tuple: of a function defined inside another one (a `Closure`) the
# values that it captured, of a `functools.partial` the function and its arguments, of a method its object. Which
# function it is, the class says, and only kinds have the class.


class FunctionValue(tuple):  # type: ignore[type-arg]
    """Base of the classes; making one gives a plain tuple."""

    python: ClassVar[type]

    def __new__(cls, *items: Any) -> Any:
        return tuple(items)


class Closure(FunctionValue):
    """A function defined inside another one.

    The parameters of the function behind `link` begin with what is captured: `variables` names of the enclosing
    function, then defaults that were computed where it was defined.
    """

    python = types.FunctionType
    link: ClassVar[Link]
    variables: ClassVar[int]
    captured: ClassVar[int]


class Partial(FunctionValue):
    """A function with its first arguments, `positional` of them, and those called `names`."""

    python = functools.partial
    positional: ClassVar[int]
    names: ClassVar[tuple[str, ...]]


class Frozen(Partial):
    """A distribution of a library's with its parameters: what its methods are given behind their own arguments."""

    distribution: ClassVar[Any]


class BoundMethod(FunctionValue):
    """The method `name` of the one object that is held."""

    python = types.MethodType
    name: ClassVar[str]


class Derived(FunctionValue):
    """What a function that makes derivatives (`tx.grad`) gives for the one function that is held."""

    python = types.FunctionType
    maker: ClassVar[Any]
    options: ClassVar[tuple[Any, ...]]
    named: ClassVar[tuple[tuple[str, Any], ...]]


class Chosen(FunctionValue):
    """One of several functions: its number, and for each of them a list that holds it if it is the one."""

    python = types.FunctionType
    options: ClassVar[int]


def closure(name: str) -> type[Closure]:
    """A new class, of the function `name` that is still to be lifted."""
    return type(name, (Closure,), {"link": Link(name), "variables": 0, "captured": 0})


@functools.cache
def partial(positional: int, names: tuple[str, ...]) -> type[Partial]:
    """The class of partial applications with so many arguments by position and these by name."""
    return type("partial", (Partial,), {"positional": positional, "names": names})


@functools.cache
def frozen(distribution: Any, positional: int, names: tuple[str, ...]) -> type[Frozen]:
    """The class of a distribution that is given so many parameters by position and these by name."""
    known = {"distribution": distribution, "positional": positional, "names": names}
    return type("frozen", (Frozen,), known)


@functools.cache
def bound_method(name: str) -> type[BoundMethod]:
    """The class of methods of this name."""
    return type(name, (BoundMethod,), {"name": name})


@functools.cache
def derived(maker: Any, options: tuple[Any, ...], named: tuple[tuple[str, Any], ...]) -> type[Derived]:
    """The class of derivatives of local functions that `maker` gives with these options."""
    return type(maker.__name__, (Derived,), {"maker": staticmethod(maker), "options": options, "named": named})


@functools.cache
def chosen(options: tuple[object, ...]) -> type[Chosen]:
    """The class of a choice among functions of these classes, or these functions."""
    return type("chosen", (Chosen,), {"options": len(options)})


def function_of(cls: type[Closure]) -> Function:
    """The function that a closure of the class calls."""
    function = cls.link.function
    assert function is not None
    return function


# `Mixed`: the class of an object that belongs to one of several classes, known to kinds only.
#
# Where the program runs it is the object itself, and its own class says what its methods are.


class Mixed:
    """Base of the classes; `classes` are those of the user's of which an object may be, derived ones first."""

    classes: ClassVar[tuple[type, ...]]


def classes_of(cls: type) -> tuple[type, ...]:
    """The classes of which an object may be."""
    return cls.classes if issubclass(cls, Mixed) else (cls,)


def mixed(classes: frozenset[type]) -> type:
    """The class of objects of one of the classes."""
    if len(classes) == 1:
        return next(iter(classes))
    return _mixed(tuple(sorted(classes, key=lambda c: (-len(c.__mro__), c.__module__, c.__qualname__, id(c)))))


@functools.cache
def _mixed(classes: tuple[type, ...]) -> type[Mixed]:
    return type(" or a ".join(sorted(c.__name__ for c in classes)), (Mixed,), {"classes": classes})
