"""`jvp`, `hvp` and `vjp` as seen by programs that are themselves differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tangentx.api.derivative import Derivative, derivative_of
from tangentx.dispatch.request import Spec
from tangentx.errors import NotDifferentiable


@dataclass(frozen=True)
class Product:
    """One of the products of a function."""

    what: str
    f: Any

    def __tangentx_order__(self, program: Any) -> Any:
        """The function whose parameters the primals fill, and the objects that come first."""
        return self._derivative().__tangentx_order__(program)

    def along(self, program: Any, kinds: Sequence[Any], places: tuple[int, ...], primals: range) -> Any:
        """The function of all arguments, and the tangents of those at `places`; those at `primals` are the caller's.

        It gives ``(value, tangent)``, or the product alone.
        """
        from tangentx.compile import nested

        f, spec = self.f, Spec("jvp", places)
        if self.what == "hvp":
            by = _differentiable(kinds, primals)
            f = derivative_of(self.f, Spec("grad", tuple(i - primals.start for i in by)))
            spec = Spec("hvp", tuple(i if i in by else None for i in primals))
        derivative = derivative_of(f, Spec("jvp", None))
        return nested.nested(derivative, derivative._target, program, kinds, places, spec)

    def pullback(self, program: Any, kinds: Sequence[Any], primals: range) -> tuple[Any, Any]:
        """The function of all arguments, and the pullback, a function of these and a cotangent."""
        from tangentx.compile import nested

        by = _differentiable(kinds, primals)
        spec = Spec("vjp", tuple(i if i in by else None for i in primals))
        derivative = self._derivative()
        return nested.nested_pullback(derivative, derivative._target, program, kinds, by, spec)

    def _derivative(self) -> Derivative:
        return derivative_of(self.f, Spec("jvp", None))


def _differentiable(kinds: Sequence[Any], primals: range) -> tuple[int, ...]:
    """Places of the primals that have a derivative. Raises NotDifferentiable where none has."""
    from tangentx.dispatch.validation import has_leaf

    by = tuple(i for i in primals if has_leaf(kinds[i], ()))
    if not by:
        message = "none of the primals holds a real or complex number"
        raise NotDifferentiable(message, hint="pass a float or an array of floats")
    return by
