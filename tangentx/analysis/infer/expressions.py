"""Expressions: each lowered to closed form, with the kind of its value."""

from __future__ import annotations

import builtins
import enum
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import templates
from tangentx.analysis.infer import assumptions, calls, constant_calls, members, opaque_calls
from tangentx.analysis.infer.calls import in_terms_of
from tangentx.analysis.infer.containers import expanded, make, popped
from tangentx.analysis.infer.formatted_values import followed
from tangentx.analysis.infer.functions import as_operand, external, value_class
from tangentx.analysis.infer.indexing import index
from tangentx.analysis.infer.methods import method
from tangentx.analysis.infer.sequences import ASKING
from tangentx.analysis.infer.try_statements import attempt
from tangentx.analysis.infer.unbound_names import demanded
from tangentx.analysis.library import flat_iterator, solvers, standard_library
from tangentx.analysis.library.builtin_models import SPECIAL, kind_with_set
from tangentx.analysis.library.numpy_models import in_pairs, split
from tangentx.analysis.library.out_argument import in_type, place_of_out, taken_apart
from tangentx.analysis.memory.ownership import forget, overwritten
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Some,
    describe,
    dtype_of,
    varied,
)
from tangentx.analysis.types.operations import Operation
from tangentx.analysis.types.primitives import takes_arrays
from tangentx.errors import UnsupportedSyntax
from tangentx.ir import markers
from tangentx.ir.functions import Frozen, bound_method
from tangentx.ir.nodes import (
    Apply,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Expr,
    Index,
    Key,
    Lit,
    Make,
    Method,
    Op,
    Pop,
    Var,
    sequence,
)
from tangentx.ir.opaque_ops import Attempt, LibraryCall, Observed, Part
from tangentx.templates.precision import cast

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def walk(w: Walker, expr: Expr) -> tuple[Expr, Kind]:
    """The expression in closed form, and its kind."""
    if isinstance(expr, Op):
        return operation(w, expr.fn, expr.args, expr.kwargs)
    match expr:
        case Apply():
            return calls.apply(w, expr)
        case Method():
            return method(w, expr)
        case Call(link=link, args=args):
            assert link.function is not None
            return calls.call(w, link.function, link, args)
        case Index(base=base, key=key):
            return index(w, base, key)
        case Attr(base=base, name=name):
            return attribute(w, base, name)
        case Make():
            return make(w, expr)
        case Pop(base=base):
            atom, kind = w.read(base)
            assert isinstance(atom, Var)
            return Pop(atom), popped(w, kind)
        case _:
            return w.read(expr)


_QUESTIONS: dict[Any, Callable[[Walker, tuple[Atom, ...]], tuple[Expr, Kind]]] = {markers.bound: demanded, **ASKING}


def operation(
    w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...] = ()
) -> tuple[Expr, Kind]:
    """A primitive applied to atoms."""
    if not kwargs and _is_elementary(fn, len(args)) and w.program.low_precision is None:
        read = [w.read(a) for a in args]
        if all(type(kind) in _PLAIN for _, kind in read):
            return _applied(w, fn, read, [])
    spoils = templates.overwriting(fn) if len(args) > 1 or kwargs else {}
    if not spoils:
        return followed(w, fn, args, kwargs, _operation(w, fn, args, kwargs))
    given = overwritten(fn, args, kwargs)
    found = _operation(w, fn, *_left_whole(spoils, args, kwargs))
    forget(w, fn, given)
    return found


def _is_elementary(fn: Callable[..., Any], count: int) -> bool:
    """Whether a call of so many arguments, all of them numbers or arrays, is what it says: no model of a library, no
    composition and no class has another word for it. Most operations are, and are asked nothing else."""
    return _is_hashable(fn) and _stands_for_itself(fn, count) and not templates.has_composition(fn)


@functools.lru_cache(maxsize=4096)
def _stands_for_itself(fn: Any, count: int) -> bool:
    """Whether it is a ufunc of NumPy's, an operator or a function of our own support that nothing here looks out for,
    and none of the arguments is where the result goes."""
    if isinstance(fn, np.ufunc):
        return count <= fn.nin and fn is getattr(np, fn.__name__, None)
    if fn in SPECIAL or fn in solvers.OPERATIONS:
        return fn is operator.add or fn is operator.mul  # these look out for lists alone
    if isinstance(fn, types.BuiltinFunctionType):
        return fn.__module__ == "_operator" and fn not in (operator.call, operator.getitem)
    ours = isinstance(fn, types.FunctionType) and fn.__module__.startswith("tangentx.arrays")
    return ours and count <= place_of_out(fn)


