"""The object that a derivative is, one for each function and what is asked of it."""

from __future__ import annotations

import copy
import functools
import inspect
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tangentx.common import cache_files, forks
from tangentx.common.options import OFF, checking, in_precision, is_watched, showing
from tangentx.common.scoped_state import holding
from tangentx.dispatch.call_stubs import MISSED, Hit
from tangentx.dispatch.call_stubs import hit as hit_of
from tangentx.dispatch.entries import Binder, Cache, Entry, demand_class, place_of, positions, target_of
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.request import Spec, held
from tangentx.dispatch.results import fresh, public_gradients, separate
from tangentx.dispatch.tensor_arguments import (
    holds_tensors,
    refuse_mixed,
    refuse_modules,
    refuse_tensors,
    with_arrays,
)
from tangentx.dispatch.tracebacks import tell_line
from tangentx.errors import NotDifferentiable

_REGISTER = (
    threading.RLock()
)  # what runs while it is held (`__del__`, a handler of signals) may ask for derivatives too
forks.hold(_REGISTER)


def derivative_of(f: Any, spec: Spec, cls: type[Derivative] | None = None) -> Derivative:
    """The one derivative object for a function and what is asked of it; bound ones share what is compiled."""
    target = target_of(f)
    spec.checked()

    def found() -> Derivative:
        made: dict[tuple[Spec, int], Derivative] = held(target.function).made
        name = (spec, len(target.owner))
        if name not in made:
            made[name] = (cls or Derivative)(f, spec)
            made[name]._target = replace(target, owner=(None,) * len(target.owner))  # keeps no object of the user's
        return made[name]._bound_to(target.owner)

    return holding(_REGISTER, found)


def gradient_by(f: Any, places: tuple[int, ...]) -> Derivative:
    """The gradient with respect to several places."""
    return derivative_of(f, Spec("grad", places))


def _remade(where: tuple[Any, ...], owner: tuple[Any, ...], spec: Spec) -> Derivative:
    from tangentx.api.pickling import found_function

    return derivative_of(found_function(where, owner), spec)


