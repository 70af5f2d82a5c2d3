"""The object that a derivative is, and where each function keeps its own."""

from __future__ import annotations

import copy
import functools
import inspect
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tangentx.derivative import (
    Binder,
    Cache,
    Entry,
    Hit,
    place_of,
    positions,
    target_of,
)
from tangentx.errors import NotDifferentiable
from tangentx.faults import tell_line
from tangentx.guests import holds_tensors, refuse_tensors
from tangentx.results import fresh, public_gradients, separate
from tangentx.showing import explanation, show, side_by_side, what_of
from tangentx.spec import Spec
from tangentx.switches import OFF

_SLOT = "__tangentx_derivatives__"
_REGISTER = threading.Lock()


class _Held:
    """The derivatives of one function, kept in its own ``__dict__``, so that they live as long as it.

    Pickles and copies as nothing; `functools.wraps` copies it to another function, whose it is not.
    """

    def __init__(self, function: Any = None) -> None:
        self.function = function
        self.made: dict[tuple[Spec, int], Derivative] = {}
        self.batches: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Held, ())


def held(function: Any) -> _Held:
    """The derivatives that were made of a function."""
    found = function.__dict__.get(_SLOT)
    if not isinstance(found, _Held) or found.function is not function:
        found = function.__dict__[_SLOT] = _Held(function)
    return found


def derivative_of(f: Any, spec: Spec) -> Derivative:
    """The one derivative object for a function and what is asked of it; bound ones share what is compiled."""
    target = target_of(f)
    spec.checked()
    with _REGISTER:
        made = held(target.function).made
        name = (spec, len(target.owner))
        if name not in made:
            made[name] = Derivative(f, spec)
            made[name]._target = replace(target, owner=(None,) * len(target.owner))  # keeps no object of the user's
        return made[name]._bound_to(target.owner)


def gradient_by(f: Any, places: tuple[int, ...]) -> Derivative:
    """The gradient with respect to several places."""
    return derivative_of(f, Spec("grad", places))


def _remade(where: tuple[Any, ...], owner: tuple[Any, ...], spec: Spec) -> Derivative:
    from tangentx.pickling import found_function

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
        self._spec = spec
        function = self._target.function
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function

    def _bound_to(self, owner: tuple[Any, ...]) -> Derivative:
        if all(a is b for a, b in zip(owner, self._target.owner, strict=True)):
            return self
        other = copy.copy(self)
        other._target = replace(self._target, owner=owner)
        return other

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        return f"<{what_of(self._spec)} of {name}>"

    def __reduce__(self) -> Any:
        from tangentx.pickling import reduced_derivative

        return reduced_derivative(self, _remade)

    def __copy__(self) -> Derivative:
        other = object.__new__(Derivative)
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
        entry: Entry | None = None
        try:
            hit = None if kwargs else self._cache.hits.find(OFF.get(), args)
            if hit is not None and hit.holds():
                self._cache.last = entry = hit.entry
                out = hit.function(*args)
                done = (tuple(map(type, out)) if type(out) is tuple else type(out)) == hit.final
                return out if done else self._published(out, args, hit.places)
            if holds_tensors(args, kwargs):
                return self._on_tensors(args, kwargs)
            values = self._values(args, kwargs)
            entry = self._entry(values)
            places = self._wrt()
            direct = not kwargs and not self._target.owner and len(args) == len(values) and self._bind().plain
            if direct and not entry.writes and "undecided" not in entry.notes:
                hit = Hit(entry, entry.holds, entry.functions[0], places, self._final(values, places))
                self._cache.hits.keep(OFF.get(), args, hit)
            return self._published(entry.functions[0](*values), values, places)
        except Exception as error:
            tell_line(error, entry)
            raise

    def _bind(self) -> Binder:
        if self._binder is None or not self._binder.holds():
            from tangentx.demands import demand_class

            demand_class(self._target.function, self._target.owner)
            self._binder = Binder(self._target.function)
        return self._binder

    def _on_tensors(self, args: Sequence[Any], kwargs: Any) -> Any:
        """Called with Tensors: one node of their graph."""
        from tangentx import recorded

        spec = Spec("vjp", None, fallback=self._spec.fallback, jit=self._spec.jit)
        calls = recorded.Calls(self, derivative_of(self, spec), gradient_by)
        return calls.run(args, kwargs, lambda: recorded.gradient_on_tensors(self, args, kwargs))

    def _values(self, args: Sequence[Any], kwargs: Any) -> tuple[Any, ...]:
        refuse_tensors(args, kwargs)
        return self._bind()((*self._target.owner, *args), kwargs)

    def _wrt(self) -> tuple[int, ...]:
        what = getattr(self._target.function, "__name__", "the function")
        try:
            return positions(self._spec.wrt, self._bind().names, len(self._target.owner), what)
        except NotDifferentiable as error:
            raise NotDifferentiable(error.message, place_of(self._target.function), error.hint) from None

    def _entry(self, values: tuple[Any, ...]) -> Entry:
        from tangentx import sizes

        return sizes.shorter(self, values)

    def _public(self, out: Any, values: tuple[Any, ...]) -> Any:
        """The compiled function's result in the form that is promised."""
        return self._published(out, values, self._wrt())

    def _final(self, values: tuple[Any, ...], places: tuple[int, ...]) -> Any:
        """The classes of a result that `_published` gives back as it is; None where it never does."""
        spec = self._spec
        if spec.transform != "grad" or spec.value or spec.has_aux or any(type(values[i]) is not float for i in places):
            return None
        return (float,) * len(places) if isinstance(spec.wrt, tuple) else float

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
        from tangentx import compilation, prediction

        if self._cache.last is not None:
            return compilation.text_of(self._cache.last)
        siblings = [d._cache.last for d in list(held(self._target.function).made.values())]
        return prediction.source(self, self._target, self._bind(), [s for s in siblings if s is not None])

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The text for the kinds of these arguments."""
        from tangentx import compilation

        return compilation.text_of(self._entry(self._values(args, kwargs)))

    def explain(self) -> str:
        """What was compiled, for which kinds, and what is recorded."""
        return explanation(repr(self), self._cache)

    def __tangentx_order__(self, program: Any) -> Any:
        """The function whose parameters a call of this fills, and the objects that come first."""
        from tangentx import compilation

        return compilation.order(self._target, program), self._target.owner

    def __tangentx_function__(self, program: Any, kinds: Sequence[Any]) -> Any:
        """This derivative as a function of the language, for a derivative that is taken of it or around it."""
        from tangentx import nesting

        return nesting.nested(self, self._target, program, kinds, self._wrt(), self._spec)

    def show(self) -> None:
        """Prints the source, in colours where Pygments is installed and the output is a terminal."""
        show(self.source)

    def _repr_html_(self) -> str:
        """The function and its derivative side by side, for notebooks."""
        return side_by_side(self)