def _operation(
    w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...]
) -> tuple[Expr, Kind]:
    """The same of a call that spoils none of its arguments."""
    placed = _placed(w, fn, args, kwargs)
    if placed is not None:
        return placed
    read = [w.read(a) for a in args]
    named = [(name, *w.read(a)) for name, a in kwargs]
    kinds = [k for _, k in read]
    plain = not kwargs and all(type(k) in _PLAIN for k in kinds)
    other = None if plain else _in_other_words(w, fn, args, kwargs, kinds)
    if other is not None:
        return other
    if fn is operator.call and args:
        return calls.apply(w, Apply(args[0], args[1:], kwargs))
    given = [*kinds, *(k for _, _, k in named)]
    if not plain and constant_calls.takes(w, fn, given):
        return constant_calls.operation(w, fn, args, kwargs)
    functions = not plain and any(value_class(k) for k in given)
    always = templates.always_composed(fn)
    body = templates.composed(fn, args, dict(kwargs)) if functions or always or any(map(varied, given)) else None
    if functions and body is None:
        return as_operand(w, fn, given)
    meant = _meant(w, fn, args, kinds) if not kwargs and _is_hashable(fn) else None
    if meant is not None:
        return meant
    if fn is operator.getitem and len(args) == 2:
        return index(w, args[0], Key((args[1],)))
    if fn is np.tensordot and any(_has_unknown_length(k) for k in (*kinds[2:], *(k for _, _, k in named))):
        raise UnsupportedSyntax("how many axes are meant is not known here", w.span, "write the axes out, as tuples")
    if (moved := _in_precision(w, fn, body, args, kwargs, given)) is not None:
        return moved
    listed = [] if plain else _lists_to_count_with(fn, body, given)
    if listed and takes_arrays(fn, body):
        return _with_arrays(w, fn, args, kwargs, listed)
    if body is not None:
        return in_terms_of(w, body, args, kwargs, fn)
    return _applied(w, fn, read, named)


def _lists_to_count_with(fn: Callable[..., Any], body: Callable[..., Any] | None, given: list[Kind]) -> list[int]:
    """The places of the lists of which arrays are made: those that vary, and those that a rule calculates with."""
    lists = [i for i, k in enumerate(given) if isinstance(k, Box) and k.cls in (list, tuple)]
    if body is not None:  # ``limits=(0.0, None)`` is no table
        lists = [i for i in lists if Obj(None) not in _numbers_in(given[i])]
    kinds = templates.calculates_with(fn, body) if lists and any(map(varied, given)) else ""
    return [i for i in lists if varied(given[i]) or _has_numbers(given[i], kinds)]


def _has_numbers(kind: Kind, kinds: str) -> bool:
    """Whether the kind is of a list with such numbers in it, or in lists in it, and with nothing that is no number:
    ``bounds=[(0.0, None)]`` is no table."""
    found = list(_numbers_in(kind)) if kinds and isinstance(kind, Box) else []
    return all(isinstance(k, Num | Arr) and not k.none for k in found) and any(
        isinstance(k, Num) and dtype_of(k).kind in kinds for k in found
    )


def _numbers_in(kind: Kind) -> Iterator[Kind]:
    """What stands in a list, and in the lists in it."""
    if not isinstance(kind, Box) or kind.cls not in (list, tuple):
        yield kind
        return
    node = kind.region.root()
    for item in (*node.fields.values(), node.elt):
        if not isinstance(item, Bottom):
            yield from _numbers_in(item)


def _placed(
    w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...]
) -> tuple[Expr, Kind] | None:
    """A call that stands for several, or for a write."""
    placed = _of_ours(w, fn, args, kwargs) or taken_apart(w, fn, args, kwargs) or in_type(w, fn, args, kwargs)
    return placed or split(w, fn, args, kwargs) or in_pairs(w, fn, args, kwargs)


def _left_whole(
    spoils: Mapping[str, int], args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...]
) -> tuple[tuple[Atom, ...], tuple[tuple[str, Atom], ...]]:
    """The arguments of a call that spoils none of them."""
    places = set(spoils.values())
    args = tuple(Lit(False) if i in places else atom for i, atom in enumerate(args))
    return args, tuple((name, atom) for name, atom in kwargs if name not in spoils)


def _of_ours(
    w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...]
) -> tuple[Expr, Kind] | None:
    """A statement that is kept whole, a question that is asked of kinds, or a call on constants; None for others."""
    if isinstance(fn, Attempt):
        return attempt(w, fn, args)
    if isinstance(fn, Observed):
        return constant_calls.again(w, fn, args, kwargs)
    if isinstance(fn, LibraryCall | Part):
        return solvers.again(w, fn, args)
    written = solvers.OPERATIONS.get(fn) if _is_hashable(fn) else None
    if written is not None:
        return written(w, args, kwargs)
    return _QUESTIONS[fn](w, args) if fn in markers.ASKING else None


