"""Derivatives inside programs: derived functions for given kinds rather than given arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from tangentx.analysis.batch.varying import Unbatchable
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kind_copies import copy_kind
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Region, describe, signature, without_varied
from tangentx.common.naming import as_python_says
from tangentx.common.scoped_state import lasting
from tangentx.compile import pipeline, transforms
from tangentx.compile.batched import members as function_of_batches
from tangentx.compile.gradients import analysed, order
from tangentx.derive.batch.members import Wanted, gathered
from tangentx.derive.prologue import has_effects, writes_outside
from tangentx.dispatch.entries import Target
from tangentx.dispatch.validation import writes_arguments
from tangentx.errors import NotDifferentiable, NotResolved, Span
from tangentx.ir.nodes import Function

T = TypeVar("T")
LIMIT_DEPTH = 8
_DEPTH: ContextVar[int] = ContextVar("depth of nesting", default=0)


def _deeper(span: Span, run: Callable[[], T]) -> T:
    """What `run` gives, one derivative further within others. Raises NotResolved where there is no end to them."""
    depth = _DEPTH.get()
    if depth == LIMIT_DEPTH:
        message = f"derivatives within derivatives, {LIMIT_DEPTH} deep: does a function take the derivative of itself?"
        raise NotResolved(message, span, "write the recursion without the derivative in it, as a loop over its depth")
    return lasting(_DEPTH, depth + 1, run)


def nested(
    derivative: Any, target: Target, program: Program, kinds: Sequence[Kind], wrt: tuple[int, ...], spec: Any
) -> Function:
    """The derived function for these kinds, in closed form, as a callee of `program`."""
    memo_key = (derivative, spec, wrt, tuple(without_varied(signature(k)) for k in kinds), _aliases(kinds))
    if memo_key not in program.nested:
        inner, again = pipeline.new_program(), pipeline.new_program()
        memo: dict[Region, Region] = {}
        count = len(order(target, inner).params)  # what follows are tangents
        given = [copy_kind(k, inner.world, memo) for k in kinds[:count]]
        root = _deeper(order(target, inner).span, lambda: analysed(target, inner, given, wrt))
        derived = transforms.derived(inner, root, wrt, spec, inside=True)
        memo = {}
        closed = pipeline.close(transforms.seeded(derived), [copy_kind(k, again.world, memo) for k in kinds], again)
        again.nested.update({("inner", memo_key): (closed, inner)})
        program.nested[memo_key] = (closed, again)
    return program.nested[memo_key][0]


def nested_pullback(
    derivative: Any, target: Target, program: Program, kinds: Sequence[Kind], wrt: tuple[int, ...], spec: Any
) -> tuple[Function, Function]:
    """The function for these kinds and its pullback, of primals and cotangent, as callees of `program`."""
    memo_key = (derivative, spec, wrt, tuple(without_varied(signature(k)) for k in kinds), _aliases(kinds))
    if memo_key not in program.nested:
        inner = pipeline.new_program()
        memo: dict[Region, Region] = {}
        given = [copy_kind(k, inner.world, memo) for k in kinds]
        root = _deeper(order(target, inner).span, lambda: analysed(target, inner, given, wrt))
        value, back = transforms.pulled(inner, root, wrt, spec)
        program.nested[memo_key] = (value, inner)
        program.locals[memo_key] = back
    return program.nested[memo_key][0], program.locals[memo_key]


def _aliases(kinds: Sequence[Kind]) -> tuple[int, ...]:
    """Which of the arrays and containers that the arguments reach may share memory: each as its class in order."""
    numbers: dict[Region, int] = {}
    order: list[int] = []
    todo = list(reversed(kinds))
    while todo:
        kind = todo.pop()
        if not isinstance(kind, Arr | Box):
            continue
        node = kind.region.root()
        met = node in numbers
        order.append(numbers.setdefault(node, len(numbers)))
        if isinstance(kind, Box) and not met:
            todo.extend(reversed([*node.fields.values(), node.elt]))
    return tuple(order)


def nested_batch(vectorised: Any, target: Target, program: Program, kinds: Sequence[Kind], wanted: Wanted) -> Function:
    """The function of batches for these kinds, in closed form, as a callee of `program`."""
    memo_key = (vectorised, wanted, tuple(without_varied(signature(k)) for k in kinds), _aliases(kinds))
    if memo_key not in program.nested:
        inner, again = pipeline.new_program(), pipeline.new_program()
        memo: dict[Region, Region] = {}
        names = [param.name for param in order(target, inner).params]
        span = order(target, inner).span
        members = [
            copy_kind(kind, inner.world, memo) if axis is None else _member(kind, name, span, inner)
            for kind, axis, name in zip(kinds, wanted.axes, names, strict=True)
        ]
        root = _deeper(span, lambda: analysed(target, inner, members, ()))
        if writes_outside(root):
            name = as_python_says(root.source.name)
            message = f"the batch of `{name}` inside a differentiated function writes into what is outside"
            raise NotDifferentiable(message, span, "return what it finds, and keep that where the batch is taken")
        try:
            batched = [i for i, axis in enumerate(wanted.axes) if axis is not None]
            if writes_arguments(inner) or has_effects(root):
                raise Unbatchable("it writes into its arguments, or acts once for each member", span)
            at_once = function_of_batches(inner, root, batched)
        except Unbatchable:
            at_once = None
        derived = gathered(root, wanted, at_once)
        memo = {}
        closed = pipeline.close(derived, [copy_kind(k, again.world, memo) for k in kinds], again)
        again.nested.update({("inner", memo_key): (closed, inner)})
        program.nested[memo_key] = (closed, again)
    return program.nested[memo_key][0]


def _member(kind: Kind, name: str, span: Span, program: Program) -> Kind:
    """The kind of one of many values along an axis of an array. Raises NotDifferentiable for anything else."""
    if not isinstance(kind, Arr) or kind.rank in (0, None) or not kind.sure:
        message = f"`{name}` is {describe(kind)}: inside a differentiated function only an array is a batch"
        raise NotDifferentiable(
            message, span, "give None in in_axes for an argument that is not a batch, and arrays for what is"
        )
    if kind.rank == 1 and kind.library == "numpy":
        return Num(kind.dtype.type)
    assert kind.rank is not None
    return Arr(kind.dtype, kind.rank - 1, program.world.region(), library=kind.library)
