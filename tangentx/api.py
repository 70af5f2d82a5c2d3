"""The public face: `differentiate`, `grad` and their like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tangentx.differentiable import Differentiable, outside
from tangentx.objects import Derivative, Spec, derivative_of
from tangentx.products import jvp_of, vjp_of


def differentiate(
    function: Any = None, *, wrt: Any = 0, has_aux: bool = False, fallback: str = "tensor", jit: str | None = None
) -> Any:
    """Decorator: gives a function ``.grad``, ``.value_and_grad``, ``.vjp`` and ``.jvp``.

    `wrt` is a position or a name, or a tuple of them; the default is the first parameter, after `self` of a method.
    Decorating reads nothing and never raises for what the function contains: the source is read at the first
    derivative.
    """
    spec = Spec("grad", wrt, False, has_aux, fallback, jit)
    if function is None:
        return lambda f: Differentiable(f, spec)
    return Differentiable(function, spec)


def grad(
    f: Any, wrt: Any = 0, *, has_aux: bool = False, fallback: str = "tensor", jit: str | None = None
) -> Derivative:
    """The gradient of `f`, a function with a real scalar result, with respect to `wrt`.

    Returns a function of the same arguments whose result has the structure, shapes and dtypes of the parameter that
    `wrt` names (a tuple of them for a tuple). With `has_aux`, `f` returns ``(value, extras)`` and the gradient comes
    as ``(gradient, extras)``. Raises `TangentxError` for what cannot be differentiated.
    """
    return derivative_of(f, Spec("grad", wrt, False, has_aux, fallback, jit))


def value_and_grad(
    f: Any, wrt: Any = 0, *, has_aux: bool = False, fallback: str = "tensor", jit: str | None = None
) -> Derivative:
    """As `grad`, returning ``(value, gradient)``, or ``((value, extras), gradient)`` with `has_aux`."""
    return derivative_of(f, Spec("grad", wrt, True, has_aux, fallback, jit))


def jvp(
    f: Any, primals: Sequence[Any], tangents: Sequence[Any], *, fallback: str = "tensor", jit: str | None = None
) -> tuple[Any, Any]:
    """``(value, tangent)`` of `f` at `primals` along `tangents`: one for each primal, None holds it constant.

    A tangent has the structure, shape and dtype of its primal. Raises `NotDifferentiable` where it has not.
    """
    return jvp_of(derivative_of(f, Spec("jvp", None, False, False, fallback, jit)), primals, tangents)


def vjp(f: Any, *primals: Any, fallback: str = "tensor", jit: str | None = None) -> tuple[Any, Callable[[Any], Any]]:
    """``(value, pullback)`` of `f` at `primals`.

    The pullback takes a cotangent of the structure and shape of the value and returns one cotangent for one primal,
    a tuple for several, None where there is no derivative. It may be called any number of times.
    """
    return vjp_of(derivative_of(f, Spec("vjp", None, False, False, fallback, jit)), primals, {})


for _maker in (grad, value_and_grad):
    _maker.__tangentx_static__ = True  # type: ignore[attr-defined]
for _product in (vjp, jvp):
    outside(_product)
