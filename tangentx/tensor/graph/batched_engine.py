"""The batched engine: many cotangents in one reverse sweep, with each node's rule run once.

In the sweep a cotangent is an array with one more axis, the first, which tells the members apart; of a number it is a
row. Rules of templates run on it as `templates.batched` has it, each hook is called with one member after the other,
and what the user has written, and what has no rule for all at once, is pulled back one by one. So what comes out is
what as many sweeps would give.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import guarded, over, zeros_as
from tangentx.arrays.libraries import as_array, is_elsewhere, zeros_of
from tangentx.errors import NotDifferentiable, TangentxError, place, span_of
from tangentx.templates.batched.batch import AS_WRITTEN, Batch, NoRule, aligned, do, holds_batch, plainly, refitted
from tangentx.templates.batched.places import chosen, cleared
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.lifting import Lifting, lifted
from tangentx.tensor.calls.multi_tensor import Grouped
from tangentx.tensor.calls.operation import Operation, fit_tensor
from tangentx.tensor.calls.rules import PRODUCT, Pull, compiled_pullback
from tangentx.tensor.core.containers import raw
from tangentx.tensor.core.forms import fit, like_of, times, zeros
from tangentx.tensor.core.modes import during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.compiled import Compiled
from tangentx.tensor.graph.engine import Sweep
from tangentx.tensor.graph.functions import FunctionNode
from tangentx.tensor.graph.nodes import Node, Watcher
from tangentx.tensor.writes.writing import Write


class Batches(Sweep):
    """A sweep with cotangents of `count` members."""

    def __init__(self, create: bool, retain: bool, wanted: Sequence[tuple[Any, int]], count: int) -> None:
        super().__init__(create, retain, wanted)
        self.count = count

    def _follow(self, ready: list[Any], quick: bool) -> None:
        super()._follow(ready, False)

    def _pulled(self, target: Node, bars: list[Any]) -> Sequence[Any]:
        return pulled(target, bars, self.count, self.create, [edge[0] in self.waiting for edge in target.edges])

    def _watched(self, watcher: Watcher, bar: Any) -> Any:
        if bar is None or not watcher.hooks:
            return bar
        return stacked([Sweep._watched(self, watcher, bar[k]) for k in range(self.count)], None)

    def _hooked(self, hooks: dict[int, Any], bars: Any, *more: Any) -> list[Any]:
        groups = (bars, *more)
        each = [Sweep._hooked(self, hooks, *(_member(group, k) for group in groups)) for k in range(self.count)]
        return [stacked(column, None) for column in zip(*each, strict=True)]


def _member(bars: Sequence[Any], k: int) -> list[Any]:
    return [None if bar is None else bar[k] for bar in bars]


def stacked(items: Sequence[Any], like: Any) -> Any:
    """The members in one, zeros (of the form `like`, or like the others) for None; None where all are."""
    known = next((item for item in items if item is not None), None)
    if known is None:
        return None
    if any(item is None for item in items):
        nothing = zeros(like_of(known.current if type(known) is Tensor else known) if like is None else like)
        items = [nothing if item is None else item for item in items]
    return call(np.stack, (items,), {}) if any(type(item) is Tensor for item in items) else np.stack(items)


def batched(
    outs: list[Any], ins: list[Any], gradients: list[Any], retain: bool, create: bool, materialize: bool
) -> list[Any]:
    """The gradients by the inputs for each member of the batch, stacked; what nothing depends on has None, or zeros
    where `materialize`."""
    count = _count(outs, gradients)
    seeds = [(*t.edge, _seed(t, g, create)) for t, g in zip(outs, gradients, strict=True)]
    edges = [t.edge for t in ins]
    sweep = Batches(create, retain, edges, count)
    if count:
        bars = sweep.run(seeds)
    else:
        reached = sweep.reached(seeds)
        bars = {e: _zeros(t, 0) for e, t in zip(edges, ins, strict=True) if e[0] in reached}
    found = [bars.get(edge) for edge in edges]
    return [_zeros(t, count) if bar is None and materialize else bar for bar, t in zip(found, ins, strict=True)]


def _count(outs: list[Any], gradients: list[Any]) -> int:
    """How many members the batches have. Raises NotDifferentiable where a shape or a length does not fit."""
    sizes: list[int] = []
    for t, g in zip(outs, gradients, strict=True):
        shape, wanted = np.shape(g.current if type(g) is Tensor else g), np.shape(t.current)
        if g is None or (shape[1:] != wanted and (wanted or shape[1:] != (1,))) or not shape:
            raise NotDifferentiable(
                f"a batch of gradients for a Tensor of shape {wanted} has shape (batch, *{wanted}), not "
                f"{'that of None' if g is None else shape}",
                span_of(place()),
                "give every grad_output one more dimension in front, or leave is_grads_batched out",
            )
        sizes.append(shape[0])
    if len(set(sizes)) != 1:
        raise NotDifferentiable(
            f"the batches have different lengths: {sorted(set(sizes))}",
            span_of(place()),
            "give all grad_outputs one length",
        )
    return sizes[0]


def _seed(t: Tensor, gradient: Any, create: bool) -> Any:
    """A batch of cotangents to begin with. Raises NotDifferentiable for complex ones of what is real."""
    data = gradient.current if type(gradient) is Tensor else as_array(gradient)
    if np.iscomplexobj(data) and not np.iscomplexobj(t.current):
        raise NotDifferentiable(
            "the gradient is complex, but the Tensor is real", span_of(place()), "give it the Tensor's dtype"
        )
    given = gradient if create and type(gradient) is Tensor else wrap(data) if create else data
    shape = np.shape(t.current)
    if data.shape[1:] != shape:
        given = call(np.reshape, (given, (len(data), *shape)), {}) if create else np.reshape(given, (len(data), *shape))
    return _in_form(Batch(given), like_of(t.current), len(data))


def _zeros(t: Tensor, count: int) -> Any:
    one = as_array(zeros(like_of(t.current)))
    return zeros_of(one, (count, *one.shape))


def pulled(node: Node, bars: list[Any], count: int, create: bool, asked: Sequence[bool]) -> Sequence[Any]:
    """The batches of cotangents of what a node was made of, from those of its results; of a rule those `asked` for."""
    if isinstance(node, Operation):
        try:
            return _by_rule(node, bars, count, asked)
        except TangentxError:
            raise
        except Exception:  # one by one it says better what is wrong, if anything is
            pass
    elif isinstance(node, Write) and not (node.turned or is_elsewhere(raw(bars[0]))):
        return _by_places(node, bars[0], count)
    elif isinstance(node, Compiled) and not create:
        found = _by_program(node, bars, count)
        if found is not None:
            return found
    elif isinstance(node, FunctionNode) and node.function._backward_batch is not None:
        return _by_function(node, bars, count, create)
    return one_by_one(node, bars, count, create)


def one_by_one(node: Node, bars: list[Any], count: int, create: bool) -> list[Any]:
    """A pullback called for each member."""
    each = []
    for k in range(count):
        member = _member(bars, k)
        if node.consumes and not create:
            member[0] = np.copy(member[0])
        each.append(node.pull(member, create))
    return [stacked(column, like) for column, like in zip(zip(*each, strict=True), node.likes, strict=True)]


def _by_function(node: FunctionNode, bars: list[Any], count: int, create: bool) -> list[Any]:
    """A function of ours that takes batches."""
    given = [over(zeros(like), count) if bar is None else bar for bar, like in zip(bars, node.results, strict=True)]
    batch = [b if type(b) is Tensor else wrap(b) for b in given]
    found = during(lambda: node.function._backward_batch(node.context, *batch), grad=create)
    mine = [bar for bar, active in zip(found, node.active, strict=True) if active]
    whole = [bar if create or bar is None else bar.current for bar in mine]
    return [
        None if bar is None else _in_form(Batch(bar), like, count) for bar, like in zip(whole, node.likes, strict=True)
    ]


def _by_program(node: Compiled, bars: list[Any], count: int) -> list[Any] | None:
    """The generated adjoint with a batch axis, where there is one that gives the first and the last member as the
    adjoint itself does."""
    try:
        found = node.pull_batch(bars, count)
    except Exception:  # one by one it says better what is wrong, if anything is
        return None
    if found is None:
        return None
    pairs = zip(found, node.likes, strict=True)
    wholes = [None if bar is None else _in_form(Batch(bar), like, count) for bar, like in pairs]
    for k in {0, count - 1}:
        for whole, wanted in zip(wholes, node.pull(_member(bars, k), False), strict=True):
            if whole is None or wanted is None:
                if whole is not wanted:
                    return None
            elif not np.allclose(whole[k], wanted, rtol=1e-7, atol=1e-12, equal_nan=True):
                return None
    return wholes


# ---- rules ----


def _by_rule(node: Operation, bars: list[Any], count: int, asked: Sequence[bool]) -> list[Any]:
    """The template's pullback of all members at once. Raises NoRule."""
    rule, create = node.pull_rule, type(next(bar for bar in bars if bar is not None)) is Tensor
    form = (True,) * len(rule.wanted) if isinstance(node, Grouped) or node.after else tuple(asked)
    pull = rule.batched.get(form)
    if pull is None:
        pull = rule.batched[form] = _compiled(rule, form)
    if not isinstance(node, Grouped):
        found = pull(*(node.attached() if create else node.values), Batch(bars[0]))
        return [
            None if bar is None else _in_form(bar, like, count) for bar, like in zip(found, node.likes, strict=True)
        ]
    values = node.attached() if create else node.values
    ans_bar = Batch(bars[0]) if node.answers is None else _answered(node.answers, bars, count, create)
    result: list[Any] = [None] * len(node.edges)
    for group, bar in zip(node.groups, pull(*values, ans_bar), strict=True):
        _spread(group, bar, node.likes, count, result)
    return result


