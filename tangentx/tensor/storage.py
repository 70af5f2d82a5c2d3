"""Memory that several Tensors share, and writes into it.

A view keeps the Tensor whose memory it shows, its root, and the steps that lead from there. A write gives the root a
new node; views find their own by going the steps again, when they are asked. A value that backward still needs is
kept: the root moves to a copy of its memory first. Where the memory was handed out as a plain array that cannot be,
so the write is marked, and a backward that comes to need the value is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.arrays import demand_copied, demand_unshared, zeros_as
from tangentx.errors import NotDifferentiable, SharedMemory
from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.forms import inexact, like_of
from tangentx.tensor.holding import raw
from tangentx.tensor.modes import STATE, refusal, setting
from tangentx.tensor.operation import kept
from tangentx.tensor.places import place, span_of

_new: Any = object.__new__
_NOBODY = sys.getrefcount(object()) + 2  # the root's own reference, and the one that asks


@dataclass(slots=True, eq=False)  # frozen ones take long to make
class Step:
    """One operation that gave a view: a call with the viewed array at `position`, of whose results `item` is taken."""

    fn: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    position: int
    item: int | None

    def on(self, array: Any) -> Any:
        """The same view of another plain array."""
        ans = self.fn(*self._with(array), **self.kwargs)
        return ans if self.item is None else ans[self.item]

    def on_tensor(self, t: Tensor) -> Any:
        """The same view of a Tensor, recorded."""
        from tangentx.tensor.apply import call

        ans = call(self.fn, self._with(t), self.kwargs)
        return ans if self.item is None else ans[self.item]

    def _with(self, array: Any) -> list[Any]:
        args = list(self.args)
        args[self.position] = array
        return args


class View:
    """Where a Tensor's memory belongs: `root`, the steps from there, and the state of the root when it was formed."""

    __slots__ = ("_before", "_last", "_steps", "array", "node", "root", "slot", "with_history")

    _before: tuple[Step, ...]
    _last: Any
    _steps: tuple[Step, ...] | None

    def __init__(self, root: Tensor, steps: tuple[Step, ...], with_history: bool = True) -> None:
        self.root = root
        self._steps = steps
        self.array, self.node, self.slot = root._data, root._node, root._slot
        self.with_history = with_history

    @staticmethod
    def enter(t: Tensor, of: Tensor, fn: Any, args: Any, kwargs: Any, position: int, item: int | None) -> None:
        """Makes `t` the view of `of` that a call gives, or of its results the `item`: see `Step`."""
        # Whatever gives a view of memory comes this way: no class is called to make an instance, and few ask for steps.
        view = t._view = _new(View)
        view._steps = None
        view._last = fn, args, kwargs, position, item
        before = of._view
        if before is None:
            view._before, view.root, view.with_history = (), of, True
        else:
            view._before, view.root, view.with_history = before.steps, before.root, before.with_history
            of = before.root
        view.array, view.node, view.slot = of._data, of._node, of._slot

    @property
    def steps(self) -> tuple[Step, ...]:
        """What leads from the root to here."""
        found = self._steps
        if found is None:
            found = self._steps = (*self._before, Step(*self._last))
        return found

    def refresh(self, t: Tensor) -> None:
        """Brings a Tensor to the present state of its root."""
        root = self.root
        if root._view is not None:  # its shape was set
            self.root = root = root._view.root
        if root._data is self.array and (root._node is self.node and root._slot == self.slot or not self.with_history):
            return
        self.array, self.node, self.slot = root._data, root._node, root._slot
        if not self.with_history:
            data = root._data
            for step in self.steps:
                data = step.on(data)
            t._data = data
            return
        current: Any = root
        with setting(grad=True):
            for step in self.steps:
                current = step.on_tensor(current)
        t._data, t._node, t._slot, t._needs = current._data, current._node, current._slot, current._needs


def detached(t: Tensor) -> Tensor:
    """A Tensor of the same memory that has no history and gets none by writes into the other."""
    found = wrap(t.current)
    if type(t._data) is np.ndarray:
        root, steps = (t, ()) if t._view is None else (t._view.root, t._view.steps)
        found._view = View(root, steps, with_history=False)
    return found