def _applied(
    w: Walker, fn: Callable[..., Any], read: list[tuple[Atom, Kind]], named: list[tuple[str, Atom, Kind]]
) -> tuple[Expr, Kind]:
    """The operation itself, of what was read."""
    kinds = [k for _, k in read]
    atoms = tuple([a for a, _ in read])
    fn = assumptions.checked(w, fn, atoms, kinds)
    closed = Op(fn, atoms, tuple([(n, a) for n, a, _ in named]))
    if any(type(k) is Some and k.cls in (set, frozenset) for k in kinds):
        return closed, kind_with_set(fn, kinds, w.span)
    op = Operation(w.program.world, w.fresh("op"), w.span)
    kind = op.kind(fn, kinds, {n: k for n, _, k in named})
    assumptions.notice(w, fn, kinds, kind)
    if type(kind) is Arr and any(_is_part(kind, k) for k in kinds) and fn is not np.real:
        kind.region.mark("parted")
    if w.program.final:
        op.demand_template(fn, [*kinds, *(k for _, _, k in named)], kind)
    return closed, kind


_PLAIN: frozenset[type] = frozenset((Num, Arr))
"""Kinds of numbers and arrays: no container, no function, no object."""


def _in_other_words(
    w: Walker,
    fn: Callable[..., Any],
    args: tuple[Atom, ...],
    kwargs: tuple[tuple[str, Atom], ...],
    kinds: list[Kind],
) -> tuple[Expr, Kind] | None:
    """A call that is written as others: one that is given an object that stands for another, or a row of elements."""
    given = standard_library.listed(w, fn, args)
    if given is not None:
        return operation(w, fn, given, kwargs)
    rows = [flat_iterator.is_flat(kind) for kind in kinds]
    if not any(rows) or fn is sequence:
        return None
    given = tuple(flat_iterator.as_array(w, a) if row else a for a, row in zip(args, rows, strict=True))
    return operation(w, fn, given, kwargs)


def _meant(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """What kinds decide: an operator that a class of the user's defines, identity, lists joined ..."""
    asked = [i for i, k in enumerate(kinds) if type(k) is Arr and k.library != "numpy"]
    if asked and getattr(fn, "__module__", None) in ("math", "cmath"):  # one transfer, which both sweeps know of
        number = float if fn.__module__ == "math" else complex
        return _of_made(w, fn, args, (), {i: lambda a: Op(number, (a,)) for i in asked}, "here")
    special = SPECIAL.get(fn) if _takes(fn, len(args)) else None
    return members.operated(w, fn, args, kinds) or (special(w, args, kinds) if special is not None else None)


@functools.lru_cache(maxsize=4096)
def _takes(fn: Any, count: int) -> bool:
    """Whether a function may be called with so many arguments. Another call, which may stand where the program never
    comes, has no meaning but its error."""
    try:
        inspect.signature(fn).bind(*range(count))
    except ValueError:  # it has no signature
        return True
    except TypeError:
        return False
    return True


def _has_unknown_length(kind: Kind) -> bool:
    """Whether axes are given by a number that is not known, or by a list of unknown length."""
    if not isinstance(kind, Box):
        return isinstance(kind, Num) and kind.value is MISSING
    node = kind.region.root()
    return node.open or any(_has_unknown_length(k) for k in node.fields.values() if isinstance(k, Box))


def _with_arrays(
    w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...], listed: list[int]
) -> tuple[Expr, Kind]:
    """Lists given where NumPy makes arrays of them are made arrays first."""
    return _of_made(w, fn, args, kwargs, {i: lambda a: Op(np.array, (a,)) for i in listed}, f"arrays{listed}")


def _of_made(
    w: Walker,
    fn: Callable[..., Any],
    args: tuple[Atom, ...],
    kwargs: tuple[tuple[str, Atom], ...],
    making: dict[int, Callable[[Atom], Op]],
    tag: str,
) -> tuple[Expr, Kind]:
    """The operation with what is made of some of its arguments, by their positions, in their place."""
    atoms = (*args, *(a for _, a in kwargs))

    def build() -> Block:
        names = {i: w.temporary() for i in making}
        made = tuple(Assign(names[i], make(atoms[i]), w.span) for i, make in making.items())
        given = tuple(Var(names[i]) if i in names else a for i, a in enumerate(atoms))
        named = tuple((name, a) for (name, _), a in zip(kwargs, given[len(args) :], strict=True))
        return (*made, Assign(w.temporary(), Op(fn, given[: len(args)], named), w.span))

    return expanded(w, tag, build)


