"""Scalarisation: from the closed, typed IR to the loop language.

A statement of the IR becomes statements of numbers and elements; a tuple becomes its items; a list that grows and
shrinks at its end becomes a tape. What has no form there is refused, with its place and the reason."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import BOTTOM, Box, Kind, Num
from tangentx.common.naming import Names
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.loops import (
    array_operations,
    calls,
    containers,
    list_operations,
    operators,
    parameters,
    results,
    structures,
    subscripts,
)
from tangentx.loops.array_statements import ONE, Held
from tangentx.loops.builder import RESERVED
from tangentx.loops.events import with_events
from tangentx.loops.loop_ir import (
    BOOL,
    INT,
    Apply,
    Assign,
    Bail,
    Break,
    Const,
    Continue,
    Expr,
    Extent,
    For,
    Function,
    If,
    Local,
    Loop,
    OutsideCall,
    Program,
    Return,
)
from tangentx.loops.operators import Refused, RefusedLate
from tangentx.loops.simplify import may_go, tidy
from tangentx.loops.types import (
    MISSING,
    UNBOUND,
    Callee,
    Maybe,
    Refusal,
    Source,
    Unreachable,
    Value,
    identifier,
    is_hashable,
    is_value,
    scalar_type,
    surely,
    type_of,
)
from tangentx.loops.writer import Writer


def scalarise(entered: Source, others: Mapping[ir.Link, Source]) -> Program:
    """The program of the loop language that does what the function does. Raises Refusal.

    `others` has the functions that it calls.
    """
    functions = _Functions(others)
    root = functions.written(entered, None)
    made = tuple(with_events(tidy(function)) for function in (root.made(), *functions.made))
    if functions.turns and functions.reshapes:
        raise Refusal(
            "memory that is written under two shapes, where arrays lie in several orders", entered[0].span.line
        )
    outside = tuple(functions.outside)
    return replace(
        root.program(), functions=made, outside=outside, report=tuple(functions.report), reshapes=functions.reshapes
    )


class _Functions:
    """The functions of a program, each for the types of the arguments that it is called with."""

    def __init__(self, sources: Mapping[ir.Link, Source]) -> None:
        self.sources = sources
        self.made: list[Function] = []
        self.known: dict[object, Callee | None] = {}
        self.names = Names(RESERVED)
        self.outside: list[OutsideCall] = []
        self.turns = self.reshapes = False
        self.report: list[str] = []

    def written(self, source: Source, given: Sequence[object] | None, kind: Kind | None = None) -> Writer:
        """The writer of a function, which is done; `given` are the forms of its arguments, None for the entry; `kind`
        is that of its result."""
        scattered, vague, changing, several = frozenset[str](), frozenset[str](), frozenset[str](), False
        alike: frozenset[tuple[Extent, Extent]] = frozenset()
        joined: Kind | None = None
        name = self.names.fresh(identifier(source[0].name))
        while True:
            writer = Writer(name, source, self, given, scattered, vague, several, joined, changing)
            try:
                write_function(writer, alike)
            except (Refused, RefusedLate) as error:
                if writer.several and not several:
                    several = True
                    continue
                if writer.several and joined is None and isinstance(kind, Box):
                    joined = kind
                    continue
                raise Refusal(error.reason, writer.line) from None
            steady = not writer.shapes.changing and writer.b.alike <= alike
            if steady and writer.scattered <= scattered and writer.b.found_vague <= vague:
                self.report += writer.report()
                self.turns = self.turns or writer.arrays.turns
                self.reshapes = self.reshapes or writer.arrays.reshapes
                return writer
            scattered, vague = scattered | writer.scattered, vague | writer.b.found_vague
            alike |= writer.b.alike
            changing |= writer.shapes.changing

    def called(self, link: ir.Link, given: Sequence[object], kind: Kind) -> Callee:
        """The function of a call, whose result has this kind."""
        key: object = (link, tuple(given))
        if isinstance(known := self.known.get(key), Callee) and known.joined:
            key = (link, tuple(given), type_of(kind))
        if key not in self.known:
            if link not in self.sources:
                raise Refused("a call of a function that is not known")
            self.known[key] = None
            writer = self.written(self.sources[link], given, kind)
            self.made.append(writer.made())
            self.known[key] = writer.callee()
        found = self.known[key]
        if found is None:
            raise Refused("a function that calls itself")
        return found


def write_function(w: Writer, alike: Collection[tuple[Extent, Extent]] = ()) -> None:
    """Writes the function. Lengths of parameters that are known to be `alike` in the end are compared at first, so that
    statements of arrays go together that are only found later to have one shape."""
    with w.b.block() as w.body:
        for place, param in enumerate(w.function.params):
            if param.kind not in ("normal", "positional"):
                raise Refused(f"the parameter `{param.name}`")
            if w.given is None:
                w.arguments.append(parameters.argument_of_entry(w, param.name))
            else:
                parameters.bind_parameter(w, param, w.given[place] if place < len(w.given) else MISSING)
        known = dict(w.b.params)
        for a, b in sorted(alike, key=repr):
            if a.array in known and b.array in known:
                w.arrays.demand_same(a, b)
        w.b.alike.clear()
        write_block(w, w.function.body)
        w.arrays.flush()
        if not w.body or not isinstance(w.body[-1], Return):
            w.b.check(Const(False, BOOL), Bail.RAISED)  # every way through it ends in `return`
        if w.results is None:
            raise Refused("a function that never returns")


def write_block(w: Writer, block: ir.Block) -> None:
    """The statements of a block."""
    for s in block:
        if isinstance(s, ir.Assign) and s.target in w.asked:
            w.b.emit(Assign(w.has_value(s.target).name, Const(s.value != ir.Lit(ir.UNBOUND), BOOL)))
        w.line = w.arrays.line = s.span.line if not isinstance(s, ir.Note) else w.line
        if not all(map(_is_quiet, s.span.around)):
            raise Refused("a `with` statement")
        try:
            write_statement(w, s)
        except Unreachable:
            return


def inner_block(w: Writer, block: ir.Block) -> tuple[object, ...]:
    """A block inside of a statement."""
    w.arrays.flush()
    with w.b.block() as body:
        write_block(w, block)
        w.arrays.flush()
    return tuple(body)


def write_statement(w: Writer, s: ir.Statement) -> None:
    """One statement."""
    match s:
        case ir.Assign():
            write_assignment(w, s)
        case ir.Delete():
            containers.delete_item(w, s)
        case ir.Store():
            subscripts.store_elements(w, s.base, s.key, s.value, add=False)
        case ir.Accumulate():
            subscripts.store_elements(w, s.base, s.key, s.value, add=True, repeats=s.repeats)
        case ir.Append():
            containers.append_item(w, s)
        case ir.If():
            test = operators.truth(w.scalar(s.test))
            w.arrays.flush()
            if isinstance(test, Const):
                write_block(w, s.body if test.value else s.orelse)
                return
            w.b.emit(If(test, inner_block(w, s.body), inner_block(w, s.orelse)))  # type: ignore[arg-type]
        case ir.For():
            write_loop(w, s)
        case ir.Loop():
            w.arrays.flush()
            with w.b.loop():
                body = inner_block(w, s.body)
            w.b.emit(Loop(body))  # type: ignore[arg-type]
        case ir.Break() | ir.Continue():
            w.arrays.flush()
            w.b.emit(Break() if isinstance(s, ir.Break) else Continue())
        case ir.Raise():
            w.arrays.flush()
            w.b.check(Const(False, BOOL), Bail.RAISED)
        case ir.Return():
            results.returned(w, s)
        case ir.Note(text):
            w.arrays.remark(text)
        case _:
            raise Refused("a statement of this kind")


def write_loop(w: Writer, s: ir.For) -> None:
    """A loop over a range."""
    if s.snapshots is not None:
        raise Refused("a loop with checkpoints")
    w.arrays.flush()
    b = w.b
    start, stop, step = (b.let("k", w.scalar(atom)) for atom in (s.start, s.stop, s.step))
    if any(x.type.code != "i8" for x in (start, stop, step)):
        raise Refused("bounds of a loop that are no whole numbers")
    if not isinstance(step, Const) or step.value == 0:
        raise Refused("a loop whose step is not known")
    for end in (start, stop):
        if (bound := b.bound(end)) is None or bound >= operators.LARGE:
            b.check(Apply("lt", (Apply("abs", (end,), INT), Const(operators.LARGE, INT)), BOOL), Bail.INTEGER)
    backward = s.backward
    if backward and step.value == -1:  # the same numbers, from the last one upwards
        start, stop = (b.let("k", Apply("add", (end, ONE), INT)) for end in (stop, start))
        step, backward = ONE, False
    bounds = start, stop
    if step.value < 0:
        bounds = b.let("k", Apply("add", (stop, ONE), INT)), b.let("k", Apply("add", (start, ONE), INT))
    if backward and step.value != 1:
        start, stop, step, backward = *_turned(w, start, stop, int(step.value)), False
    inside = sum(atom == ir.Var(s.target) for t in walk.statements(s.body) for atom in walk.statement_atoms(t))
    own = w.bound[s.target] == 1 and inside == w.read[s.target]
    counter = b.fresh(w.stem(s.target) if own else "k", INT)
    b.loops[counter] = bounds
    if own:
        w.values[s.target] = Local(counter, INT)
    with b.loop(), b.block() as body:
        if s.target in w.asked:
            w.b.emit(Assign(w.has_value(s.target).name, Const(True, BOOL)))
        if not own:
            w.assign_number(s.target, Local(counter, INT))
        write_block(w, s.body)
        w.arrays.flush()
    b.emit(For(counter, start, stop, step, backward, tuple(body)))


def _turned(w: Writer, start: Expr, stop: Expr, step: int) -> tuple[Expr, Expr, Const]:
    """The range with the same numbers in the opposite order, for a step of more than one."""
    b, size = w.b, Const(abs(step), INT)
    low, high, op, back = (start, stop, "add", "sub") if step > 0 else (stop, start, "sub", "add")
    length = b.let("n", Apply("sub", (b.let("n", Apply("sub", (high, low), INT)), ONE), INT))
    whole = b.let("n", Apply("mul", (b.let("n", Apply("floordiv", (length, size), INT)), size), INT))
    last = b.let("k", Apply(op, (start, whole), INT))
    return last, b.let("k", Apply(back, (start, ONE), INT)), Const(-step, INT)


def write_assignment(w: Writer, s: ir.Assign) -> None:
    """A name is given a value."""
    if isinstance(s.value, ir.Op) and s.value.fn is arrays.demand_bound:
        if isinstance(s.value.args[0], ir.Var):
            w.b.check(w.has_value(s.value.args[0].name), Bail.RAISED)
        return
    if walk.empties(s) or s.target in w.aliases or not w.read[s.target]:
        if not (walk.empties(s) or s.target in w.aliases or may_go(s.value)):
            w.bind(s.target, value_of_expression(w, s))
        return
    if w.kind(s.target) == BOTTOM:
        without_value(w, s)
        return
    w.bind(s.target, value_of_expression(w, s))


def without_value(w: Writer, s: ir.Assign) -> None:
    """A name that never has a value: there is none yet, or the program never comes behind the statement."""
    given = s.value
    if isinstance(given, ir.Op) and given.fn in (arrays.zero, arrays.real_zero):
        given = given.args[0]
    if not (isinstance(given, ir.Var | ir.Lit) and is_value(given) and w.value(given) == UNBOUND):
        w.arrays.flush()
        w.b.check(Const(False, BOOL), Bail.RAISED)
        raise Unreachable
    w.values[s.target] = UNBOUND


def value_of_expression(w: Writer, s: ir.Assign) -> Value:
    """What the right side of an assignment gives."""
    match s.value:
        case ir.Var() | ir.Lit() | ir.Ext():
            return w.steady(w.value(s.value))
        case ir.Op():
            return value_of_operation(w, s.target, s.value)
        case ir.Index(base, key):
            return subscripts.element_or_view(w, s.target, base, key)
        case ir.Make(cls=cls, items=items) if cls is tuple:
            return tuple(w.kept(w.steady(w.value(item))) for item in items)
        case ir.Make():
            return containers.new_container(w, s.target, s.value)
        case ir.Call():
            return calls.call_of_function(w, s.target, s.value)
        case ir.Pop(base):
            return containers.popped_item(w, s.target, base)
        case ir.Attr(base, name):
            return subscripts.attribute_of(w, s.target, base, name)
    raise Refused("an expression of this kind")


def value_of_operation(w: Writer, target: str, op: ir.Op) -> Value:
    """A primitive."""
    kind = surely(w.kind(target))
    values: list[Any] = [w.value(atom) if is_value(atom) else atom for atom in op.args]
    named = {name: w.value(atom) if is_value(atom) else atom for name, atom in op.kwargs}
    if op.fn in (arrays.entry_copy, arrays.entry_copies):
        w.arrays.entry_copies |= {
            name for atom in op.args if isinstance(atom, ir.Var) for name in parameters.names_of_argument(w, atom.name)
        }
    if op.fn is arrays.entry_copies:
        return structures.copied_arguments(w, kind, values)
    if op.fn in (builtins.hasattr, operator.contains):
        return containers.has_item(w, *values)
    if op.fn in (operator.is_, operator.is_not) and any(isinstance(v, Maybe) for v in values):
        return is_none(w, op.fn is operator.is_, values)
    values = [w.present(v) for v in values]
    named = {name: w.present(v) for name, v in named.items()}
    if is_hashable(op.fn):
        found = of_container(w, op.fn, kind, values, named)
        if found is not MISSING:
            return found  # type: ignore[return-value]
    given = [v for v in values if isinstance(v, Held)]
    if not given and isinstance(kind, Num) and not named and operators.is_scalar_operation(op.fn):
        args = [w.scalar(atom) for atom in op.args]
        return operators.apply(op.fn, w.b, args, scalar_type(kind))
    request = array_operations.Request(op.fn, values, named, kind, w.stem(target), w.read[target])
    if op.fn in _PRODUCTS and len(given) == 2 and not named and (product := calls.product(w, request)) is not None:
        return product
    try:
        result: Value = array_operations.operation(w.arrays, request)
    except Refused as refused:
        if not calls.is_allowed(op.fn):
            raise
        try:
            return calls.outside_call(w, request)
        except Refused:
            raise refused from None
    return result


def of_container(w: Writer, fn: Any, kind: Kind, values: Sequence[Any], named: Mapping[str, Any]) -> object:
    """What becomes of functions of lists, tuples and other containers, and of slices."""
    if fn is builtins.slice:
        return subscripts.slicing(w, values)
    if fn is arrays.give_best:
        return list_operations.best_shares(w, kind, values)
    if fn in _OF_SEQUENCES:
        return _OF_SEQUENCES[fn](w, values)
    rule = _OF_CONTAINERS.get(fn)
    if rule is not None and values and w.is_container(values[0]):
        return rule(w, kind, values)
    of_lists = list_operations.RULES.get(fn)
    if of_lists is not None and values and not named and w.is_container(values[-1]):
        return of_lists(w, kind, values)
    return MISSING


def is_none(w: Writer, yes: bool, values: Sequence[Value]) -> Expr:
    """Whether something that may be None is, or is not."""
    found = [v for v in values if isinstance(v, Maybe)]
    if len(found) != 1 or None not in values:
        raise Refused("whether one of two things is the other")
    return found[0].absent if yes else Apply("not", (found[0].absent,), BOOL)


def _is_quiet(manager: object) -> bool:
    """Whether a manager is ``np.errstate`` that tells nobody of underflow: a program asks for all other events, and
    bails out."""
    assert isinstance(manager, ir.Manager)
    call = manager.call
    if manager.first or call.args or not isinstance(call.fn, ir.Ext) or call.fn.value is not np.errstate:
        return False
    given = dict(call.kwargs)
    told = given.get("under", given.get("all", ir.Lit("ignore")))
    return told == ir.Lit("ignore")


_OF_CONTAINERS: dict[object, Callable[[Writer, Kind, Sequence[Value]], Value]] = {
    builtins.len: containers.length_of_container,
    builtins.sum: structures.sum_of_container,
    arrays.zero: structures.zero_of_container,
    arrays.entry_copy: structures.copied_container,
    arrays.finish: structures.finished_container,
}
_OF_SEQUENCES: dict[object, Callable[[Writer, Sequence[Value]], Value]] = {
    slice.indices: subscripts.indices,
    arrays.fitting: subscripts.fitting,
    arrays.shares: subscripts.shares_memory,
    arrays.equal_lengths: subscripts.equal_lengths,
}
_PRODUCTS = (operator.matmul, np.matmul, np.dot)
