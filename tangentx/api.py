"""The public face: `differentiate`, `grad` and their like, and the object that a decorated function becomes."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentx.derivative import Binder, Cache, Entry, positions, publish, refuse_overlap, target_of
from tangentx.errors import NotDifferentiable

_DERIVATIVES: weakref.WeakKeyDictionary[Any, dict[Any, Derivative]] = weakref.WeakKeyDictionary()
_REGISTER = threading.Lock()


@dataclass(frozen=True)
class Spec:
    """What is asked for: the transformation, with respect to what, and how it is returned."""

    transform: str
    wrt: Any = 0
    value: bool = False
    has_aux: bool = False
    fallback: str = "tensor"
    jit: str | None = None

    def __post_init__(self) -> None:
        if self.fallback not in ("tensor", "error"):
            raise NotDifferentiable(f"fallback={self.fallback!r}", hint='use "tensor" or "error"')
        if self.jit not in (None, "numba"):
            raise NotDifferentiable(f"jit={self.jit!r}", hint='use None or "numba"')
        if isinstance(self.wrt, list):
            raise NotDifferentiable(f"wrt={self.wrt!r} is a list", hint="use a tuple of positions or names")


def derivative_of(f: Any, spec: Spec) -> Derivative:
    """The one derivative object for a function and what is asked of it."""
    target = target_of(f)
    if target.owner:
        return Derivative(f, spec)
    with _REGISTER:
        known = _DERIVATIVES.setdefault(target.function, {})
        if spec not in known:
            known[spec] = Derivative(target.function, spec)
        return known[spec]


class Derivative:
    """A callable derivative with readable source.

    `source` is the text for the kinds of arguments compiled last; before any call, for the kinds that annotations
    and defaults predict. `source_for(*args)` is the text for the kinds of these arguments.
    """

    def __init__(self, f: Any, spec: Spec) -> None:
        self._target = target_of(f)
        self._binder: Binder | None = None
        self._cache = Cache()
        self._spec = spec
        function = self._target.function
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function

    def __repr__(self) -> str:
        return f"<{self._spec.transform} of {self.__wrapped__.__qualname__} with respect to {self._spec.wrt!r}>"

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        return self, self._target.owner

    def __tangentx_primal__(self) -> Any:
        return self._target.function

    @property
    def __signature__(self) -> Any:
        import inspect

        signature = inspect.signature(self._target.function, follow_wrapped=False)
        return signature.replace(parameters=list(signature.parameters.values())[len(self._target.owner) :])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._values(args, kwargs)
        entry = self._entry(values)
        return self._public(entry.functions[0](*values), values)

    def _bind(self) -> Binder:
        if self._binder is None:
            self._binder = Binder(self._target.function)
        return self._binder

    def _values(self, args: Sequence[Any], kwargs: Any) -> tuple[Any, ...]:
        return self._bind()((*self._target.owner, *args), kwargs)

    def _wrt(self) -> tuple[int, ...]:
        what = getattr(self._target.function, "__name__", "the function")
        return positions(self._spec.wrt, self._bind().names, len(self._target.owner), what)

    def _entry(self, values: tuple[Any, ...]) -> Entry:
        from tangentx import compilation

        return compilation.entry(self._target, self._cache, values, self._wrt(), self._spec)

    def _public(self, out: Any, values: tuple[Any, ...]) -> Any:
        """The compiled function's result in the form that is promised."""
        spec, extra = self._spec, None
        grads = out
        if spec.value or spec.has_aux:
            extra, grads = out if spec.value else (out[1], out[0])
        wrt = self._wrt()
        taken = [v for v in values if isinstance(v, np.ndarray)]
        many = isinstance(spec.wrt, tuple)
        bars = grads if many else (grads,)
        found = tuple(publish(bar, values[i], taken) for bar, i in zip(bars, wrt, strict=True))
        result = found if many else found[0]
        if spec.value:
            return (extra, result)
        return (result, extra) if spec.has_aux else result

    @property
    def source(self) -> str:
        """The text that runs."""
        from tangentx import compilation

        entry = self._cache.last or compilation.predicted(self._target, self._cache, self._bind(), self._wrt(), self._spec)
        return compilation.text_of(entry)

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The text for the kinds of these arguments."""
        from tangentx import compilation

        return compilation.text_of(self._entry(self._values(args, kwargs)))

    def explain(self) -> str:
        """What was compiled, and for which kinds."""
        from tangentx import compilation

        return compilation.explain(self, self._cache)

    def __tangentx_order__(self, program: Any) -> Any:
        """The function whose parameters a call of this fills, and the objects that come first."""
        from tangentx import compilation

        return compilation.order(self._target, program), self._target.owner

    def __tangentx_function__(self, program: Any, kinds: Sequence[Any]) -> Any:
        """This derivative as a function of the language, for a derivative that is taken of it or around it."""
        from tangentx import compilation

        return compilation.nested(self, self._target, program, kinds, self._wrt(), self._spec)

    def show(self) -> None:
        """Prints the source, in colours where Pygments is installed and the output is a terminal."""
        from tangentx.showing import show

        show(self.source)


class Differentiable:
    """A function with its derivatives; calling it calls the function as written."""

    def __init__(self, function: Any, spec: Spec, owner: Any = None) -> None:
        self._function = function
        self._spec = spec
        self._owner = owner
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._plain()(*args, **kwargs)

    def _plain(self) -> Any:
        return self._function if self._owner is None else self._function.__get__(self._owner)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Differentiable(self._function, self._spec, instance)

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        target = target_of(self._plain())
        return target.function, target.owner

    def __repr__(self) -> str:
        return f"<differentiable {self._function.__qualname__}>"

    def __reduce__(self) -> Any:
        return (_by_name, (self._function.__module__, self._function.__qualname__))

    def __copy__(self) -> Differentiable:
        return self

    def __deepcopy__(self, memo: Any) -> Differentiable:
        return self

    def _derivative(self, **changes: Any) -> Derivative:
        return derivative_of(self._plain(), replace(self._spec, **changes))

    @property
    def grad(self) -> Derivative:
        """The gradient with respect to `wrt`."""
        return self._derivative()

    @property
    def value_and_grad(self) -> Derivative:
        """``(value, gradient)``."""
        return self._derivative(value=True)

    def vjp(self, *primals: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
        """``(value, pullback)``; the pullback returns cotangents of `wrt`."""
        from tangentx.products import vjp_of

        return vjp_of(self._derivative(transform="vjp"), primals, kwargs)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """``(value, tangent)``; one tangent for each primal, None holds it constant."""
        return jvp(self._plain(), primals, tangents, fallback=self._spec.fallback, jit=self._spec.jit)

    def explain(self) -> str:
        """What was compiled, and for which kinds."""
        return self.grad.explain()


def _by_name(module: str, name: str) -> Any:
    import importlib

    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


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
    from tangentx.products import jvp_of

    return jvp_of(derivative_of(f, Spec("jvp", None, False, False, fallback, jit)), primals, tangents)


def vjp(f: Any, *primals: Any, fallback: str = "tensor", jit: str | None = None) -> tuple[Any, Callable[[Any], Any]]:
    """``(value, pullback)`` of `f` at `primals`.

    The pullback takes a cotangent of the structure and shape of the value and returns one cotangent for one primal,
    a tuple for several, None where there is no derivative. It may be called any number of times.
    """
    from tangentx.products import vjp_of

    return vjp_of(derivative_of(f, Spec("vjp", None, False, False, fallback, jit)), primals, {})


for _maker in (grad, value_and_grad):
    _maker.__tangentx_static__ = True  # type: ignore[attr-defined]