def _in_precision(
    w: Walker,
    fn: Callable[..., Any],
    body: Callable[..., Any] | None,
    args: tuple[Atom, ...],
    kwargs: tuple[tuple[str, Atom], ...],
    kinds: list[Kind],
) -> tuple[Expr, Kind] | None:
    """What is cast to the precision in which an operation runs, by the policy or because the function that the
    composition `body` stands for does so itself; None where everything has it."""
    wanted = {i: dtype for i, kind in enumerate(kinds) if (dtype := _precision_of(w, fn, body, kind)) is not None}
    if not wanted:
        return None

    def casting(dtype: Any, kind: Kind) -> Callable[[Atom], Op]:
        if type(kind) is Num:
            return lambda a: Op(dtype.type, (a,))
        return lambda a: Op(np.ndarray.astype, (a, external(w, dtype.type, dtype.name)))

    tag = f"precision{sorted((i, dtype.name) for i, dtype in wanted.items())}"
    return _of_made(w, fn, args, kwargs, {i: casting(dtype, kinds[i]) for i, dtype in wanted.items()}, tag)


def _precision_of(
    w: Walker, fn: Callable[..., Any], body: Callable[..., Any] | None, kind: Kind
) -> np.dtype[Any] | None:
    """The dtype to which an array, or a number of NumPy's, is cast for an operation; None for its own."""
    if isinstance(kind, Num) and issubclass(kind.type, np.inexact) and not kind.none and not kind.types:
        return templates.in_double(body, np.dtype(kind.type))
    if type(kind) is not Arr or kind.none:
        return None
    low = None if w.program.derived else w.program.low_precision
    found = None if low is None else cast(fn, kind.dtype, low)
    return found or templates.in_double(body, kind.dtype)


def _is_hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def _is_part(kind: Kind, operand: Kind) -> bool:
    """Whether the result of an operation is a view of real numbers in complex memory, or the other way."""
    both = isinstance(kind, Arr) and isinstance(operand, Arr) and kind.region.root() is operand.region.root()
    return both and {kind.dtype.kind, operand.dtype.kind} == {"f", "c"}  # type: ignore[union-attr]


_STATIC = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")
_GETTERS = {name: operator.attrgetter(name) for name in _STATIC}  # one of each, by which outcomes are known again


def attribute(w: Walker, base: Atom, name: str) -> tuple[Expr, Kind]:
    """``base.name``, read."""
    atom, kind = w.read(base)
    match kind:
        case Bottom():
            return Attr(atom, name), BOTTOM
        case Arr() | Num() if name == "__class__":
            return operation(w, builtins.type, (base,))
        case Arr(rank=int() as rank, loose=False) if name == "ndim":
            assumptions.axes_counted(w)
            return Attr(atom, name), Num(int, value=rank)
        case Arr() | Num() if name in _STATIC and (isinstance(kind, Arr) or hasattr(kind.type, name)):
            op = Operation(w.program.world, w.fresh("attr"), w.span)
            return Attr(atom, name), op.kind(_GETTERS[name], [_without_variation(kind)], {})
        case Arr() if name == "flat":
            return flat_iterator.flat(w, base)
        case Arr() if name == "T":
            return operation(w, np.transpose, (base,))
        case Arr() if name == "mT":
            return operation(w, np.swapaxes, (base, Lit(-1), Lit(-2)))
        case Arr() | Num() if name in ("real", "imag"):
            return operation(w, getattr(np, name), (base,))
        case Arr() if callable(getattr(np.ndarray, name, None)):
            return w.walk(Make(bound_method(name), (base,)))
        case Box(cls=cls) if issubclass(cls, Frozen):
            return w.walk(Make(bound_method(name), (base,)))
        case Box():
            return members.field(w, base, atom, kind, name)
        case Obj(value=value) if templates.is_whole(value) and callable(getattr(value, name, None)):
            return w.read(external(w, templates.method_of(value, name), name))
        case Obj(value=enum.Enum() as member):
            return Attr(atom, name), w.program.valuer.kind(getattr(member, name))
        case Obj(value=types.ModuleType() as module) if hasattr(module, name):
            return w.read(members.module_attribute(w, module, name))
        case Obj(value=type() as cls) if w.program.member(cls, name) is not MISSING:
            return w.read(members.class_attribute(w, cls, name, getattr(cls, name)))
        case Some():
            found, result = opaque_calls.attribute(w, atom, kind, name)
            unknown = result == opaque_calls.UNKNOWN and constant_calls.active(w)
            return constant_calls.attribute(w, atom, kind, name) if unknown else (found, result)
    raise UnsupportedSyntax(f"the attribute `{name}` of {describe(kind)} is not followed", w.span, "use a function")


def _without_variation(kind: Kind) -> Kind:
    return replace(kind, varied=False, value=MISSING) if isinstance(kind, Num) else kind
