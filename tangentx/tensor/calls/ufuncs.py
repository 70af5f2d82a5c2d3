"""Ufuncs on Tensors, and their methods: ``reduce``, ``accumulate``, ``outer``, ``reduceat``, ``at``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays import scatter
from tangentx.arrays.libraries import numpy_function
from tangentx.common.float_events import under_events
from tangentx.errors import NotDifferentiable, NoTemplate, place, span_of
from tangentx.templates import has_composition
from tangentx.templates.out_parameters import OPTIONS, type_of_loop
from tangentx.tensor.calls.apply import as_array, call
from tangentx.tensor.calls.plain_stubs import A_TENSOR, Text
from tangentx.tensor.calls.recorded_stubs import QUICK, way
from tangentx.tensor.calls.rules import rule_of
from tangentx.tensor.core.containers import holds_tensor, raw
from tangentx.tensor.core.making import demand_no_solver
from tangentx.tensor.core.modes import refusal
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.writes.writing import cast_for, filled, overwrite

_REDUCED: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
_ACCUMULATED: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}

_ABSENT: Any = object()
_LIKELY = ((A_TENSOR,), (A_TENSOR, 0.0))  # operands of ufuncs that have no derivative

_WAYS: dict[Any, tuple[Callable[..., Any], ...]] = {}
"""The ways of the ufuncs that were met, none where there is no short one.

Those of two operands have three: for two Tensors, for one and what is plain, and for the same in the other order.
"""


def array_ufunc(self: Tensor, ufunc: Any, method: str, x: Any, y: Any = _ABSENT, *more: Any, **kwargs: Any) -> Any:
    """NumPy calls this where an argument of a ufunc is a Tensor. Raises NoTemplate where there is no rule."""
    if method == "__call__" and not kwargs:
        try:
            ways = _WAYS[ufunc]
        except KeyError:
            ways = _WAYS[ufunc] = _ways(ufunc)
        if ways:
            if y is _ABSENT:
                return ways[0](x)
            if type(x) is Tensor:
                if type(y) is Tensor:
                    return ways[0](x, y)
                if type(y) in QUICK:
                    return ways[1](x, y)
            elif type(x) in QUICK:
                return ways[2](x, y)
    return _called(ufunc, method, (x,) if y is _ABSENT else (x, y, *more), kwargs)


def cupy_ufunc(self: Tensor, kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """CuPy calls this where an argument of one of its ufuncs or kernels is a Tensor: ``cp.sin(x)`` is ``np.sin(x)``.

    Raises NotDifferentiable for a kernel that NumPy has no function for.
    """
    known = numpy_function(kernel)
    if known is None:
        name = getattr(kernel, "name", None) or getattr(kernel, "__name__", "a kernel")
        hint = "use a function that NumPy has too, or give its derivative with `tx.primitive`"
        raise NotDifferentiable(f"`{name}` of CuPy's has no derivative", span_of(place()), hint)
    if isinstance(known[0], np.ufunc):  # not by NumPy, which would ask CuPy's array, and that would ask again
        return array_ufunc(self, known[0], "__call__", *args, **kwargs)
    return known[0](*args, **kwargs)


def _ways(ufunc: Any) -> tuple[Callable[..., Any], ...]:
    rule = rule_of(ufunc)
    if rule is not None and rule.quick > 0:
        return tuple(way(rule, given, 1) for given in (("t",) if rule.quick == 1 else ("tt", "tp", "pt")))
    if rule is not None and rule.constant and ufunc.nout == 1 and ufunc.nin <= len(_LIKELY):
        plain = Text(rule, ufunc, _LIKELY[: ufunc.nin]).flat(call, 1)
        return (_looked_at(plain),) if ufunc is np.isnan else (plain,) * 3
    return ()


def _looked_at(plain: Callable[..., Any]) -> Callable[..., Any]:
    def ask(t: Tensor) -> Any:
        demand_no_solver(t, sys._getframe(2))
        return plain(t)

    return ask


def _called(ufunc: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The long way of a call, or of a method's."""
    out = kwargs.pop("out", None)
    where = kwargs.pop("where", True)
    if method == "at":
        return _at(ufunc, *args)
    if out is not None and all(type(into) is np.ndarray and into.dtype.kind in "biu" for into in out):
        # Nothing flows through whole numbers; NumPy itself says whether they can be stored there.
        more = {"out": out, **({} if where is True else {"where": raw(where)})}
        return getattr(ufunc, method)(*map(raw, args), **{name: raw(x) for name, x in kwargs.items()}, **more)
    if out is None:
        return _result(ufunc, method, args, kwargs, where)
    if where is True or method != "__call__":  # of a reduction it says which elements count
        if method != "__call__":
            args = tuple(cast_for(out[0], getattr(ufunc, method), args, kwargs))
        result = _result(ufunc, method, args, kwargs, where)
    else:
        result = _selected(ufunc, args, kwargs, where, out)
    if len(out) > 1:
        return tuple(part if into is None else filled(into, part) for into, part in zip(out, result, strict=True))
    return filled(out[0], result)


