"""The node of an operation: what its pullback needs, and how cotangents return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from tangentx.arrays import unbroadcast
from tangentx.arrays.libraries import ARRAYS
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.rules import Pull, Rule, compiled_pullback
from tangentx.tensor.core import dispatch
from tangentx.tensor.core.containers import LASTING
from tangentx.tensor.core.forms import fit, fits, inexact, like_of, sample, zeros
from tangentx.tensor.core.modes import refusal
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.nodes import TAPES, Content, Node, noted

# Backward stubs: the fast path of a reverse sweep at a node with one result, on plain data.
#
# Its text is written once for each rule and the places that it is pulled back to: the template's own lines, and around
# them what the sweep does with a cotangent before and after.

_NAMES = {"array_": np.ndarray, "fit_": fit, "tuple_": tuple, "type_": type, "any_": any}


def first_step(node: Any, *state: Any) -> None:
    """The step of a class of nodes until it is taken first, which is when its text is made."""
    kind = type(node)
    kind.step = _step(kind.pull_rule)
    node.step(*state)


def _step(pull: Pull) -> Any:
    """``step(node, bars, waiting, ready, sweep)`` takes the node's cotangent on to its sources.

    It also counts, adds to `ready` what waits for nothing more, and frees the node.
    """
    numbers = range(len(pull.wanted))
    lines = [
        "def pull_(node_, bars_, waiting_, ready_, sweep_):",
        "    ans_bar = bars_.pop(node_)",
        "    values_ = node_.values",
        "    if values_ is None or any_(node_.contents):" if pull.needs else "    if values_ is None:",
        "        node_.check()",
        *([f"    {', '.join(pull.needs)}, = values_"] if pull.needs else []),
        *(f"    {', '.join(f'{name}{i}_' for i in numbers)}, = node_.{name}s" for name in ("source", "like")),
        "    if not sweep_.retain:",
        "        node_.freed, node_.values, node_.contents = sweep_.where, None, ()",
        *pull.middle,
    ]
    for i, value in zip(numbers, pull.chosen, strict=True):
        lines += _given(f"source{i}_", f"like{i}_", value)
    return compiled_pullback("\n".join(lines) + "\n", {**pull.plain_names(), **_NAMES})


def _given(source: str, like: str, value: str) -> list[str]:
    """One cotangent, in the form of what it belongs to, if that is asked for."""
    return [
        f"    count_ = waiting_.get({source})",
        "    if count_ is not None:",
        f"        bar_ = {value}",
        f"        if type_({like}) is tuple_:",
        f"            if type_(bar_) is not array_ or bar_.dtype is not {like}[1] or bar_.shape != {like}[0]:",
        f"                bar_ = fit_(bar_, {like})",
        f"        elif type_(bar_) is not type_({like}):",
        f"            bar_ = fit_(bar_, {like})",
        f"        if {source} in bars_:",
        f"            sweep_.add({source}, bar_)",
        "        else:",
        f"            bars_[{source}] = bar_",
        "        if count_ == 1:",
        f"            ready_.append({source})",
        "        else:",
        f"            waiting_[{source}] = count_ - 1",
    ]


# The node of an operation: what its pullback needs, how that is kept, and how cotangents return.


def kept(value: Any) -> Any:
    """A value that nobody else writes: plain arrays and lists that backward needs are copied."""
    if type(value) in ARRAYS:
        return value.copy()
    if type(value) is tuple and LASTING.issuperset(map(type, value)):
        return value
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(kept(item) for item in value)
    return value


def root_of(t: Tensor) -> Tensor:
    """The Tensor that a Tensor's memory belongs to."""
    root: Tensor = t if t._view is None else t._view.root
    return root if root._view is None else root_of(root)  # one whose shape was set is a view


def content_of(t: Tensor) -> Content:
    """What stands for the present content of a Tensor's memory."""
    root = root_of(t)
    if root._content is None:
        root._content = []
    return root._content


