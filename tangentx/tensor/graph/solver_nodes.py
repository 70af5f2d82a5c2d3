"""Nodes of solver results, whose pullback goes through one step of the solver at the solution.

The step (`arrays.solvers`) is run once, at the answer, and its graph is kept inside of the node. There the answer
itself, by which a step is not differentiated, is one of the *gates*: what lies behind a gate is held when the node is
passed. A gate leads on to what it stands for, so that a recorded pullback has derivatives as anything else.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.operation import attach
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.engine import Sweep
from tangentx.tensor.graph.nodes import TAPES, Node, noted

Edge = tuple[Any, int]


class Gate(Node):
    """The identity, between what a step has recorded and what that was made of."""

    def __init__(self, edge: Edge) -> None:
        super().__init__("Gate", (edge,))

    def pull(self, bars: list[Any], create: bool) -> Any:
        return bars


class Settled(Node):
    """An answer: `inner` is where the step's graph begins, and `gates` are its ends, one for each edge."""

    def __init__(self) -> None:
        super().__init__("Settled", ())
        self.inner: Edge | None = None
        self.gates: tuple[Gate, ...] = ()

    def free(self, where: Any) -> None:
        super().free(where)
        self.inner, self.gates = None, ()

    def pull(self, bars: list[Any], create: bool) -> list[Any]:
        assert self.inner is not None
        ends = [(gate, 0) for gate in self.gates]
        found = Sweep(create, True, ends).run([(*self.inner, bars[0])])
        return [found.get(end) for end in ends]


class _Recorder:
    """Lists the nodes that are recorded meanwhile, in this thread."""

    def __init__(self) -> None:
        self.nodes: dict[Node, None] = {}

    def note(self, node: Node, results: Sequence[Any]) -> None:
        self.nodes[node] = None

    def during(self, run: Callable[[], Any]) -> Any:
        entry = threading.get_ident(), weakref.ref(self)
        try:
            TAPES.insert(0, entry)  # before others, which are told of what is left in the end
            return during(run, grad=True)
        finally:
            TAPES[:] = [other for other in TAPES if other is not entry]


def settled(step: Callable[..., Any], x: Any, *functions: Any) -> Any:
    """`x`, with the derivative of ``step(x, *functions)`` where `x` is held; plain where nothing is differentiated."""
    node, recorder = Settled(), _Recorder()
    data = x.copy() if type(x) is np.ndarray else x
    answer = attach(data, (node, 0))

    def model() -> Any:
        found = step(answer, *functions)
        return call(np.positive, (found,), {}) if type(found) is Tensor and found.requires_grad else found

    found = recorder.during(model)
    inner = recorder.nodes
    outside = {edge: None for each in inner for edge in each.edges if edge[0] not in inner}
    if type(found) is not Tensor or not found.requires_grad or not outside.keys() - {(node, 0)}:
        return x
    gates = {edge: Gate(edge) for edge in outside}
    for each in inner:
        each.edges = tuple((gates[edge], 0) if edge in gates else edge for edge in each.edges)
    ends = [edge for edge in gates if edge[0] is not node]
    node.edges, node.gates, node.inner = tuple(ends), tuple(gates[edge] for edge in ends), found.edge
    result = wrap(data, node)
    if TAPES:
        for each in (*inner, *gates.values()):
            noted(each, ())
        noted(node, [result])
    return result


def newton_of_number(x: Any, residual: Any, slope: Any) -> Any:
    """`arrays.settled` as a step of Newton's, by whose slope the derivative is differentiated again."""
    return x - residual / slope


def newton_of_row(x: Any, residual: Any, slope: Any) -> Any:
    """`arrays.settled_row` likewise."""
    return x - call(np.linalg.solve, (slope, residual), {})


def slope(function: Callable[..., Any], x: Any, *args: Any) -> Any:
    """The derivative of a function by its first argument, recorded: of a number, or the Jacobian matrix of a row."""
    from tangentx.tensor.graph.autograd import grad, jacobian

    if np.ndim(x.current if type(x) is Tensor else x) > 0:
        return jacobian(lambda z: function(z, *args), x, create_graph=True)
    place = call(np.positive, (x,), {}) if type(x) is Tensor and x.requires_grad else _leaf(x)
    found = function(place, *args)
    if type(found) is not Tensor or not found.requires_grad:
        return 0.0
    return grad(found, place, create_graph=True, materialize_grads=True)[0]


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that gives the gradient of another, recorded."""
    from tangentx.tensor.graph.autograd import grad

    def found(x: Any) -> Any:
        place = call(np.positive, (x,), {}) if type(x) is Tensor and x.requires_grad else _leaf(x)
        value = function(place)
        if type(value) is not Tensor or not value.requires_grad:
            return np.zeros_like(place.current)
        return grad(value, place, create_graph=True, materialize_grads=True)[0]

    return found


def _leaf(x: Any) -> Tensor:
    data = x.current if type(x) is Tensor else x
    leaf = wrap(data if inexact(data) else np.asarray(data, float)[()])
    leaf._needs = True
    return leaf
