"""Requests: which derivative of a function is wanted, and the derivatives that a function has by request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tangentx.errors import NotDifferentiable

# Requests: which derivative of a function is wanted, with respect to what, and in which form.

JITS = ("c", "numba", "python", "cuda")
"""What a derivative may be compiled to."""


def _no_jit(name: Any) -> NotDifferentiable:
    """The error for loops that nothing compiles."""
    options = ", ".join(f'"{each}"' for each in JITS)
    return NotDifferentiable(f"jit={name!r} is not an option", hint=f"use True, {options}, or leave it out")


@dataclass(frozen=True)
class Spec:
    """What is asked for: the transformation, with respect to what, and how it is returned."""

    transform: str
    wrt: Any = 0
    value: bool = False
    has_aux: bool = False
    fallback: str = "tensor"
    jit: str | bool | None = None
    mode: str = ""
    check: bool = False
    precision: str | None = None
    guarded: bool = False
    parallel: bool = False

    def said(self) -> str:
        """The derivative in words."""
        name = "value_and_grad" if self.value else self.transform
        return name if self.wrt is None else f"{name} with respect to {self.wrt!r}"

    def checked(self) -> Spec:
        """Raises NotDifferentiable for an option that means nothing."""
        if self.fallback not in ("tensor", "error"):
            raise NotDifferentiable(f"fallback={self.fallback!r} is not an option", hint='use "tensor" or "error"')
        if not (self.jit is None or type(self.jit) is bool or self.jit in JITS):
            raise _no_jit(self.jit)
        if type(self.check) is not bool:
            raise NotDifferentiable(f"check={self.check!r} is not an option", hint="use True or False")
        if type(self.guarded) is not bool:
            raise NotDifferentiable(f"guarded={self.guarded!r} is not an option", hint="use True or False")
        if type(self.parallel) is not bool or (self.parallel and self.jit not in (True, "c")):
            hint = 'use parallel=True with jit="c" or jit=True'
            raise NotDifferentiable(f"parallel={self.parallel!r} with jit={self.jit!r} means nothing", hint=hint)
        if self.precision not in (None, "float16", "float32"):
            hint = 'use "float16", "float32" or None'
            if self.precision == "bfloat16":
                hint += ": NumPy has no bfloat16"
            raise NotDifferentiable(f"precision={self.precision!r} is not an option", hint=hint)
        if self.transform == "jacobian" and self.mode not in ("auto", "forward", "reverse"):
            raise NotDifferentiable(f"mode={self.mode!r} is not an option", hint='use "auto", "forward" or "reverse"')
        if isinstance(self.wrt, list):
            raise NotDifferentiable(f"wrt={self.wrt!r} is a list", hint=f"use a tuple: wrt={tuple(self.wrt)!r}")
        named = self.wrt is None and self.transform in ("vjp", "jvp", "linear", "primal")
        for each in () if named else self.wrt if isinstance(self.wrt, tuple) else (self.wrt,):
            # True and 1.0 equal 1, so they must not reach a table of derivatives.
            if type(each) not in (int, str):
                hint = 'use a position such as 0, a name such as "x", or a tuple of them'
                raise NotDifferentiable(f"wrt={each!r} is neither a position nor a name", hint=hint)
        return self


# The registry of derivatives: held by each function, for as long as the function lives.

_SLOT = "__tangentx_derivatives__"


class Held:
    """The derivatives of one function, kept in its own ``__dict__``, so that they live as long as it.

    Pickles and copies as nothing; `functools.wraps` copies it to another function, whose it is not.
    """

    def __init__(self, function: Any = None) -> None:
        self.function = function
        self.made: dict[tuple[Spec, int], Any] = {}
        self.batches: dict[Any, Any] = {}
        self.written: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (Held, ())


def held(function: Any) -> Held:
    """The derivatives that were made of a function."""
    found = function.__dict__.get(_SLOT)
    if not isinstance(found, Held) or found.function is not function:
        found = function.__dict__[_SLOT] = Held(function)
    return found