def _answered(form: Any, bars: list[Any], count: int, create: bool) -> Any:
    if isinstance(form, list):
        return [_answered(item, bars, count, create) for item in form]
    if form is None:
        return None
    bar = bars[form[0]]
    if bar is None:
        bar = over(zeros(form[1]), count)
        bar = wrap(bar) if create else bar
    return Batch(bar)


def _spread(group: Any, bar: Any, likes: tuple[Any, ...], count: int, result: list[Any]) -> None:
    if isinstance(group, list):
        if np.isscalar(bar):
            return
        parts = [bar[i] for i in range(len(group))] if type(bar) is Batch else bar
        for part, g in zip(parts, group, strict=True):
            _spread(g, part, likes, count, result)
    elif group is not None and bar is not None:
        result[group] = _in_form(bar, likes[group], count)


def _in_form(bar: Any, like: Any, count: int) -> Any:
    """The whole of a batch whose members have the form of what they belong to."""
    if type(bar) is Batch:
        shape, dtype = like[:2] if type(like) is tuple else ((), np.asarray(like).dtype)
        return refitted(bar, shape, dtype)
    whole = fit_tensor(bar, like) if type(bar) is Tensor else fit(bar, like)
    return plainly(over, whole, count)


def _compiled(pull: Pull, asked: Sequence[bool]) -> Callable[..., Any]:
    """The pullback on batches. What it calls that is not known may do anything, so that it is not even tried."""
    if not all(_is_known(pull.names[name]) for name in pull.run.__code__.co_names if name in pull.names):
        return _refused
    return compiled_pullback(pull.text_of(asked), {**_LIFTING.names(pull.names), PRODUCT: _product})


