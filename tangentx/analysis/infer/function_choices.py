"""Choices among functions without a common kind, by defunctionalisation: a number selects, and calls branch on it."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import value_class
from tangentx.analysis.infer.program import Definition
from tangentx.analysis.types.kinds import FUNCTIONS, Kind, Obj
from tangentx.ir.functions import Chosen, chosen
from tangentx.ir.nodes import Apply, Assign, Block, Expr, If, Index, Key, Lit, Make, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def _option(kind: Kind) -> Any:
    """What tells functions of a kind from others; None for what is no function."""
    known = isinstance(kind, Obj) and isinstance(kind.value, FUNCTIONS)
    return kind.value if isinstance(kind, Obj) and known else value_class(kind)


def choose(w: Walker, definitions: list[Definition]) -> bool:
    """Whether a name may mean one of several functions of which one captures something; from the next round on its
    definitions bind a choice. A parameter cannot."""
    if len(definitions) < 2 or _option(definitions[0].kind) is None:
        return False
    options = [_option(d.kind) for d in definitions]
    different = [o for i, o in enumerate(options) if o not in options[:i]]
    if len(different) < 2 or None in options or not any(value_class(d.kind) for d in definitions):
        return False
    if any(issubclass(value_class(d.kind) or tuple, Chosen) for d in definitions):
        return False  # a choice among choices may go on for ever
    places = [key for d in definitions for key, known in w.instance.definitions.items() if known is d]
    if any(isinstance(tag, tuple) for _, tag in places):
        return False
    cls = chosen(tuple(different))
    for definition, option in zip(definitions, options, strict=True):
        definition.choice = (cls, different.index(option))
    w.program.world.changed = True
    return True


def as_chosen(w: Walker, s: Assign, cls: type[Chosen], place: int) -> None:
    """The assignment, of the function in its place among the others."""

    def build() -> Block:
        value = w.temporary()
        held = [w.temporary() for _ in range(cls.options)]
        lists = [Assign(t, Make(list, (Var(value),) if i == place else ()), s.span) for i, t in enumerate(held)]
        made = Make(cls, (Lit(place), *map(Var, held)))
        return (Assign(value, s.value, s.span), *lists, Assign(s.target, made, s.span))

    w.expand(("chosen", cls, place), build)


def call_chosen(w: Walker, cls: type[Chosen], expr: Apply) -> tuple[Expr, Kind]:
    """A call of a choice."""

    def build() -> Block:
        result, number = w.temporary(), w.temporary()
        block: Block = ()
        for place in reversed(range(cls.options)):
            held, fn, test = w.temporary(), w.temporary(), w.temporary()
            called: Block = (
                Assign(held, Index(expr.fn, Key((Lit(place + 1),))), w.span),
                Assign(fn, Index(Var(held), Key((Lit(0),))), w.span),
                Assign(result, replace(expr, fn=Var(fn)), w.span),
            )
            asked = Assign(test, Op(operator.eq, (Var(number), Lit(place))), w.span)
            block = (asked, If(Var(test), called, block, w.span)) if block else called
        first = Assign(number, Index(expr.fn, Key((Lit(0),))), w.span)
        return (first, *block, Assign(w.temporary(), Var(result), w.span))

    return expanded(w, ("chosen", cls), build)
