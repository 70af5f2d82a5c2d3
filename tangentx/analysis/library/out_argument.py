"""Options of calls of NumPy's functions: ``out=``, ``dtype=``, ``casting=``, ``order=``, ``subok=``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer.functions import external
from tangentx.analysis.types.kinds import Arr, Bottom, Box, Kind, Num, Obj, describe, dtype_of, varied
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import WHOLE, Assign, Atom, Expr, Index, Key, Lit, Op, Store, Var
from tangentx.templates.out_parameters import OPTIONS, type_of_loop

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Calls of NumPy functions with ``out=``: compute the result, then store it.
#
# ``f(x, out=a)`` is ``a[...] = f(x)``, whose value is `a`. With ``where=`` only the chosen elements are computed: the
# function is applied to those, and they are written.

Named = tuple[tuple[str, Atom], ...]


@dataclass(frozen=True)
class Outputs:
    """A call without what says where its result goes, and that."""

    value: Op
    out: Atom | None
    where: Atom | None
    casting: Atom


def taken_apart(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call with ``out=`` or a ufunc's ``where=``, as the statements it stands for; None for any other call."""
    call = _outputs_of(w, fn, args, kwargs)
    if call is None:
        return None
    where = None if call.where is None or _is_true(w, call.where) else call.where
    if call.out is None or w.read(call.out)[1] == Obj(None):
        if where is not None:
            raise UnsupportedSyntax(
                "`where=` without `out=` leaves elements without a value", w.span, "say where they stand: `out=a`"
            )
        return w.walk(call.value)
    if where is not None:
        return w.read(_into_some(w, call, call.out, where))
    if fn in (np.concatenate, np.stack):  # these write one array after the other, where others copy what overlaps
        let(w, "unshared", Op(arrays.demand_unshared, (call.out, call.value.args[0])))
    kind = w.read(call.out)[1]
    result = let(w, "result", _computed_as_written(w, call.value, kind))
    if not (isinstance(kind, Box) and issubclass(kind.cls, tuple)):
        return w.read(_into(w, call.out, result, call.casting, "out"))
    several = isinstance(w.read(result)[1], Box)
    for k in range(len(kind.region.root().fields)):
        at = Key((Lit(k),))
        place = let(w, ("place", k), Index(call.out, at))
        part = let(w, ("part", k), Index(result, at)) if several else result
        _into(w, place, part, call.casting, ("out", k))
    return w.read(call.out if several else let(w, "first", Index(call.out, Key((Lit(0),)))))


def _outputs_of(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named) -> Outputs | None:
    ufunc = isinstance(fn, np.ufunc)
    if not kwargs and len(args) <= (fn.nin if isinstance(fn, np.ufunc) else 1):
        return None  # nobody's first argument is where the result goes
    named = dict(kwargs)
    place = place_of_out(fn)
    given = args[place:] if ufunc else args[place : place + 1]
    if len(given) > 1:
        raise UnsupportedSyntax(
            "several arrays for the results, given by position, are not differentiated",
            w.span,
            "name them: `out=(a, b)`",
        )
    if given and not ufunc and w.read(given[0])[1] == Obj(None):
        return None
    out, where = (given or (named.get("out"),))[0], named.get("where") if ufunc else None
    if out is None and where is None:
        return None
    own = ("out", "where", "casting") if ufunc else ("out",)
    rest = tuple((name, atom) for name, atom in kwargs if name not in own)
    behind = args[place + len(given) :]
    others = (*args[:place], Lit(None), *behind) if behind else args[:place]
    return Outputs(Op(fn, others, rest), out, where, named.get("casting", Lit("same_kind")))


def _computed_as_written(w: Walker, value: Op, out: Kind) -> Op:
    """A call that adds up or multiplies does so in the type of the array that its result goes into."""
    place = templates.computes_in_that_of_out(value.fn)
    if place is None and isinstance(out, Arr):
        return _cast_first(w, value, out)
    if place is None or not isinstance(out, Arr) or not value.args:
        return value
    given = value.args[place : place + 1] or tuple(atom for name, atom in value.kwargs if name == "dtype")
    kind = w.read(value.args[0])[1]
    if (given and w.read(given[0])[1] != Obj(None)) or not isinstance(kind, Arr) or kind.dtype == out.dtype:
        return value
    if getattr(value.fn, "__name__", "") in templates.TWO_STEPS:
        raise UnsupportedSyntax(
            f"numpy computes this partly in {out.dtype}, the type of `out`", w.span, "say in which: `dtype=`"
        )
    said = external(w, out.dtype.type, out.dtype.name)
    if len(value.args) > place:
        return Op(value.fn, (*value.args[:place], said, *value.args[place + 1 :]), value.kwargs)
    return Op(value.fn, value.args, (*((n, a) for n, a in value.kwargs if n != "dtype"), ("dtype", said)))


