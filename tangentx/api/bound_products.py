"""`f.jvp`, `f.vjp` and the like as attributes of a function: callable, with a text that can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx.common.options import showing
from tangentx.dispatch.entries import Entry
from tangentx.dispatch.nesting_depth import shallow
from tangentx.errors import NotDifferentiable


class Product:
    """``f.jvp``, ``f.vjp`` or ``f.hvp``: called with the arguments of the function of that name in `tangentx`.

    `source` is the text for the kinds compiled last, `source_for` that for these arguments.
    """

    __tangentx_outside__ = "use the functions there: tx.jvp(f, primals, tangents), tx.vjp(f, *primals) or tx.hvp"

    def __init__(
        self, name: str, of: str, function: Callable[..., Any], compiled: Callable[..., Entry], derivative: Any
    ) -> None:
        self.__name__ = name
        self._of = of
        self._function = function
        self._compiled = compiled
        self._derivative = derivative

    @shallow
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<{self.__name__} of {self._of}>"

    @property
    def source(self) -> str:
        """The text that ran last. Raises NotDifferentiable where nothing did."""
        from tangentx.compile import gradients

        entry = self._derivative._cache.last
        if entry is None:
            message = f"{self.__name__} of {self._of} has not been called yet"
            raise NotDifferentiable(message, hint="ask source_for(...) with arguments")
        return gradients.text_of(entry)

    @shallow
    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The text for the kinds of these arguments, which are those of a call; nothing is run."""
        from tangentx.compile import gradients

        return showing(lambda: gradients.text_of(self._compiled(*args, **kwargs)))

    def show(self) -> None:
        """Prints the source, in colours where Pygments is installed and the output is a terminal."""
        from tangentx.api.display import show

        show(self.source)
