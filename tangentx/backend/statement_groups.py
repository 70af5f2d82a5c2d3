"""Groups of IR statements that Python writes as one, and use counts for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.backend.operators import is_augmented, sign
from tangentx.errors import Span
from tangentx.ir import walk
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Augstore,
    Block,
    Call,
    Expr,
    For,
    Function,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Op,
    Pop,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.opaque_ops import Attempt

_PAIRS: tuple[Callable[..., Any], ...] = (
    divmod, np.divmod, np.modf, np.frexp, np.linalg.eig, np.linalg.eigh, np.linalg.slogdet, math.modf, math.frexp,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Unpack:
    """``targets = value``, which has as many items; None stands for an item that nothing reads."""

    targets: tuple[str | None, ...]
    value: Expr
    span: Span


Shaped = Statement | Unpack


def temporary(name: str) -> bool:
    """Whether the compiler made the name up."""
    return name.startswith("%")


class Uses:
    """How often each name of a function is bound and read in its text."""

    def __init__(self, body: Block, lengths: Mapping[str, int]) -> None:
        self.bound: Counter[str] = Counter()
        self.read: Counter[str] = Counter()
        self.params = frozenset(lengths)
        self.arity = dict(lengths)
        self._appended: dict[str, set[int]] = {}
        for stmt in walk.statements(body):
            self.bound.update(walk.writes(stmt))
            self.read.update(a.name for a in walk.statement_atoms(stmt) if isinstance(a, Var))
            if isinstance(stmt, Assign):
                self.arity[stmt.target] = _arity(stmt.value)
            if isinstance(stmt, Append) and isinstance(stmt.base, Var):
                item = stmt.value.name if isinstance(stmt.value, Var) else ""
                self._appended.setdefault(stmt.base.name, set()).add(self.arity.get(item, 0))

    def items(self, value: Expr) -> int:
        """The number of items of the tuple that `value` is known to be, else 0."""
        if isinstance(value, Pop):
            found = self._appended.get(value.base.name, {value.arity})
            return max(found) if len(found) == 1 else 0
        return _arity(value)

    def single(self, name: str) -> bool:
        """Whether `name` is a temporary with one definition and one reader."""
        return temporary(name) and self.bound[name] == 1 and self.read[name] == 1


def folded(block: Block, uses: Uses) -> Iterator[Shaped]:
    """The statements of `block`, not of the blocks inside, with unpackings and augmented stores put together."""
    at = 0
    while at < len(block):
        augmented = _augstore(block[at : at + 3], uses)
        if augmented is not None:
            # The key is evaluated once now: its temporaries lose one reader.
            uses.read.subtract(a.name for a in walk.key_atoms(augmented.key) if isinstance(a, Var))
            uses.read.subtract([augmented.base.name] if isinstance(augmented.base, Var) else [])
            yield augmented
            at += 3
            continue
        unpacked, length = _unpack(block, at, uses)
        yield unpacked if unpacked is not None else block[at]
        at += length


def prepared(block: Block, uses: Uses) -> dict[int, tuple[Shaped, ...]]:
    """`folded` of the block and of each block inside it, by the block's id; done first, as it corrects `uses`."""
    found: dict[int, tuple[Shaped, ...]] = {}
    stack = [block]
    while stack:
        inner = stack.pop()
        found[id(inner)] = tuple(folded(inner, uses))
        for stmt in inner:
            if isinstance(stmt, If):
                stack += [stmt.body, stmt.orelse]
            elif isinstance(stmt, For | Loop):
                stack.append(stmt.body)
    return found


def _augstore(group: Block, uses: Uses) -> Augstore | None:
    """``t = a[k]; s = t + v; a[k] = s`` where the user wrote ``a[k] += v`` on that line.

    Only there: on a view or a list in a list, ``a[k] += v`` is not ``a[k] = a[k] + v``.
    """
    match group:
        case (
            Assign(first, Index(base, key)),
            Assign(second, Op(fn, (Var(left), value), ())),
            Store(again, other, Var(stored)),
        ):
            same = _same_atom(base, again) and _same_key(key, other) and (left, stored) == (first, second)
            mark = sign(fn)
            meant = mark is not None and _is_meant(base, key, group[2].span, mark)
            if same and meant and uses.single(first) and uses.single(second):
                return Augstore(base, key, fn, value, group[2].span)
    return None


def _is_meant(base: Atom, key: Key, span: Span, mark: str) -> bool:
    """Whether the user wrote so. Cotangents are no variables of the user's: an item of a list of theirs may be an
    array, of which ``a[k] += v`` is a write; a slice of theirs is written either way."""
    if any(isinstance(part, Slice) for part in key.parts):
        return is_augmented(span, mark)
    return isinstance(base, Var) and is_augmented(span, mark, base.name)