def _cast_first(w: Walker, value: Op, out: Arr) -> Op:
    """The call with those of its arguments cast that NumPy takes in the type of the array for the result, if wider."""
    args = list(value.args)
    said = any(name in ("dtype", "optimize") for name, _ in value.kwargs)
    for i in range(0) if said else templates.cast_to_that_of_out(value.fn, len(args)):
        kind = w.read(args[i])[1]
        if not isinstance(kind, Arr) or not kind.sure:
            continue
        wider = np.result_type(kind.dtype, out.dtype)
        if wider != kind.dtype:
            args[i] = let(w, ("cast", i), Op(np.ndarray.astype, (args[i], external(w, wider.type, wider.name))))
    return Op(value.fn, tuple(args), value.kwargs)


def place_of_out(fn: Any) -> int:
    """The position at which a function takes its array for the result; one that is never reached where by name only."""
    return fn.nin if isinstance(fn, np.ufunc) else templates.from_out(fn)[0]


def _is_true(w: Walker, atom: Atom) -> bool:
    _, kind = w.read(atom)
    return isinstance(kind, Num) and kind.value is True


def let(w: Walker, tag: Any, value: Expr) -> Var:
    """A temporary bound to the value, the same one in each round; by the name that expansions know."""
    w.expand(tag, lambda: (Assign(w.temporary(), value, w.span),))
    last = w.instance.expansions[id(w.statement), tag][-1]
    assert isinstance(last, Assign)
    return Var(last.target)


def _into(w: Walker, out: Atom, value: Atom, casting: Atom, tag: Any) -> Atom:
    """``out[...] = value``, where NumPy would write it."""
    check_output(w, w.read(out)[1], w.read(value)[1], casting)
    w.expand(tag, lambda: (Store(out, WHOLE, value, w.span),))
    return out


def _into_some(w: Walker, call: Outputs, out: Atom, where: Atom) -> Atom:
    """The function of the chosen elements, written to their places."""
    kind = w.read(out)[1]
    if isinstance(kind, Box):
        raise UnsupportedSyntax(
            "`where=` with a tuple of arrays is not differentiated", w.span, "give one array: `out=a`"
        )
    chosen = let(w, "chosen", Op(arrays.mask_like, (where, out)))
    given = []
    for i, atom in enumerate(call.value.args):
        plain = isinstance(w.read(atom)[1], Num)
        given.append(atom if plain else let(w, ("given", i), Op(arrays.selected, (atom, chosen))))
    result = let(w, "result", Op(call.value.fn, tuple(given), call.value.kwargs))
    check_output(w, kind, w.read(result)[1], call.casting)
    w.expand("some", lambda: (Store(out, Key((chosen,)), result, w.span),))
    return out


def check_output(w: Walker, out: Kind, value: Kind, casting: Atom) -> None:
    """Refuses what NumPy refuses: a result that `casting` does not let into the array. Raises UnsupportedSyntax."""
    if isinstance(out, Bottom) or not isinstance(value, Num | Arr):
        return
    if not isinstance(out, Arr):
        raise UnsupportedSyntax(f"a result is written into {describe(out)}", w.span, "give an array")
    rule = w.read(casting)[1]
    if not isinstance(rule, Obj) or not isinstance(rule.value, str):
        raise UnsupportedSyntax("a casting that is not known here", w.span, "write the string")
    how: Any = rule.value
    if not np.can_cast(dtype_of(value), out.dtype, how):
        raise UnsupportedSyntax(
            f"numpy does not write results of {dtype_of(value)} into an array of {out.dtype}",
            w.span,
            "make the array one of floats, or say `casting='unsafe'`",
        )


# Ufunc calls with ``dtype=``, ``casting=``, ``order=`` or ``subok=``: reduced to the plain call where possible.


def in_type(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call without its options, its operands cast; None for any other call, and for options that are not known."""
    named = dict(kwargs)
    if not kwargs or not isinstance(fn, np.ufunc) or not named.keys() <= set(OPTIONS):
        return None
    kinds = [w.read(a)[1] for a in args]
    if not any(map(varied, kinds)):
        return None
    dtype, casting = _known(w, named.get("dtype")), _known(w, named.get("casting", Lit("same_kind")))
    if dtype is None:
        return w.walk(Op(fn, args))
    loop = type_of_loop(fn, dtype)
    if loop is None or not all(isinstance(k, Num | Arr) and np.can_cast(dtype_of(k), loop, casting) for k in kinds):
        return None
    cast = [
        atom
        if isinstance(kind, Arr) and kind.dtype == loop
        else let(w, ("cast", i), Op(np.asarray, (atom, named["dtype"])))
        for i, (atom, kind) in enumerate(zip(args, kinds, strict=True))
    ]
    return w.walk(Op(fn, tuple(cast)))


def _known(w: Walker, atom: Atom | None) -> Any:
    kind = None if atom is None else w.read(atom)[1]
    return kind.value if isinstance(kind, Obj) else None
