"""Whether NumPy's functions are NumPy's own: a program, or a test of it, may have put others in their place.

Rules are written with NumPy's names, and entered in tables for what stands there when they are loaded. Another function
in that place would count as NumPy's in all of them, for as long as the process lasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, Span

_MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.random": np.random}


def is_numpys(value: Any) -> bool:
    """Whether NumPy may have made an object that stands under one of its names.

    A function that `functools.wraps` has made look like NumPy's counts as that.

    >>> is_numpys(np.sin), is_numpys(np.pi), is_numpys(lambda x: 3.0 * x)
    (True, True, False)
    """
    home = getattr(value, "__module__", None) or type(value).__module__
    return str(home).partition(".")[0] in ("numpy", "builtins")


def refusal(name: str, value: Any, place: Span | None = None) -> NotDifferentiable:
    """The error for a rule that would be made with another function than NumPy's."""
    other = getattr(value, "__qualname__", None) or repr(value)
    message = f"`{name}` is not NumPy's: `{other}` has taken its place, and rules of derivatives are written with it"
    hint = "put NumPy's function back while derivatives are compiled, or give the other one a name of its own"
    return NotDifferentiable(message, place, hint)


def demand_whole() -> None:
    """Raises NotDifferentiable where another object than NumPy's stands under one of NumPy's public names."""
    for name, value in _replaced():
        raise refusal(name, value)


def _replaced() -> Iterator[tuple[str, Any]]:
    for prefix, module in _MODULES.items():
        for name in module.__all__:
            value = vars(module).get(name)
            if not is_numpys(value):
                yield f"{prefix}.{name}", value


demand_whole()
