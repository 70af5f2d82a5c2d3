"""Assignments whose right-hand side may share memory with the target.

NumPy copies such a value first where the target has two axes or more, where places are given by whole numbers, and in
every function with ``out=`` but those that join arrays. Elsewhere it writes element after element, and may read what it
has just written; a derivative follows the meaning of a copy, so the program asks where it runs whether the two agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Kind
from tangentx.analysis.types.selection import is_basic
from tangentx.ir.nodes import Assign, Atom, Index, Key, Lit, Op, Slice, Statement, Store, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def ask(w: Walker, s: Store, base: Kind, value: Kind, parts: tuple[Any, ...]) -> None:
    """Adds the question to the program, where the assignment needs it."""
    if w.program.derived or not (isinstance(base, Arr) and isinstance(value, Arr)) or value.rank == 0:
        return
    if base.region.root() is not value.region.root():
        return
    if not is_basic(parts):
        if any(isinstance(k, Arr) and k.dtype.kind == "b" for k in parts):
            w.expand("overlap", lambda: (_check(w, arrays.demand_unshared, s.base, s.value),))
    elif _may_be_a_row(base, s.key) and not _of_one_step(w, s):
        w.expand("overlap", lambda: _asked(w, s))


def _check(w: Walker, fn: Any, target: Atom, value: Atom) -> Statement:
    return Assign(w.temporary(), Op(fn, (target, value)), w.span)


def _asked(w: Walker, s: Store) -> tuple[Statement, ...]:
    view = w.temporary()
    return Assign(view, Index(s.base, s.key), s.span), _check(w, arrays.demand_copied, Var(view), s.value)


def _may_be_a_row(base: Arr, key: Key) -> bool:
    """Whether the target may have exactly one axis."""
    if base.rank is None:
        return True
    kept = [part for part in key.parts if isinstance(part, Slice) or part == Lit(None)]
    fixed = len(key.parts) - len(kept) - sum(part == Lit(Ellipsis) for part in key.parts)
    added = sum(part == Lit(None) for part in kept)
    return base.rank - fixed + added == 1


def _of_one_step(w: Walker, s: Store) -> bool:
    """Whether the value, taken out of the same array just before, has its elements as far from each other."""
    base, value = w.read(s.base)[0], w.read(s.value)[0]
    for made in reversed(w.out):  # on the straight way to the statement in hand, where no name is bound anew
        if not isinstance(made, Assign | Store):
            return False
        if isinstance(made, Assign) and Var(made.target) == value:
            found = made.value
            return isinstance(found, Index) and found.base == base and _axes(found.key) == _axes(w.key(s.key)[0])
    return False


def _axes(key: Key) -> list[Atom | str]:
    """The step of each axis that is kept, and what stands between them."""
    return [_step(part) if isinstance(part, Slice) else _MARKS.get(part, "at") for part in key.parts]


def _step(part: Slice) -> Atom:
    return Lit(1) if part.step == Lit(None) else part.step


_MARKS: dict[Atom, str] = {Lit(None): "new", Lit(Ellipsis): "all"}
