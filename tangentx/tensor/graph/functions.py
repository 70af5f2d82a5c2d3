"""`Function`: differentiable operations that users define by forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS, is_array
from tangentx.errors import NotDifferentiable, place
from tangentx.tensor.calls.operation import attach, fit_tensor, zero_bar
from tangentx.tensor.calls.unrecorded import made_of
from tangentx.tensor.core.forms import inexact, like_of
from tangentx.tensor.core.making import made
from tangentx.tensor.core.modes import STATE, during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.nodes import TAPES, Content, Node, noted


class Context:
    """What forward leaves for backward. Attributes may be set on it freely."""

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        self.without_derivative: tuple[Any, ...] = ()
        self._kept: list[tuple[Any, Any, Content | None]] | None = []
        self._given: tuple[Any, ...] = ()
        self._node: Any = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps inputs and results for `saved_tensors`; a write into them is noticed."""
        self._given = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Results that have no derivative."""
        self.without_derivative = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was kept. Raises NotDifferentiable where backward has freed it."""
        if self._kept is None:
            self._node.check()
        found = []
        for value, edge, content in self._kept or ():
            found.append(value if edge is None else attach(value, self._edge(edge), content))
        return tuple(found)

    def _edge(self, edge: Any) -> Any:
        return (self._node, edge) if isinstance(edge, int) else edge

    def settle(self, node: Any, results: list[Any]) -> None:
        """Takes what was saved in a form that keeps no Tensor of the graph alive."""
        from tangentx.tensor.calls.operation import content_of

        self._node = node
        kept: list[tuple[Any, Any, Content | None]] = []
        for t in self._given:
            if type(t) is not Tensor:
                kept.append((t, None, None))
                continue
            slot = next((i for i, r in enumerate(results) if r is t), None)
            content = content_of(t) if type(t.current) in ARRAYS else None
            edge = slot if slot is not None else t.edge if t._needs else None
            kept.append((wrap(t.current) if edge is None else t.current, edge, content))
        self._given, self._kept = (), kept
        node.contents = tuple(content for _, _, content in kept)


class FunctionNode(Node):
    """The node of a user's function."""

    def __init__(self, function: Any, context: Context, args: tuple[Any, ...]) -> None:
        self.active = tuple(type(a) is Tensor and a.requires_grad for a in args)
        tensors = [a for a, active in zip(args, self.active, strict=True) if active]
        super().__init__(function.__name__, tuple(t.edge for t in tensors))
        self.likes = tuple(like_of(t._primal) for t in tensors)
        self.function, self.context = function, context
        self.results: tuple[Any, ...] = ()

    def free(self, where: Any) -> None:
        super().free(where)
        self.context._kept = None

    def drop(self, where: Any) -> None:
        super().drop(where)
        self.context = Context(self.context.needs_input_grad)  # without what the user has set on it
        self.context._kept, self.context._node = None, self

    def kept(self) -> Any:
        return [value for value, _, _ in self.context._kept or ()]

    @property
    def saved(self) -> dict[str, Any]:
        return {str(i): value for i, (value, _, _) in enumerate(self.context._kept or ())}

    def pull(self, bars: list[Any], create: bool) -> list[Any]:
        given = [
            wrap(zero_bar(like, False)) if bar is None else bar if type(bar) is Tensor else wrap(bar)
            for bar, like in zip(bars, self.results, strict=True)
        ]
        found = during(lambda: self.function.backward(self.context, *given), grad=create)
        found = found if isinstance(found, tuple | list) else (found,)
        if len(found) > len(self.active) and all(extra is None for extra in found[len(self.active) :]):
            found = found[: len(self.active)]
        if len(found) != len(self.active):
            raise NotDifferentiable(
                f"`{self.operation}.backward` returned {len(found)} gradients for {len(self.active)} inputs",
                self.span,
                "return one for each argument of forward, None for one without derivative",
            )
        likes = iter(self.likes)
        result: list[Any] = []
        for bar, active in zip(found, self.active, strict=True):
            if not active:
                continue
            like = next(likes)
            fitted = None if bar is None else fit_tensor(bar if type(bar) is Tensor else made(bar), like)
            result.append(fitted if create or fitted is None else fitted.current)
        return result


class Function:
    """Base of functions with a derivative of their own: `forward` and `backward` are static methods.

    ``forward(ctx, *args, **kwargs)`` computes with Tensors (nothing is recorded) and returns one or several, or
    arrays, which share no memory with the arguments: where they would, they are copies;
    ``backward(ctx, *grad_outputs)`` returns one gradient for each argument, None for one that has none.
    ``MyFunction.apply(x)`` calls it; ``MyFunction()(x)`` too.

    >>> import tangentx as tx
    >>> class Cube(tx.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, bar):
    ...         (x,) = ctx.saved_tensors
    ...         return 3.0 * x * x * bar
    >>> x = tx.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> float(x.grad)
    12.0
    """

    _backward_batch: Any = None  # of our own: what `backward` does for batches of gradients

    @staticmethod
    def forward(ctx: Context, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("write forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Context, *grad_outputs: Any) -> Any:
        raise NotImplementedError("write backward(ctx, ...)")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.apply(*args, **kwargs)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """The results of `forward`, whose derivatives are those of `backward`."""
        needs = tuple(type(a) is Tensor and a.requires_grad for a in args)
        context = Context(needs)
        out = during(lambda: cls.forward(context, *args, **kwargs), grad=False)
        several = isinstance(out, tuple)
        outs = list(out) if several else [out]
        results = _own(outs, args)
        if any(needs) and STATE.grad:
            node = FunctionNode(cls, context, args)
            node.slots = len(results)
            node.results = tuple(like_of(r._primal) if type(r) is Tensor else 0.0 for r in results)
            context.settle(node, outs)
            for i, (r, given) in enumerate(zip(results, outs, strict=True)):
                plain = any(given is other for other in context.without_derivative)
                if type(r) is Tensor and inexact(r._primal):
                    r._content = given._content if type(given) is Tensor and r._primal is given._primal else None
                    r._node, r._slot, r._needs = (None, 0, False) if plain else (node, i, True)
            if TAPES:
                noted(node, results)
        else:
            made = place() if any(needs) else made_of(list(args))
            for r in results:
                if type(r) is Tensor:
                    r._made = made
        return tuple(results) if several else results[0]


def _own(outs: list[Any], args: tuple[Any, ...]) -> list[Any]:
    """The results as Tensors of their own, for what is written into one of them passes the function by.

    Those that share memory with an argument or with one another are copies, and so are views: their history would be
    that of the whole.
    """
    taken = [a.current for a in args if type(a) is Tensor]
    results: list[Any] = []
    for value in outs:
        if type(value) is not Tensor and not (isinstance(value, np.generic | float | complex) or is_array(value)):
            results.append(value)
            continue
        data = value.current if type(value) is Tensor else value
        if is_array(data):
            view = type(value) is Tensor and value._view is not None
            if view or any(np.may_share_memory(data, other) for other in taken):
                data = data.copy()
            taken.append(data)
        results.append(wrap(data))
    return results
