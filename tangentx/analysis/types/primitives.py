"""Primitives: which functions are operations of the language, analysed without their source."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
import types
from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.types.kinds import Arr, Kind, Num, dtype_of
from tangentx.arrays.libraries import numpy_function
from tangentx.ir.nodes import Op
from tangentx.ir.opaque_ops import Attempt, LibraryCall, Observed

_PURE_BUILTINS = frozenset(
    getattr(builtins, name)
    for name in (
        "abs all any bool bytes callable chr complex divmod float format getattr hash int isinstance issubclass len "
        "max min ord pow range repr round setattr slice str sum tuple list dict type"
    ).split()
)


_WRITERS = frozenset(
    getattr(np, name)
    for name in "copyto fill_diagonal place put put_along_axis putmask save savez savetxt load loadtxt fromfile".split()
)


def is_primitive(fn: Any) -> bool:
    """Whether a call of `fn` is an operation that writes nothing, always answers the same, and needs no source."""
    if not is_hashable(fn):
        return False
    elsewhere = numpy_function(fn)
    if elsewhere is not None:
        return is_primitive(elsewhere[0])
    if (
        templates.find(fn) is not None
        or templates.has_composition(fn)
        or fn in hashable(_PURE_BUILTINS, fn)
        or getattr(arrays, name_of(fn), None) is fn
    ):
        return True
    if fn in hashable(_WRITERS, fn):
        return False
    if isinstance(fn, type):
        return issubclass(fn, np.generic | BaseException) or fn in (complex, float, int, bool, str)
    home = getattr(fn, "__module__", None) or getattr(getattr(fn, "__self__", None), "__name__", "") or ""
    if getattr(math, name_of(fn), None) is fn or getattr(cmath, name_of(fn), None) is fn:
        return True
    if getattr(operator, name_of(fn), None) is fn:
        return not writing_operator(name_of(fn))
    owner = getattr(fn, "__objclass__", None)
    if owner in (list, tuple):
        return name_of(fn) in ("index", "count")
    if owner is slice:
        return True
    if owner is not None and issubclass(owner, np.ndarray | np.generic | str | int | float | complex):
        return not writing_method(name_of(fn))
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        return name_of(fn) != "at"
    return isinstance(fn, np.ufunc) or (home.split(".")[0] == "numpy" and _is_of_numpy(fn))


_HOMES = (np, np.linalg, np.fft, np.emath, np.strings, np.char, np.lib.stride_tricks)
_EFFECTS = frozenset(
    getattr(np, name)
    for name in (
        "errstate fromregex genfromtxt info memmap printoptions set_printoptions setbufsize seterr seterrcall "
        "show_config show_runtime test vectorize"
    ).split()
)


def _is_of_numpy(fn: Any) -> bool:
    """Whether `fn` is one of NumPy's public functions, or written in C; its other Python functions are just code."""
    if fn in _EFFECTS or ".random" in (getattr(fn, "__module__", None) or ""):
        return False
    return not isinstance(fn, types.FunctionType) or any(getattr(m, name_of(fn), None) is fn for m in _HOMES)


_OPERATORS = "add sub mul truediv floordiv mod pow matmul neg pos abs invert and_ or_ xor eq ne lt le gt ge".split()
_ARITHMETIC = frozenset((
    *(getattr(operator, name) for name in _OPERATORS),
    arrays.guarded, arrays.ratio, arrays.over_root, arrays.quotient, arrays.ratio_or_zero, arrays.power_slope,
    arrays.length_of, arrays.silent_power, arrays.quiet_sum, arrays.quiet_difference,
))  # fmt: skip


_NEW = frozenset((
    np.copy, np.ndarray.copy, arrays.clone, arrays.entry_copy,
    arrays.zero, arrays.real_zero, arrays.zeros_as, np.zeros, np.ones, np.empty, np.full,
    np.zeros_like, np.ones_like, np.empty_like, np.full_like,
    np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.where, np.roll, np.repeat, np.tile,
    np.dot, np.ndarray.dot, np.outer, np.inner, np.vdot, np.cross, arrays.cross3, arrays.cross_of_space,
    np.cumsum, np.cumprod, np.sort, np.clip,
    np.sum, np.mean, np.prod, np.max, np.min, np.std, np.var,
    np.ndarray.sum, np.ndarray.mean, np.ndarray.prod, np.ndarray.max, np.ndarray.min,
))  # fmt: skip


def is_arithmetic(fn: Any) -> bool:
    """Whether `fn` is an operator, or a function that goes by element."""
    return isinstance(fn, np.ufunc) or fn in hashable(_ARITHMETIC, fn)


def makes_new(fn: Any) -> bool:
    """Whether an array that `fn` gives never shares memory with one that it is given.

    Of what is not told here samples tell, as far as they can: names that take turns in a loop have one memory by kind,
    and only by what `fn` is the copy of an array is known to be apart from what it is a copy of."""
    return is_arithmetic(fn) or fn in hashable(_NEW, fn)


_OF_CONTAINERS = ("joining", "builtins_", "support", "checks", "creation", "runs")
"""Modules of templates whose rules know lists and tuples as arguments."""


