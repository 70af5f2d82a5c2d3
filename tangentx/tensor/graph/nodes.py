"""The recorded graph: nodes, their sources, what they keep, and hooks.

An edge is a pair of a target and a slot: the node that made an argument and which of its results it was, or a leaf
Tensor itself, or None for what has no derivative. Nodes know no Tensors but leaves, so there are no cycles.

What the memory of a Tensor holds between two writes is its *content*, a list; who keeps it for backward holds that
list. The place of the write that ended it while it was still needed is entered there.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from tangentx.errors import NotDifferentiable, Span, place, span_of

Content = list[Any]
TAPES: list[tuple[int, Any]] = []
"""What is told of each node that is recorded: a thread and, weakly, an object with a method `note`; the first alone."""


def noted(node: Node, results: Sequence[Any]) -> None:
    """Tells of a node that was recorded, and of the Tensors that it gave, while there is anything to be told."""
    thread = threading.get_ident()
    for its, reference in TAPES:
        tape = reference() if its == thread else None
        if tape is not None:
            tape.note(node, results)
            return


class Handle:
    """A hook that was registered; `remove` takes it away."""

    def __init__(self, hooks: dict[int, Any], key: int) -> None:
        self._hooks = hooks
        self._key = key

    def remove(self) -> None:
        """The hook is not called again."""
        self._hooks.pop(self._key, None)


def hooked(hooks: dict[int, Any], hook: Any) -> Handle:
    """Enters a hook behind the others."""
    key = max(hooks, default=-1) + 1
    hooks[key] = hook
    return Handle(hooks, key)


class Node(ABC):
    """One recorded operation. `edges` lead to what made its arguments; `likes` are the forms of their cotangents.

    The edges are kept as `sources` and, where one is not the only result of its node, `ports`. `values` are what
    backward reads, None once they are freed, and `contents` the content of each. `pull(bars, create)` gives the
    cotangents by edge, of raw values, or with `create` of Tensors. A node is `simple` while its only result is pulled
    back by `step`, its arguments are the only results of their nodes, and nobody watches.
    """

    __slots__ = ("__dict__", "__weakref__", "contents", "freed", "likes", "place", "ports", "sources", "values")

    consumes = False
    dropped = False
    simple = False
    operation: str = ""
    slots = 1
    before: dict[int, Any] | None = None
    after: dict[int, Any] | None = None
    watchers: dict[int, Watcher] | None = None
    step: Any = None
    sources: tuple[Any, ...]
    ports: tuple[int, ...] | None
    place: Any
    likes: tuple[Any, ...]
    values: Any
    contents: Any
    freed: Any

    def __init__(self, operation: str, edges: tuple[Any, ...]) -> None:
        self.operation = operation
        self.edges = edges
        self.place = place()
        self.likes = self.values = self.contents = ()
        self.freed = None

    @property
    def edges(self) -> tuple[Any, ...]:
        """Where the cotangents go: pairs of a target and a slot."""
        return tuple(zip(self.sources, self.ports or (0,) * len(self.sources), strict=True))

    @edges.setter
    def edges(self, edges: tuple[Any, ...]) -> None:
        self.sources = tuple(target for target, _ in edges)
        self.ports = None
        if any(slot for _, slot in edges):
            self.ports, self.simple = tuple(slot for _, slot in edges), False

    @property
    def name(self) -> str:
        """As PyTorch has it: ``MulBackward``."""
        return f"{self.operation}Backward"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The edges of all arguments, None for those without derivative."""
        return self.edges

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """For each argument the node that made it and the number of its result; a leaf's is `AccumulateGrad`.

        ``(None, 0)`` stands for what has no derivative.
        """
        return tuple((None, 0) if edge is None else (_shown(edge[0]), edge[1]) for edge in self.arguments)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The leaf Tensors among the arguments, None for others."""
        return tuple(None if edge is None or isinstance(edge[0], Node) else edge[0] for edge in self.arguments)

    @property
    def saved(self) -> dict[str, Any]:
        """What is kept for backward, by name."""
        return {}

    @property
    def span(self) -> Span | None:
        """The place in the user's program."""
        return span_of(self.place)

    @property
    def line(self) -> int | None:
        """The line of the user's program."""
        span = self.span
        return None if span is None else span.line

    @property
    def source_line(self) -> str:
        """File, line and text of the user's program."""
        span = self.span
        return "" if span is None else f"{span}: {span.text.strip()}"

    def __repr__(self) -> str:
        return f"<{self.operation}Backward at {self.source_line}>"

    def register_prehook(self, hook: Callable[[tuple[Any, ...]], Any]) -> Handle:
        """``hook(grad_outputs)`` before the node is passed; what it returns, if anything, replaces them."""
        self.before, self.simple = {} if self.before is None else self.before, False
        return hooked(self.before, hook)

    def register_hook(self, hook: Callable[[tuple[Any, ...], tuple[Any, ...]], Any]) -> Handle:
        """``hook(grad_inputs, grad_outputs)`` after it is passed; what it returns, if anything, replaces the first."""
        self.after, self.simple = {} if self.after is None else self.after, False
        return hooked(self.after, hook)

    def watcher(self, slot: int) -> Watcher:
        """Who wants to see the cotangent of a result."""
        self.watchers, self.simple = {} if self.watchers is None else self.watchers, False
        return self.watchers.setdefault(slot, Watcher())

    @abstractmethod
    def pull(self, bars: list[Any], create: bool) -> Any:
        """The cotangents of what the node was made of, from those of its results; with `create` they are recorded."""

    def check(self) -> None:
        """Raises NotDifferentiable where what was kept is gone or was overwritten."""
        if self.dropped:
            raise NotDifferentiable(
                f"backward comes to `{self.operation}`, whose graph a GradManager has dropped at {span_of(self.freed)}",
                self.span,
                "call backward within `with manager:`, before it ends or is released",
            )
        if self.freed is not None:
            raise NotDifferentiable(
                f"backward goes a second time through `{self.operation}`, whose values the first freed at "
                f"{span_of(self.freed)}",
                self.span,
                "pass retain_graph=True to the first backward",
            )
        for content in self.contents:
            if content:
                raise NotDifferentiable(
                    f"`{self.operation}` needs a value for backward that was overwritten at {span_of(content[0])}",
                    self.span,
                    "write into a copy (`x.clone()`), or write before the value is used",
                )

    def free(self, where: Any) -> None:
        """Lets go of what was kept."""
        self.freed, self.contents, self.values = where, (), None

    def drop(self, where: Any) -> None:
        """Lets go of what was kept and of all that it leads to: nobody can go back from here any more."""
        self.free(where)
        self.dropped, self.simple = True, False
        self.sources, self.ports, self.likes = (), None, ()
        self.before = self.after = self.watchers = None

    def kept(self) -> Any:
        """All that is kept for backward."""
        return self.values


class Watcher:
    """Hooks of a Tensor, and the Tensors that keep their gradient."""

    def __init__(self) -> None:
        self.hooks: dict[int, Any] = {}
        self.retained: list[Any] = []


class AccumulateGrad:
    """The end of the graph: adds to ``.grad`` of a leaf, its `variable`."""

    __slots__ = ("variable",)
    next_functions: tuple[Any, ...] = ()

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    @property
    def name(self) -> str:
        return "AccumulateGrad"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self) -> int:
        return id(self.variable)

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


def _shown(target: Any) -> Any:
    return target if isinstance(target, Node) else AccumulateGrad(target)
