"""Derivatives inside a program of functions that captured Tensors: taken by the Tensor runtime, recorded.
Tensors, or by the user beside his own.

What is captured is not seen among the arguments, so the derivative is recorded as the rest of the program is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.operation import fit_tensor
from tangentx.tensor.core.forms import fit, like_of, ones, zeros
from tangentx.tensor.core.modes import STATE, during, recording
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.programs import refused
from tangentx.tensor.fallback.reachable import active_in
from tangentx.tensor.fallback.tracing import Trace, gradients

_TAKING = frozenset(("jvp", "vjp", "hvp", "linearize", "gradcheck", "check_grads", "verify"))
"""Functions of this package that differentiate the function which they are given."""


def of_ours(function: Any, version: Callable[[Any], Any]) -> Any:
    """What is called in the place of an object of this package: a derivative, or a function that has some."""

    def called(*args: Any, **kwargs: Any) -> Any:
        t = active_in(*own_of(function))
        if t is None:
            return function(*args, **kwargs)
        if hasattr(function, "__tangentx_recorded__"):
            found = function.__tangentx_recorded__(args, kwargs)
            if found is not NotImplemented:
                return found
        elif hasattr(function, "_plain"):
            return version(function._plain())(*args, **kwargs)
        if not STATE.grad:  # for a solver, say: what is captured is held
            return function(*args, **kwargs)
        raise _captured(function, t)

    return called if callable(function) and not isinstance(function, type) else function


def own_of(function: Any) -> tuple[Any, ...]:
    """What an object has of its own: the function that is meant, and what comes first among its arguments."""
    if not type(function).__module__.startswith("tangentx."):
        return (function,)
    target = getattr(function, "_target", None)
    if target is not None:
        return (*own_of(target.function), *target.owner)
    plain = getattr(function, "_plain", None)
    if plain is not None:
        return (plain(),)
    return tuple(getattr(function, "__dict__", {}).values())


def taking(function: Any, version: Callable[[Any], Any]) -> Any:
    """A function of this package, which may take the derivative of what it is given, or a method of an object of it."""
    own = getattr(function, "__self__", None)
    if own is None and getattr(function, "__name__", "") not in _TAKING:
        return function

    def called(*args: Any, **kwargs: Any) -> Any:
        given = own_of(own) if own is not None else own_of(args[0]) if args else ()
        t = active_in(*given)
        if t is None:
            return function(*args, **kwargs)
        way = _WAYS.get(function.__name__) if own is None else None
        found = None if way is None else way(version, *args, **kwargs)
        if found is None:
            raise _captured(function, t)
        return found

    return called


def captured(derivative: Any) -> Any:
    """A Tensor that is differentiated and that the function of a derivative can come to, while operations are recorded;
    else None."""
    return active_in(*own_of(derivative)) if recording() else None


def product_of(name: str, version: Callable[[Any], Any], derivative: Any, *args: Any) -> Any:
    """The product `name` of a function that has captured what is differentiated, recorded. Raises NotDifferentiable for
    those that are not."""
    function, owner = derivative._target.function, derivative._target.owner
    way = _WAYS.get(name)
    found = None if way is None else way(version, functools.partial(function, *owner) if owner else function, *args)
    if found is None:
        raise refuse_captured(derivative, f"`tx.{name}`")
    return found


def refuse_captured(derivative: Any, name: str) -> Exception:
    """The refusal of a derivative whose dependence on what is captured would be lost."""
    return _refusal(name, captured(derivative), ", or take it under `tx.no_grad()`")


def _traced(version: Callable[[Any], Any], f: Any, primals: Sequence[Any]) -> tuple[Any, Any] | None:
    """A function run on Tensors, and its result; None where primals or result are no real numbers or arrays of them."""
    if not all(_is_real(p) for p in primals):
        return None
    trace = Trace(lambda given: version(f)(*given), primals, range(len(primals)))
    return (trace, trace.result) if type(trace.result) is Tensor and _is_real(trace.result) else None


def _is_real(x: Any) -> bool:
    data = x.current if type(x) is Tensor else x
    return isinstance(data, float | np.floating) or (type(data) is np.ndarray and data.dtype.kind == "f")


def _vjp(version: Callable[[Any], Any], f: Any, *primals: Any, **options: Any) -> Any:
    """``(value, pullback)``, recorded."""
    found = _traced(version, f, primals)
    if found is None:
        return None
    trace, value = found

    def pullback(cotangent: Any) -> Any:
        return _bars(trace, value, primals, _fitting(cotangent, value, "cotangent"))

    return value, pullback


def _bars(trace: Any, value: Any, primals: Sequence[Any], seed: Any) -> Any:
    create = STATE.grad
    given = [seed if create else seed.current]
    bars = trace.gradients([value], given, True, create) if value.requires_grad else [None] * len(primals)
    forms = [like_of(p.current if type(p) is Tensor else p) for p in primals]
    found = [wrap(zeros(form)) if b is None else fit_tensor(b, form) for b, form in zip(bars, forms, strict=True)]
    return tuple(found) if len(found) > 1 else found[0]


def _jvp(version: Callable[[Any], Any], f: Any, primals: Any, tangents: Any, **options: Any) -> Any:
    """``(value, tangent)``, recorded: the pullback is linear in its cotangent, and this is the adjoint of it."""
    found = _traced(version, f, primals) if type(primals) is type(tangents) is tuple else None
    if found is None or len(primals) != len(tangents):
        return None
    trace, value = found
    u = wrap(zeros(like_of(value.current)))
    u._needs = True

    def weighed() -> Any:
        bars = _bars(trace, value, primals, u)
        pairs = zip(bars if len(primals) > 1 else (bars,), tangents, primals, strict=True)
        return [(bar * _fitting(dot, like, "tangent")).sum() for bar, dot, like in pairs if dot is not None]

    outputs = [t for t in during(weighed, grad=True) if t.requires_grad]
    moved = [wrap(ones(like_of(t.current))) for t in outputs]
    (bar,) = gradients([u], outputs, moved if STATE.grad else [1.0] * len(moved), True, STATE.grad)
    return value, wrap(zeros(like_of(value.current))) if bar is None else fit_tensor(bar, like_of(value.current))


def _fitting(given: Any, like: Any, what: str) -> Any:
    """A cotangent or a tangent as a Tensor. Raises NotDifferentiable where it does not fit."""
    data, wanted = (x.current if type(x) is Tensor else x for x in (given, like))
    if np.shape(data) != np.shape(wanted) or not isinstance(data, int | float | np.ndarray | np.generic):
        message = f"a {what} has shape {np.shape(data)}, but what it belongs to has shape {np.shape(wanted)}"
        raise NotDifferentiable(message, span_of(place()), f"give it the shape {np.shape(wanted)}")
    return given if type(given) is Tensor else wrap(fit(np.asarray(given, float)[()], like_of(wanted)))


_WAYS = {"vjp": _vjp, "jvp": _jvp}
"""Those that are recorded, as the rest of the program is."""


def _captured(function: Any, t: Any) -> Exception:
    ours = type(function).__module__.startswith("tangentx.")
    return _refusal(repr(function) if ours else f"`tx.{function.__name__}`", t)


def _refusal(name: str, t: Any, more: str = "") -> Exception:
    message = f"{name} is taken of a function that captures a value which is being differentiated"
    hint = "take tx.grad, tx.vjp or tx.jvp there, of a function of numbers and arrays that gives one of them, or hold "
    hint += "it constant with tx.stop_gradient"
    return refused(t, NotDifferentiable(message, span_of(place()), hint + more))
