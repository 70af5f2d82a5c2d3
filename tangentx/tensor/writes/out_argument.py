"""``out=``: by name or by position among the arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.templates import TWO_STEPS, cast_to_that_of_out, computes_in_that_of_out, from_out
from tangentx.tensor.core import dispatch
from tangentx.tensor.core.containers import raw
from tangentx.tensor.core.modes import refusal
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.writes.writing import overwrite


def has_out(fn: Any) -> bool:
    """Whether ``out`` means that: in functions of NumPy's."""
    return isinstance(fn, np.ufunc) or hasattr(fn, "_implementation") or hasattr(fn, "__objclass__")


def into(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call that says where its result is to go. Raises TypeError, as NumPy does, where it says so twice."""
    at, names = from_out(fn)
    named = dict(zip(names, args[at:], strict=False))
    if named.keys() & kwargs.keys() or len(args) > at + len(names):
        fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
    named.update(kwargs)
    out = named.pop("out", None)
    before = list(args[:at])
    if out is not None and (by := computes_in_that_of_out(fn)) is not None:
        _compute_in_that_of(out, fn, before, by, named)
    elif out is not None and "optimize" not in named:
        before = cast_for(out, fn, before, named)
    result = dispatch.call(fn, before, named)
    return result if out is None else filled(out, result)


def _compute_in_that_of(out: Any, fn: Any, args: list[Any], by: int, named: dict[str, Any]) -> None:
    """A call that adds up or multiplies does so in the type of the array that its result goes into. Raises
    NotDifferentiable for one that does so in part."""
    dtype = getattr(out, "dtype", None)
    if (args[by] if len(args) > by else named.get("dtype")) is not None or not args:
        return
    if dtype is None or dtype == getattr(args[0], "dtype", None):
        return
    if fn.__name__ in TWO_STEPS:
        message = f"numpy computes this partly in {dtype}, the type of `out`"
        raise refusal(NotDifferentiable(message, span_of(place()), "say in which: `dtype=`"))
    if len(args) > by:
        args[by] = dtype
    else:
        named["dtype"] = dtype


def cast_for(out: Any, fn: Any, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arguments with those cast that NumPy takes in the type of the array for the result, if that is wider."""
    dtype, given = getattr(out, "dtype", None), list(args)
    if dtype is None or named.get("dtype") is not None:
        return given
    for i in cast_to_that_of_out(fn, len(given)):
        own = getattr(given[i], "dtype", None)
        if own is not None and (wider := np.result_type(own, dtype)) != own:
            given[i] = given[i].astype(wider)
    return given


def filled(out: Any, result: Any, casting: Any = "same_kind") -> Any:
    """Writes a result where `out=` asks for it. Raises NotDifferentiable for a plain array, which keeps no history."""
    if type(out) is Tensor:
        return overwrite(out, result)
    whole = type(out) is np.ndarray and out.dtype.kind in "biu"  # nothing flows through whole numbers
    if type(result) is Tensor and result.requires_grad and not whole:
        message = "a value that is being differentiated is written into a plain array, which keeps no history"
        raise refusal(NotDifferentiable(message, span_of(place()), "make the array a Tensor first: `tx.tensor(a)`"))
    np.copyto(out, raw(result), casting)
    return out
