"""Contributions to one cotangent, said in one sum: ``x_bar = a; ...; x_bar = x_bar + b`` becomes ``x_bar = a + b``.

The terms stay in their order, so the sum rounds as it did. Whether the first may be computed where the second stands is
for `nest` to prove; here is said which pairs a reader is better off with. So is a cotangent that is one product, read
for a factor that others share: ``b_bar = e * ans_bar; t = b_bar / c`` becomes ``t = e * ans_bar / c``.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Sequence

from tangentx.ir.nodes import Assign, Atom, Call, Lit, Make, Op, Pop, Statement, Var
from tangentx.ir.walk import statement_atoms

MOST_TERMS = 5
"""Terms of a sum; a longer one is more than a reader takes in, and nests as deep as it is long."""
_SCALING = (operator.mul, operator.truediv, operator.neg)
_COTANGENT = re.compile(r"(.+_bar)_?\d*")


class Joins:
    """The sums of one function; `staying` are the names of what calls and the like gave, which stay where they are."""

    def __init__(self, every: Sequence[Statement]) -> None:
        self.terms: dict[str, int] = {}
        self.read = Counter(a.name for s in every for a in statement_atoms(s) if isinstance(a, Var))
        self.made = {s.target: s.value for s in every if isinstance(s, Assign) and s.target.startswith("%")}
        self.staying = frozenset(
            s.target for s in every if isinstance(s, Assign) and isinstance(s.value, Call | Pop | Make)
        )

    def may(self, first: Assign, second: Statement) -> bool:
        """Whether `second` adds to the cotangent that `first` binds, under the same name, and the sum stays short."""
        match second:
            case Assign(target=target, value=Op(fn=operator.add | operator.sub, args=(Var(name=name), _), kwargs=())):
                short = self._terms(first) + self._terms(second) <= MOST_TERMS
                moves = not (isinstance(first.value, Var) and first.value.name in self.staying)
                return short and moves and name == first.target and _cotangent(name) == _cotangent(target) is not None
        return False

    def shared(self, first: Assign, second: Statement) -> bool:
        """Whether `first` is one product, and `second` a factor made of it that several cotangents share."""
        if not (isinstance(second, Assign) and second.target.startswith("%") and self.read[second.target] > 1):
            return False
        value = self.made.get(first.value.name) if isinstance(first.value, Var) else first.value
        plain = [v for v in (value, second.value) if isinstance(v, Op) and v.fn in _SCALING]
        return len(plain) == 2 and all(self._is_name(a) for a in plain[0].args)

    def _is_name(self, atom: Atom) -> bool:
        """Whether the text has a name for it, or a number."""
        return isinstance(atom, Lit) or (isinstance(atom, Var) and (atom.name[0] != "%" or self.read[atom.name] > 1))

    def note(self, first: Assign, second: Statement) -> None:
        """`first` stands in `second` from now on; where that is a sum, with what is joined to it."""
        if self.may(first, second) and isinstance(second, Assign):
            self.terms[second.target] = self.terms[first.target] = self._terms(first) + self._terms(second)

    def _terms(self, s: Assign) -> int:
        return self.terms.get(s.target, 1)


def _cotangent(name: str) -> str | None:
    """The cotangent that a name is a variant of."""
    found = _COTANGENT.fullmatch(name)
    return found[1] if found else None