def takes_arrays(fn: Any, body: Any = None) -> bool:
    """Whether `fn` makes an array of a list that it is given, so that its rule (or composition) knows arrays only."""
    if body is not None:
        return not templates.takes_containers(fn)
    template = templates.find(fn)
    if (
        template is None
        or template.body is None
        or template.signature is not None
        or getattr(arrays, name_of(fn), None) is fn
    ):
        return False
    return template.body.__module__.rpartition(".")[2] not in _OF_CONTAINERS


_WRITING_METHODS = frozenset("fill itemset partition put resize setfield setflags sort byteswap tofile dump".split())


_HARMLESS = frozenset("is_ is_not index inv invert indexOf".split())


def writing_operator(name: str) -> bool:
    """Whether the function of `operator` writes into its first argument."""
    return name in ("setitem", "delitem") or (name.startswith("i") and name not in _HARMLESS)


def writing_method(name: str) -> bool:
    """Whether the method of an array writes into it, special methods included."""
    special = name.startswith("__i") and name not in ("__index__", "__int__", "__invert__", "__iter__")
    return name in _WRITING_METHODS or special or name in ("__setitem__", "__delitem__", "__setstate__")


def name_of(fn: Any) -> str:
    """The name of a function, empty where it has none."""
    return str(getattr(fn, "__name__", ""))


def is_hashable(fn: Any) -> bool:
    """Whether a function can be asked for in a table; not every callable can."""
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def hashable(group: frozenset[Any], fn: Any) -> Container[Any]:
    """The group, or an empty one where `fn` cannot be asked for in it."""
    return group if is_hashable(fn) else ()


EFFECTS = frozenset(
    (
        arrays.agreed,
        arrays.apart,
        arrays.demand_bound,
        arrays.demand_copied,
        arrays.demand_own,
        arrays.demand_same,
        arrays.demand_unshared,
        arrays.generator_states,
        arrays.set_generators,
        arrays.same_length,
        arrays.counted,
        arrays.on_tensors,
        arrays.real_power,
        arrays.sum_of_some,
        arrays.cross_of_space,
        arrays.without_jumps,
    )
) | {operator.call}
"""The operations that are run for what they do."""


DIAGONALS = frozenset((np.diagonal, np.ndarray.diagonal, np.diag))
"""What gives views that NumPy marks read-only although each of their elements is one element of the array."""


SPREADING = frozenset((np.broadcast_to, np.lib.stride_tricks.sliding_window_view))
"""What gives read-only views that show an element of the array at several places."""


_OF_FIRST = frozenset((
    arrays.alike, arrays.behind, arrays.brought, arrays.filled, arrays.leaving, arrays.moving, arrays.same_members,
    arrays.to_rule, arrays.turning, arrays.unbroadcast, arrays.unnested,
))  # fmt: skip


def may_show(fn: Any, place: int) -> bool:
    """Whether what `fn` gives may be a view of its operand at that place: what says how a cotangent is to be formed
    is none, though both may lie in one memory, as where the tangent of an array is the array itself."""
    return place == 0 or fn not in hashable(_OF_FIRST, fn)


def is_by_element(fn: Any) -> bool:
    """Whether a function of Python's or NumPy's broadcasts its operands and works on them element by element."""
    if isinstance(fn, np.ufunc):
        return fn.signature is None and fn.nout == 1
    return fn in hashable(_BY_ELEMENT, fn)


_BY_ELEMENT: frozenset[Any] = frozenset((
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.abs, operator.pow,
    abs, arrays.guarded, arrays.ratio, arrays.over_root, arrays.quotient, arrays.ratio_or_zero, arrays.power_slope,
    arrays.length_of, arrays.silent_power, arrays.quiet_sum, arrays.quiet_difference,
))  # fmt: skip


def is_constant(fn: Any, kinds: Iterable[Kind]) -> bool:
    """Whether an operation has no derivative by arguments of the kinds: it has no rule, or one for complex numbers."""
    template = templates.find(fn)
    return template is None or gives_constants(template, kinds)


def gives_constants(template: templates.Template, kinds: Iterable[Kind]) -> bool:
    """The same of an operation that has a rule."""
    if template.kind == "constant":
        return True
    return template.real_constant and not any(isinstance(k, Num | Arr) and dtype_of(k).kind == "c" for k in kinds)


_LOOKING = frozenset((
    arrays.agreed, arrays.counted, arrays.demand_bound, arrays.demand_copied, arrays.demand_unshared, arrays.real_power,
    arrays.same_length, arrays.sum_of_some, arrays.cross_of_space, arrays.without_jumps,
))  # fmt: skip
"""What may raise an error, and does nothing that may be seen where it is done twice."""


def acts(expr: Any) -> bool:
    """Whether an expression does what may be seen where it is done twice."""
    return has_effect(expr) and not isinstance(expr.fn, LibraryCall) and expr.fn not in hashable(_LOOKING, expr.fn)


def has_effect(expr: Any) -> bool:
    """Whether an expression must be evaluated even if nobody needs its value."""
    if type(expr) is not Op:
        return False
    fn = expr.fn
    if type(fn) in _FUNCTIONS:
        return fn in EFFECTS
    return isinstance(fn, Attempt | LibraryCall | Observed) or fn in hashable(EFFECTS, fn)


_FUNCTIONS = frozenset((types.FunctionType, types.BuiltinFunctionType, np.ufunc))