def _selected(ufunc: Any, args: Any, kwargs: dict[str, Any], where: Any, out: Any) -> Any:
    """The result where it is asked for, and elsewhere what stands in `out`.

    It is computed everywhere, in silence: NumPy warns, or raises, of the elements alone that are asked for.
    """
    given, named = [raw(a) for a in args], {name: raw(value) for name, value in kwargs.items()}
    ufunc(*given, **named, out=tuple(None if o is None else np.copy(raw(o)) for o in out), where=raw(where))
    result = under_events(lambda: _result(ufunc, "__call__", args, kwargs, True), all="ignore")
    if len(out) == 1:
        return call(np.where, (where, result, out[0]), {})
    return tuple(
        part if into is None else call(np.where, (where, part, into), {})
        for into, part in zip(out, result, strict=True)
    )


def _result(ufunc: Any, method: str, args: Any, kwargs: dict[str, Any], where: Any) -> Any:
    if where is not True and method == "__call__":
        raise _refused(ufunc, "`where` without `out`, which leaves elements undefined", "give it `out` too")
    if method == "__call__":
        return call(ufunc, *_in_type(ufunc, [_operand(a) for a in args], kwargs))
    if method == "reduce" and ufunc in _REDUCED:
        axis = kwargs.pop("axis", args[1] if len(args) > 1 else 0)
        more = {} if where is True else {"where": where}
        return call(_REDUCED[ufunc], (args[0],), {"axis": axis, **kwargs, **more})
    if method == "accumulate" and ufunc in _ACCUMULATED:
        return call(_ACCUMULATED[ufunc], (args[0],), {"axis": args[1] if len(args) > 1 else 0, **kwargs})
    if method == "outer":
        first, second = map(_operand, args)
        column = call(np.reshape, (first, np.shape(raw(first)) + (1,) * np.ndim(raw(second))), {})
        return call(ufunc, (column, second), kwargs)
    if where is True and has_composition(getattr(ufunc, method)):
        return call(getattr(ufunc, method), args, kwargs)
    if not any(type(a) is Tensor and a.requires_grad for a in args):
        return getattr(ufunc, method)(*map(raw, args), **kwargs)
    raise _refused(ufunc, f"`{method}`", "write it with operations that have a rule")


def _operand(value: Any) -> Any:
    """A list of numbers as an array, for rules calculate with what they are given; anything else as it is."""
    return np.asarray(value) if isinstance(value, list | tuple) and not holds_tensor(value) else value


def _in_type(ufunc: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Operands of the type that ``dtype=`` names, and the options that are left: see `templates.out_parameters`."""
    if not kwargs or not kwargs.keys() <= set(OPTIONS):
        return args, kwargs
    if kwargs.get("dtype") is None:
        return args, {}
    loop = type_of_loop(ufunc, kwargs["dtype"])
    casting = kwargs.get("casting", "same_kind")
    if loop is None or not all(np.can_cast(np.asarray(raw(a)).dtype, loop, casting) for a in args):
        return args, kwargs
    return [call(np.asarray, (a, loop), {}) for a in args], {}


def _at(ufunc: Any, target: Any, key: Any, *values: Any) -> None:
    """Unbuffered addition and subtraction in place."""
    signs = {np.add: 1.0, np.subtract: -1.0}
    if type(target) is not Tensor:
        raise _refused(ufunc, "`at` of an array that is no Tensor", "make it one: `tx.tensor(a)`")
    if ufunc not in signs:
        return _each_at(ufunc, target, raw(key), values)
    data, key = target.current, raw(key)
    given = as_array(values[0])
    value = call(np.broadcast_to, (given, np.shape(data[key])), {}) if type(given) is Tensor else given
    added = call(scatter, (value, data, key), {}) if type(value) is Tensor else scatter(value, data, key)
    overwrite(target, call(np.add if signs[ufunc] > 0 else np.subtract, (target, added), {}))


def _each_at(ufunc: Any, target: Tensor, key: Any, values: Any) -> None:
    """Other ufuncs, one place after the other: of those that repeat, each works on what the one before has left."""
    data = target.current
    places = np.arange(data.size).reshape(data.shape)[key]
    given = [np.ravel(np.broadcast_to(as_array(value), places.shape)) for value in values]
    whole: Any = target
    for k, number in enumerate(np.ravel(places)):
        where = np.unravel_index(number, data.shape)
        whole[where] = call(ufunc, (whole[where], *(value[k] for value in given)), {})


def _refused(ufunc: Any, what: str, hint: str) -> Exception:
    return refusal(NoTemplate(f"`{ufunc.__name__}` has no derivative rule for {what}", span_of(place()), hint))
