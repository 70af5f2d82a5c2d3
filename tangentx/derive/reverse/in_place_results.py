"""In-place results: operations whose result overwrites an operand, and so has its shape."""

from __future__ import annotations

from tangentx.analysis.types.primitives import is_by_element
from tangentx.ir.keys import WHOLE
from tangentx.ir.nodes import Assign, Atom, Block, Op, Store, Var
from tangentx.ir.walk import blocks, bound, statements

NEAR = 4
"""How many statements before the write the result may be made."""


def filling(body: Block) -> dict[int, Atom]:
    """For the identity of each ``t = op(a, ...)``, element by element, and of ``a[...] = t`` after it: the array."""
    found: dict[int, Atom] = {}
    for block in [body, *(inner for s in statements(body) for inner in blocks(s))]:
        for i, s in enumerate(block):
            if isinstance(s, Store) and s.key == WHOLE and isinstance(s.base, Var) and isinstance(s.value, Var):
                made = _made(block[max(i - NEAR, 0) : i], s.base, s.value)
                if made is not None:
                    found[id(made)] = found[id(s)] = s.base
    return found


def _made(before: Block, base: Var, value: Var) -> Assign | None:
    """What binds the value of these statements, by an operation on the array that is named until the write."""
    for s in reversed(before):
        if isinstance(s, Assign) and s.target == value.name:
            op = s.value
            fits = isinstance(op, Op) and not op.kwargs and is_by_element(op.fn) and base in op.args
            return s if fits and value != base else None
        if bound((s,)) & {base.name, value.name}:
            return None
    return None
