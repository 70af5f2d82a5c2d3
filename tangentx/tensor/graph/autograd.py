"""`tx.autograd`: gradients of Tensors on demand, by PyTorch's names.

>>> import tangentx as tx
>>> x = tx.tensor(3.0, requires_grad=True)
>>> (slope,) = tx.autograd.grad(x * x, x)
>>> float(slope)
6.0
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS, library_of
from tangentx.common.options import watched
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.containers import mapped
from tangentx.tensor.core.forms import like_of, ones, zeros
from tangentx.tensor.core.making import made
from tangentx.tensor.core.modes import STATE, enable_grad, setting
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.engine import Sweep
from tangentx.tensor.graph.nodes import TAPES

# Seeds: the cotangents from which a reverse sweep starts.


def seed_of(t: Tensor, gradient: Any) -> Any:
    """The cotangent to begin with. Raises NotDifferentiable where shape or domain do not fit."""
    data = t.current
    value = gradient.current if type(gradient) is Tensor else gradient
    if np.shape(value) == (1,) and np.shape(data) == ():
        if type(gradient) is Tensor:
            gradient = call(np.reshape, (gradient, ()), {})
        else:
            gradient = np.reshape(value, ())
        value = np.reshape(value, ())[()]
    if np.shape(value) != np.shape(data):
        raise NotDifferentiable(
            f"the gradient has shape {np.shape(value)}, but the Tensor has shape {np.shape(data)}",
            span_of(place()),
            f"give it the shape {np.shape(data)}; a batch of gradients needs is_grads_batched=True",
        )
    if np.iscomplexobj(value) and not np.iscomplexobj(data):
        raise NotDifferentiable(
            "the gradient is complex, but the Tensor is real", span_of(place()), "give it the Tensor's dtype"
        )
    return gradient


_STRICT = [False]


def set_strict_backward(mode: bool) -> None:
    """With True, ``backward()`` without a gradient is refused for what is not a single number, as in PyTorch."""
    _STRICT[0] = bool(mode)


def listed(value: Any) -> list[Any]:
    """One or several as a list."""
    return list(value) if isinstance(value, tuple | list) else [value]


def _seeds(outputs: Sequence[Any], gradients: Sequence[Any], create: bool) -> list[tuple[Any, int, Any]]:
    seeds = []
    for t, gradient in zip(outputs, gradients, strict=True):
        _demand_history(t)
        like = like_of(t._primal)
        if gradient is None:
            if _STRICT[0] and np.size(t._primal) != 1:
                raise NotDifferentiable(
                    f"backward needs a gradient for a Tensor of shape {np.shape(t._primal)}",
                    span_of(place()),
                    "sum it, or pass gradient=",
                )
            seed = wrap(ones(like)) if create else ones(like)
        else:
            seed = _in_form(seed_of(t, gradient), like, create)
        seeds.append((*t.edge, seed))
    return seeds


def _in_form(seed: Any, like: Any, create: bool) -> Any:
    from tangentx.tensor.calls.operation import fit_tensor
    from tangentx.tensor.core.forms import fit

    if create:
        return fit_tensor(seed if type(seed) is Tensor else wrap(seed), like)
    data = seed.current if type(seed) is Tensor else seed
    return fit(data if type(data) in ARRAYS and type(like) is tuple else np.asarray(data)[()], like)


def _demand_history(t: Any) -> None:
    if type(t) is not Tensor:
        raise NotDifferentiable(f"{type(t).__name__} is not a Tensor", span_of(place()), "make it with `tx.tensor`")
    if not t.requires_grad:
        where = "" if t._made is None else f": it was made without gradient at {span_of(t._made)}"
        raise NotDifferentiable(
            f"this Tensor requires no gradient and has no history{where}",
            span_of(place()),
            "compute it from Tensors with requires_grad=True, outside of `tx.no_grad()`",
        )


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False) -> None:
    """Adds to ``.grad`` of every leaf the derivatives of `tensors` times `grad_tensors`; see `Tensor.backward`."""
    outputs = [tensors] if type(tensors) is Tensor else listed(tensors)
    gradients = [None] * len(outputs) if grad_tensors is None else listed(grad_tensors)
    retain = create_graph if retain_graph is None else retain_graph
    Sweep(create_graph, retain, None).run(_seeds(outputs, gradients, create_graph))


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    is_grads_batched: bool = False,
    allow_unused: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of `outputs` with respect to `inputs`, a tuple; ``.grad`` is not touched.

    `grad_outputs` are the cotangents of the outputs, ones where None; with `is_grads_batched` each has one more
    dimension in front, and so have the results, found in one reverse sweep. An input that nothing depends on is an
    error, None with `allow_unused`, zeros with `materialize_grads`.
    """
    outs, ins = listed(outputs), listed(inputs)
    gradients = [None] * len(outs) if grad_outputs is None else listed(grad_outputs)
    if len(gradients) != len(outs):
        raise NotDifferentiable(
            f"{len(outs)} outputs, but {len(gradients)} grad_outputs", span_of(place()), "give one for each"
        )
    for t in (*outs, *ins):
        _demand_history(t)
    retain = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        from tangentx.tensor.graph.batched_engine import batched

        found = batched(outs, ins, gradients, retain, create_graph, materialize_grads)
    else:
        edges = [t.edge for t in ins]
        bars = Sweep(create_graph, retain, edges).run(_seeds(outs, gradients, create_graph))
        found = [bars.get(edge) for edge in edges]
    return tuple(
        _result(bar, t, allow_unused, materialize_grads, i) for i, (bar, t) in enumerate(zip(found, ins, strict=True))
    )


