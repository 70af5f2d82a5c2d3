"""Rules of transfers between devices: linear, with the opposite transfer as adjoint."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import brought, to_host, to_library
from tangentx.templates.registry import linear


@linear(to_host, domain=("A(3)",))
def to_host_(x: Any, *, ans_bar: Any) -> Any:
    """A copy in the machine's memory."""
    x_bar = brought(ans_bar, x)
    return x_bar


@linear(to_library, domain=("A(3), 'numpy'",), stepwise=("module",))
def to_library_(x: Any, module: Any, *, ans_bar: Any) -> Any:
    """A copy on the device."""
    x_bar = brought(ans_bar, x)
    return x_bar


@linear(brought, domain=("A(3), A(3)",), stepwise=("like",))
def brought_(t: Any, like: Any, *, ans_bar: Any) -> Any:
    """A copy where `like` is."""
    t_bar = brought(ans_bar, t)
    return t_bar
