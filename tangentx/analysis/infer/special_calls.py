"""Calls in a special way: checkpointed ones, and runs on Tensors of what cannot be compiled."""

from __future__ import annotations

import dataclasses
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.arguments import bind
from tangentx.analysis.infer.functions import external, items, value_class
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.memory import global_writes
from tangentx.analysis.types.kind_copies import copy_kind
from tangentx.analysis.types.kinds import (
    BOTTOM,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Region,
    describe,
    reached,
    signature,
    varied,
    vary,
)
from tangentx.analysis.types.primitives import name_of
from tangentx.arrays.schedules import checkpointed
from tangentx.common import user_rules
from tangentx.errors import TangentxError, UnsupportedSyntax
from tangentx.ir.functions import Closure, FunctionValue, function_of
from tangentx.ir.nodes import Assign, Atom, Call, Expr, Function, Lit, Make, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Checkpointed calls: not recorded, but executed again in the reverse sweep.

Named = tuple[tuple[str, Atom], ...]


def taken(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of ``tx.checkpoint``, or of a function that it wrapped; None for the call of another function."""
    if fn is checkpointed:
        hint = "write `for t in tx.checkpointed(range(n)):`"
        raise UnsupportedSyntax("`checkpointed` is for what a `for` statement iterates over", w.span, hint)
    found = user_rules.checkpointed(fn)
    if not found:
        return None
    (inner,) = found
    if inner is not None:
        return _of_object(w, inner, args, kwargs)
    if len(args) < 2 or kwargs:
        hint = "call it with the arguments: `tx.checkpoint(f, x)`, or wrap the function where it is defined"
        raise UnsupportedSyntax(
            "`checkpoint` is called without the arguments of its function inside a differentiated function",
            w.span,
            hint,
        )
    kind = w.read(args[0])[1]
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    if isinstance(kind, Obj):
        return _of_object(w, kind.value, args[1:], ())
    cls = value_class(kind)
    if cls is None or not issubclass(cls, Closure):
        hint = "give it a function that is written with `def`, or a lambda: `lambda x: model.step(x)`"
        raise UnsupportedSyntax(f"`checkpoint` of {describe(kind)} is not differentiated", w.span, hint)
    source = function_of(cls)
    return _call(w, source, bind(w, source, (*items(w, args[0], cls.captured), *args[1:]), ()))


def _of_object(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    owner: tuple[Any, ...] = ()
    while any(user_rules.checkpointed(fn)):
        (fn,) = user_rules.checkpointed(fn)  # run again once, however often it is wrapped
    if hasattr(fn, "__tangentx_target__"):
        fn, owner = fn.__tangentx_target__()
    elif isinstance(fn, types.MethodType):
        fn, owner = fn.__func__, (fn.__self__,)
    if not isinstance(fn, types.FunctionType):
        return w.call_object(fn, args, kwargs)  # one operation, which keeps no more than its arguments
    source = w.program.lift(fn)
    return _call(w, source, bind(w, source, (*(external(w, x, "self") for x in owner), *args), kwargs))


def _call(w: Walker, source: Function, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    called, kind = w.call(w.program.checkpoints.source(source), None, args)
    if isinstance(called, Call):
        w.program.checkpoints.links[called.link] = None
    return called, kind


# Calls of functions that cannot be compiled: each runs on Tensors, inside the compiled program.
#
# What such a call gives must be known, and that it writes and keeps nothing that others hold. Both is found by the
# analysis of the function, beside the program, with its ``try`` statements free to bind what is differentiated.


def call(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of a function that runs on Tensors. Raises the error for which it does where it cannot do that alone."""
    helper = w.program.on_tensors[fn]
    try:
        source = w.program.loosely(fn)
    except TangentxError:
        raise helper.error from None
    given = bind(w, source, args, kwargs)
    kinds = [w.read(a)[1] for a in given]
    if any(isinstance(k, Bottom) for k in kinds):
        return Lit(None), BOTTOM
    try:
        instance = _beside(w.program, source, kinds)
    except TangentxError:
        raise helper.error from None
    form = _form(instance.result)
    if form is None or not all(map(_is_given, kinds)):
        raise helper.error
    helper.met = True
    names = tuple(p.name for p, k in zip(source.params, kinds, strict=True) if varied(k))
    active = tuple(a for a, k in zip(given, kinds, strict=True) if varied(k))
    found = _written(w, external(w, fn, name_of(fn)), ", ".join(names), given, active, form)
    if w.program.final:
        _demand_apart(w.program, helper.error, instance, [*kinds, found[1]])
    return found


def _written(
    w: Walker, fn: Atom, names: str, given: tuple[Atom, ...], active: tuple[Atom, ...], form: Any
) -> tuple[Expr, Kind]:
    """The run, and what it gave."""

    def let(expr: Expr, *tag: Any) -> Atom:
        where = ("on tensors", names, form, *tag)
        w.expand(where, lambda: (Assign(w.temporary(), expr, w.span),))
        (bound,) = w.instance.expansions[id(w.statement), where]
        assert isinstance(bound, Assign)
        return Var(bound.target)

    def taken(run: Atom, form: Any, *path: int) -> Expr:
        if isinstance(form, str):
            return Op(arrays.outcome, (run, Lit(form), *active))
        parts = [(let(Op(arrays.part, (run, Lit(i))), *path, i), i, item) for i, item in enumerate(form)]
        return Make(tuple, tuple(let(taken(part, item, *path, i), *path, i, "of") for part, i, item in parts))

    return w.walk(taken(let(Op(arrays.on_tensors, (fn, Lit(names), *given))), form))


def _beside(program: Program, source: Any, kinds: list[Kind]) -> Instance:
    """The function analysed beside the program, whose guards know of it."""
    key = ("on tensors", id(source), tuple(signature(k) for k in kinds))
    if key not in program.nested:
        beside = type(program)(program.loosely)
        beside.on_tensors = {}
        beside.lift(source.origin)
        memo: dict[Region, Region] = {}
        copied = [copy_kind(kind, beside.world, memo) for kind in kinds]
        beside.analyse(source, [vary(new) if varied(old) else new for old, new in zip(kinds, copied, strict=True)])
        program.nested[key] = (source, beside)
    return next(iter(program.nested[key][1].instances.values()))


def _is_given(kind: Kind) -> bool:
    """Whether values of the kind may be arguments: numbers, arrays, known objects, and plain structures of them."""
    if isinstance(kind, Box):
        plain = issubclass(kind.cls, list | tuple | dict) or dataclasses.is_dataclass(kind.cls)
        node = kind.region.root()
        inside = [k for k in (*node.fields.values(), node.elt) if not isinstance(k, Bottom)]
        return plain and not issubclass(kind.cls, FunctionValue) and all(map(_is_given, inside))
    return (isinstance(kind, Num) and not kind.none) or (isinstance(kind, Arr) and kind.sure) or isinstance(kind, Obj)


def _form(kind: Kind) -> Any:
    """The kind of a result as text (see `arrays.form_of`), a tuple of them for a tuple; None for all others."""
    if isinstance(kind, Num) and not kind.none:
        return f"np.{np.dtype(kind.type)}" if issubclass(kind.type, np.generic) else kind.type.__name__
    if isinstance(kind, Arr) and kind.sure and kind.rank is not None:
        return f"{kind.dtype}[{kind.rank}]"
    if isinstance(kind, Box) and kind.cls is tuple and not kind.region.root().open:
        parts = tuple(_form(item) for item in kind.region.root().fields.values())
        return parts if parts and None not in parts else None
    return "None" if kind == Obj(None) else None


def _demand_apart(program: Program, error: TangentxError, instance: Instance, theirs: list[Kind]) -> None:
    """Refuses a function that writes into what others hold, or gives it where anybody writes into it.

    `theirs` are the kinds of the arguments and of the result where it is called.
    """
    beside = next(b for _, b in program.nested.values() if instance in b.instances.values())
    data = [kind for _, kind in beside.externals.values() if isinstance(kind, Arr | Box)]
    held = set(reached((*instance.params, *data)))
    if global_writes.written(beside) or any(region.written for region in held):
        raise error
    given = any(region in held for region in reached((instance.result,)))
    if given and any(region.written for region in reached(theirs)):
        raise error
    program.read_on_tensors += [error] * len(data)