class Operation(Node):
    """A call of a function that has a template; there is a class of them for each rule and the places that it is
    pulled back to. `values` are what `pull_rule` reads, in its order."""

    __slots__ = ()

    simple = True
    rule: Rule
    places: tuple[int, ...]
    pull_rule: Pull

    @classmethod
    def kind(cls, rule: Rule, places: tuple[int, ...]) -> type[Self]:
        """The class of the nodes of a rule that are pulled back to these places."""
        found: type[Self] | None = rule.nodes.get((cls, places))
        if found is None:
            pull = rule.pull(places)
            more = {"rule": rule, "places": places, "pull_rule": pull, "step": first_step}
            found = type("Operation", (cls,), {"__slots__": (), "operation": rule.name, **more})
            rule.nodes[cls, places] = found
        return found

    @classmethod
    def of(cls, rule: Rule, places: tuple[int, ...], edges: tuple[Any, ...]) -> Self:
        """A node of this place in the user's program."""
        node = object.__new__(cls.kind(rule, places))
        node.edges, node.place, node.freed = edges, place(), None
        return node

    @staticmethod
    def record(
        rule: Rule,
        places: tuple[int, ...],
        values: Sequence[Any],
        data: list[Any],
        ans: Any,
        viewed: Callable[[Tensor, int | None], None],
    ) -> Any:
        """The results of a call as Tensors."""
        demand_own_class(ans)
        node = Operation.of(rule, places, tuple(values[i].edge for i in places))
        node.likes = tuple(like_of(data[i]) for i in places)
        t = wrap(ans, node)
        node.keep(values, data, ans, t)
        if TAPES:
            noted(node, (t,))
        if rule.may_view:
            viewed(t, None)
        return t

    def keep(self, values: Sequence[Any], data: list[Any], ans: Any, t: Tensor | None) -> None:
        """Keeps what the pullback reads, and marks its memory."""
        found: list[Any] = []
        contents: list[Content | None] = []
        for how, i in self.pull_rule.reads:
            content = None
            if how == "ans":
                found.append(ans)
                if t is not None and type(ans) in ARRAYS:
                    content = content_of(t)
            elif how == "shape":
                found.append(np.shape(data[i]))
            elif type(values[i]) is Tensor:
                found.append(data[i])
                if type(data[i]) in ARRAYS:
                    content = content_of(values[i])
            else:
                found.append(kept(data[i]))
            contents.append(content)
        self.values, self.contents = found, tuple(contents)

    @property
    def arguments(self) -> tuple[Any, ...]:
        if self.dropped:
            return self.edges
        by_place = dict(zip(self.places, self.edges, strict=True))
        return tuple(by_place.get(i) for i, has in enumerate(self.rule.with_cotangent) if has)

    @property
    def saved(self) -> dict[str, Any]:
        if self.values is None:
            return {}
        return dict(zip(self.pull_rule.needs, self.values, strict=True))

    def pull(self, bars: list[Any], create: bool) -> Any:
        if create:
            found = self.pull_rule.lifted(*self.attached(), bars[0])
            return [fit_tensor(bar, like) for bar, like in zip(found, self.likes, strict=True)]
        found = self.pull_rule.run(*self.values, bars[0])
        result = []
        for bar, like in zip(found, self.likes, strict=True):
            fitting = type(bar) is np.ndarray and type(like) is tuple and bar.shape == like[0] and bar.dtype == like[1]
            result.append(bar if fitting else fit(bar, like))
        return result

    def attached(self) -> list[Any]:
        """What was kept, as Tensors with their place in the graph."""
        found: list[Any] = []
        for (how, i), value, content in zip(self.pull_rule.reads, self.values, self.contents, strict=True):
            edge = None
            if how == "ans":
                edge = (self, 0)
            elif how == "value" and i in self.places:
                edge = self.edges[self.places.index(i)]
            found.append(value if edge is None else attach(value, edge, content))
        return found


def demand_own_class(ans: Any) -> None:
    """Refuses the result of an operation that is recorded where it is an array of a class of its own."""
    if type(ans) is not np.ndarray and isinstance(ans, np.ndarray):
        raise of_another_class(ans)


def of_another_class(ans: Any) -> Exception:
    """The refusal of a result whose class has rules of its own: of masks, of matrices, of units."""
    message = f"an operation on a Tensor that is being differentiated gives a `{type(ans).__name__}`"
    return refusal(
        NotDifferentiable(message, span_of(place()), "make the operand a plain array first: `np.asarray(a)`")
    )


def attach(value: Any, edge: Any, content: Content | None = None) -> Tensor:
    """A value that was kept as the Tensor that it was."""
    t = wrap(value, edge[0], edge[1])
    t._content = content
    return t


def fit_tensor(bar: Any, like: Any) -> Any:
    """`fit` on Tensors."""
    if type(bar) is not Tensor:
        return wrap(fit(bar, like))
    if fits(bar.current, like):
        return bar
    found = dispatch.call(unbroadcast, (bar, sample(like)), {})
    return dispatch.call(type(like), (found,), {}) if isinstance(like, float | complex) else found


def zero_bar(like: Any, create: bool) -> Any:
    """The cotangent of a result that nothing used."""
    return wrap(zeros(like)) if create else zeros(like)


def leaf(value: Any) -> bool:
    """Whether a part of a structure has a derivative of its own."""
    return type(value) is Tensor or inexact(value)
