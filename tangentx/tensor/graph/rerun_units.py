"""Calls that are repeated by a checkpoint: their arguments by memory, and their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tangentx.errors import place
from tangentx.tensor.calls.operation import root_of
from tangentx.tensor.core.containers import tensors_in
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.writes.storage import Step, View, detached


class Call:
    """A call of a function, without the Tensors that it is given.

    `order` has for each argument the number of its Tensor, None for others; one that is given twice is one. `places`
    have for each Tensor its unit and the steps from there: those that share memory with another argument have their
    root for their unit, all others stand for themselves.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], tensors: Sequence[Tensor]) -> None:
        self.function = function
        self.place = place()
        self.args = [None if type(a) is Tensor else a for a in args]
        self.order = [_number(a, tensors) if type(a) is Tensor else None for a in args]
        roots = [id(root_of(t)) for t in tensors]
        shared = [t._view is not None and roots.count(id(root_of(t))) > 1 for t in tensors]
        every = [root_of(t) if s else t for t, s in zip(tensors, shared, strict=True)]
        self.units = distinct(every)
        self.places = [
            (_number(unit, self.units), t._view.steps if s else ())
            for unit, t, s in zip(every, tensors, shared, strict=True)
        ]

    def released(self) -> list[Tensor]:
        """The units, which are kept no longer: backward gets them from what it has saved."""
        units, self.units = self.units, []
        return units


class Run:
    """One way through a function whose arguments stand in `units`.

    `results` are the Tensors that it gives, or whose parts it gives, and that are no part of an argument; `reshaped`
    tells whether the shape of an argument was set. By identity `arguments` has the number of an argument that is given
    itself; `parts` has for a part its unit, or, behind these, the result, and how it is a view of it.
    """

    def __init__(self, call: Call, units: Sequence[Tensor]) -> None:
        self.units = units
        given = [stepped(units[unit], steps) for unit, steps in call.places]
        views = [t._view for t in given]
        self.result = call.function(
            *(arg if i is None else given[i] for arg, i in zip(call.args, call.order, strict=True))
        )
        self.reshaped = any(t._view is not view for t, view in zip(given, views, strict=True))
        self.arguments = {id(t): i for i, t in enumerate(given)}
        self.parts: dict[int, tuple[int, View | None]] = {}
        self.results: list[Tensor] = []
        numbers = {id(unit): i for i, unit in enumerate(units)}
        for t in tensors_in(self.result):
            if id(t) in self.arguments:
                continue
            root = root_of(t)
            if id(root) not in numbers:
                numbers[id(root)] = len(units) + len(self.results)
                self.results.append(root)
            self.parts[id(t)] = numbers[id(root)], t._view


def distinct(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Each once."""
    return list({id(t): t for t in tensors}.values())


def _number(t: Tensor, tensors: Sequence[Tensor]) -> int:
    return next(i for i, other in enumerate(tensors) if other is t)


def part(t: Tensor, view: View | None) -> Any:
    """What is to a Tensor as a view is to its root."""
    if view is None:
        return t
    found = stepped(t, view.steps)
    return found if view.with_history else detached(found)


def stepped(t: Tensor, steps: tuple[Step, ...]) -> Any:
    """The view of a Tensor to which the steps lead."""
    for step in steps:
        t = step.on_tensor(t)
    return t
