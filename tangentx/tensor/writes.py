"""The node of a write."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import winners, zeros_as
from tangentx.tensor.apply import call
from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.forms import fit, like_of
from tangentx.tensor.graph import Node
from tangentx.tensor.operation import fit_tensor
from tangentx.tensor.storage import Step
from tangentx.tensor.writing import write


class Write(Node):
    """``root[steps][key] = value``: what was there gets no cotangent, the value gets that of its place."""

    consumes = True

    def __init__(self, root: Tensor, steps: tuple[Step, ...], key: Any, value: Any) -> None:
        edges = [root.edge] if root._needs else []
        active = type(value) is Tensor and value._needs
        super().__init__("Write", (*edges, *([value.edge] if active else [])))
        self.into = root._needs
        self.steps, self.key = steps, key
        part = root._data
        for step in steps if root._data.dtype.kind == "c" else ():
            part = step.on(part)
        # The real and the imaginary part of a cotangent are those of its conjugate: see our convention.
        self.turned = part.dtype != root._data.dtype
        self.layout = (root._data.shape, root._data.strides)
        self.value_like = like_of(value._data) if active else None
        self.likes = (*((like_of(root._data),) if self.into else ()), *((self.value_like,) if active else ()))

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
            taken = np.array(part[self.key]) if plain_key(self.key) else winners(part, self.key)
            given = [fit(taken if np.ndim(taken) else taken[()], self.value_like)]
        part[self.key] = 0.0
        if self.turned:
            bar = np.conj(bar)
        return [bar, *given] if self.into else given

    def _laid_out(self, bar: Any) -> Any:
        """The cotangent with the strides of the memory, so that the steps give views of it as they did there."""
        if type(bar) is not np.ndarray:
            return np.array(bar)  # that of an array without axes may come as a number, of which there are no views
        if bar.strides == self.layout[1]:
            return bar

        shape, strides = self.layout
        result = zeros_as(np.lib.stride_tricks.as_strided(np.empty(1, bar.dtype), shape, strides))
        result[...] = bar
        return result

    def _pull_tensors(self, bar: Tensor) -> list[Tensor]:

        whole = call(np.conjugate if self.turned else np.copy, (bar,), {})
        if whole.current.strides != self.layout[1]:
            laid_out = wrap(self._laid_out(whole.current))
            write(laid_out, Ellipsis, whole)
            whole = laid_out
        part = whole
        for step in self.steps:
            part = step.on_tensor(part)
        given = []
        if self.value_like is not None:
            given = [fit_tensor(call(winners, (part, self.key), {}), self.value_like)]
        write(part, self.key, 0.0)
        if self.turned:
            whole = call(np.conjugate, (whole,), {})
        return [whole, *given] if self.into else given


def plain_key(key: Any) -> bool:
    """Whether an index takes no element twice: numbers, slices, None, an ellipsis, masks."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        part is None or part is Ellipsis or isinstance(part, slice | int | np.integer | np.bool_) for part in parts
    )