def _same_key(one: Key, two: Key) -> bool:
    atoms = zip(walk.key_atoms(one), walk.key_atoms(two), strict=False)
    return one == two and all(_same_atom(a, b) for a, b in atoms)


def _same_atom(one: Atom, two: Atom) -> bool:
    # 1 == True == 1.0, but they print differently
    return one == two and repr(getattr(one, "value", None)) == repr(getattr(two, "value", None))


def _unpack(block: Block, at: int, uses: Uses) -> tuple[Unpack | None, int]:
    """The unpacking that begins at block[at], if one does, and the number of statements that it takes."""
    made = block[at]
    if isinstance(made, Assign) and isinstance(made.value, Index):
        return _unpack_held(block, at, made.value.base, uses)
    if not (isinstance(made, Assign) and temporary(made.target) and uses.bound[made.target] == 1):
        return None, 1
    match made.value:
        case Op(fn, (base, Lit(count))) if fn is arrays.counted and not uses.read[made.target]:
            return _unpack_counted(block, at, base, count, uses)
    arity = uses.items(made.value)
    targets = _items(block, at + 1, made.target, arity)
    if len(targets) < 2 or uses.read[made.target] != len(targets):
        return None, 1
    return Unpack(tuple(targets.get(i) for i in range(arity)), made.value, made.span), len(targets) + 1


def _items(block: Block, at: int, base: str, arity: int) -> dict[int, str]:
    """The names to which the statements from `at` on bind items of the tuple `base`, by position."""
    targets: dict[int, str] = {}
    for number in range(at, len(block)):
        match block[number]:
            case Assign(target, Index(Var(name), Key((Lit(place),), False))) if (
                name == base and target != base and type(place) is int and 0 <= place < arity
            ):
                if place in targets or target in targets.values():
                    break
                targets[place] = target
            case _:
                break
    return targets


def _unpack_held(block: Block, at: int, base: Atom, uses: Uses) -> tuple[Unpack | None, int]:
    """Items of a tuple that has a name of its own, taken one after the other: all of them, or all but one."""
    given = isinstance(base, Var) and base.name in uses.params
    if not (isinstance(base, Var) and uses.bound[base.name] == (0 if given else 1) and uses.arity.get(base.name)):
        return None, 1
    arity = uses.arity[base.name]
    targets = _items(block, at, base.name, arity)
    few = len(targets) < max(2, arity if given else arity - 1)
    if few or (not given and any(uses.single(t) for t in targets.values())):
        return None, 1
    uses.read[base.name] -= len(targets) - 1
    return Unpack(tuple(targets.get(i) for i in range(arity)), base, block[at].span), len(targets)


def _unpack_counted(block: Block, at: int, base: Atom, count: Any, uses: Uses) -> tuple[Unpack | None, int]:
    """The unpacking of `base`, whose length block[at] checks, by the statements after it."""
    name = base.name if isinstance(base, Var) else ""
    targets: dict[int, str] = {}
    for number in range(at + 1, len(block)):
        match block[number]:
            case Assign(target, Index(other, Key((Lit(place),), False))) if (
                _same_atom(base, other) and type(place) is int and 0 <= place < count and place not in targets
            ):
                if target in targets.values() or name in targets.values():
                    break
                targets[place] = target
            case _:
                break
    if not targets:
        return None, 1
    if name:
        uses.read[name] -= len(targets)
    names = tuple(targets.get(i) for i in range(count))
    return Unpack(names, base, block[at].span), len(targets) + 1


def _arity(value: Expr) -> int:
    """The number of items of the tuple that `value` is known to be, else 0."""
    match value:
        case Make(cls, items) if cls is tuple:
            return len(items)
        case Op(fn, _, _) if any(fn is pair for pair in _PAIRS):
            return 2
        case Op(fn, given, _) if fn is arrays.entry_copies:
            return len(given)
        case Op(Attempt() as tried):
            return len(tried.results)
        case Call(link, _):
            return _result_arity(link.function) if link.function is not None else 0
    return 0


def _result_arity(function: Function) -> int:
    """The number of items of the tuples that a function gives, if all are made by it, with so many."""
    returned = [s.value for s in walk.statements(function.body) if isinstance(s, Return)]
    names = {atom.name for atom in returned if isinstance(atom, Var)}
    if not returned or not all(isinstance(atom, Var) for atom in returned):
        return 0
    made = [s for s in walk.statements(function.body) if names & walk.writes(s)]
    found = {len(s.value.items) if isinstance(s, Assign) and _is_tuple(s.value) else 0 for s in made}  # type: ignore[union-attr]
    return found.pop() if len(found) == 1 and names.isdisjoint(p.name for p in function.params) else 0


def _is_tuple(value: Expr) -> bool:
    return isinstance(value, Make) and value.cls is tuple
