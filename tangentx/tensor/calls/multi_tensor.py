"""Operations with several Tensors as arguments or results: concatenation, choices, splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.tensor.calls.operation import Operation, attach, demand_own_class, fit_tensor
from tangentx.tensor.calls.rules import Rule
from tangentx.tensor.core.containers import like_container, tensors_in
from tangentx.tensor.core.forms import fit, inexact, like_of, zeros
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.nodes import TAPES, noted


class Grouped(Operation):
    """A call with several Tensors in an argument, or several results.

    `groups` tells, of each argument that it is pulled back to, the structure in which cotangents come; `answers` the
    forms of several results.
    """

    __slots__ = ()

    simple = False
    groups: tuple[Any, ...]
    answers: Any = None

    @staticmethod
    def record(
        rule: Rule,
        places: tuple[int, ...],
        values: Sequence[Any],
        data: list[Any],
        ans: Any,
        viewed: Callable[[Tensor, int | None], None],
    ) -> Any:
        """The results of a call as Tensors; the node has an edge for each Tensor and a slot for each result."""
        demand_own_class(ans)
        edges: list[Any] = []
        likes: list[Any] = []
        groups = tuple(_numbered(values[i], data[i], edges, likes) for i in places)
        node = Grouped.of(rule, places, tuple(edges))
        node.likes = tuple(likes)
        several = isinstance(ans, list | tuple | dict)
        single = None if several else wrap(ans, node)
        node.keep(values, data, ans, single)
        node.groups = groups
        if single is not None:
            if TAPES:
                noted(node, (single,))
            if rule.may_view:
                viewed(single, None)
            return single
        slots: list[Any] = []
        node.answers = _formed(ans, slots)
        node.slots = max(len(slots), 1)
        found = _results(ans, node.answers, node, viewed, None)
        if TAPES:
            noted(node, list(tensors_in(found)))
        return found

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.edges

    def pull(self, bars: list[Any], create: bool) -> list[Any]:
        """The cotangents of all Tensors among the arguments, by edge."""
        ans_bar = bars[0] if self.answers is None else _answered(self.answers, bars, create)
        rule = self.pull_rule
        if create:
            found = rule.lifted(*self.attached(), ans_bar)
        else:
            found = rule.run(*self.values, ans_bar)
        result: list[Any] = [None] * len(self.edges)
        for group, bar in zip(self.groups, found, strict=True):
            _spread(group, bar, self.likes, create, result)
        return result

    def attached(self) -> list[Any]:
        """What was kept, as Tensors with their place in the graph."""
        return [
            _attached(self, how, i, value, content)
            for (how, i), value, content in zip(self.pull_rule.reads, self.values, self.contents, strict=True)
        ]


def _numbered(value: Any, data: Any, edges: list[Any], likes: list[Any]) -> Any:
    """The structure of an argument, with the number of its edge for each Tensor, and None for all else."""
    if type(value) is Tensor:
        if not value._needs:
            return None
        edges.append(value.edge)
        likes.append(like_of(data))
        return len(edges) - 1
    if isinstance(value, list | tuple) and isinstance(data, list | tuple):
        return [_numbered(v, d, edges, likes) for v, d in zip(value, data, strict=True)]
    if isinstance(value, dict) and isinstance(data, dict):
        return {key: _numbered(v, data[key], edges, likes) for key, v in value.items()}
    return None


def _formed(ans: Any, slots: list[Any]) -> Any:
    """The structure of the results: for each its slot and form, or None."""
    if isinstance(ans, list | tuple):
        return [_formed(item, slots) for item in ans]
    if isinstance(ans, dict):
        return {key: _formed(item, slots) for key, item in ans.items()}
    if not inexact(ans):
        return None
    slots.append(ans)
    return (len(slots) - 1, like_of(ans))


def _results(ans: Any, form: Any, node: Grouped, viewed: Any, item: int | None) -> Any:
    if isinstance(form, list):
        parts = [_results(a, f, node, viewed, i) for i, (a, f) in enumerate(zip(ans, form, strict=True))]
        return like_container(ans, parts)
    if isinstance(form, dict):
        return {key: _results(ans[key], f, node, viewed, None) for key, f in form.items()}
    if form is None:
        return ans
    t = wrap(ans, node, form[0])
    viewed(t, item)
    return t


def _answered(form: Any, bars: list[Any], create: bool) -> Any:
    if isinstance(form, list):
        return [_answered(item, bars, create) for item in form]
    if isinstance(form, dict):
        return {key: _answered(item, bars, create) for key, item in form.items()}
    if form is None:
        return None
    bar = bars[form[0]]
    if bar is not None:
        return bar
    return wrap(zeros(form[1])) if create else zeros(form[1])


def _attached(node: Grouped, how: str, i: int, value: Any, content: Any) -> Any:
    if how == "ans":
        return attach(value, (node, 0), content) if node.answers is None else _results_again(value, node.answers, node)
    if how == "value" and i in node.places:
        return _with_edges(value, node.groups[node.places.index(i)], node.edges)
    return value


def _results_again(value: Any, form: Any, node: Grouped) -> Any:
    if isinstance(form, list):
        return [_results_again(v, f, node) for v, f in zip(value, form, strict=True)]
    if isinstance(form, dict):
        return {key: _results_again(value[key], f, node) for key, f in form.items()}
    return value if form is None else attach(value, (node, form[0]))


def _with_edges(value: Any, group: Any, edges: tuple[Any, ...]) -> Any:
    if isinstance(group, list):
        parts = [_with_edges(v, g, edges) for v, g in zip(value, group, strict=True)]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(group, dict):
        return {key: _with_edges(value[key], g, edges) for key, g in group.items()}
    return value if group is None else attach(value, edges[group])


def _spread(group: Any, bar: Any, likes: tuple[Any, ...], create: bool, result: list[Any]) -> None:
    if isinstance(group, list):
        # A cotangent of a list may be an array of the cotangents of its items.
        for part, g in zip(bar, group, strict=True) if not np.isscalar(bar) else ():
            _spread(g, part, likes, create, result)
    elif isinstance(group, dict):
        for key, g in group.items() if isinstance(bar, dict) else ():
            _spread(g, bar[key], likes, create, result)
    elif group is not None and bar is not None:
        result[group] = fit_tensor(bar, likes[group]) if create else fit(bar, likes[group])
