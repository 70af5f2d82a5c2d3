"""Library classes that are followed: their constructors and methods, as compositions.

What an object is made of stands in `arrays.library_objects`. A constructor's body returns ``made_of(cls, ...)``; the
methods of several classes that behave alike are written as one class in plain NumPy, which is never made.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from tangentx.common.naming import public_name
from tangentx.templates.compositions import composition, has_composition

T = TypeVar("T", bound=type)
F = TypeVar("F", bound=Callable[..., Any])

_PATHS: dict[Any, str] = {}
"""The public names of methods and properties, which their own classes may not have."""


def constructor_of(*classes: type) -> Callable[[F], F]:
    """Declares what a call of a class makes."""
    return composition(*classes, domain=(), containers=True, always=True)


def methods_of(*classes: type) -> Callable[[T], T]:
    """Declares the methods and properties of `classes` by those of a class that is written in plain NumPy."""

    def declare(model: T) -> T:
        for name, body in vars(model).items():
            if isinstance(body, property | staticmethod):
                body = _function(body)
            if not inspect.isfunction(body):
                continue
            found = [inspect.getattr_static(cls, name, None) for cls in classes]
            primals: dict[Any, None] = {}
            for cls, each in zip(classes, found, strict=True):
                primal = _function(each)
                if primal is not None:
                    primals[primal] = None
                    _PATHS.setdefault(primal, f"{public_name(cls)}.{name}")
            composition(*primals, domain=(), containers=True, always=True)(body)
        return model

    return declare


def _function(member: Any) -> Any:
    """The function of a property or of a static method; a method itself."""
    return member.fget if isinstance(member, property) else getattr(member, "__func__", member)


def no_rule_of_member(cls: type, name: str) -> tuple[str, str]:
    """Message and hint for a method or attribute without a rule of an object of a class that has some."""
    known = [each for each in dir(cls) if not each.startswith("_") and has_composition(getattr(cls, each))]
    hint = f"those that have one are {', '.join(f'`{each}`' for each in known)}" if known else "write it out"
    return f"`{public_name(cls)}.{name}` has no derivative rule", hint


def path_of_member(fn: Any) -> str | None:
    """The public name of a method or property that was declared; None for anything else."""
    try:
        return _PATHS.get(fn)
    except TypeError:
        return None
