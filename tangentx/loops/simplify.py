"""Simplification: counts uses, removes what nothing reads, and substitutes what is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from tangentx import arrays
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.ir.check import IRError
from tangentx.loops.loop_ir import (
    Allocate,
    Apply,
    Assign,
    Bind,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    Fetch,
    For,
    Function,
    If,
    Length,
    Local,
    Locate,
    Loop,
    NewList,
    NewRecord,
    Outside,
    Pick,
    Product,
    Pull,
    Push,
    Put,
    Read,
    Reduce,
    Remark,
    Reshape,
    Return,
    Span,
    Statement,
    Turn,
    View,
    Write,
    blocks,
    statements,
)

# Simplification: removes what nothing reads, and substitutes what is read once.

_REPEATED = frozenset(
    "guarded ratio_or_zero over_root log_or_zero power_slope select add_fits sub_fits mul_fits".split()
)
"""Operations that a printer writes with an operand more than once."""
LIMIT_PARTS = 9
_EXPRESSIONS = (Const, Local, Extent, Read, Apply, Reduce, Length)


def tidy(function: Function) -> Function:
    """The function, shortened."""
    while True:
        body = _without_dead(function.body)
        body = _nested(body, Counter(names_read(body)), {n for n, c in Counter(_bound(body)).items() if c == 1})
        if body == function.body:
            break
        function = replace(function, body=body)
    _demand_bound(function)
    left = {name for s in statements(function.body) for name in _names(s)}
    return replace(function, locals={name: type for name, type in function.locals.items() if name in left})


def _demand_bound(function: Function) -> None:
    """Raises IRError where a name is read that nothing binds: C would take it for 0."""
    lost = set(names_read(function.body)) - {name for name, _ in function.params} - set(_bound(function.body))
    if lost:
        raise IRError(f"the loops of `{function.name}` read {', '.join(sorted(lost))}, which nothing binds")


# ---- what a statement reads and binds ----


def expressions(s: Statement) -> Iterator[Expr]:
    """The expressions that a statement itself holds."""
    for each in fields(s):
        value = getattr(s, each.name)
        if isinstance(value, _EXPRESSIONS):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, _EXPRESSIONS):
                    yield item
                elif isinstance(item, Pick):
                    yield item.place
                elif isinstance(item, Span):
                    yield item.start
                    yield item.count


def applied(block: Block) -> Iterator[Apply]:
    """Every operation in a block; not those that only decide whether the program gives up."""
    todo = [value for s in statements(block) if not isinstance(s, Check) for value in expressions(s)]
    while todo:
        value = todo.pop()
        if isinstance(value, Apply):
            yield value
            todo += value.args


def atoms(value: Expr) -> Iterator[str]:
    """The names that an expression reads."""
    match value:
        case Local(name):
            yield name
        case Extent(array=array) | Length(list=array) | Reduce(array=array):
            yield array
        case Read(array, places):
            yield array
            for place in places:
                yield from atoms(place)
        case Apply(args=args):
            for arg in args:
                yield from atoms(arg)


def _names(s: Statement) -> Iterator[str]:
    """All names that a statement mentions."""
    for value in expressions(s):
        yield from atoms(value)
    yield from _arrays(s)
    yield from targets(s)


def _arrays(s: Statement) -> tuple[str, ...]:
    """Arrays and tapes that a statement uses, beside those in its expressions."""
    match s:
        case Write(array=name) | View(base=name) | Turn(base=name) | Reshape(base=name) | Bind(source=name):
            return (name,)
        case Pull(list=name) | Fetch(base=name):
            return (name,)
        case Product(_, a, b):
            return a, b
        case Push(name, value) | Put(name, _, value):
            return (name, value) if isinstance(value, str) else (name,)
        case Return(values) | NewRecord(_, values) | Call(_, values) | Outside(args=values):
            return tuple(v for v in values if isinstance(v, str))
    return ()


def targets(s: Statement) -> tuple[str, ...]:
    """Names that a statement gives a value."""
    if isinstance(s, Call):
        return s.results
    if isinstance(s, Outside):
        return s.names
    if isinstance(
        s,
        Assign | Locate | Allocate | View | Turn | Reshape | Bind | NewList | NewRecord | Pull | Fetch | Product | For,
    ):
        return (s.name,)
    return ()


def names_read(block: Block) -> Iterator[str]:
    """The names that a block reads, as often as it does."""
    for s in statements(block):
        for value in expressions(s):
            yield from atoms(value)
        yield from _arrays(s)


def _bound(block: Block) -> Iterator[str]:
    for s in statements(block):
        yield from targets(s)


# ---- what nothing reads ----


def _without_dead(block: Block) -> Block:
    found = _filtered(block, set(names_read(block)))
    return block if found == block else _without_dead(found)


def _is_dead(s: Statement, read: set[str]) -> bool:
    if isinstance(s, Assign | View | Turn | Reshape | Allocate | Bind | NewList | NewRecord | Fetch):
        return s.name not in read
    if isinstance(s, If):
        return not (s.body or s.orelse)
    return False


def _filtered(block: Block, read: set[str]) -> Block:
    shorter = (_with_blocks(s, lambda b: _filtered(b, read)) for s in block)
    return tuple(s for s in shorter if not _is_dead(s, read))


def _with_blocks(s: Statement, change: Callable[[Block], Block]) -> Statement:
    if isinstance(s, If):
        return replace(s, body=change(s.body), orelse=change(s.orelse))
    return replace(s, body=change(s.body)) if isinstance(s, For | Loop) else s


# ---- what is read once ----


def _nested(block: Block, reads: Mapping[str, int], once: set[str]) -> Block:
    out: list[Statement] = []
    waiting: dict[str, Expr] = {}
    for s in block:
        s = _with_blocks(s, lambda b: _nested(b, reads, once))
        inside = {name for b in blocks(s) for name in names_read(b)}
        for value in expressions(s):
            for name in atoms(value):
                if name in waiting and not _may_stand(name, waiting[name], s):
                    out.append(Assign(name, waiting.pop(name)))
        for name in [n for n in waiting if n in inside]:
            out.append(Assign(name, waiting.pop(name)))
        s = _with(s, waiting)
        if isinstance(s, Assign) and s.name in once and reads.get(s.name) == 1 and _size(s.value) <= LIMIT_PARTS:
            _settle(out, waiting, {s.name}, False)
            waiting[s.name] = s.value
            continue
        if isinstance(s, Remark):
            out.append(s)
            continue
        inner = {name for t in statements((s,)) for name in targets(t)}
        writes = not isinstance(s, Assign | Check | Locate)
        _settle(out, waiting, inner, writes)
        out.append(s)
    out += [Assign(name, value) for name, value in waiting.items()]
    return tuple(out)


def _settle(out: list[Statement], waiting: dict[str, Expr], bound: set[str], writes: bool) -> None:
    """Writes down what waits for its reader and would change its meaning behind a statement."""
    for name in [n for n, v in waiting.items() if not bound.isdisjoint(atoms(v)) or (writes and _looks(v))]:
        out.append(Assign(name, waiting.pop(name)))


def _looks(value: Expr) -> bool:
    """Whether an expression reads memory."""
    if isinstance(value, Apply):
        return any(map(_looks, value.args))
    return isinstance(value, Read | Reduce | Length)


def _may_stand(name: str, value: Expr, s: Statement) -> bool:
    """Whether a statement that reads the name once may have its value there. A place is a name or a constant."""
    if isinstance(s, Write) and any(name in atoms(place) for place in s.places):
        return False
    if isinstance(s, Assign | Write | Push | Put | NewRecord | Call | Outside | Return) or (
        isinstance(s, If) and name in set(atoms(s.test))
    ):
        return all(_has_room(name, given) for given in expressions(s))
    return isinstance(s, Check) and not isinstance(value, Apply)


def _has_room(name: str, value: Expr) -> bool:
    if isinstance(value, Apply):
        if value.op in _REPEATED and any(name in atoms(arg) for arg in value.args):
            return False
        return all(_has_room(name, arg) for arg in value.args)
    return not (isinstance(value, Read) and name in {n for p in value.places for n in atoms(p)})


def _size(value: Expr) -> int:
    return 1 + sum(map(_size, value.args)) if isinstance(value, Apply) else 1


def _with(s: Statement, waiting: dict[str, Expr]) -> Statement:
    """The statement with what waits for it in its place."""
    used = {name for value in expressions(s) for name in atoms(value)} & waiting.keys()
    if not used:
        return s
    found = {name: waiting.pop(name) for name in used}

    def put(value: Any) -> Any:
        match value:
            case Local(name) if name in found:
                return found[name]
            case Apply(args=args):
                return replace(value, args=tuple(map(put, args)))
        return value

    changed = {}
    for each in fields(s):
        value = getattr(s, each.name)
        if isinstance(value, _EXPRESSIONS):
            changed[each.name] = put(value)
        elif isinstance(s, Return | NewRecord | Call | Outside) and isinstance(value, tuple):
            changed[each.name] = tuple(put(item) for item in value)
    return replace(s, **changed)


# Use counts: which names a function reads, where and how often.


def reads(block: ir.Block) -> Counter[str]:
    """How often each name is read, by what does not only serve an exception or nothing."""
    live = [s for s in walk.statements(block) if not isinstance(s, ir.Raise)]
    while True:
        found = Counter(a.name for s in live for a in walk.statement_atoms(s) if isinstance(a, ir.Var))
        rest = [s for s in live if not (isinstance(s, ir.Assign) and not found[s.target] and may_go(s.value))]
        if len(rest) == len(live):
            return found
        live = rest


def reads_elsewhere(body: ir.Block, bound: set[str]) -> Iterator[str]:
    """Names that are read where they may hold what another trip gave them, or no value: not behind what binds them,
    in its block or inside of that."""
    known = set(bound)
    for s in body:
        yield from (a.name for a in walk.statement_atoms(s) if isinstance(a, ir.Var) and a.name not in known)
        inside = {s.target} if isinstance(s, ir.For) else set[str]()
        for block in walk.blocks(s):
            yield from reads_elsewhere(block, known | inside)
        if type(s) in walk.BINDING and not isinstance(s, ir.For):
            known.add(s.target)  # type: ignore[union-attr]


def asked_names(body: ir.Block) -> frozenset[str]:
    """Variables of which the program asks whether they have a value."""
    ops = [s.value for s in walk.statements(body) if isinstance(s, ir.Assign) and isinstance(s.value, ir.Op)]
    return frozenset(a.name for op in ops if op.fn is arrays.demand_bound for a in op.args if isinstance(a, ir.Var))


def may_go(value: ir.Expr) -> bool:
    return not isinstance(value, ir.Pop | ir.Call)
