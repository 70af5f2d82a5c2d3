"""Storage: memory that several Tensors share, arguments that overlap among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays import window
from tangentx.arrays.libraries import ARRAYS
from tangentx.arrays.memory import address, is_writable, repeats, stretches
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.core import dispatch
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import during, refusal
from tangentx.tensor.core.tensor import Tensor, wrap

# Storage: memory that several Tensors share.
#
# A view keeps the Tensor whose memory it shows, its root, and the steps that lead from there. A write gives the root a
# new node (see `writing`); views find their own by going the steps again, when they are asked.


@dataclass(slots=True, eq=False)  # frozen ones take long to make
class Step:
    """One operation that gave a view: a call with the viewed array at `position`, of whose results `item` is taken.

    The position of what is given by name is its name.
    """

    fn: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    position: int | str
    item: int | None

    def on(self, array: Any) -> Any:
        """The same view of another plain array."""
        args, kwargs = self._with(array)
        ans = self.fn(*args, **kwargs)
        return ans if self.item is None else ans[self.item]

    def on_tensor(self, t: Tensor) -> Any:
        """The same view of a Tensor, recorded."""
        ans = dispatch.call(self.fn, *self._with(t))
        return ans if self.item is None else ans[self.item]

    def _with(self, array: Any) -> tuple[Sequence[Any], Mapping[str, Any]]:
        if isinstance(self.position, str):
            return self.args, {**self.kwargs, self.position: array}
        args = list(self.args)
        args[self.position] = array
        return args, self.kwargs


class View:
    """Where a Tensor's memory belongs: `root`, the steps from there, and the state of the root when it was formed."""

    __slots__ = ("_before", "_given", "_step", "_steps", "array", "node", "root", "slot", "with_history")

    _before: tuple[Step, ...]
    _given: tuple[Any, ...]
    _step: Callable[..., Step]
    _steps: tuple[Step, ...] | None
    array: Any
    node: Any
    root: Tensor
    slot: int
    with_history: bool

    @staticmethod
    def of(root: Tensor, steps: tuple[Step, ...], with_history: bool = True) -> View:
        """The view of a Tensor to which these steps lead."""
        view = View()
        view.root, view._steps, view.with_history = root, steps, with_history
        view.array, view.node, view.slot = root._primal, root._node, root._slot
        return view

    @staticmethod
    def enter(t: Tensor, of: Tensor, step: Callable[..., Step], given: tuple[Any, ...]) -> None:
        """Makes `t` the view of `of` to which ``step(*given)`` leads: few ask for it."""
        # Whatever gives a view of memory comes this way: an instance without `__init__` is made the soonest.
        view = t._view = View()
        view._steps = None
        view._step = step
        view._given = given
        before = of._view
        if before is None:
            view._before = ()
            view.root = of
            view.with_history = True
        else:
            view._before, view.root, view.with_history = before.steps, before.root, before.with_history
            of = before.root
        view.array = of._primal
        view.node = of._node
        view.slot = of._slot

    @property
    def steps(self) -> tuple[Step, ...]:
        """What leads from the root to here."""
        found = self._steps
        if found is None:
            found = self._steps = (*self._before, self._step(*self._given))
        return found

    def refresh(self, t: Tensor) -> None:
        """Brings a Tensor to the present state of its root."""
        root = self.root
        if root._view is not None:  # its shape was set
            self.root = root = root._view.root
        written = self.with_history and (root._node is not self.node or root._slot != self.slot)
        if root._primal is self.array and not written:
            return
        self.array, self.node, self.slot = root._primal, root._node, root._slot
        if not (written or t._needs):
            data = root._primal
            for step in self.steps:
                data = step.on(data)
            t._primal = data
            return

        def formed() -> Any:
            current: Any = root
            for step in self.steps:
                current = step.on_tensor(current)
            return current

        current = during(formed, grad=True)
        before = t._node, t._slot
        t._primal, t._node, t._slot, t._needs = current._primal, current._node, current._slot, current._needs
        if t._retains:
            t.moved(*before)


def detached(t: Tensor) -> Tensor:
    """A Tensor of the same memory that has no history and gets none by writes into the other."""
    found = wrap(t.current)
    if type(t._primal) in ARRAYS:
        root, steps = (t, ()) if t._view is None else (t._view.root, t._view.steps)
        found._view = View.of(root, steps, with_history=False)
    return found


def set_shape(t: Tensor, shape: Any) -> None:
    """``t.shape = shape``: the Tensor becomes a view of what it was. Raises what NumPy raises where that is none.

    Raises NotDifferentiable for a leaf that requires a gradient, which would no longer have its shape.
    """
    shown = t.current.view() if type(t._primal) in ARRAYS else t._primal
    shown.shape = shape
    if t._view is None:
        if t._needs and t._node is None:
            message = "the shape of a leaf that requires a gradient is set, and its gradient would have another"
            raise refusal(NotDifferentiable(message, span_of(place()), "use `x.reshape(...)`"))
        root = wrap(t._primal, t._node, t._slot)
        root._needs, root._content, root._exported, root._made = t._needs, t._content, t._exported, t._made
        t._content = None
        t._view = View.of(root, ())
    view = t._view
    t._view = View.of(view.root, (*view.steps, Step(np.reshape, (None, shown.shape), {}, 0, None)), view.with_history)
    t._view.array = None  # so that the shape is found at once
    t._view.refresh(t)


# Arguments that share memory: views of one storage, which sees every write.


def joined(arrays: Sequence[Any], active: Sequence[Any]) -> list[tuple[Any, Tensor]]:
    """The Tensors of arrays that overlap others, all of them views of memory that `fresh_copies` has made.

    Where that cannot be, because one of them is `active`, which is a Tensor of its own, or they do not have one dtype,
    they are made read-only, for their Tensors would not know of each other.
    """
    found: list[tuple[Any, Tensor]] = []
    for stretch in stretches(list(arrays)):
        inside = [a for a in arrays if a.size and a.dtype.kind != "O" and stretch.first <= address(a) < stretch.end]
        if len(inside) < 2:
            continue
        if any(a is b for a in inside for b in active) or not _alike(inside, stretch.first):
            for a in inside:
                a.flags.writeable = False
        elif inexact(inside[0]):
            found += _views(inside, stretch.first, stretch.end)
    return found


def _alike(arrays: Sequence[Any], first: int) -> bool:
    """Whether all can be windows on one row of elements."""
    dtype = arrays[0].dtype
    return all(
        a.dtype == dtype
        and is_writable(a)
        and not repeats(a)
        and not any(offset % dtype.itemsize for offset in (address(a) - first, *a.strides))
        for a in arrays
    )


def _views(arrays: Sequence[Any], first: int, end: int) -> list[tuple[Any, Tensor]]:
    size = arrays[0].dtype.itemsize
    block = np.frombuffer(arrays[0].base, np.uint8)
    offset = first - byte_bounds(block)[0]
    root = wrap(block[offset : offset + end - first].view(arrays[0].dtype))
    found = []
    for a in arrays:
        steps = tuple(stride // size for stride in a.strides)
        t = wrap(a)
        t._view = View.of(root, (Step(window, (None, a.shape, steps, (address(a) - first) // size), {}, 0, None),))
        found.append((a, t))
    return found
