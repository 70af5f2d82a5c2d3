"""Checkpointing on Tensors: intermediate values are recomputed in backward."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import zeros_as
from tangentx.arrays.libraries import ARRAYS, is_array, is_elsewhere
from tangentx.common.user_rules import mark_checkpointed
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.containers import like_container, tensors_in
from tangentx.tensor.core.modes import STATE, during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.functions import Context, Function
from tangentx.tensor.graph.nodes import Node
from tangentx.tensor.graph.reruns import Call, Run, States, Surroundings, distinct, part
from tangentx.tensor.writes.writing import write


class _Checkpoint(Function):
    """Runs a function without recording, and again, recording, when its derivative is asked for.

    Its results are those of the function, then what the units hold afterwards that it has written.
    """

    @staticmethod
    def forward(ctx: Any, call: Any, report: Any, *units: Any) -> Any:
        ctx.call = call
        ctx.save_for_backward(*units)
        given = [wrap(unit.current) for unit in units]
        contents: list[Any] = [[] for _ in units]
        for t, content in zip(given, contents, strict=True):
            t._content = content  # we hold it, so that a write is made into a copy
        ctx.states = States(call.function, call.args)
        run = Run(call, given)
        ctx.states.drawn()
        ctx.written = [i for i, t in enumerate(given) if t._primal is not units[i]._primal]
        if run.reshaped or any(contents) or any(type(given[i]._primal) not in ARRAYS for i in ctx.written):
            raise _written(call)
        if STATE.honest and _holds_numbers(run.result):
            _demand_constants(ctx, run, units)
        report.run, report.written = run, ctx.written
        ctx.prints = [_print(t) for t in (*run.results, *(given[i] for i in ctx.written))]
        return (*run.results, *(wrap(given[i]._primal) for i in ctx.written))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _backward(ctx, grad_outputs, False)

    @staticmethod
    def _backward_batch(ctx: Any, *grad_outputs: Any) -> Any:
        return _backward(ctx, grad_outputs, True)


def _backward(ctx: Any, grad_outputs: Any, batched: bool) -> Any:
    """The gradients, or batches of them, by what is computed in a second run."""
    from tangentx.tensor.graph.autograd import grad

    create, needs = STATE.grad, ctx.needs_input_grad[2:]
    again, run = during(lambda: _again(ctx, ctx.saved_tensors, create), grad=True)
    outs = [*run.results, *(run.units[i] for i in ctx.written)]
    if not _alike([_print(t) for t in outs], ctx.prints):
        raise NotDifferentiable(
            f"{_named(ctx.call.function)} is checkpointed, and gives something else when it is run again",
            span_of(ctx.call.place),
            "pass what it draws from, or depends on, as an argument, or call it without `tx.checkpoint`",
        )
    reached = [(t, bar) for t, bar in zip(outs, grad_outputs, strict=True) if t.requires_grad]
    active = [t for t, n in zip(again, needs, strict=True) if n]
    if _reaches_others([t for t, _ in reached], active):
        raise NotDifferentiable(
            f"{_named(ctx.call.function)} is checkpointed and uses a Tensor with gradient that it is not passed",
            span_of(ctx.call.place),
            "pass it as an argument: what is checkpointed is differentiated by its arguments",
        )
    bars = [bar for _, bar in reached]
    found = grad(
        [t for t, _ in reached], active, bars, create_graph=create, is_grads_batched=batched, allow_unused=True
    )
    given = iter(found if reached else [None] * len(active))
    return (None, None, *(next(given) if n else None for n in needs))


def _again(ctx: Any, units: Sequence[Tensor], create: bool) -> tuple[list[Any], Run]:
    """What the second run is given, and that run."""
    pairs = zip(units, ctx.needs_input_grad[2:], strict=True)
    again = [t if not n else _itself(t) if create else t.detach().requires_grad_() for t, n in pairs]
    given = [_copied(t) if i in ctx.written else t for i, t in enumerate(again)]
    return again, ctx.states.again(lambda: Run(ctx.call, given))


def _holds_numbers(value: Any) -> bool:
    """Whether a result holds plain numbers or arrays that may vary."""
    if isinstance(value, list | tuple | dict):
        return any(map(_holds_numbers, value.values() if isinstance(value, dict) else value))
    return type(value) is not Tensor and (isinstance(value, float | complex | np.inexact) or is_array(value))


def _demand_constants(ctx: Any, run: Run, units: Sequence[Tensor]) -> None:
    """Asks a run that is recorded whether the plain numbers are constants: where nothing is recorded, nothing refuses
    to make one of a Tensor. Raises NotDifferentiable where they are not."""
    _, other = during(lambda: _again(ctx, units, False), grad=True)
    if len(list(tensors_in(other.result))) != len(list(tensors_in(run.result))):
        raise NotDifferentiable(
            f"{_named(ctx.call.function)} is checkpointed, and gives a plain number for one that is differentiated",
            span_of(ctx.call.place),
            "call it without `tx.checkpoint`",
        )


def _print(t: Tensor) -> Any:
    """The shape of a Tensor, and a weighed sum of its elements and one of their sizes, by which others are told; of one
    on a device the shape alone, for the rest would be a transfer."""
    if is_elsewhere(t.current):
        return np.shape(t.current), 0.0, 0.0
    row = np.ravel(t.current)
    weights = np.linspace(1.0, 2.0, row.size)
    return np.shape(t.current), np.dot(weights, row), np.dot(weights, np.abs(row))


def _alike(found: list[Any], wanted: list[Any]) -> bool:
    """Whether two runs gave the same, but for the rounding of sums that are added up in another order."""
    return len(found) == len(wanted) and all(
        shape == other and (sums == others or abs(sums - others) <= 1e-5 * size or np.isnan(size) or np.isinf(size))
        for (shape, sums, _), (other, others, size) in zip(found, wanted, strict=True)
    )


def _itself(t: Tensor) -> Any:
    """The Tensor behind a node of its own: one argument may have been computed from another."""
    number = type(t._primal) not in ARRAYS
    return call(operator.pos, (t,), {}) if number else call(operator.getitem, (t, Ellipsis), {})


def _copied(t: Tensor) -> Tensor:
    """A copy that may be written, recorded, with the same strides: whether a reshape is a view depends on them."""
    copied: Tensor = call(np.copy, (t,), {})
    if copied._primal.strides == t._primal.strides:
        return copied
    laid_out = wrap(zeros_as(t._primal))
    write(laid_out, Ellipsis, copied)
    return laid_out


def _written(call: Call) -> NotDifferentiable:
    return NotDifferentiable(
        f"{_named(call.function)} is checkpointed and writes into an argument, which a second run would find written",
        span_of(call.place),
        "pass it as a Tensor, or let it write into a copy and return that",
    )


def _acting(call: Call, what: str) -> NotDifferentiable:
    return NotDifferentiable(
        f"{_named(call.function)} is checkpointed and {what}, which a second run would do again",
        span_of(call.place),
        "do it outside of what is checkpointed, or call it without `tx.checkpoint`",
    )


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


class _Report:
    """What the first run leaves."""

    run: Run
    written: list[int]


def _by_place(function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments by position, those that are passed by name too. Raises TypeError as the call would, and
    NotDifferentiable where a parameter takes its argument by name alone."""
    bound = inspect.signature(function).bind(*given, **named)
    bound.apply_defaults()
    if bound.kwargs:
        raise NotDifferentiable(
            f"{_named(function)} is checkpointed and takes `{next(iter(bound.kwargs))}` by name alone",
            span_of(place()),
            "let it take all of its arguments by position",
        )
    return bound.args


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
    tensors = distinct([a for a in args if type(a) is Tensor])
    for t in tensors:
        t.current  # noqa: B018 - a view is brought to the state of its root
    made, report = Call(function, args, tensors), _Report()
    units = made.released()
    around = Surroundings(function, [a for a in args if type(a) is not Tensor])
    if STATE.honest and (acts := around.acts()):  # a derivative acts as often as the program; a Tensor's owner decides
        raise _acting(made, f"uses `{acts}`")
    found = _Checkpoint.apply(made, report, *units)
    if changed := around.changed(by_tensors=not STATE.honest):
        raise _written(made) if changed.startswith("argument ") else _acting(made, f"changes `{changed}`")
    run = report.run
    for i, final in zip(report.written, found[len(run.results) :], strict=True):
        write(units[i], Ellipsis, final)
    wholes = [*units, *found[: len(run.results)]]
    values = {key: tensors[i] for key, i in run.arguments.items()}
    values |= {key: part(wholes[number], view) for key, (number, view) in run.parts.items()}
    return _with(run.result, values)


