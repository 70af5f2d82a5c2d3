"""The node of a write, and ``out=``."""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tangentx.arrays import demand_copied, demand_unshared, winners, zeros_as
from tangentx.arrays.libraries import ARRAYS, library_of
from tangentx.arrays.memory import is_writable
from tangentx.errors import NotDifferentiable, SharedMemory, place, span_of
from tangentx.templates import TWO_STEPS, cast_to_that_of_out, computes_in_that_of_out, from_out
from tangentx.tensor.calls.operation import fit_tensor, kept, root_of
from tangentx.tensor.core import dispatch
from tangentx.tensor.core.containers import WITHOUT, raw
from tangentx.tensor.core.devices import mixed
from tangentx.tensor.core.forms import fit, inexact, like_of
from tangentx.tensor.core.modes import STATE, recording, refusal
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.nodes import TAPES, Node, noted
from tangentx.tensor.writes.storage import Step

# The node of a write.


def _holders(root: Any) -> int:
    """How many references there are to what backward holds while it needs the content of an array."""
    return sys.getrefcount(root._content)


_NOBODY = _holders(types.SimpleNamespace(_content=[]))  # the root itself, and whatever asking takes in this Python


def write(t: Tensor, key: Any, value: Any, fresh: bool = False) -> None:
    """``t[key] = value``, where a `fresh` value is nobody else's.

    Raises NotDifferentiable for a leaf that requires a gradient, while recording.
    """
    if type(t) is not Tensor:
        _write_plain(t, key, value)
        return
    data, new, key = t.current, raw(value), raw(key)
    if type(data) not in ARRAYS:
        raise TypeError(f"a number ({type(data).__name__}) has no items to be assigned")
    root = t if t._view is None else t._view.root
    recorded = recording()
    active = recorded and type(value) is Tensor and value.requires_grad and inexact(root._primal)
    if recorded or STATE.honest:
        demand_writable(t, root, active)
        key = kept(key)
    if type(new) in ARRAYS and type(new) is type(data) and np.may_share_memory(data, new):
        _demand_copied(data, key, new)
    if root._content is not None:
        protect(root)
        data = t.current
    try:
        data[key] = new
    except (TypeError, ValueError) as error:
        raise mixed(error, data, new) from None
    if not recorded and type(value) is Tensor and (value._needs or value._made is not None):
        root._made = t._made = value._made or place()
    if active or (recorded and root._needs):
        if t._view is not None and not t._view.with_history:
            return
        before = root._node, root._slot
        if t is root and key is Ellipsis and type(new) in ARRAYS and like_of(root._primal) == like_of(new):
            root._node, root._slot = _edge_behind(value, fresh) if active else (None, 0)
            root._needs = active
        else:
            root._node, root._slot = Write(root, () if t._view is None else t._view.steps, key, value), 0
            root._needs = True
            if TAPES:
                noted(root._node, (root,))
        if root._retains:
            root.moved(*before)


def _write_plain(a: Any, key: Any, value: Any) -> None:
    """Writes into a plain array, which keeps no history. Raises NotDifferentiable for a value that needs one."""
    if type(value) is Tensor and value.requires_grad and recording() and a.dtype.kind not in "biu":
        message = "a value that is being differentiated is written into a plain array, which keeps no history"
        raise refusal(NotDifferentiable(message, span_of(place()), "make the array a Tensor first: `tx.tensor(a)`"))
    a[raw(key)] = raw(value)


def _edge_behind(value: Tensor, fresh: bool) -> tuple[Any, int]:
    """Where the graph goes on from a copy of a value, which others may use as well: theirs is no gradient of it."""
    if not fresh:
        value = dispatch.call(operator.getitem, (value, Ellipsis), {})
    return value.edge


def _demand_copied(data: Any, key: Any, new: Any) -> None:
    """Refuses a write whose value NumPy would change on the way, for the record speaks of a copy of it."""
    parts = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(part, list | np.ndarray) for part in parts):
        demand_copied(data[key], new)
    elif any(np.asarray(part).dtype == bool for part in parts):
        demand_unshared(data, new)


def demand_writable(t: Tensor, root: Tensor, active: bool) -> None:
    """Refuses what would break the record."""
    if STATE.honest and type(root._primal) is np.ndarray and not is_writable(root._primal):
        message = "memory is written that is read-only, or that two arguments share, or two parts of one"
        raise refusal(SharedMemory(message, span_of(place()), "pass a copy: on Tensors each has its own history"))
    if recording() and root._needs and root._node is None and (t._view is None or t._view.with_history):
        raise refusal(
            NotDifferentiable(
                "a leaf that requires a gradient is written in place: it would no longer be what is differentiated by",
                span_of(place()),
                "write into a copy (`x.clone()`), or under `with tx.no_grad():`",
            )
        )
    if active and root._lent:
        message = f"a value that is being differentiated is written into memory that `{root._lent}` may read later"
        raise refusal(NotDifferentiable(message, span_of(place()), "write into a copy (`x.copy()`)"))
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
    if root._content is None:
        return
    if _holders(root) > _NOBODY:
        if root._exported:
            root._content.append(place())
        else:
            # With the strides that it had: whether a reshape is a view depends on them.
            copied = zeros_as(root._primal)
            copied[...] = root._primal
            root._primal = copied
    root._content = None


