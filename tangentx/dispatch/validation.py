"""Validation of arguments and results, with messages that name the argument and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import (
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Region,
    Some,
    World,
    describe,
    is_inexact,
    reached,
)
from tangentx.analysis.types.samples import Valuer
from tangentx.errors import NotDifferentiable, Span

_LIBRARIES = {"torch": "PyTorch", "jax": "JAX", "jaxlib": "JAX", "tensorflow": "TensorFlow"}


def demand_leaf(kind: Kind, name: str, span: Span) -> None:
    """Refuses a parameter to differentiate by in which nothing has a derivative."""
    if has_leaf(kind, ()):
        return
    other = "or choose another parameter with wrt"
    if isinstance(kind, Some | Box) and any(hasattr(kind.cls, name) for name in ("__array__", "__dlpack__")):
        home = kind.cls.__module__.partition(".")[0]
        message = (
            f"`{name}` is of type {kind.cls.__name__} of {_LIBRARIES.get(home, home)}, which is not differentiated"
        )
        raise NotDifferentiable(message, span, f"pass a NumPy array: `np.asarray({name})`, {other}")
    if isinstance(kind, Num | Arr):
        made = f"{name}.astype(float)" if isinstance(kind, Arr) else f"float({name})"
        hint = f"pass `{made}`, {other}"
    else:
        hint = f"pass a float, an array of floats or a structure of them, {other}"
    message = f"`{name}` is {describe(kind)}: it holds no real or complex number, so there is no derivative"
    raise NotDifferentiable(message, span, hint)


def has_leaf(kind: Kind, seen: tuple[Region, ...]) -> bool:
    """Whether a value of this kind has a real or complex number in it."""
    if isinstance(kind, Box):
        node = kind.region.root()
        empty = kind.cls is list and not node.fields and isinstance(node.elt, Bottom)
        inside = (*node.fields.values(), node.elt)
        return empty or (node not in seen and any(has_leaf(k, (*seen, node)) for k in inside))
    return is_inexact(kind)


def demand_result(root: Instance) -> None:
    """Refuses a function that gives nothing."""
    if isinstance(root.result, Bottom):
        raise NotDifferentiable(
            "this function never returns for these arguments: it always raises, or reads an item that does not exist",
            root.source.span,
            "call it as it is to see its own exception",
        )


def demand_real_scalar(root: Instance, has_aux: bool, *, elementwise: bool = False) -> None:
    """Refuses a result that has no gradient; `elementwise`, one element of which has none."""
    demand_result(root)
    kind, span = root.result, root.source.span
    if has_aux:
        kind = value_of(kind, span)
    if isinstance(kind, Num | Arr) and is_inexact(kind):
        _demand_scalar(kind, span, elementwise)
    elif isinstance(kind, Box):
        message = f"a gradient needs a real scalar result, but the result is {describe(kind)}"
        raise NotDifferentiable(message, span, "return one number, use has_aux for what goes with it, or take tx.vjp")
    else:
        message = f"a gradient needs a real scalar result, but the result is {describe(kind)}"
        raise NotDifferentiable(message, span, "return a real number that is computed from the parameters")


def value_of(kind: Kind, span: Span) -> Kind:
    """The first of ``(value, extras)``. Raises NotDifferentiable where the result is no such pair."""
    if isinstance(kind, Box) and kind.cls is tuple and len(kind.region.root().fields) == 2:
        return kind.region.get(0)
    found = f"{len(kind.region.root().fields)} items" if isinstance(kind, Box) and kind.cls is tuple else describe(kind)
    hint = "return a tuple of the value and whatever goes with it, or leave has_aux out"
    raise NotDifferentiable(f"has_aux expects (value, extras), but the result is {found}", span, hint)


def _demand_scalar(kind: Num | Arr, span: Span, elementwise: bool) -> None:
    if isinstance(kind, Arr) and not elementwise and kind.rank not in (0, None):
        message = f"a gradient needs a real scalar result, but the result is {describe(kind)}"
        raise NotDifferentiable(message, span, "return a sum of it, one of its elements (`result[0]`), or take tx.vjp")
    if _is_complex(kind):
        message = "the result is complex, and only a real number has a gradient"
        raise NotDifferentiable(message, span, "return a real part, or abs(z)**2")


def _is_complex(kind: Num | Arr) -> bool:
    if isinstance(kind, Arr):
        return kind.dtype.kind == "c"
    return issubclass(kind.type, complex) or "complex" in kind.type.__name__


def differentiable(values: Sequence[Any], places: Sequence[int]) -> tuple[int, ...]:
    """Those of the places whose values have a real or complex leaf. Raises NotDifferentiable where there is none."""
    world = World()
    found = tuple(i for i in places if has_leaf(Valuer(world).kind(values[i]), ()))
    if not found:
        message = "none of the primals holds a real or complex number"
        raise NotDifferentiable(message, hint="pass a float or an array of floats")
    return found


def writes_arguments(program: Program) -> bool:
    """Whether the root, or a function whose derivative it takes, writes into what its arguments reach."""
    root = program.reached()[0]
    return any(map(_written, root.params)) or any(writes_arguments(inner) for _, inner in program.nested.values())


def _written(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    """Whether anything that an argument of this kind reaches is written."""
    if not isinstance(kind, Arr | Box) or kind.region.root() in seen:
        return False
    node = kind.region.root()
    inside = (*node.fields.values(), node.elt) if isinstance(kind, Box) else ()
    return node.written or any(_written(k, (*seen, node)) for k in inside)


def gives_own(root: Instance) -> bool:
    """Whether the result is an array that nothing from outside, no argument among it, shares memory with."""
    if not isinstance(root.result, Arr):
        return False
    node = root.result.region.root()
    return not node.external and node not in set(reached(root.params))


def gives_given(root: Instance) -> bool:
    """Whether an array of the result may be memory of an argument."""
    given = set(reached(root.params))
    return any(not node.fields and node in given for node in reached((root.result,)))
