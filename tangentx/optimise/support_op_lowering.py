"""Lowering of support functions (``unreduce``, ``matmul_left``) to operators and NumPy functions that do the same
for the kinds at hand.

A quotient that a cotangent is multiplied by is the cotangent divided, which saves a pass over the array; the primal has
divided by the same, so that a plain division does nothing that the primal has not done. The adjoint of a product of
matrices or vectors is a product. Shapes are asked of the plainest array that has them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Region, dtype_of
from tangentx.ir.nodes import Assign, Atom, Index, Key, Link, Lit, Op, Pop, Statement, Var
from tangentx.ir.walk import statements
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.shape_arithmetic import Lengths, Shape
from tangentx.optimise.facts.shape_rules import swaps_sides
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.guard_elimination import drops
from tangentx.optimise.rewriting import MUL, Rewriter, Rules, is_number, run_each

Rule = Callable[["Operators", Assign, Op], "Sequence[Statement] | None"]


class Operators(Rules):
    """One rule for each support function."""

    anywhere = True

    def __init__(self, walk: Rewriter) -> None:
        super().__init__(walk)
        self.quotients: dict[tuple[Atom, Atom], str] = {}
        self.drops = False

    @classmethod
    def ahead(cls, units: Sequence[Unit]) -> Mapping[Link, object]:
        """Whether the program drops elements, which may be infinite then; for every function."""
        return dict.fromkeys((unit.link for unit in units), drops(units))

    def begin(self, known: object) -> None:
        self.drops = bool(known) and not self.program.unguarded

    @property
    def matmul(self) -> Callable[..., Any]:
        """The product of matrices: what is dropped has a cotangent of 0, and may stand beside an infinity."""
        return arrays.careful_matmul if self.drops else operator.matmul

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statement by the rule for its operation."""
        if op.kwargs or not getattr(op.fn, "__hash__", None):
            return None
        rule = _RULES.get(op.fn)
        return None if rule is None else rule(self, s, op)

    def rank(self, atom: Atom) -> int | None:
        """The rank of an array, where it is known."""
        kind = self.kind(atom)
        return kind.rank if isinstance(kind, Arr) and kind.sure else None

    def made_here(self, kind: Arr) -> bool:
        """Whether arrays of the kind are all results of operations of this function, none of them given back."""
        node = kind.region.root()
        given = any(self._in(node, p.name) for p in self.unit.function.params)
        if given or not node.still() or node in memory.outside(self.program):
            return False
        if any(self._in(node, name) for name in self.walk.returned):
            return False
        return all(_makes(s) for s in statements(self.unit.body) if self._in(node, getattr(s, "target", "")))

    def _in(self, node: Region, name: str) -> bool:
        kind = self.unit.kinds.get(name)
        return isinstance(kind, Arr | Box) and kind.region.root() is node


_MAKING: tuple[Any, ...] = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow, operator.matmul, np.sum,
    np.dot, np.outer, np.zeros_like, np.ones_like, arrays.guarded, arrays.ratio, arrays.over_root, arrays.quotient,
    arrays.unbroadcast, arrays.alike,
)  # fmt: skip
"""What makes arrays, of numbers and arrays, or passes them on; a name that is given another's value does too."""


def _makes(s: Statement) -> bool:
    if not isinstance(s, Assign):
        return False
    value = s.value
    return isinstance(value, Var) or (isinstance(value, Op) and (isinstance(value.fn, np.ufunc) or value.fn in _MAKING))


