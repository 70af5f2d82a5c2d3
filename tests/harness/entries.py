"""Every kind of public entry as a call of no arguments, with a new function each time: what has to be compiled is."""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import tangentx as tx

X = np.array([0.3, 0.7, -0.2])
V = np.array([1.0, -2.0, 0.5])
COUNTS = [0.0]


def written(x):
    y = x.copy()
    for i in range(len(y)):
        y[i] = np.sin(y[i]) * x[i - 1]
    COUNTS[0] = COUNTS[0] + 1.0
    return np.sum(y * y)


def plain(x):
    return np.sum(np.sin(x) * x)


def each(x):
    return np.sin(x) * x


def not_compiled(x):
    y = eval("x * 1.0")
    return np.sum(np.sin(y) * y)


def squared(x):
    return np.sum(eval("x * x"))


def with_a_helper(x):
    return squared(x) * 2.0


def unknown(x):
    return np.sum(x * json.loads("2.0"))


repeated = tx.checkpoint(plain)


def checkpointed(x):
    return repeated(x) * 1.0


def nested(x):
    return np.sum(tx.grad(plain)(x) * x)


def generator(x):
    yield x


def raising(x):
    y = np.sin(x)
    if y[0] < 2.0:
        raise ZeroDivisionError("as the program says")
    return np.sum(y)


@tx.primitive
def cubed(x):
    return x * x * x


@cubed.adjoint
def cubed_adjoint(x, *, ans_bar):
    x_bar = 3.0 * x * x * ans_bar
    return x_bar


def opaque(x):
    return np.sum(cubed(x))


def new(f: Any) -> Any:
    """The function as another one, of which nothing has been compiled yet."""
    return types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)


def refused(call: Callable[[], Any], error: type[Exception]) -> str:
    try:
        call()
    except error as found:
        return type(found).__name__
    raise AssertionError("it was not refused")


def on_tensors(f: Any) -> Any:
    t = tx.tensor(X, requires_grad=True)
    f(t).backward()
    return t.grad.numpy()


def twice_on_tensors(f: Any) -> Any:
    t = tx.tensor(X, requires_grad=True)
    (slope,) = tx.autograd.grad(f(t), [t], create_graph=True)
    (bend,) = tx.autograd.grad(np.sum(slope), [t])
    return bend.numpy()


def made(f: Any) -> dict[str, Callable[[], Any]]:
    """The entries by name; `f` makes of a function the one that is differentiated."""
    return {
        "grad": lambda: tx.grad(f(written))(X),
        "value_and_grad": lambda: tx.value_and_grad(f(plain))(X),
        "vjp": lambda: tx.vjp(f(written), X)[1](1.0),
        "jvp": lambda: tx.jvp(f(written), (X,), (V,)),
        "linearize": lambda: tx.linearize(f(plain), X)[1](V),
        "hvp": lambda: tx.hvp(f(plain), (X,), (V,)),
        "hessian": lambda: tx.hessian(f(plain))(X),
        "jacobian": lambda: tx.jacobian(f(each))(X),
        "sparse": lambda: tx.jacobian(f(each), sparsity="auto")(X).toarray(),
        "vmap": lambda: tx.vmap(tx.grad(f(plain)))(np.stack([X, V])),
        "nested": lambda: tx.grad(f(nested))(X),
        "fallback": lambda: tx.grad(f(not_compiled))(X),
        "fallback forward": lambda: tx.jvp(f(not_compiled), (X,), (V,)),
        "helper": lambda: tx.grad(f(with_a_helper))(X),
        "unknown code": lambda: tx.grad(f(unknown))(X.copy()),
        "checkpoint": lambda: tx.grad(f(checkpointed))(X),
        "primitive": lambda: tx.grad(f(opaque))(X),
        "checked": lambda: tx.grad(f(plain), check=True)(X),
        "no_grad": lambda: tx.no_grad(lambda: tx.jvp(f(not_compiled), (X,), (V,)))(),
        "Tensors": lambda: on_tensors(plain),
        "Tensors, compiled": lambda: twice_on_tensors(tx.differentiate(f(plain))),
        "Tensors, checkpoint": lambda: on_tensors(repeated),
        "refused": lambda: refused(lambda: tx.grad(f(generator))(X), tx.TangentxError),
        "raising": lambda: refused(lambda: tx.grad(f(raising))(X), ZeroDivisionError),
        "source": lambda: len(tx.grad(f(plain)).source_for(X)) > 0,
    }


FRESH = made(new)
"""With a new function at each call."""
KNOWN = made(lambda f: f)
"""With the same function at each call."""


def same(a: Any, b: Any) -> bool:
    """Whether two results are equal."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b)