def _with(value: Any, values: dict[int, Any]) -> Any:
    """The structure with other Tensors in the place of those that it holds."""
    if type(value) is Tensor:
        return values[id(value)]
    if isinstance(value, list | tuple):
        return like_container(value, [_with(item, values) for item in value])
    return {key: _with(item, values) for key, item in value.items()} if isinstance(value, dict) else value


def checkpoint(function: Callable[..., Any], *args: Any) -> Any:
    """``checkpoint(f, x)`` is ``f(x)``, keeping nothing but `x`: the reverse sweep runs `f` a second time.

    ``@tx.checkpoint`` makes a function do so at every call, and of that name it is pickled; ``g = tx.checkpoint(f)`` is
    not, which Python looks for under the name of `f`, but ``tx.grad(g)`` is. Random generators that it is given or
    refers to by name, and those of NumPy and Python, give the second run what they gave the first. Inside a function
    that is compiled, `f` may capture what is differentiated and write into arrays that it is given, of which a copy is
    kept; UnsupportedSyntax where it writes into containers or returns a list or dict, SharedMemory where it returns
    memory that it was given, NotDifferentiable where it changes what is outside or acts on it (by printing, or an
    iterator), which a second run would do again. On Tensors NotDifferentiable is raised where `f` writes into a plain
    array, takes containers of Tensors that require a gradient, or (in backward) uses others of these than its
    arguments, or gives something else in the second run.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> def layer(x):
    ...     return np.tanh(x) * x
    >>> tx.grad(lambda x: tx.checkpoint(layer, x))(0.5) == tx.grad(layer)(0.5)
    True
    """
    if not args:

        @functools.wraps(function)
        def checkpointed(*given: Any, **named: Any) -> Any:
            return _apply(function, _by_place(function, given, named) if named else given)

        mark_checkpointed(checkpointed, function)
        return checkpointed
    return _apply(function, args)


mark_checkpointed(checkpoint, None)

__all__ = ["Context", "checkpoint"]