def _product(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    for partial, t in (op.args, op.args[::-1]):
        made = p.expr(partial)
        if not isinstance(made, Op) or not p.real(t):
            continue
        if made.fn is arrays.quotient and (all(map(p.still, made.args)) or p.current(partial) is made):
            return _divided(p, s, made.args[0], made.args[1], t)
        if made.fn is operator.truediv and is_number(made.args[0], 1.0) and isinstance(made.args[1], Lit):
            return (Assign(s.target, Op(operator.truediv, (t, made.args[1])), s.span),)
    return None


def _divided(p: Operators, s: Assign, top: Atom, bottom: Atom, t: Atom) -> Sequence[Statement] | None:
    """``t / bottom``, times `top`."""
    name = p.quotients.get((t, bottom), "")
    known = p.current(Var(name)) == Op(operator.truediv, (t, bottom)) and p.still(Var(name))
    if is_number(top, 1.0) and known:
        same = p.same(s, Var(name))
        return None if same is None else (same,)
    if is_number(top, 1.0):
        p.quotients[t, bottom] = s.target
        return (Assign(s.target, Op(operator.truediv, (t, bottom)), s.span),)
    kinds = [k for k in map(p.kind, (top, bottom, t)) if isinstance(k, Num | Arr)]
    result = p.unit.kinds.get(s.target)
    kind = _of_quotient(p.kind(t), p.kind(bottom), result)
    if isinstance(top, Lit) or kind is None or len({dtype_of(k) for k in kinds}) > 1:
        return None
    if known:
        return (Assign(s.target, Op(MUL, (top, Var(name))), s.span),)
    divided = p.let(s, Op(operator.truediv, (t, bottom)), kind)
    p.quotients[t, bottom] = divided.target
    return divided, Assign(s.target, Op(MUL, (top, Var(divided.target))), s.span)


def _of_quotient(t: Kind, bottom: Kind, result: Kind | None) -> Kind | None:
    """The kind of a quotient that is a factor of the result; None where it may have fewer axes than that."""
    if isinstance(t, Num) and isinstance(bottom, Num):
        return t
    if not isinstance(result, Arr):
        return None
    whole = any(isinstance(k, Arr) and k.rank == result.rank and k.rank is not None for k in (t, bottom))
    return result if whole else None


def _left(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """The cotangent of the first factor of ``x @ y``."""
    t, y, shape = op.args
    match _rank_of_shape(p, shape), p.rank(y):
        case 2, 2:
            return _with_transposed(p, s, y, lambda turned: (t, turned))
        case 2, 1 if not p.drops:
            return _as(s, np.outer, t, y)
        case 1, 2:
            return _as(s, p.matmul, y, t)
        case 1, 1:
            return _as(s, arrays.guarded if p.drops else MUL, t, y)
    return None


def _right(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """The cotangent of the second factor of ``x @ y``."""
    t, x, shape = op.args
    match p.rank(x), _rank_of_shape(p, shape):
        case 2, 1:
            return _as(s, p.matmul, t, x)
        case 2, 2:
            return _with_transposed(p, s, x, lambda turned: (turned, t))
        case 1, 2 if not p.drops:
            return _as(s, np.outer, x, t)
        case 1, 1:
            return _as(s, arrays.guarded if p.drops else MUL, t, x)
    return None


def _outer_left(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    t, y, shape = op.args
    return _as(s, p.matmul, t, y) if _rank_of_shape(p, shape) == p.rank(y) == 1 else None


def _outer_right(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    t, x, shape = op.args
    return _as(s, p.matmul, x, t) if _rank_of_shape(p, shape) == p.rank(x) == 1 else None


def _as(s: Assign, fn: Callable[..., Any], *args: Atom) -> Sequence[Statement]:
    return (Assign(s.target, Op(fn, args), s.span),)


def _with_transposed(
    p: Operators, s: Assign, matrix: Atom, factors: Callable[[Atom], tuple[Atom, Atom]]
) -> Sequence[Statement] | None:
    if not p.still(matrix):
        return None
    if (plain := _transpose_of(p, matrix)) is not None:
        return (Assign(s.target, Op(p.matmul, factors(plain)), s.span),)
    turned = p.let(s, Op(np.transpose, (matrix,)), p.kind(matrix))
    return turned, Assign(s.target, Op(p.matmul, factors(Var(turned.target))), s.span)


def _transpose_of(p: Operators, matrix: Atom) -> Atom | None:
    """The matrix of which this one is the transpose, with all axes turned around."""
    made = p.walk.held(matrix)
    turned = isinstance(made, Op) and made.fn is np.transpose and len(made.args) == 1 and not made.kwargs
    return made.args[0] if isinstance(made, Op) and turned and p.still(made.args[0]) else None


def _rank_of_shape(p: Operators, shape: Atom) -> int | None:
    """The length of a tuple; None where tuples of several lengths meet, as for an array of unknown rank."""
    kind = p.kind(shape)
    node = kind.region.root() if isinstance(kind, Box) and kind.cls is tuple else None
    return None if node is None or node.open else len(node.fields)


def _transposed(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """The axes that undo turning all of them around."""
    if len(op.args) == 1:
        return _turned_product(p, s, op.args[0])
    made = p.expr(op.args[1]) if len(op.args) == 2 else None
    undone = isinstance(made, Op) and made.fn is arrays.inverse_axes and made.args == (Lit(None),)
    return _as(s, np.transpose, op.args[0]) if undone else None


def _turned_product(p: Operators, s: Assign, product: Atom) -> Sequence[Statement] | None:
    """``(x.T @ t).T`` as ``t.T @ x``; ``unbroadcast(x.T @ t, w.T).T`` as ``unbroadcast(t.T @ x, w)``."""
    like, made = None, p.expr(product)
    if (
        isinstance(made, Op)
        and made.fn is arrays.unbroadcast
        and isinstance(product, Var)
        and p.count[product.name] == 1
    ):
        like, product = _transpose_of(p, made.args[1]), made.args[0]
        if like is None or p.rank(like) != 2:
            return None
        made = p.expr(product)
    if not (p.walk.ours and isinstance(made, Op) and made.fn is p.matmul and isinstance(product, Var)):
        return None
    first, second = made.args
    plain = _transpose_of(p, first)
    if plain is None or p.count[product.name] != 1 or not p.rank(plain) == p.rank(second) == 2 or not p.still(second):
        return None
    turned = p.let(s, Op(np.transpose, (second,)), p.kind(second))
    found = Op(p.matmul, (Var(turned.target), plain))
    if like is None:
        return turned, Assign(s.target, found, s.span)
    fitting = p.let(s, found, p.kind(product))
    return turned, fitting, Assign(s.target, Op(arrays.unbroadcast, (Var(fitting.target), like)), s.span)


def _one_system_each(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """The right side of one system is what it is; only stacks of them have to be looked at."""
    t, matrix, right = op.args
    if _rank_of_shape(p, matrix) != 2 or _rank_of_shape(p, right) not in (1, 2):
        return None
    same = p.walk.passed(s, t)
    return None if same is None else (same,)


def _columns_outer(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """The outer product of two vectors, or the product of a matrix with a transposed one."""
    u, v = op.args
    match p.rank(u), p.rank(v):
        case 1, 1 if not p.drops:
            return _as(s, np.outer, u, v)
        case 2, 2:
            return _with_transposed(p, s, v, lambda turned: (u, turned))
    return None


def _swapped(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """The transpose of a matrix, where the rule is written for stacks of them."""
    turned = p.walk.ours and swaps_sides(op.fn, op.args) and p.rank(op.args[0]) == 2
    return _as(s, np.transpose, op.args[0]) if turned else None


def _count(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """How many elements a sum over all of an array has, or one along an axis."""
    shape, axes = op.args
    made = p.expr(shape)
    if isinstance(axes, Lit) and type(axes.value) is int and _rank_of_shape(p, shape) is not None:
        return (Assign(s.target, Index(shape, Key((axes,))), s.span),)
    if axes != Lit(None) or not (isinstance(made, Op) and made.fn is np.shape and p.rank(made.args[0]) is not None):
        return None
    return _as(s, np.size, made.args[0])


def _of_shape(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """The shape of an array that is made, or was recorded, for it alone is that of an operand, or of a parameter, if
    they have the same."""
    (array,) = op.args
    made = p.expr(array)
    if not (isinstance(array, Var) and p.count[array.name] == 1 and p.shape(array)):
        return None
    if array.name in p.unit.found(_popped):
        owner = _owner(p, p.shape(array))
        return None if owner is None else _as(s, op.fn, owner)
    if not isinstance(made, Op):
        return None
    for other in made.args:
        if isinstance(other, Var) and p.rank(other) is not None and p.shape(other) == p.shape(array):
            return _as(s, op.fn, other)
    return None


def _popped(unit: Unit) -> frozenset[str]:
    """The names of what is taken from tapes."""
    return frozenset(s.target for s in unit.statements() if isinstance(s, Assign) and isinstance(s.value, Pop))


def _owner(p: Operators, shape: Shape) -> Var | None:
    """The parameter, never bound anew, whose shape it is."""
    tag = shape[0] if isinstance(shape, Lengths) and shape else None
    if not (isinstance(tag, tuple) and tag[-3:-2] == ("param",)):
        return None
    owner = Var(str(tag[-2]))
    same = not p.bindings[owner.name] and p.rank(owner) is not None and p.shape(owner) == shape
    return owner if same else None


def _einsum(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """NumPy's own function, of one operand or of two."""
    if op.args[2] == Lit(None):
        return _as(s, np.einsum, *op.args[:2])
    return _as(s, np.einsum, *op.args) if isinstance(p.kind(op.args[2]), Arr) else None


def _clone(p: Operators, s: Assign, op: Op) -> Sequence[Statement] | None:
    """A copy, made so that what is given back is nobody else's, of an array that is nobody else's."""
    (array,) = op.args
    old, new = p.unit.kinds.get(s.target), p.kind(array)
    if s.target not in p.walk.returned or not (isinstance(old, Arr) and isinstance(new, Arr) and p.made_here(new)):
        return None
    if not old.region.still() or old.dtype != new.dtype or old.rank != new.rank:
        return None
    old.region.unite(new.region)
    p.walk.returned |= {s.target}
    return (Assign(s.target, array, s.span),)


_RULES: dict[Any, Rule] = {
    arrays.clone: _clone,
    MUL: _product,
    np.multiply: _product,
    arrays.matmul_left: _left,
    arrays.outer_left: _outer_left,
    arrays.outer_right: _outer_right,
    arrays.matmul_right: _right,
    arrays.dot_left: _left,
    arrays.dot_right: _right,
    arrays.count_reduced: _count,
    arrays.einsum_of: _einsum,
    np.shape: _of_shape,
    np.size: _of_shape,
    np.transpose: _transposed,
    np.swapaxes: _swapped,
    arrays.one_system_each: _one_system_each,
    arrays.columns_outer: _columns_outer,
}


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes support functions as operators."""
    return run_each(program, units, Operators)