@contextmanager
def lent(tensors: Sequence[Tensor]) -> Iterator[None]:
    """While it lasts, code that knows of no Tensors has their memory, and may write into it."""
    held = [(root, root._primal.copy()) for root in {id(r): r for r in map(root_of, tensors)}.values() if _needed(root)]
    try:
        yield
    finally:
        for root, before in held:
            after = root._primal.copy()
            if after.tobytes() != before.tobytes():
                root._primal[...] = before
                protect(root)
                root._primal[...] = after


def _needed(root: Tensor) -> bool:
    """Whether backward keeps the content of an array."""
    return type(root._primal) in ARRAYS and root._content is not None and _holders(root) > _NOBODY


def changed(t: Tensor, change: Callable[[Any, Any], Any], other: Any) -> bool:
    """Where nothing is recorded: whether an array has been changed by NumPy itself, as ``t += other`` does it."""
    if recording() or STATE.honest:
        return False
    view = t._view
    if view is not None:
        view.refresh(t)
    if type(other) is Tensor:
        if other._needs or other._made is not None:
            (t if view is None else view.root)._made = t._made = other._made or place()
        other = other.current
    elif type(other) not in WITHOUT:
        return False
    if type(t._primal) not in ARRAYS:
        return False
    root = t if view is None else view.root
    if root._content is not None:
        protect(root)
    change(t.current, other)
    return True


def overwrite(t: Tensor, result: Any, fresh: bool = False) -> Tensor:
    """Gives a Tensor the value of another in place, as ``t += x`` does: shape and dtype stay.

    A `fresh` result is nobody else's.
    """
    data, new = t.current, raw(result)
    if type(data) in ARRAYS:
        alike = type(new) in ARRAYS and new.dtype is data.dtype
        if not alike and not np.can_cast(np.result_type(new), data.dtype, "same_kind"):
            raise TypeError(f"a Tensor of {data.dtype} cannot hold {np.result_type(new)}")
        if np.ndim(new) > data.ndim:
            raise ValueError(f"an array of shape {np.shape(new)} cannot be broadcast into a Tensor of {data.shape}")
        write(t, Ellipsis, result, fresh)
        return t
    demand_writable(t, t, False)
    if np.ndim(new) != 0:
        raise ValueError(f"a number cannot hold an array of shape {np.shape(new)}")
    if type(new) is not type(data):
        result = dispatch.call(type(data), (result,), {}) if type(result) is Tensor else type(data)(new)
        new = raw(result)
    t._primal = new
    if recording():
        history = type(result) is Tensor and result._needs
        t._node, t._slot = (result.edge) if history else (None, 0)
        t._needs = history
    return t


