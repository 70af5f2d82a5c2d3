"""Random programs of views, writes and operations, recorded or not by turns, beside the same on dual numbers."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.tensor.core.modes import is_grad_enabled

VIEWS: dict[str, Callable[[Any], Any]] = {
    "T": lambda a: a.T, "transpose": np.transpose, "by name": lambda a: np.transpose(a=a),
    "flat": lambda a: a.reshape(-1), "column": lambda a: np.reshape(a, (-1, 1)), "ravel": np.ravel,
    "by columns": lambda a: a.reshape(-1, order="F"), "reversed": lambda a: a[::-1], "flip": np.flip,
    "half": lambda a: a[: max(1, len(a) // 2)], "all": lambda a: a[...], "squeeze": lambda a: np.squeeze(a[None], 0),
    "swapped": lambda a: np.swapaxes(a, 0, -1), "rest": lambda a: a[0] if np.ndim(a) > 1 else a[1:],
    "copied": lambda a: a.flatten(), "more axes": lambda a: np.expand_dims(a, 0),
    "split": lambda a: np.split(a, [1])[0],
}  # fmt: skip
PARTS = (Ellipsis, 0, slice(1, None), -1, (Ellipsis, 0), slice(None, None, 2))
UNARY: dict[Any, Callable[[Any], Any]] = {
    np.sin: np.cos,
    np.square: lambda v: 2.0 * v,
    np.tanh: lambda v: 1.0 / np.cosh(v) ** 2,
}
IN_PLACE = (operator.iadd, operator.isub, operator.imul)
HOW: dict[str, Any] = {"view": list(VIEWS.values()), "unary": list(UNARY), "write": PARTS, "in place": IN_PLACE}
WHAT = ("view", "view", "unary", "product", "write", "write", "in place", "switch", "switch")


class Memory:
    """What views share: how often it has been written while that was recorded."""

    writes = 0


class Dual:
    """Values and tangents of the same layout. A view that is made unrecorded has none until a write is recorded."""

    recording = True

    def __init__(self, v: Any, d: Any, memory: Any = None, since: int = -1) -> None:
        self.v, self.own, self.memory, self.since = v, d, memory or Memory(), since

    @property
    def d(self) -> Any:
        return np.zeros_like(self.own) if self.since == self.memory.writes else self.own

    def new(self, v: Any, d: Any) -> Dual:
        return Dual(np.array(v), np.array(d) if Dual.recording else np.zeros_like(d))

    def view(self, f: Any) -> Dual:
        v = f(self.v)
        if not np.may_share_memory(v, self.v):
            return self.new(v, f(self.d))
        silent = not Dual.recording or self.since == self.memory.writes
        return Dual(v, f(self.own), self.memory, self.memory.writes if silent else -1)

    def write(self, key: Any, v: Any, d: Any) -> None:
        self.v[key] = v
        if Dual.recording:
            self.own[key] = d
            self.memory.writes += 1


def steps(seed: int) -> Iterator[tuple[str, float, float, Any]]:
    """What a program does, with which two of its arrays, and how."""
    r = random.Random(seed)
    for _ in range(r.randint(4, 14)):
        what = r.choice(WHAT)
        yield what, r.random(), r.random(), r.choice(HOW.get(what, [None]))


def on_tensors(seed: int, data: Any) -> tuple[Any, list[Any], Any]:
    x = tx.tensor(data, requires_grad=True)
    made = [x * 1.0]
    with tx.set_grad_enabled(True):
        for what, first, second, how in steps(seed):
            a, b = made[int(first * len(made))], made[int(second * len(made))]
            b = b if np.shape(b) == np.shape(a) else np.full(np.shape(a), second)
            if what == "switch":
                tx.set_grad_enabled(not is_grad_enabled())
            elif what in ("view", "unary"):
                made.append(how(a))
            elif what == "product":
                made.append(a * b)
            elif what == "write":
                a[how] = b[how]
            else:
                how(a, b)
        tx.set_grad_enabled(True)
        return x, made, sum((np.sum(t * t) * (k + 1.0) for k, t in enumerate(made)), 0.0)


def on_duals(seed: int, data: Any, dot: Any) -> tuple[list[Any], float]:
    made = [Dual(data.copy(), dot.copy())]
    Dual.recording = True
    for what, first, second, how in steps(seed):
        a, b = made[int(first * len(made))], made[int(second * len(made))]
        v, d = (b.v, b.d) if b.v.shape == a.v.shape else (np.full(a.v.shape, second), np.zeros(a.v.shape))
        if what == "switch":
            Dual.recording = not Dual.recording
        elif what == "view":
            made.append(a.view(how))
        elif what == "unary":
            made.append(a.new(how(a.v), UNARY[how](a.v) * a.d))
        elif what == "product":
            made.append(a.new(a.v * v, a.v * d + a.d * v))
        elif what == "write":
            a.write(how, np.array(v[how]), np.array(d[how]))
        else:
            slope = a.v * d + a.d * v if how is operator.imul else how(a.d.copy(), d)
            a.write(Ellipsis, how(a.v.copy(), v), slope)
    return [m.v for m in made], sum(2.0 * (k + 1.0) * np.sum(m.v * m.d) for k, m in enumerate(made))


@pytest.mark.parametrize("shape", [(4,), (2, 3), (3, 3), (2, 2, 2), (1, 4)], ids=str)
def test_random_writes(shape: tuple[int, ...]) -> None:
    for seed in range(120):
        draw = np.random.default_rng(seed)
        data, dot = draw.uniform(-1.0, 1.0, shape), draw.uniform(-1.0, 1.0, shape)
        values, wanted = on_duals(seed, data, dot)
        x, made, total = on_tensors(seed, data)
        for found, value in zip(made, values, strict=True):
            np.testing.assert_allclose(found.detach().numpy(), value, err_msg=f"seed {seed}")
        slope = tx.autograd.grad(total, (x,), allow_unused=True)[0] if total.requires_grad else None
        found = 0.0 if slope is None else np.sum(slope.numpy() * dot)
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9, err_msg=f"seed {seed}")
