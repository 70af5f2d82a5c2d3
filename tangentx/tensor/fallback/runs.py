"""Runs of single functions on Tensors inside compiled code: see `arrays.runs`.

A run keeps its graph, from the leaves that it was given to what came out. Its pullback is a run as well: of the same
leaves and the cotangents, with what the reverse sweep gives as its results. It is recorded where it is asked for its
own derivatives; so is its forward mode. So there are derivatives of every order.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays.copies import fresh_copy
from tangentx.arrays.runs import Run, form_of
from tangentx.errors import NotResolved, span_of
from tangentx.tensor.calls.operation import fit_tensor
from tangentx.tensor.core.forms import fit, inexact, like_of, ones, zeros
from tangentx.tensor.core.modes import during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.function_rewriting import called
from tangentx.tensor.fallback.reachable import inside_of, outputs_in, plain, rebuilt
from tangentx.tensor.fallback.tracing import Trace, gradients, paired
from tangentx.tensor.graph.engine import Sweep


def run(function: Callable[..., Any], names: tuple[str, ...], arguments: tuple[Any, ...]) -> Run:
    """See `arrays.on_tensors`.

    The function writes into no argument, so each place in them may have memory, and a cotangent, of its own.
    """
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters)
    apart = [_apart(value) for value in arguments]
    trace = Trace(called(function), apart, [parameters.index(name) for name in names])
    return _First(function, trace.skeletons, trace.result)


def _apart(value: Any) -> Any:
    """The value with a copy of each array in it, so that none is there twice."""
    if type(value) is np.ndarray:
        return value.copy(order="K")
    inside = inside_of(value)
    if inside is None:
        return value
    new = value if isinstance(value, tuple) else fresh_copy(value)
    return rebuilt(new, {key: _apart(item) for key, item in inside.items()})


class _Recorded(Run):
    """What all runs have in common; each says what it gave, and by which graph."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @abstractmethod
    def graph(self) -> tuple[list[Any], Any]:
        """The leaves in their structure, and the Tensors that depend on them."""

    def pulled(self, bars: Any) -> Run:
        return _Pulled(self, fresh_copy(bars))

    def pushed(self, dots: Any) -> Run:
        return _Pushed(self, fresh_copy(dots))

    def part(self, number: int) -> Run:
        leaves, outputs = self.graph()
        return _First(self.function, leaves, outputs[number])

    def demand(self, form: str) -> None:
        found = form_of(self.data())
        if found == form or _is_joined(found, form):
            return
        code = self.function.__code__
        raise NotResolved(
            f"`{self.function.__name__}` runs on Tensors, and gave {found} where its text says {form}",
            span_of((code, 0)),
            'give it one kind of result, or call a derivative of the caller with fallback="error" to see the reason',
        )


def _is_joined(found: str, form: str) -> bool:
    """Whether a number is of a kind that was joined with that of the form."""
    if "[" in found + form or "None" in (found, form) or not form.startswith("np."):
        return False
    return np.can_cast(np.dtype(found.removeprefix("np.")), np.dtype(form.removeprefix("np.")))


class _First(_Recorded):
    """The run of the function itself."""

    def __init__(self, function: Callable[..., Any], leaves: list[Any], outputs: Any) -> None:
        super().__init__(function)
        self.leaves, self.outputs = leaves, outputs

    def graph(self) -> tuple[list[Any], Any]:
        return self.leaves, self.outputs

    def data(self) -> Any:
        return fresh_copy(plain(self.outputs))


class _Later(_Recorded):
    """The run of a pullback or of a forward mode: `given` are its cotangents or tangents."""

    def __init__(self, of: _Recorded, given: Any) -> None:
        super().__init__(of.function)
        self.of, self.given = of, given
        self.found = self.derived(given, False)
        self.recorded: tuple[list[Any], Any] | None = None

    @abstractmethod
    def derived(self, given: Any, create: bool) -> Any:
        """The results, recorded where `create`."""

    def data(self) -> Any:
        return fresh_copy(plain(self.found))

    def graph(self) -> tuple[list[Any], Any]:
        if self.recorded is None:
            given = _as_leaves(self.given)
            self.recorded = [given, *self.of.graph()[0]], self.derived(given, True)
        return self.recorded


class _Pulled(_Later):
    def derived(self, given: Any, create: bool) -> Any:
        leaves, outputs = self.of.graph()
        found: list[tuple[Tensor, Any]] = []
        outputs_in(outputs, given, found)
        outputs, seeds = [t for t, _ in found], [bar for _, bar in found]
        bars = during(lambda: gradients(leaves, outputs, seeds, True, create), grad=True, honest=False)
        return _fitted(leaves, bars, create)


class _Pushed(_Later):
    def derived(self, given: Any, create: bool) -> Any:
        """The pullback is linear in its seed, and that map is pulled back by the tangents."""
        leaves, outputs = self.of.graph()
        found: list[tuple[Tensor, Any]] = []
        outputs_in(outputs, None, found)
        active = [t for t, _ in found if t.requires_grad]
        seeds = _as_leaves([ones(like_of(t.current)) for t in active])

        def moved() -> dict[int, Any]:
            total = paired(gradients(leaves, active, seeds, True, True), given, None) if active else None
            if not (type(total) is Tensor and total.requires_grad):
                return {}
            edges = [seed.edge for seed in seeds]
            one = ones(like_of(total.current))
            bars = Sweep(create, True, edges).run([(*total.edge, wrap(one) if create else one)])
            return {id(t): bars.get(edge) for t, edge in zip(active, edges, strict=True)}

        return _dots(outputs, during(moved, grad=True, honest=False), create)


def _as_leaves(value: Any) -> Any:
    """Tensors that are differentiated by, in the place of real and complex numbers and arrays."""
    if isinstance(value, list | tuple):
        return [_as_leaves(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_leaves(item) for key, item in value.items()}
    if value is None or not inexact(value):
        return None
    leaf = wrap(value)
    leaf._needs = True
    return leaf


def _fitted(leaves: Any, bars: Any, create: bool) -> Any:
    """The cotangents of leaves in their form, zeros where nothing depends on one."""
    if isinstance(leaves, list):
        return [_fitted(leaf, bars[i], create) for i, leaf in enumerate(leaves)]
    if isinstance(leaves, dict):
        return {key: _fitted(leaf, bars[key], create) for key, leaf in leaves.items()}
    return None if leaves is None else _in_form(bars, like_of(leaves.current), create)


def _dots(outputs: Any, dots: dict[int, Any], create: bool) -> Any:
    if isinstance(outputs, list | tuple):
        return [_dots(item, dots, create) for item in outputs]
    if isinstance(outputs, dict):
        return {key: _dots(item, dots, create) for key, item in outputs.items()}
    data = outputs.current if type(outputs) is Tensor else outputs
    if data is None or not inexact(data):
        return None
    return _in_form(dots.get(id(outputs)), like_of(data), create)


def _in_form(bar: Any, like: Any, create: bool) -> Any:
    if bar is None:
        return zeros(like)
    return fit_tensor(bar if type(bar) is Tensor else wrap(bar), like) if create else fit(bar, like)