def _refused(*args: Any) -> Any:
    raise NoRule("a function of the user's")


def _is_known(value: Any) -> bool:
    """Whether what a rule names is NumPy's, Python's or ours, or no function."""
    if isinstance(value, types.ModuleType):
        return value.__name__.split(".")[0] in _MODULES
    home = getattr(value, "__module__", None) or type(value).__module__
    return not callable(value) or home.split(".")[0] in _MODULES


_MODULES = frozenset(("numpy", "math", "operator", "_operator", "builtins", "tangentx", "functools", "scipy"))


def _product(partial: Any, bar: Batch) -> Batch:
    """A partial derivative times a cotangent."""
    whole = aligned(bar, np.ndim(partial))
    return Batch(times(partial, whole) if type(whole) is np.ndarray else plainly(guarded, partial, whole))


class _Batching(Lifting):
    """Makes functions take batches."""

    def is_text(self, value: Any) -> bool:
        written = type(value) is types.FunctionType and (
            value in AS_WRITTEN or (value.__name__.startswith("_") and value.__module__.startswith("tangentx.arrays"))
        )
        return written or super().is_text(value)


def _calling(function: Any) -> Any:
    if not callable(function) or not _is_known(function):
        return function

    recording = lifted(function)

    def calling(*args: Any, **kwargs: Any) -> Any:
        if holds_batch(args) or (kwargs and holds_batch(kwargs.values())):
            return do(function, args, kwargs)
        return recording(*args, **kwargs)

    if function is np.multiply:
        calling.outer = _calling(np.multiply.outer)  # type: ignore[attr-defined]
    return calling


_LIFTING = _Batching(_calling)


# ---- writes ----


def _by_places(node: Write, bar: Any, count: int) -> list[Any]:
    """What was written has the cotangents of its places, the rest those of the others."""
    shape, strides = node.layout
    size = bar.dtype.itemsize
    like = np.lib.stride_tricks.as_strided(np.empty(1, int), shape, tuple(s // size * 8 for s in strides))
    part = numbers = zeros_as(like)
    numbers[...] = np.arange(numbers.size).reshape(shape)
    for step in node.steps:
        part = step.on(part)
    places = part[node.key]
    given = []
    if node.value_like is not None:
        taken = chosen(bar, np.ravel(places))
        given = [_in_form(Batch(np.reshape(taken, (count, *np.shape(places)))), node.value_like, count)]
    return [cleared(bar, np.ravel(places)), *given] if node.into else given