class Derivative:
    """A callable derivative with readable source.

    `source` is the text for the kinds of arguments compiled last; before any call, for the kinds that annotations
    and defaults predict. `source_for(*args)` is the text for the kinds of these arguments.
    """

    def __init__(self, f: Any, spec: Spec) -> None:
        self._target = target_of(f)
        self._binder: Binder | None = None
        self._cache = Cache()
        self._weighed: dict[Any, Any] = {}
        self._spec = spec
        function = self._target.function
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function

    def _bound_to(self, owner: tuple[Any, ...]) -> Derivative:
        if all(a is b for a, b in zip(owner, self._target.owner, strict=True)):
            return self
        other = copy.copy(self)
        other._target = replace(self._target, owner=owner)
        other._weighed = {}
        return other

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        return f"<{self._spec.said()} of {name}>"

    def __reduce__(self) -> Any:
        from tangentx.api.pickling import reduced

        return reduced(self._target, _remade, self._spec)

    def __copy__(self) -> Derivative:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: Any) -> Derivative:
        return self._bound_to(copy.deepcopy(self._target.owner, memo)) if self._target.owner else self

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        return self, self._target.owner

    def __tangentx_primal__(self) -> Any:
        return self._target.function

    @property
    def __signature__(self) -> inspect.Signature:
        signature = self._bind().signature
        return signature.replace(parameters=list(signature.parameters.values())[len(self._target.owner) :])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        route = self._cache.route
        if route is None or kwargs or route.count != len(args) or route.context is not OFF.get():
            return self._called(args, kwargs)
        try:
            out = route.run(*args)
        except Exception as error:
            tell_line(error, route.entry)
            raise
        if out is MISSED:
            return self._called(args, kwargs)
        self._cache.last = route.entry
        return out

    @shallow
    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_watched():
            return self._watched(args, kwargs)
        return in_precision(self._spec.precision, lambda: self._found(args, kwargs))

    def _watched(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, which is an error where it is not finite."""
        from tangentx.compile.anomalies import demand_finite

        out = in_precision(self._spec.precision, lambda: self._found(args, kwargs))
        self._cache.route = None  # the next call is watched, too
        if not holds_tensors(with_arrays(args), with_arrays(kwargs)):
            demand_finite(out, self._target, self._values(args, kwargs), self._wrt())
        return out

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, by way of what was compiled before or is now; the next call of this form has a shorter way."""
        entry: Entry | None = None
        context = OFF.get()
        try:
            hit = None if kwargs else self._cache.hits.find(context, args)
            if hit is not None:
                entry, route = hit.entry, hit.route(context, args)
                out = route.run(*args)
                if out is not MISSED:
                    self._cache.last, self._cache.route = entry, route
                    return out
            args, kwargs = with_arrays(args), with_arrays(kwargs)
            if holds_tensors(args, kwargs):
                refuse_mixed((args, kwargs))
                return self._on_tensors(args, kwargs)
            values = self._bind()((*with_arrays(self._target.owner), *args), kwargs)
            if self._spec.transform == "jacobian":
                refuse_modules([values[i] for i in self._wrt()])
            entry = self._entry(values)
            if entry.notes.get("fallback"):
                return self._run_on_tensors(entry, values, args, kwargs)
            direct = not kwargs and not self._target.owner and len(args) == len(values) and self._bind().plain
            if direct and not entry.writes and "undecided" not in entry.notes:
                self._cache.hits.keep(context, args, entry.notes["taken"], self._hit(entry, args))
            return self._public(entry.functions[0](*values), values)
        except Exception as error:
            tell_line(error, entry)
            raise

    def _run_on_tensors(self, entry: Entry, values: tuple[Any, ...], args: Any, kwargs: Any) -> Any:
        """The result of what cannot be compiled, recorded where it depends on Tensors that the function captured."""
        from tangentx.api import tensor_calls
        from tangentx.compile.fallback import Captured

        try:
            found = entry.functions[0](*values)
        except Captured as met:
            return tensor_calls.derivative_on_tensors(self, args, kwargs, met.trace)
        return self._public(found, values)

    def _hit(self, entry: Entry, args: tuple[Any, ...]) -> Hit:
        spec, places = self._spec, self._wrt()
        as_it_is = places if spec.transform == "grad" and not spec.has_aux else ()
        publish = functools.partial(self._published, places=places)
        return hit_of(entry, args, as_it_is, isinstance(spec.wrt, tuple), spec.value, publish)

    def _bind(self) -> Binder:
        if self._binder is None or not self._binder.holds():
            demand_class(self._target.function, self._target.owner)
            self._binder = Binder(self._target.function)
        return self._binder

    def _on_tensors(self, args: Sequence[Any], kwargs: Any) -> Any:
        """Called with Tensors: one node of their graph."""
        from tangentx.api import tensor_calls

        spec = replace(self._spec, transform="vjp", wrt=None, value=False, has_aux=False, mode="")
        calls = tensor_calls.Calls(self, derivative_of(self, spec), gradient_by)
        return calls.run(args, kwargs, lambda: tensor_calls.derivative_on_tensors(self, args, kwargs))

    def __tangentx_recorded__(self, args: Sequence[Any], kwargs: Any) -> Any:
        """The gradient or Jacobian of what comes to Tensors by itself, recorded; NotImplemented for others."""
        from tangentx.api import tensor_calls

        if self._spec.transform not in ("grad", "jacobian"):
            return NotImplemented
        return tensor_calls.derivative_on_tensors(self, args, kwargs)

    def _values(self, args: Sequence[Any], kwargs: Any) -> tuple[Any, ...]:
        args, kwargs = with_arrays((*self._target.owner, *args)), with_arrays(kwargs)
        refuse_tensors(args[len(self._target.owner) :], kwargs)
        return self._bind()(args, kwargs)

    def _wrt(self) -> tuple[int, ...]:
        what = getattr(self._target.function, "__name__", "the function")
        try:
            return positions(self._spec.wrt, self._bind().names, len(self._target.owner), what)
        except NotDifferentiable as error:
            raise NotDifferentiable(error.message, place_of(self._target.function), error.hint) from None

    def _entry(self, values: tuple[Any, ...]) -> Entry:
        def compiled(values: tuple[Any, ...], spec: Spec) -> Entry:
            from tangentx.compile import jacobian_mode

            return jacobian_mode.shorter(self, values, spec)

        def found() -> Entry:
            if cache_files.chosen() is None:
                return compiled(values, self._spec)
            from tangentx.dispatch.disk_cache import entry_for

            return entry_for(self._target, self._cache, values, self._wrt(), self._spec, compiled)

        return checking(self._spec.check, found)

    def _public(self, out: Any, values: tuple[Any, ...]) -> Any:
        """The compiled function's result in the form that is promised."""
        return self._published(out, values, self._wrt())

    def _published(self, out: Any, values: tuple[Any, ...], places: tuple[int, ...]) -> Any:
        spec = self._spec
        if spec.transform == "jacobian":
            return separate(out, values)
        if not (spec.value or spec.has_aux):
            return public_gradients(out, values, places, isinstance(spec.wrt, tuple))
        extra, grads = out if spec.value else (out[1], out[0])
        result = public_gradients(grads, values, places, isinstance(spec.wrt, tuple))
        extra = fresh(extra)
        return (extra, result) if spec.value else (result, extra)

    @property
    def source(self) -> str:
        """The text that runs; before any call, one for predicted kinds, which says what was assumed."""
        from tangentx.compile import gradients, prediction

        if self._cache.last is not None:
            return gradients.text_of(self._cache.last)
        siblings = [d._cache.last for d in list(held(self._target.function).made.values())]
        return prediction.source(self, self._target, self._bind(), [s for s in siblings if s is not None])

    @shallow
    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The text for the kinds of these arguments."""
        from tangentx.compile import gradients

        return showing(
            lambda: in_precision(
                self._spec.precision, lambda: gradients.text_of(self._entry(self._values(args, kwargs)))
            )
        )

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What was compiled, for which kinds, and what is recorded: with arguments, how many bytes for these, which
        takes one more run of the derivative."""
        from tangentx.api.display import explanation

        if not (args or kwargs):
            return explanation(repr(self), self._cache)
        values = self._values(args, kwargs)
        entry = in_precision(self._spec.precision, lambda: self._entry(values))
        return explanation(repr(self), self._cache, entry, values)

    def __tangentx_order__(self, program: Any) -> Any:
        """The function whose parameters a call of this fills, and the objects that come first."""
        from tangentx.compile import gradients

        return gradients.order(self._target, program), self._target.owner

    def __tangentx_function__(self, program: Any, kinds: Sequence[Any]) -> Any:
        """This derivative as a function of the language, for a derivative that is taken of it or around it."""
        from tangentx.compile import nested

        return in_precision(
            self._spec.precision,
            lambda: nested.nested(self, self._target, program, kinds, self._wrt(), self._spec),
        )

    def show(self) -> None:
        """Prints the source, in colours where Pygments is installed and the output is a terminal."""
        from tangentx.api.display import show

        show(self.source)

    def _repr_html_(self) -> str:
        """The function and its derivative side by side, for notebooks."""
        from tangentx.api.display import side_by_side

        return side_by_side(self)
