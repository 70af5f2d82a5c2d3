"""Iterators that are consumed where they are made: a list stands for each."""

from __future__ import annotations

import copy
import itertools
import operator
import sys
from collections.abc import Callable
from typing import Any

import gast

from tangentx.analysis import folds
from tangentx.analysis.primitives import is_primitive
from tangentx.frontend import resolve
from tangentx.frontend.targets import Targets
from tangentx.ir import marks, walk
from tangentx.ir import nodes as ir

ITERTOOLS: dict[Any, dict[int, Callable[..., Any]]] = {
    itertools.chain: {1: list, 2: folds.chained},
    itertools.chain.from_iterable: {1: folds.chained_all},
    itertools.islice: {2: folds.sliced, 3: folds.sliced_from},
    itertools.repeat: {2: folds.repeated},
    itertools.starmap: {2: folds.mapped_apart},
    itertools.product: {2: folds.crossed, 3: folds.crossed_by_three},
    itertools.pairwise: {1: folds.paired},
    itertools.combinations: {2: folds.combined, 3: folds.combined_by_three},
    itertools.permutations: {2: folds.ordered},
    itertools.accumulate: {1: folds.accumulated, 2: folds.accumulated_by},
}
"""For each the stand-ins by the number of arguments."""

FOREVER = ir.Lit(sys.maxsize)
_READ_AT_ONCE = (
    folds.repeated, folds.crossed, folds.crossed_by_three, folds.combined, folds.combined_by_three, folds.ordered,
)  # fmt: skip
_CHOOSING = (itertools.combinations, itertools.permutations)
_MAKERS = (zip, enumerate, reversed, map, filter)


class Iterators(Targets):
    """Lifts calls of itertools."""

    def is_iterator(self, node: Any) -> bool:
        """Whether `node` is a call of what makes an iterator: zip, map and their like, or one of itertools."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        return fn is not None and any(resolve.is_same(fn.value, maker) for maker in (*_MAKERS, *ITERTOOLS))

    def made_by_itertools(self, node: Any) -> ir.Atom | None:
        """A list of what a call of one of itertools gives; None for any other node."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        counts = next(
            (found for maker, found in ITERTOOLS.items() if fn is not None and resolve.is_same(fn.value, maker)), None
        )
        if counts is None:
            return None
        if fn is not None and fn.value is itertools.chain and len(node.args) > 2:
            node = copy.copy(node)
            first = gast.copy_location(gast.Call(node.func, node.args[:2], []), node)
            node.args = [first, *node.args[2:]]
            return self.made_by_itertools(node)
        count, given, named = len(node.args), node.args, node.keywords
        times = 1
        if fn is not None and fn.value in _CHOOSING and count == 2 and _number(node.args[1]) in (2, 3):
            count, given = _number(node.args[1]), node.args[:1]
        elif fn is not None and fn.value is itertools.product and count == 1 and [k.arg for k in named] == ["repeat"]:
            count = times = _number(named[0].value)
            named = []
        elif fn is not None and fn.value in _CHOOSING:
            count = 0
        standin = counts.get(count)
        if standin is None or named:
            hint = "write the loops out"
            raise self.refuse(node, "this call of itertools is not differentiated", hint)
        args = tuple(self.gathered(arg) if self.is_lazy(arg) else self.atom(arg) for arg in given) * times
        if standin not in _READ_AT_ONCE:
            self.read_early += [arg for arg in args if isinstance(arg, ir.Var)]
        ext = ir.Ext(standin.__name__, standin, ("object",), standin)
        return self.copy(ir.Apply(ext, args), node)

    def stays(self, early: list[ir.Var], body: ir.Block, node: Any) -> None:
        """Demand that the body of a loop writes into nothing that has been read for it before its time."""
        atoms = [atom for stmt in walk.statements(body) for atom in _given_away(stmt)]
        if atoms:
            marked: tuple[ir.Atom, ...] = (ir.Lit(len(early)), *early, *dict.fromkeys(atoms))
            self.emit(ir.Assign(self.temp(), ir.Op(marks.unwritten, marked), self.span(node)))

    def term(self, start: ir.Atom, step: ir.Atom, index: ir.Atom, node: Any) -> ir.Expr:
        """What ``itertools.count(start, step)`` gives at an index."""
        risen = index if step == ir.Lit(1) else self.copy(ir.Op(operator.mul, (step, index)), node)
        return risen if start == ir.Lit(0) else ir.Op(operator.add, (start, risen))

    def counted(self, node: Any) -> tuple[ir.Atom, ir.Atom] | None:
        """Start and step of ``itertools.count(...)`` of whole numbers; None for any other node."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        if fn is None or fn.value is not itertools.count:
            return None
        given = [arg.value if isinstance(arg, gast.Constant) else None for arg in node.args]
        start, step = [*given, *(0, 1)[len(given) :]][:2]
        if node.keywords or len(given) > 2 or type(start) is not int or type(step) is not int or step < 1:
            raise self.refuse(
                node,
                "itertools.count with arguments that are not known whole numbers",
                "keep the counter in a variable of your own",
            )
        return ir.Lit(start), ir.Lit(step)


def _number(node: Any) -> int:
    """The whole number that is written there; 0 for anything else."""
    value = getattr(node, "value", None) if isinstance(node, gast.Constant) else None
    return value if type(value) is int else 0


def _given_away(stmt: ir.Statement) -> list[ir.Var]:
    """What the statement may write into, or gives to what may."""
    match stmt:
        case ir.Assign(value=ir.Apply(fn=fn, args=args, kwargs=kwargs)):
            known = isinstance(fn, ir.Ext) and is_primitive(fn.value)
            found = [atom for name, atom in kwargs if not known or name == "out"]
            return [atom for atom in (*(() if known else (fn, *args)), *found) if isinstance(atom, ir.Var)]
        case ir.Assign(value=ir.Method(base=base, args=args)):
            return [atom for atom in (base, *args) if isinstance(atom, ir.Var)]
        case ir.Store() | ir.Augstore() | ir.Accumulate() | ir.Append() | ir.Delete():
            return [stmt.base] if isinstance(stmt.base, ir.Var) else []
    return []
