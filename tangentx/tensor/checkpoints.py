"""Functions whose intermediate values are not kept, but computed again in backward."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable
from tangentx.tensor.apply import tensors_in
from tangentx.tensor.core import Tensor
from tangentx.tensor.functions import Context, Function
from tangentx.tensor.graph import Node
from tangentx.tensor.modes import STATE
from tangentx.tensor.operation import content_of, root_of
from tangentx.tensor.places import place, span_of


class _Checkpoint(Function):
    """Runs a function without recording, and again, recording, when its derivative is asked for."""

    @staticmethod
    def forward(ctx: Any, function: Any, *args: Any) -> Any:
        ctx.function = function
        ctx.place = place()
        ctx.args = tuple(a if type(a) is not Tensor else None for a in args)
        ctx.save_for_backward(*(a for a in args if type(a) is Tensor))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        from tangentx.tensor.autograd import grad
        from tangentx.tensor.modes import enable_grad

        create = STATE.grad
        kept = iter(ctx.saved_tensors)
        given = [next(kept) if a is None else a for a in ctx.args]
        with enable_grad():
            needs = ctx.needs_input_grad[1:]
            again = [t if create or not n else t.detach().requires_grad_() for t, n in zip(given, needs, strict=True)]
            out = ctx.function(*again)
        outs = list(tensors_in(out if isinstance(out, tuple | list) else (out,)))
        active = [t for t, n in zip(again, needs, strict=True) if n]
        if _reaches_others(outs, active):
            raise NotDifferentiable(
                f"{_named(ctx.function)} is checkpointed and uses a Tensor with gradient that it is not passed",
                span_of(ctx.place),
                "pass it as an argument: what is checkpointed is differentiated by its arguments",
            )
        found = iter(grad(outs, active, list(grad_outputs), create_graph=create, allow_unused=True))
        return (None, *(next(found) if n else None for n in needs))


def _named(function: Any) -> str:
    return f"`{getattr(function, '__name__', type(function).__name__)}`"


def _reaches_others(outs: Sequence[Tensor], active: Sequence[Tensor]) -> bool:
    """Whether the results depend on a leaf otherwise than through the active arguments."""
    ends = {(id(t.edge[0]), t.edge[1]) for t in active}
    waiting = [t.edge for t in outs if t.requires_grad]
    seen = set(ends)
    while waiting:
        source, slot = waiting.pop()
        if (id(source), slot) in seen:
            continue
        seen.add((id(source), slot))
        if not isinstance(source, Node):
            return True
        waiting += [edge for edge in source.edges if edge is not None]
    return False


def _contents(args: Sequence[Any]) -> list[Any]:
    """What tells whether arguments were written: for Tensors who holds their content, for arrays the bytes."""
    found: list[Any] = [a.tobytes() for a in args if type(a) is np.ndarray]
    for t in tensors_in(args):
        root = root_of(t)
        found.append((content_of(t), root._data) if type(t.current) is np.ndarray else root._data)
    return found


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, tuple):
        return before[0] is after[0] and before[1] is after[1]
    return before is after or (isinstance(before, bytes) and before == after)


def _apply(function: Any, args: tuple[Any, ...]) -> Any:
    """A call that keeps the arguments alone. Raises NotDifferentiable where they do not say all that is computed."""
    if not STATE.grad or not any(t.requires_grad for t in tensors_in(args)):
        return function(*args)  # nothing would be kept for them; for what the function holds, it is recorded
    if any(type(a) is not Tensor and any(t.requires_grad for t in tensors_in(a)) for a in args):
        raise NotDifferentiable(
            f"{_named(function)} is checkpointed and is passed a container of Tensors that require a gradient",
            span_of(place()),
            "pass the Tensors themselves, each as an argument",
        )
    before = _contents(args)
    result = _Checkpoint.apply(function, *args)
    if not all(_same(*pair) for pair in zip(before, _contents(args), strict=True)):
        raise NotDifferentiable(
            f"{_named(function)} is checkpointed and writes into an argument, which a second run would find written",
            span_of(place()),
            "let it write into a copy and return that, or call it without `tx.checkpoint`",
        )
    return result


def checkpoint(function: Callable[..., Any], *args: Any) -> Any:
    """``checkpoint(f, x)`` is ``f(x)``, keeping nothing but `x`: the reverse sweep runs `f` a second time.

    ``@tx.checkpoint`` makes a function do so at every call. Inside a function that is compiled, `f` may capture what is
    differentiated and write into arrays that it is given, of which a copy is kept; UnsupportedSyntax where it has
    effects, writes into containers or returns a list or dict, SharedMemory where it returns memory that it was given.
    On Tensors NotDifferentiable is raised where `f` writes into an argument, takes containers of Tensors that require a
    gradient, or (in backward) uses others of these than its arguments.
    """
    if not args:

        @functools.wraps(function)
        def checkpointed(*given: Any) -> Any:
            return _apply(function, given)

        checkpointed.__tangentx_again__ = function  # type: ignore[attr-defined]
        return checkpointed
    return _apply(function, args)


checkpoint.__tangentx_again__ = None  # type: ignore[attr-defined]

__all__ = ["Context", "checkpoint"]
