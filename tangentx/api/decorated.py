"""The object that a decorated function becomes, and its ``.jvp``, ``.vjp`` and the like."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tangentx.api.derivative import Derivative, derivative_of, gradient_by
from tangentx.api.jitted import Jitted, jitted
from tangentx.api.products import compiled_jvp, compiled_vjp, jvp_of, tangent_of_gradient, vjp_of
from tangentx.common.options import showing
from tangentx.dispatch.entries import Entry, target_of
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.request import Spec, held
from tangentx.dispatch.tensor_arguments import holds_modules, holds_tensors, with_arrays
from tangentx.errors import NotDifferentiable

# `f.jvp`, `f.vjp` and the like as attributes of a function: callable, with a text that can be read.


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


# The object that a decorated function becomes.


class Differentiable:
    """A function with its derivatives; calling it calls the function as written."""

    def __init__(self, function: Any, spec: Spec, owner: Any = None) -> None:
        self._function = function
        self._spec = spec
        self._owner = owner
        self._made: dict[Any, Derivative] = {}
        self._products: dict[str, Product] = {}
        self._weighed: dict[Any, Any] = {}
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not holds_tensors(args, kwargs, as_written=True) or holds_modules((args, kwargs)):
            return self._plain()(*args, **kwargs)
        from tangentx.api.tensor_calls import Calls, run_on_tensors

        pullbacks = self._derivative(transform="vjp", wrt=None, has_aux=False)
        return Calls(self, pullbacks, gradient_by, as_written=True).run(
            args, kwargs, lambda: run_on_tensors(self._plain(), args, kwargs)
        )

    def _plain(self) -> Any:
        return self._function if self._owner is None else self._function.__get__(self._owner)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if isinstance(self._function, classmethod | staticmethod):
            bound = (type(instance) if owner is None else owner) if isinstance(self._function, classmethod) else None
            return Differentiable(self._function.__func__, self._spec, bound)
        # What is no descriptor (a builtin, a callable object) takes no self, in a class either.
        if instance is None or not hasattr(type(self._function), "__get__"):
            return self
        return Differentiable(self._function, self._spec, instance)

    def __eq__(self, other: object) -> bool:
        """As Python's methods, which are made anew each time that they are read."""
        if not isinstance(other, Differentiable):
            return NotImplemented
        return (self._function is other._function and self._owner is other._owner and self._spec == other._spec) or (
            self is other
        )

    def __hash__(self) -> int:
        return hash((id(self._function), id(self._owner)))

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._plain(), follow_wrapped=False)

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        target = target_of(self._plain())
        return target.function, target.owner

    def __repr__(self) -> str:
        return f"<differentiable {getattr(self._function, '__qualname__', repr(self._function))}>"

    def __reduce__(self) -> Any:
        from tangentx.api.pickling import reduced_function

        return reduced_function(self._function, self._owner)

    def __copy__(self) -> Differentiable:
        return self

    def __deepcopy__(self, memo: Any) -> Differentiable:
        if self._owner is None:
            return self
        return Differentiable(self._function, self._spec, copy.deepcopy(self._owner, memo))

    def _derivative(self, **changes: Any) -> Derivative:
        kept = tuple(changes.items())
        if kept not in self._made:
            self._made[kept] = derivative_of(self._plain(), replace(self._spec, **changes))
        return self._made[kept]

    @property
    def grad(self) -> Derivative:
        """The gradient with respect to `wrt`."""
        return self._derivative()

    @property
    def value_and_grad(self) -> Derivative:
        """``(value, gradient)``."""
        return self._derivative(value=True)

    @property
    def compiled(self) -> Jitted:
        """The function itself compiled as loops, as ``jit=`` says or as ``jit=True`` does; see `tangentx.jit`."""
        return jitted(self._plain(), self._spec.jit or True, self._spec.parallel)

    @property
    def vjp(self) -> Product:
        """``f.vjp(*primals)`` is ``(value, pullback)``; the pullback returns cotangents of `wrt`."""
        derivative = self._derivative(transform="vjp")

        def vjp(*primals: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
            return vjp_of(derivative, primals, kwargs)

        def compiled(*primals: Any, **kwargs: Any) -> Entry:
            return compiled_vjp(derivative, primals, kwargs)

        return self._product("vjp", vjp, compiled, derivative)

    @property
    def jvp(self) -> Product:
        """``f.jvp(primals, tangents)`` is ``(value, tangent)``; one tangent for each primal, None holds it constant."""
        derivative = self._derivative(transform="jvp", wrt=None, has_aux=False)
        return self._product("jvp", partial(jvp_of, derivative), partial(compiled_jvp, derivative), derivative)

    @property
    def jacobian(self) -> Derivative:
        """The Jacobian with respect to `wrt`; see `tangentx.jacobian`."""
        return self._derivative(transform="jacobian", mode="auto")

    @property
    def hessian(self) -> Derivative:
        """The second derivatives with respect to `wrt`; see `tangentx.hessian`."""
        forward = replace(self._spec, transform="jacobian", mode="forward")
        return derivative_of(self.grad, forward)

    @property
    def hvp(self) -> Product:
        """``f.hvp(primals, tangents)``: the second derivatives with respect to `wrt` times `tangents`, one for each
        primal (None: it is constant)."""
        gradient = derivative_of(
            self._plain(), _gradient(self._spec.wrt, self._spec.fallback, self._spec.check, self._spec.precision)
        )
        tangent = _tangent_of(gradient)
        spec = self._spec
        options: dict[str, Any] = {"fallback": spec.fallback, "check": spec.check, "precision": spec.precision}
        function = partial(hvp_of, self._plain(), self._spec.wrt, **options)
        return self._product("hvp", function, partial(compiled_jvp, tangent), tangent)

    def _product(
        self, name: str, function: Callable[..., Any], compiled: Callable[..., Entry], derivative: Derivative
    ) -> Product:
        if name not in self._products:
            of = getattr(self._function, "__qualname__", repr(self._function))
            self._products[name] = Product(name, of, function, compiled, derivative)
        return self._products[name]

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What was compiled, for which kinds, and what is recorded, of all the derivatives; with arguments, of the
        gradient alone, and how many bytes for these, which takes one more run of it."""
        if args or kwargs:
            return self.grad.explain(*args, **kwargs)
        target = target_of(self._plain())
        made = [d for d in list(held(target.function).made.values()) if d._cache.entries]
        from tangentx.api.display import Explanation, explanation

        texts = [explanation(repr(d), d._cache) for d in made]
        return Explanation("\n\n".join(texts) or f"{self!r}: nothing compiled yet")

    def _repr_html_(self) -> str:
        """The function and its gradient side by side, for notebooks."""
        from tangentx.api.display import side_by_side

        return side_by_side(self.grad)


def _gradient(wrt: Any, fallback: str, check: bool, precision: str | None) -> Spec:
    return Spec("grad", wrt, False, False, fallback, check=check, precision=precision)


def _tangent_of(gradient: Derivative) -> Derivative:
    """Forward mode of a gradient, which gives the tangent alone."""
    spec = gradient._spec
    return derivative_of(
        gradient, Spec("jvp", None, False, False, spec.fallback, None, "tangent", spec.check, spec.precision)
    )


def hvp_of(
    f: Any,
    wrt: Any,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    fallback: str,
    check: bool = False,
    precision: str | None = None,
) -> Any:
    """The tangent of the gradient with respect to `wrt`, None for all primals that have a derivative."""
    if wrt is not None:
        gradient = derivative_of(f, _gradient(wrt, fallback, check, precision))
        return tangent_of_gradient(_tangent_of(gradient), gradient, primals, tangents)
    if not isinstance(primals, tuple | list):
        raise NotDifferentiable("primals and tangents must be tuples", hint="write hvp(f, (x,), (v,))")
    from tangentx.dispatch.validation import differentiable

    primals = with_arrays(primals)
    places = differentiable(primals, range(len(primals)))
    found = hvp_of(f, places, primals, tangents, fallback, check, precision)
    products = dict(zip(places, found, strict=True))
    result = tuple(products.get(i) for i in range(len(primals)))
    return result if len(primals) > 1 else result[0]
