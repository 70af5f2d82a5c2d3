"""Products with a direction: `jvp` and `vjp` at given primals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.derivative import publish
from tangentx.errors import NotDifferentiable
from tangentx.trees import is_differentiable, leaves


def jvp_of(derivative: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``(value, tangent)``. Raises NotDifferentiable where primals and tangents do not match."""
    from tangentx import compilation

    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise NotDifferentiable("primals and tangents are tuples", hint="write jvp(f, (x,), (v,))")
    if len(primals) != len(tangents):
        raise NotDifferentiable(
            f"{len(primals)} primals and {len(tangents)} tangents", hint="give one for each, None for a constant"
        )
    values = derivative._values(primals, {})
    owned = len(derivative._target.owner)
    given = [(owned + i, t) for i, t in enumerate(tangents) if t is not None]
    for i, t in given:
        _match(t, values[i], "the tangent", f"argument {i - owned}")
    entry = compilation.entry_jvp(derivative._target, derivative._cache, values, tuple(i for i, _ in given))
    active = [fitted(t, values[i]) for i, t in given]
    value, dot = entry.functions[0](*values, *active)
    inner = getattr(derivative._target.function, "_public", None)
    if inner is not None:
        return inner(value, values), _public_tangent(dot, inner(value, values))
    return value, _public_tangent(dot, value)


def _public_tangent(dot: Any, value: Any) -> Any:
    from tangentx.arrays import finish, has_derivative

    if type(value) is float:
        return 0.0 if dot is None else float(np.real(dot))
    if has_derivative(value) or isinstance(value, tuple | list | dict):
        return finish(dot, value)
    return None if dot is None else finish(dot, value)


def _match(given: Any, primal: Any, what: str, where: str) -> None:
    """Raises NotDifferentiable where `given` has not the structure, shapes and domain of `primal`."""
    try:
        pairs = list(leaves(where, primal, given))
    except ValueError as error:
        raise NotDifferentiable(f"{what} does not fit: {error}", hint=f"give it the structure of {where}") from None
    for path, leaf, part in pairs:
        if part is None or not is_differentiable(leaf):
            continue
        if np.shape(part) != np.shape(leaf):
            raise NotDifferentiable(
                f"{what} of {path} has shape {np.shape(part)}, its primal {np.shape(leaf)}",
                hint="give it the primal's shape",
            )
        kind = np.asarray(part).dtype.kind
        if kind not in "biufc" or (kind == "c" and not np.iscomplexobj(leaf)):
            raise NotDifferentiable(
                f"{what} of {path} is {np.asarray(part).dtype}, its primal {np.asarray(leaf).dtype}",
                hint="give it the primal's dtype",
            )


def fitted(given: Any, primal: Any) -> Any:
    """A tangent or cotangent with the dtypes of `primal`; None in the place of each leaf without derivative."""
    from tangentx.arrays import tangent_as

    if type(primal) is float:
        return float(given)
    return tangent_as(given, primal)


def vjp_of(derivative: Any, primals: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
    """``(value, pullback)``."""
    from tangentx import compilation
    from tangentx.arrays import entry_copy

    values = derivative._values(primals, kwargs)
    owned = len(derivative._target.owner)
    if derivative._spec.wrt is None:
        wrt = compilation.differentiable(values, range(owned, owned + len(primals)))
        many, places = len(primals) > 1, tuple(range(owned, owned + len(primals)))
    else:
        wrt = derivative._wrt()
        many, places = isinstance(derivative._spec.wrt, tuple), wrt
    entry = compilation.entry_vjp(derivative._target, derivative._cache, values, wrt)
    value, state = entry.functions[0](*values)
    kept = {i: entry_copy(values[i]) for i in wrt}
    public = entry_copy(value)

    def pullback(cotangent: Any) -> Any:
        """Cotangents of the primals for a cotangent of the value. Raises NotDifferentiable where it does not fit."""
        seed = cotangent
        if np.ndim(value) == 0 and not isinstance(value, tuple | list | dict) and np.shape(cotangent) == (1,):
            seed = np.reshape(cotangent, ())[()]
        _match(seed, value, "the cotangent", "the value")
        bars = entry.functions[1](state, fitted(seed, value))
        taken: list[Any] = []
        found = {i: publish(bar, kept[i], taken) for i, bar in zip(wrt, bars, strict=True)}
        result = tuple(found.get(i) for i in places)
        return result if many else result[0]

    return public, pullback