class Write(Node):
    """``root[steps][key] = value``: what was there gets no cotangent, the value gets that of its place."""

    consumes = True

    def __init__(self, root: Tensor, steps: tuple[Step, ...], key: Any, value: Any) -> None:
        edges = [root.edge] if root._needs else []
        active = type(value) is Tensor and value._needs
        super().__init__("Write", (*edges, *([value.edge] if active else [])))
        self.into = root._needs
        self.steps, self.key = steps, key
        part = root._primal
        for step in steps if root._primal.dtype.kind == "c" or active and np.iscomplexobj(value._primal) else ():
            part = step.on(part)
        # The real and the imaginary part of a cotangent are those of its conjugate: see our convention.
        other = part.dtype != root._primal.dtype
        self.turned, self.turns = other and part.dtype.kind != "c", other and part.dtype.kind == "c"
        self.layout = (root._primal.shape, root._primal.strides)
        self.value_like = like_of(value._primal) if active else None
        self.likes = (*((like_of(root._primal),) if self.into else ()), *((self.value_like,) if active else ()))

    def drop(self, where: Any) -> None:
        super().drop(where)
        self.steps, self.key = (), None

    def pull(self, bars: list[Any], create: bool) -> Any:
        bar = bars[0]
        if create:
            return self._pull_tensors(bar)
        if self.turned:
            bar = np.conj(bar)
        part = bar = self._laid_out(bar)
        for step in self.steps:
            part = step.on(part)
        given = []
        if self.value_like is not None:
            taken = np.copy(part[self.key]) if plain_key(self.key) else winners(part, self.key)
            taken = np.conj(taken) if self.turns else taken
            given = [fit(taken if np.ndim(taken) else taken[()], self.value_like)]
        part[self.key] = 0.0
        if self.turned:
            bar = np.conj(bar)
        return [bar, *given] if self.into else given

    def _laid_out(self, bar: Any) -> Any:
        """The cotangent with the strides of the memory, so that the steps give views of it as they did there."""
        if type(bar) not in ARRAYS:
            return np.array(bar)  # that of an array without axes may come as a number, of which there are no views
        if bar.strides == self.layout[1]:
            return bar

        shape, strides = self.layout
        tricks = library_of(bar).namespace.lib.stride_tricks
        result = zeros_as(tricks.as_strided(np.empty_like(bar, shape=1), shape, strides))
        result[...] = bar
        return result

    def _pull_tensors(self, bar: Tensor) -> list[Tensor]:

        whole = dispatch.call(np.conjugate if self.turned else np.copy, (bar,), {})
        if whole.current.strides != self.layout[1]:
            laid_out = wrap(self._laid_out(whole.current))
            write(laid_out, Ellipsis, whole)
            whole = laid_out
        part = whole
        for step in self.steps:
            part = step.on_tensor(part)
        given = []
        if self.value_like is not None:
            taken = dispatch.call(winners, (part, self.key), {})
            taken = dispatch.call(np.conjugate, (taken,), {}) if self.turns else taken
            given = [fit_tensor(taken, self.value_like)]
        write(part, self.key, 0.0)
        if self.turned:
            whole = dispatch.call(np.conjugate, (whole,), {})
        return [whole, *given] if self.into else given


def plain_key(key: Any) -> bool:
    """Whether an index takes no element twice: numbers, slices, None, an ellipsis, masks."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        part is None or part is Ellipsis or isinstance(part, slice | int | np.integer | np.bool_) for part in parts
    )


# ``out=``: by name or by position among the arguments.


def has_out(fn: Any) -> bool:
    """Whether ``out`` means that: in functions of NumPy's."""
    return isinstance(fn, np.ufunc) or hasattr(fn, "_implementation") or hasattr(fn, "__objclass__")


def into(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call that says where its result is to go. Raises TypeError, as NumPy does, where it says so twice."""
    at, names = from_out(fn)
    named = dict(zip(names, args[at:], strict=False))
    if named.keys() & kwargs.keys() or len(args) > at + len(names):
        fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
    named.update(kwargs)
    out = named.pop("out", None)
    before = list(args[:at])
    if out is not None and (by := computes_in_that_of_out(fn)) is not None:
        _compute_in_that_of(out, fn, before, by, named)
    elif out is not None and "optimize" not in named:
        before = cast_for(out, fn, before, named)
    result = dispatch.call(fn, before, named)
    return result if out is None else filled(out, result)


def _compute_in_that_of(out: Any, fn: Any, args: list[Any], by: int, named: dict[str, Any]) -> None:
    """A call that adds up or multiplies does so in the type of the array that its result goes into. Raises
    NotDifferentiable for one that does so in part."""
    dtype = getattr(out, "dtype", None)
    if (args[by] if len(args) > by else named.get("dtype")) is not None or not args:
        return
    if dtype is None or dtype == getattr(args[0], "dtype", None):
        return
    if fn.__name__ in TWO_STEPS:
        message = f"numpy computes this partly in {dtype}, the type of `out`"
        raise refusal(NotDifferentiable(message, span_of(place()), "say in which: `dtype=`"))
    if len(args) > by:
        args[by] = dtype
    else:
        named["dtype"] = dtype


def cast_for(out: Any, fn: Any, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arguments with those cast that NumPy takes in the type of the array for the result, if that is wider."""
    dtype, given = getattr(out, "dtype", None), list(args)
    if dtype is None or named.get("dtype") is not None:
        return given
    for i in cast_to_that_of_out(fn, len(given)):
        own = getattr(given[i], "dtype", None)
        if own is not None and (wider := np.result_type(own, dtype)) != own:
            given[i] = given[i].astype(wider)
    return given


def filled(out: Any, result: Any, casting: Any = "same_kind") -> Any:
    """Writes a result where `out=` asks for it. Raises NotDifferentiable for a plain array, which keeps no history."""
    if type(out) is Tensor:
        return overwrite(out, result)
    whole = type(out) is np.ndarray and out.dtype.kind in "biu"  # nothing flows through whole numbers
    if type(result) is Tensor and result.requires_grad and not whole:
        message = "a value that is being differentiated is written into a plain array, which keeps no history"
        raise refusal(NotDifferentiable(message, span_of(place()), "make the array a Tensor first: `tx.tensor(a)`"))
    np.copyto(out, raw(result), casting)
    return out
