"""Iterators that are consumed where they are made: a list stands for each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import gast

from tangentx.analysis import folds
from tangentx.frontend.targets import Targets
from tangentx.ir import nodes as ir

ITERTOOLS: dict[Any, dict[int, Callable[..., Any]]] = {
    itertools.chain: {2: folds.chained},
    itertools.product: {2: folds.crossed},
    itertools.pairwise: {1: folds.paired},
    itertools.combinations: {2: folds.combined},
    itertools.accumulate: {1: folds.accumulated, 2: folds.accumulated_by},
}
"""For each the stand-ins by the number of arguments."""


_MAKERS = (zip, enumerate, reversed, map, filter)


class Iterators(Targets):
    """Lifts calls of itertools."""

    def is_iterator(self, node: Any) -> bool:
        """Whether `node` is a call of what makes an iterator: zip, map and their like, or one of itertools."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        return fn is not None and any(fn.value is maker for maker in (*_MAKERS, *ITERTOOLS))

    def made_by_itertools(self, node: Any) -> ir.Atom | None:
        """A list of what a call of one of itertools gives; None for any other node."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        counts = next((found for maker, found in ITERTOOLS.items() if fn is not None and fn.value is maker), None)
        if counts is None:
            return None
        two = isinstance(node.args[-1], gast.Constant) and node.args[-1].value == 2 if node.args else False
        standin = counts.get(len(node.args))
        if standin is None or node.keywords or (standin is folds.combined and not two):
            hint = "write the loops out"
            raise self.refuse(node, "this call of itertools is not differentiated", hint)
        given = node.args[:1] if standin is folds.combined else node.args
        args = tuple(self.gathered(arg) if self.is_lazy(arg) else self.atom(arg) for arg in given)
        ext = ir.Ext(standin.__name__, standin, ("object",), standin)
        return self.copy(ir.Apply(ext, args), node)