def _result(bar: Any, t: Tensor, allow_unused: bool, materialize: bool, i: int) -> Any:
    if bar is None:
        if materialize:
            return wrap(zeros(like_of(t._primal)))
        if allow_unused:
            return None
        raise NotDifferentiable(
            f"the outputs do not depend on input {i}",
            span_of(place()),
            "pass allow_unused=True for None, or materialize_grads=True for zeros",
        )
    if type(bar) is Tensor:
        return bar
    return wrap(bar.copy() if type(bar) in ARRAYS else bar)


def jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool = False, vectorize: bool = False) -> Any:
    """The derivative of every element of ``func(*inputs)`` by every element of the inputs: shape out + in.

    A tuple of inputs gives a tuple, and so does, around it, a tuple of results. With `vectorize` all rows come from one
    reverse sweep. Raises NotDifferentiable for a complex result of a complex input.
    """
    many = isinstance(inputs, tuple)
    given = [t if type(t) is Tensor else made(t) for t in listed(inputs)]
    if create_graph:
        leaves = [call(np.positive, (t if t.requires_grad else t.detach().requires_grad_(),), {}) for t in given]
    else:
        leaves = [made(t, requires_grad=True) for t in given]
    outs = func(*leaves)
    each = []
    for out in listed(outs):
        rows = _rows(out if type(out) is Tensor else made(out), leaves, create_graph, vectorize)
        each.append(tuple(rows) if many else rows[0])
    return tuple(each) if isinstance(outs, tuple | list) else each[0]


def _rows(out: Tensor, leaves: list[Tensor], create: bool, vectorize: bool) -> list[Tensor]:
    """The derivatives of a result by each leaf; of a complex one those of both parts."""
    data = out.current
    shape, size = np.shape(data), int(np.size(data))
    units = library_of(data).namespace.eye(size).reshape((size, *shape))
    if not out.requires_grad:
        return [wrap(np.zeros_like(t.current, order="C", shape=shape + np.shape(t.current))) for t in leaves]

    def pulled(seeds: Any) -> list[Any]:
        if vectorize or not size:
            return list(grad(out, leaves, seeds, True, create, is_grads_batched=True, materialize_grads=True))
        each = [grad(out, leaves, seed, True, create, materialize_grads=True) for seed in seeds]
        return [call(np.stack, (column,), {}) for column in zip(*each, strict=True)]

    found = pulled(units)
    if np.iscomplexobj(data):
        if any(np.iscomplexobj(t.current) for t in leaves):
            message = "a complex result of a complex input has no Jacobian of one number each"
            raise NotDifferentiable(message, span_of(place()), "write it in real and imaginary parts")
        found = [real + 1j * imaginary for real, imaginary in zip(found, pulled(-1j * units), strict=True)]
    return [call(np.reshape, (rows, shape + np.shape(t.current)), {}) for rows, t in zip(found, leaves, strict=True)]


