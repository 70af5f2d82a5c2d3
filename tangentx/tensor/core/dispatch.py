"""A slot for the function that applies operations, for modules below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Call(Protocol):
    """``call(fn, args, kwargs)``: the result as Tensors, recorded where an argument requires a gradient."""

    def __call__(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], /) -> Any: ...


call: Call
"""`calls.apply` puts it here when it is loaded, which is when the package is."""


def provide(way: Call) -> None:
    """Sets what calls operations on Tensors."""
    global call
    call = way