def set_shape(t: Tensor, shape: Any) -> None:
    """``t.shape = shape``: the Tensor becomes a view of what it was. Raises what NumPy raises where that is none.

    Raises NotDifferentiable for a leaf that requires a gradient, which would no longer have its shape.
    """
    shown = t.current.view() if type(t._data) is np.ndarray else t._data
    shown.shape = shape
    if t._view is None:
        if t._needs and t._node is None:
            message = "the shape of a leaf that requires a gradient is set, and its gradient would have another"
            raise refusal(NotDifferentiable(message, span_of(place()), "use `x.reshape(...)`"))
        root = wrap(t._data, t._node, t._slot)
        root._needs, root._content, root._exported, root._made = t._needs, t._content, t._exported, t._made
        t._content = None
        t._view = View(root, ())
    view = t._view
    t._view = View(view.root, (*view.steps, Step(np.reshape, (None, shown.shape), {}, 0, None)), view.with_history)
    t._view.array = None  # so that the shape is found at once
    t._view.refresh(t)


def write(t: Tensor, key: Any, value: Any) -> None:
    """``t[key] = value``. Raises NotDifferentiable for a leaf that requires a gradient, while recording."""
    data, new, key = t.current, raw(value), raw(key)
    if type(data) is not np.ndarray:
        raise TypeError(f"a number ({type(data).__name__}) has no items to be assigned")
    root = t if t._view is None else t._view.root
    recorded = STATE.grad
    active = recorded and type(value) is Tensor and value.requires_grad and inexact(root._data)
    if recorded or STATE.honest:
        demand_writable(t, root, active)
        key = kept(key)
    if type(new) is np.ndarray and np.may_share_memory(data, new):
        _demand_copied(data, key, new)
    if root._content is not None:
        protect(root)
        data = t.current
    data[key] = new
    if active or (recorded and root._needs):
        if t._view is not None and not t._view.with_history:
            return
        if t is root and key is Ellipsis and type(new) is np.ndarray and like_of(root._data) == like_of(new):
            root._node, root._slot = value.edge if active else (None, 0)
            root._needs = active
            return
        from tangentx.tensor.writes import Write

        node = Write(root, () if t._view is None else t._view.steps, key, value)
        root._node, root._slot, root._needs = node, 0, True


def _demand_copied(data: Any, key: Any, new: Any) -> None:
    """Refuses a write whose value NumPy would change on the way, for the record speaks of a copy of it."""
    parts = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(part, list | np.ndarray) for part in parts):
        demand_copied(data[key], new)
    elif any(np.asarray(part).dtype == bool for part in parts):
        demand_unshared(data, new)


def demand_writable(t: Tensor, root: Tensor, active: bool) -> None:
    """Refuses what would break the record."""
    if STATE.honest and type(root._data) is np.ndarray and not root._data.flags.writeable:
        message = "memory is written that is read-only, or that two arguments share, or two parts of one"
        raise refusal(SharedMemory(message, span_of(place()), "pass a copy: on Tensors each has its own history"))
    if STATE.grad and root._needs and root._node is None and (t._view is None or t._view.with_history):
        raise refusal(
            NotDifferentiable(
                "a leaf that requires a gradient is written in place: it would no longer be what is differentiated by",
                span_of(place()),
                "write into a copy (`x.clone()`), or under `with tx.no_grad():`",
            )
        )
    if active and t._view is not None and not t._view.with_history:
        raise refusal(
            NotDifferentiable(
                "a value that is being differentiated is written into a detached Tensor, which has no history",
                span_of(place()),
                "write into a copy (`x.clone()`)",
            )
        )


def protect(root: Tensor) -> None:
    """Before a write: what backward needs of the memory is kept, or, where that cannot be, the write is marked."""
    content = root._content
    if content is None:
        return
    if sys.getrefcount(content) > _NOBODY:
        if root._exported:
            content.append(place())
        else:
            # With the strides that it had: whether a reshape is a view depends on them.
            copied = zeros_as(root._data)
            copied[...] = root._data
            root._data = copied
    root._content = None


def overwrite(t: Tensor, result: Any) -> Tensor:
    """Gives a Tensor the value of another in place, as ``t += x`` does: shape and dtype stay."""
    data, new = t.current, raw(result)
    if type(data) is np.ndarray:
        alike = type(new) is np.ndarray and new.dtype is data.dtype
        if not alike and not np.can_cast(np.result_type(new), data.dtype, "same_kind"):
            raise TypeError(f"a Tensor of {data.dtype} cannot hold {np.result_type(new)}")
        write(t, Ellipsis, result)
        return t
    demand_writable(t, t, False)
    if np.ndim(new) != 0:
        raise ValueError(f"a number cannot hold an array of shape {np.shape(new)}")
    if type(new) is not type(data):
        from tangentx.tensor.apply import call

        result = call(type(data), (result,), {}) if type(result) is Tensor else type(data)(new)
        new = raw(result)
    t._data = new
    if STATE.grad:
        history = type(result) is Tensor and result._needs
        t._node, t._slot = (result.edge) if history else (None, 0)
        t._needs = history
    return t
