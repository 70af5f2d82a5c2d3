"""Functions that are compiled themselves: `tx.jit`, and ``.compiled`` of what `differentiate` decorates."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from tangentx.api.derivative import Derivative, derivative_of
from tangentx.common.options import checking
from tangentx.dispatch.call_stubs import Hit
from tangentx.dispatch.call_stubs import hit as hit_of
from tangentx.dispatch.entries import Entry
from tangentx.dispatch.request import Spec
from tangentx.dispatch.tensor_arguments import holds_modules, holds_tensors


def jitted(f: Any, how: str | bool, parallel: bool = False) -> Jitted:
    """The one compiled form of a function for a way to compile it."""
    found = derivative_of(f, Spec("primal", None, jit=how, parallel=parallel), Jitted)
    assert isinstance(found, Jitted)
    return found


def _remade(where: tuple[Any, ...], owner: tuple[Any, ...], spec: Spec) -> Jitted:
    from tangentx.api.pickling import found_function

    return jitted(found_function(where, owner), spec.jit or True, spec.parallel)


class Jitted(Derivative):
    """A function compiled as loops, for the kinds of arguments that it is called with."""

    def __repr__(self) -> str:
        return f"<compiled {getattr(self.__wrapped__, '__qualname__', repr(self.__wrapped__))}>"

    def __reduce__(self) -> Any:
        from tangentx.api.pickling import reduced

        return reduced(self._target, _remade, self._spec)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None or not isinstance(self._target.function, types.FunctionType):
            return self
        return jitted(types.MethodType(self._target.function, instance), self._spec.jit or True, self._spec.parallel)

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._target.function, self._target.owner

    def __tangentx_function__(self, program: Any, kinds: Sequence[Any]) -> Any:
        """In a program that is differentiated it is the function itself."""
        function = self._target.function
        if isinstance(function, types.FunctionType):
            return program.lift(function)
        return function.__tangentx_function__(program, kinds)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if holds_tensors(args, kwargs) or holds_modules((args, kwargs)):
            return self._plain()(*args, **kwargs)
        return super()._called(args, kwargs)

    def _plain(self) -> Callable[..., Any]:
        function, owner = self._target.function, self._target.owner
        if isinstance(function, Derivative):
            return function._bound_to(owner)
        return functools.partial(function, *owner) if owner else function

    def _hit(self, entry: Entry, args: tuple[Any, ...]) -> Hit:
        return hit_of(entry, args, (), False, False, lambda out, values: out)

    def _wrt(self) -> tuple[int, ...]:
        return ()

    def _entry(self, values: tuple[Any, ...]) -> Entry:
        from tangentx.compile import primals

        given = (self._target, self._cache, values, self._spec, self._bind().signature.parameters.values())
        return checking(self._spec.check, lambda: primals.entry(*given))

    def _published(self, out: Any, values: tuple[Any, ...], places: Sequence[int]) -> Any:
        return out
