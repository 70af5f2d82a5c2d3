"""The first contribution to a cotangent binds it.

By the general rule the cotangent of a value begins as a zero, and what each of its readers gives is added:

    v_bar = real_zero(v)
    ...
    t = unbroadcast(c, v)               ...
    v_bar = v_bar + t                   v_bar = unbroadcast(c, v)

Where the zero and the first sum stand in one block and nothing between them mentions the cotangent, the sum is the
contribution itself. It has the shape and dtype that the zero would have had. The sum would be a new array, though, so a
contribution that may lie in memory that is written is still added: the shadow of an array that the program writes into
is one. So is what is added to a cotangent that the function gives back: its results share no memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Kind, Num
from tangentx.analysis.types.primitives import makes_new
from tangentx.derive.emit import VALUE, mode
from tangentx.derive.reverse.context import Reverse
from tangentx.ir.nodes import Apply, Assign, Atom, Call, Expr, Ext, Index, Lit, Op, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import atoms, blocks, reads, statements, writes

_FITTED = (arrays.alike, arrays.unbroadcast)


def bound_by_first(r: Reverse, block: Sequence[Statement], kept: Sequence[str]) -> list[Statement]:
    """The whole reverse sweep with cotangents bound by their first contribution; not those of the names in `kept`."""
    return _Binding(r, kept).block(block, outermost=True)


class _Binding:
    """`bars`: cotangents that may be bound so; `apart`: names of arrays that lie in no memory that is written."""

    def __init__(self, r: Reverse, kept: Sequence[str]) -> None:
        values = {name: kind for name, kind in r.frame.kinds.items() if mode(kind) == VALUE}
        self.bars = {r.frame.other(name) for name, kind in values.items() if _is_plain(kind) and name not in kept}
        self.apart = {name for name, kind in r.frame.kinds.items() if _is_never_written(kind)}
        self.apart.update(map(r.frame.other, values))
        self.backward = {pair.backward for pair in r.derive.pairs.values()}
        self.given_back: set[str] = set()

    def block(self, block: Sequence[Statement], outermost: bool = False) -> list[Statement]:
        """The statements of a block. A zero that nothing mentions any more is left out at the end of the sweep."""
        out: list[Statement | None] = []
        zeros: dict[str, int] = {}  # where the zeros stand that nothing has mentioned yet
        for s in block:
            bar = s.target if type(s) is Assign else ""
            if bar in self.bars and _is_zero(s):
                if bar in zeros:
                    out[zeros[bar]] = None
                zeros[bar] = len(out)
            elif bar in zeros and type(s) is Assign and (first := self._first(s)) is not None:
                out[zeros.pop(bar)] = None
                if _is_fitted(out[-1], first):
                    s = Assign(bar, out.pop().value, s.span)  # type: ignore[union-attr]
                else:
                    s = Assign(bar, first, s.span)
            elif zeros:
                for name in _mentioned(s):
                    zeros.pop(name, None)
            out.append(self._inside(s))
            self._note(s)
        for at in zeros.values() if outermost else ():
            out[at] = None
        return [s for s in out if s is not None]

    def _inside(self, s: Statement) -> Statement:
        return map_blocks(s, lambda block: tuple(self.block(block))) if blocks(s) else s

    def _first(self, s: Assign) -> Var | None:
        """What a statement adds to its own target, where that may be bound in place of the sum."""
        match s.value:
            case Op(fn=operator.add, args=(Var(name), Var() as given), kwargs=()) if name == s.target != given.name:
                return given if given.name in self.apart else None
        return None

    def _note(self, s: Statement) -> None:
        """Notes whether a temporary is apart from all memory that is written."""
        if type(s) is Assign and s.target.startswith("%"):
            if isinstance(s.value, Call) and s.value.link in self.backward:
                self.given_back.add(s.target)
            elif self._is_apart(s.value):
                self.apart.add(s.target)

    def _is_apart(self, value: Expr) -> bool:
        match value:
            case Op(fn=fn) | Apply(fn=Ext(value=fn)):
                return makes_new(fn) or (_is_ours(fn) and all(map(self._lies_apart, atoms(value))))
            case Index(base=Var(name=name)):
                return name in self.given_back  # the cotangents of a callee's parameters are new
            case Var() | Lit():
                return self._lies_apart(value)
        return False

    def _lies_apart(self, atom: Atom) -> bool:
        return atom.name in self.apart if isinstance(atom, Var) else True


def _is_plain(kind: Kind) -> bool:
    """Whether values of the kind are numbers, or arrays that are no numbers, for certain."""
    if isinstance(kind, Num):
        return not kind.none
    return isinstance(kind, Arr) and kind.sure and not kind.none and bool(kind.rank) and not kind.dtypes


def _is_never_written(kind: Kind) -> bool:
    """Whether a value of the kind is no container, nor lies in memory that anything writes."""
    return isinstance(kind, Num) or (isinstance(kind, Arr) and mode(kind) == VALUE)


def _is_ours(fn: Callable[..., object]) -> bool:
    """Whether what the function gives is new or lies in what it was given: not so with what a user's rule keeps."""
    return (getattr(fn, "__module__", None) or "").split(".")[0] in ("numpy", "tangentx")


def _is_zero(s: Statement) -> bool:
    match s:
        case Assign(value=Lit(value=float() as zero)):
            return zero == 0.0
        case Assign(value=Op(fn=arrays.real_zero, args=(Var(),))):
            return True
    return False


def _is_fitted(s: Statement | None, name: Var) -> bool:
    """Whether the statement has just given a contribution its shape, for the sum in hand alone."""
    return type(s) is Assign and s.target == name.name and isinstance(s.value, Op) and s.value.fn in _FITTED


def _mentioned(s: Statement) -> set[str]:
    found: set[str] = set()
    for each in statements((s,)):
        found.update(reads(each), writes(each))
    return found
