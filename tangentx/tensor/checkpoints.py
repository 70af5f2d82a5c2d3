"""Functions whose intermediate values are not kept, but computed again in backward."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tangentx.tensor.apply import tensors_in
from tangentx.tensor.core import Tensor
from tangentx.tensor.functions import Context, Function


class _Checkpoint(Function):
    """Runs a function without recording, and again, recording, when its derivative is asked for."""

    @staticmethod
    def forward(ctx: Any, function: Any, *args: Any) -> Any:
        ctx.function = function
        ctx.args = tuple(a if type(a) is not Tensor else None for a in args)
        ctx.save_for_backward(*(a for a in args if type(a) is Tensor))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        from tangentx.tensor.autograd import grad
        from tangentx.tensor.modes import STATE, enable_grad

        create = STATE.grad
        kept = iter(ctx.saved_tensors)
        given = [next(kept) if a is None else a for a in ctx.args]
        with enable_grad():
            needs = ctx.needs_input_grad[1:]
            again = [t if create or not n else t.detach().requires_grad_() for t, n in zip(given, needs, strict=True)]
            out = ctx.function(*again)
        outs = list(tensors_in(out if isinstance(out, tuple | list) else (out,)))
        active = [t for t, n in zip(again, needs, strict=True) if n]
        found = iter(grad(outs, active, list(grad_outputs), create_graph=create, allow_unused=True))
        return (None, *(next(found) if n else None for n in needs))


def checkpoint(function: Callable[..., Any], *args: Any) -> Any:
    """``checkpoint(f, x)`` is ``f(x)``, keeping nothing but `x`: backward runs `f` a second time.

    ``@tx.checkpoint`` makes a function do so at every call.
    """
    if not args:

        @functools.wraps(function)
        def checkpointed(*given: Any) -> Any:
            return _Checkpoint.apply(function, *given)

        return checkpointed
    return _Checkpoint.apply(function, *args)


__all__ = ["Context", "checkpoint"]
