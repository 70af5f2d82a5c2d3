"""The Tensor: a number or an array together with the node that computed it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS, ELSEWHERE, as_array, is_elsewhere
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.core.devices import data_on
from tangentx.tensor.core.forms import array_like, dtype_of, inexact, like_of, zeros
from tangentx.tensor.graph.nodes import Content, Handle, Node, Watcher, hooked


class _Making(type):
    """The class of the class Tensor: calling that makes a Tensor of data, with `blank` for what is not yet one."""

    # A class whose class makes its instances is opaque to the compiler.
    def __call__(cls, array: Any, device: Any = None, dtype: Any = None, requires_grad: bool = False) -> Tensor:
        array = array.current if type(array) is Tensor else array
        if device is None and not is_elsewhere(array):
            t = wrap(np.array(array, dtype=dtype))
        else:
            t = wrap(data_on(array, device, dtype))
        kind = t._primal.dtype.kind
        if kind in "fc":
            t._needs = bool(requires_grad)
        elif kind not in "biu":
            raise NotDifferentiable(f"a Tensor cannot hold {t._primal.dtype}", hint="pass numbers")
        elif requires_grad:
            t.requires_grad = True  # says why it cannot be
        return t


class Tensor(metaclass=_Making):
    """An array, or a number, whose operations are recorded where `requires_grad`, so that `backward` can follow them.

    ``Tensor(array, device=None, dtype=None, requires_grad=False)`` holds a copy, on the device that is asked for.
    NumPy's functions, Python's operators and ndarray's methods take Tensors; in-place methods end with an underscore.
    Like an ndarray, a part of a Tensor is a view: what is written into it is written into the whole. A single element
    and a sum are numbers: ``+=`` binds a new one. Asked by `isinstance`, a Tensor is of the class of its data too, so
    that a branch on ``isinstance(x, np.ndarray)`` goes the way that the plain program goes; ``type(x)`` is Tensor. A
    Tensor on a device holds an array of CuPy, on which NumPy's functions run there; elements and sums are arrays there.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> x = tx.Tensor([1.0, 2.0], requires_grad=True)
    >>> np.sum(x * x).backward()
    >>> x.grad.numpy()
    array([2., 4.])
    """

    __slots__ = ("__dict__", "__weakref__", "_content", "_made", "_needs", "_node", "_primal", "_slot", "_view")

    _primal: Any
    _node: Any
    _slot: int
    _needs: bool
    _view: Any
    _content: Content | None
    _made: Any

    # Most Tensors have none of these ever.
    _grad: Any = None
    _hooks: Watcher | None = None
    _exported: bool = False
    _lent: str = ""  # the code, not ours, that may hold on to the memory
    _retains: bool = False
    _owner: bool = False  # stands for an argument that owns its memory, though the copy does not
    _parameter: bool = False  # of a module
    _program: Any = None  # the run of a program that is differentiated by this leaf

    if TYPE_CHECKING:

        def __init__(self, array: Any, device: Any = None, dtype: Any = None, requires_grad: bool = False) -> None: ...

        # The members that `methods` adds.
        def __getattr__(self, name: str) -> Any: ...

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        # CuPy's operators would take what says that it is one of its arrays for one.
        return Tensor if type(self._primal) in ELSEWHERE else type(self._primal)

    @property
    def current(self) -> Any:
        """The plain number or array itself, as it is now."""
        if self._view is not None:
            self._view.refresh(self)
        return self._primal

    @property
    def edge(self) -> tuple[Any, int]:
        """Where the graph goes on from here: see `graph`."""
        return (self, 0) if self._node is None else (self._node, self._slot)

    @property
    def grad(self) -> Any:
        """The gradient that `backward` has collected, a Tensor; None before, and for what is not a leaf."""
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        self._grad = None if value is None else self._gradient(value)

    def _gradient(self, value: Any) -> Tensor:
        """A gradient that the user gives. Raises NotDifferentiable where it cannot be that of this Tensor."""
        data = value.current if type(value) is Tensor else as_array(value)
        mine, dtype = dtype_of(self.current), dtype_of(data)
        other = dtype != mine if type(value) is Tensor else dtype.kind == "c" != mine.kind
        fault = ""
        if value is self:
            fault = "a Tensor is set as its own gradient"
        elif np.shape(data) != np.shape(self._primal):
            fault = f"a gradient of shape {np.shape(data)} is set for a Tensor of shape {np.shape(self._primal)}"
        elif (type(data) in ELSEWHERE or type(self._primal) in ELSEWHERE) and type(data) is not type(self._primal):
            fault = "a gradient on another device than the Tensor is set"
        elif other or dtype.kind not in "fciub" or mine.kind not in "fc":
            fault = f"a gradient of {dtype} is set for a Tensor of {mine}"
        if fault:
            hint = "give it a number, an array or a Tensor of the same shape and dtype"
            raise NotDifferentiable(fault, span_of(place()), hint)
        return value if type(value) is Tensor else Tensor(data, dtype=mine)

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded; settable on leaves."""
        if self._view is not None:
            self._view.refresh(self)
        return self._needs

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self._node is not None:
            if value:
                return
            raise NotDifferentiable(
                "requires_grad can be taken from leaves only, and this Tensor was computed", hint="use `x.detach()`"
            )
        if value and not inexact(self._primal):
            raise NotDifferentiable(
                f"a Tensor of {dtype_of(self._primal)} has no derivative, so it cannot require a gradient",
                span_of(place()),
                "make it one of floats: `tx.tensor(data, dtype=float)`",
            )
        self._needs = bool(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Sets `requires_grad` and returns itself."""
        self.requires_grad = requires_grad
        return self

    @property
    def stop_gradient(self) -> bool:
        """The opposite of `requires_grad`."""
        return not self.requires_grad

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self.requires_grad = not value

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the user, not by a recorded operation."""
        if self._view is not None:
            self._view.refresh(self)
        return self._node is None

    @property
    def grad_fn(self) -> Any:
        """The node that recorded the operation it comes from; None for a leaf."""
        if self._view is not None:
            self._view.refresh(self)
        return self._node if isinstance(self._node, Node) else None

    def watcher(self) -> Watcher:
        """Who wants to see its cotangent."""
        node = self.grad_fn
        if node is not None:
            found: Watcher = node.watcher(self._slot)
            return found
        self._hooks = Watcher() if self._hooks is None else self._hooks
        return self._hooks

    def register_hook(self, hook: Any) -> Handle:
        """Calls ``hook(grad)`` with the gradient of this Tensor; what it returns, if anything, takes its place.

        Hooks are called in order. The handle that is returned removes the hook: ``handle.remove()``.
        """
        if not self.requires_grad:
            raise NotDifferentiable(
                "a hook on a Tensor that requires no gradient is never called", span_of(place()), "set requires_grad"
            )
        return hooked(self.watcher().hooks, hook)

    def retain_grad(self) -> None:
        """Keeps the gradient in ``.grad`` though this is no leaf; of one that is written in place, as it was left."""
        if not self.requires_grad:
            raise NotDifferentiable("this Tensor requires no gradient", span_of(place()), "set requires_grad")
        if self.grad_fn is not None:
            self.watcher().retained.append(weakref.ref(self))
            self._retains = True

    def moved(self, node: Any, slot: int) -> None:
        """Its history has changed, from this one: what keeps its gradient goes with it, as the Tensor is now."""
        watcher = (node.watchers or {}).get(slot) if isinstance(node, Node) else None
        if watcher is not None:
            watcher.retained[:] = [kept for kept in watcher.retained if kept() is not self]
        self._retains = self._node is not None
        if self._retains:
            self._node.watcher(self._slot).retained.append(weakref.ref(self))

    def gradient(self) -> Any:
        """``.grad`` as a plain array, or None."""
        data = None if self._grad is None else self._grad.current
        return data if data is None or type(data) in ELSEWHERE else np.asarray(data)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradient; with ``set_to_none=False`` it becomes zeros."""
        self._grad = None if set_to_none else wrap(zeros(like_of(array_like(self._primal, self._primal))))

    def clear_grad(self) -> None:
        """The gradient becomes zeros."""
        self.zero_grad(set_to_none=False)

    def as_leaf(self) -> Any:
        """What `pickle` and `copy` make a leaf of again."""
        return _remade, (self.current, self._needs, self._grad, self._parameter)


def _remade(data: Any, requires_grad: bool, grad: Any, parameter: bool = False) -> Tensor:
    t = wrap(data.copy() if type(data) in ARRAYS else data)
    t._needs, t._grad = requires_grad, grad
    if parameter:
        t._parameter = True
    return t


def wrap(data: Any, node: Any = None, slot: int = 0) -> Tensor:
    """A Tensor of this very number or array, made by a node."""
    t = blank()
    t._primal = data
    t._node = node
    t._needs = node is not None
    t._slot = slot
    t._view = t._content = t._made = None
    return t


blank: Callable[[], Tensor] = type.__call__.__get__(Tensor)
"""A Tensor without anything; no other way to make an instance takes less time."""