def hessian(func: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The second derivatives of a function of one Tensor with a single result: shape in + in."""
    if isinstance(inputs, tuple):
        raise NotDifferentiable("hessian takes one input", span_of(place()), "join the inputs, and split them inside")

    def slope(x: Tensor) -> Any:
        x = x if x.requires_grad else x.requires_grad_()
        return grad(func(x), x, create_graph=True)[0]

    return jacobian(slope, inputs, create_graph)


class GradManager:
    """Collects gradients of what is attached to it, within ``with manager:``, and drops the graph after it.

    What was recorded in this thread while that lasted is let go, whoever holds a result: there is no way back from
    it any more. Within another manager's, it is the outer one that drops it. What nothing depends on keeps None for
    its gradient, or gets zeros with `materialize_zeros`.
    """

    def __init__(self, materialize_zeros: bool = False) -> None:
        self.materialize_zeros = materialize_zeros
        self.attached: list[Any] = []
        self.nodes: list[Any] = []
        self._recording = enable_grad()
        self._entered: list[Any] = []

    def attach(self, tensors: Any) -> GradManager:
        """Tensors to differentiate by; they come to require a gradient."""
        for t in listed(tensors):
            t.requires_grad = True
            self.attached.append(t)
        return self

    def backward(self, y: Any, dy: Any = None) -> None:
        """Fills ``.grad`` of what is attached."""
        backward(y, dy)
        for t in self.attached if self.materialize_zeros else ():
            if t.grad is None:
                t.clear_grad()

    def __enter__(self) -> GradManager:
        self._recording.__enter__()
        self._entered.append((threading.get_ident(), weakref.ref(self)))
        TAPES.append(self._entered[-1])
        return self

    def __exit__(self, *exception: object) -> None:
        tape = self._entered.pop()
        TAPES[:] = [other for other in TAPES if other is not tape]
        self._recording.__exit__()
        self._drop()

    def release(self) -> None:
        """Drops the graph, and forgets what is attached; gradients stay where they are."""
        self._drop()
        self.attached.clear()

    def note(self, node: Any, results: Sequence[Any]) -> None:
        """A node was recorded."""
        self.nodes.append(weakref.ref(node))

    def _drop(self) -> None:
        where = place()
        for node in self._living():
            node.drop(where)
        self.nodes.clear()

    def _living(self) -> Iterator[Any]:
        return (node for reference in self.nodes if (node := reference()) is not None)

    @property
    def tape_bytes(self) -> int:
        """How much memory the graph keeps for backward."""
        arrays: dict[int, Any] = {}
        for node in self._living():
            mapped(node.kept(), lambda x: arrays.setdefault(id(x), x))
        return sum(x.nbytes for x in arrays.values() if isinstance(x, np.generic) or type(x) in ARRAYS)


@contextmanager
def record_gradients() -> Iterator[list[tuple[str, str, tuple[float, ...], tuple[float, ...]]]]:
    """Lists what backward passes while it lasts, in the order in which it does.

    An entry has the operation, its source line, and the norms of its input and of its output gradients, of a batch
    those of all members together.
    """
    entries: list[tuple[str, str, tuple[float, ...], tuple[float, ...]]] = []

    def listen(node: Any, bars: Sequence[Any], given: Sequence[Any]) -> None:
        entries.append((node.operation.lower(), node.source_line, _norms(given), _norms(bars)))

    with setting(listeners=(*STATE.listeners, listen)):
        yield entries


def _norms(bars: Sequence[Any]) -> tuple[float, ...]:
    plain = [bar.current if type(bar) is Tensor else bar for bar in bars if bar is not None]
    return tuple(float(np.linalg.norm(np.ravel(bar))) for bar in plain)


@contextmanager
def detect_anomaly() -> Iterator[None]:
    """The first cotangent that is not finite is an error that names its operation and the user's line, and so is the
    first layer (of `tx.nn`) that makes something not finite of what is.

    So it is for compiled gradients: where one, or the value beside it, is not finite, the program is run again on
    Tensors to find the line, with all that it does.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> def loss(w):
    ...     return np.sum(np.log(w))
    >>> with np.errstate(all="ignore"), tx.autograd.detect_anomaly():
    ...     tx.value_and_grad(loss)(np.array([1.0, -1.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tangentx.errors.NotDifferentiable: ...`log` gives the first number that is not finite...
    """
    with setting(anomaly=True), watched():
        yield
