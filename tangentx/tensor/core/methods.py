"""The methods of `Tensor`: operators, NumPy's protocols, and those of ndarray."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS
from tangentx.errors import NoTemplate, place, span_of
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.plain_stubs import WAYS, form_of
from tangentx.tensor.calls.recorded_stubs import QUICK, operator_of, way
from tangentx.tensor.calls.rules import rule_of
from tangentx.tensor.calls.ufuncs import array_ufunc, cupy_ufunc
from tangentx.tensor.core.containers import holds_tensor, raw
from tangentx.tensor.core.making import demand_no_solver
from tangentx.tensor.core.members import Members, Nothing
from tangentx.tensor.core.modes import recording, refusal
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.core.torch_names import KEYWORDS, Names, flatten, spelled, transpose
from tangentx.tensor.fallback.programs import stands_in
from tangentx.tensor.writes.numpy_writers import CHANGING
from tangentx.tensor.writes.writing import changed, overwrite

_ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "pow": operator.pow,
    "matmul": operator.matmul, "mod": operator.mod, "floordiv": operator.floordiv,
}  # fmt: skip
_UFUNCS = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.true_divide,
    operator.pow: np.power, operator.matmul: np.matmul, operator.mod: np.remainder,
    operator.floordiv: np.floor_divide,
}  # fmt: skip
_COMPARISONS = ("lt", "le", "gt", "ge", "ne")  # whether one is equal `Members` says
_UNARY = {"neg": operator.neg, "pos": operator.pos, "abs": operator.abs}
_OPERANDS = (int, float, complex, np.ndarray, np.generic, list, tuple)

# Methods that ndarray has, by the same names; those of Torch by the function that they call.
_METHODS = (
    "sum", "mean", "prod", "max", "min", "var", "std", "cumsum", "cumprod", "reshape", "transpose", "ravel", "flatten",
    "squeeze", "swapaxes", "copy", "conj", "conjugate", "dot", "take", "repeat", "diagonal", "trace", "astype",
    "compress", "argmax", "argmin", "argsort", "nonzero", "searchsorted", "any", "all", "round", "argpartition",
)  # fmt: skip
_FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "reciprocal", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "sign",
    "isnan", "isfinite", "isinf", "maximum", "minimum", "outer", "matmul", "flip", "roll", "diag", "tril", "triu",
    "negative", "multiply", "subtract", "divide", "add", "clip",
)  # fmt: skip
_RENAMED: dict[str, Any] = {
    "abs": np.absolute, "mul": np.multiply, "sub": np.subtract, "div": np.divide, "pow": np.power, "neg": np.negative,
    "mm": np.matmul, "clone": np.copy, "t": np.transpose,
    "ptp": np.ptp, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
}  # fmt: skip
_IN_PLACE: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "neg": np.negative,
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "abs": np.absolute,
}  # fmt: skip
_STEPS: dict[str, Any] = {
    "add": lambda t, other, alpha: t + alpha * other,
    "sub": lambda t, other, alpha: t - alpha * other,
    "lerp": lambda t, end, weight: t + weight * (end - t),
    "addcmul": lambda t, first, second, value=1: t + value * first * second,
    "addcdiv": lambda t, first, second, value=1: t + value * first / second,
}
"""Steps of optimisers and of running means by PyTorch's names, in place; the first two where `alpha` is given."""


_REFUSED = ("byteswap", "resize", "setfield", "setflags")
"""Methods that change memory in a way that views and values kept for backward would not know of."""


def _refused(name: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        hint = "use the function of NumPy that gives a new array"
        raise refusal(NoTemplate(f"`{name}` of a Tensor has no derivative rule", span_of(place()), hint))

    return named(method, name, f"Refused: a Tensor has no ``{name}``.")


def _binary(fn: Any) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    rule: Any = rule_of(fn)
    quick = QUICK if rule is not None and rule.quick == 2 else ()
    second = way(rule, "pt", 1) if quick else fn
    change = getattr(operator, f"i{fn.__name__}")
    by_numpy = _UFUNCS[fn]

    def forward(self: Tensor, other: Any) -> Any:
        if type(other) is not Tensor and not isinstance(other, _OPERANDS):
            return by_numpy(self, other) if _takes_arrays(other) else NotImplemented
        return call(fn, (self, _arrayed(other, fn, self, other)), {})

    def reflected(self: Tensor, other: Any) -> Any:
        if type(other) in quick:
            return second(other, self)
        if not isinstance(other, _OPERANDS):
            return by_numpy(other, self) if _takes_arrays(other) else NotImplemented
        return call(fn, (_arrayed(other, fn, other, self), self), {})

    operate = operator_of(rule, forward) if quick else forward

    def in_place(self: Tensor, other: Any) -> Any:
        if changed(self, change, other):
            return self
        result = operate(self, other)
        return overwrite(self, result, True) if type(result) is Tensor and type(self._primal) in ARRAYS else result

    return operate, reflected, in_place


def _takes_arrays(other: Any) -> bool:
    """Whether an array leaves an operator with the object to NumPy's function, and that to the object or to the array
    that it says it is, whatever its class says of the operator."""
    kind = type(other)
    own = getattr(kind, "__array_ufunc__", None)
    said = hasattr(kind, "__array__") and not hasattr(kind, "__array_priority__")
    return own is not None or (said and not hasattr(kind, "__array_ufunc__"))


def _arrayed(other: Any, fn: Any, x: Any, y: Any) -> Any:
    """A list as an operand of ``fn(x, y)`` is an array. Raises what the operator raises of a list and of the number
    that a Tensor stands for: one of Python's goes with no list, and none is multiplied with one."""
    if isinstance(other, list | tuple):
        t = y if x is other else x
        if type(t._primal) not in ARRAYS and stands_in(t):
            fn(raw(x), raw(y))
        return call(np.array, (other,), {}) if holds_tensor(other) else np.array(other)
    return other


def _comparison(fn: Any) -> Callable[..., Any]:
    def compare(self: Tensor, other: Any) -> Any:
        return fn(self.current, raw(other))

    return compare


def _method(fn: Any, name: str, doc: str) -> Callable[..., Any]:
    rule = rule_of(fn)
    alone = way(rule, "t", 1) if rule is not None and (rule.reduces or rule.quick == 1) else None
    ways = WAYS.setdefault(fn, {})

    def method(*args: Any, **kwargs: Any) -> Any:
        if alone is not None and len(args) == 1 and not kwargs and type(args[0]._primal) is np.ndarray:
            return alone(args[0])
        if kwargs and not KEYWORDS.isdisjoint(kwargs):
            return spelled(name, args[0], args[1:], kwargs)
        if not recording():
            try:
                known = ways[form_of(args, kwargs) if kwargs else len(args)]
            except KeyError:
                pass
            else:
                return known(args, kwargs)
        return call(fn, args, kwargs)

    return named(method, name, doc)


def _transpose(as_ndarray: Any) -> Callable[..., Any]:
    """For an array of more than two axes NumPy refuses two: PyTorch exchanges them."""

    def method(self: Tensor, *axes: Any, **kwargs: Any) -> Any:
        if len(axes) == 2 and self.ndim > 2:
            return transpose(self, *axes)
        return as_ndarray(self, *axes, **kwargs)

    return named(method, "transpose", as_ndarray.__doc__)


def _flatten(as_ndarray: Any) -> Callable[..., Any]:
    """NumPy takes an order, which is a string: numbers are PyTorch's axes."""

    def method(self: Tensor, *given: Any, **kwargs: Any) -> Any:
        if given and isinstance(given[0], int):
            return flatten(self, *given, **kwargs)
        return as_ndarray(self, *given, **kwargs)

    return named(method, "flatten", as_ndarray.__doc__)


def _array_method(name: str) -> Callable[..., Any]:
    return _method(getattr(np.ndarray, name), name, f"As ``numpy.ndarray.{name}``.")


def _function(fn: Any, name: str) -> Callable[..., Any]:
    return _method(fn, name, f"``{fn.__name__}`` of this Tensor.")


def _changing(fn: Any, name: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if "alpha" in kwargs and name in _STEPS:
            return overwrite(self, _STEPS[name](self, *args, **kwargs), True)
        return overwrite(self, call(fn, (self, *args), kwargs), True)

    return named(method, f"{name}_", f"``{fn.__name__}`` of this Tensor, in place.")


def _step(name: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return overwrite(self, _STEPS[name](self, *args, **kwargs), True)

    return named(method, f"{name}_", f"PyTorch's ``{name}_``.")


def named(method: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    method.__name__, method.__qualname__, method.__doc__ = name, f"Tensor.{name}", doc
    return method


_SPLITTING: dict[Any, Callable[[int], int]] = {
    np.vsplit: lambda rank: 0, np.hsplit: lambda rank: min(rank - 1, 1), np.dsplit: lambda rank: 2,
}  # fmt: skip
"""The axes along which they split."""


def _array_function(self: Tensor, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if not recording():
        try:
            known = WAYS[func][form_of(args, kwargs) if kwargs else len(args)]
        except KeyError:
            pass
        else:
            return known(args, kwargs)
    if func is np.atleast_1d:
        demand_no_solver(self, sys._getframe(1))
    if not kwargs and len(args) == 1 and type(args[0]) is Tensor and type(args[0]._primal) is np.ndarray:
        rule = rule_of(func)
        return way(rule, "t", 1)(args[0]) if rule is not None and rule.reduces else call(func, args, kwargs)
    if func in _SPLITTING:
        array, *rest = args
        return call(np.split, (array, *rest, _SPLITTING[func](np.ndim(array))), kwargs)
    changed = CHANGING.get(func)
    return call(func, args, kwargs) if changed is None else changed(*args, **kwargs)


def add_n(tensors: Any) -> Any:
    """The sum of a list of Tensors, numbers and arrays, of shapes that are broadcast together.

    Raises ValueError for an
    empty list, and for shapes that do not fit.

    >>> import tangentx as tx
    >>> x = tx.tensor([1.0, 2.0], requires_grad=True)
    >>> tx.add_n([x, x, x]).sum().backward()
    >>> x.grad.numpy()
    array([3., 3.])
    """
    first, *rest = tensors
    total = call(np.positive, (first,), {})
    for t in rest:
        total = total + t
    return total


def _install() -> None:
    written = vars(Members) | vars(Names)
    members: dict[str, Any] = {name: member for name, member in written.items() if name not in vars(Nothing)}
    for name, fn in _ARITHMETIC.items():
        forward, reflected, in_place = _binary(fn)
        members |= {f"__{name}__": forward, f"__r{name}__": reflected, f"__i{name}__": in_place}
    for name in _COMPARISONS:
        members[f"__{name}__"] = _comparison(getattr(operator, name))
    for name, one in _UNARY.items():
        rule: Any = rule_of(one)
        members[f"__{name}__"] = way(rule, "t") if rule.quick == 1 else _function(one, f"__{name}__")
    for name in _METHODS:
        members.setdefault(name, _array_method(name))
    for name in _REFUSED:
        members[name] = _refused(name)
    for name in dir(np.ndarray):
        # Those without a rule are refused where it counts, and called where it does not.
        if not name.startswith("_") and callable(getattr(np.ndarray, name)):
            members.setdefault(name, _array_method(name))
    for name in _FUNCTIONS:
        members.setdefault(name, _function(getattr(np, name), name))
    members["transpose"] = _transpose(members["transpose"])
    members["flatten"] = _flatten(members["flatten"])
    for name, fn in _RENAMED.items():
        members[name] = _function(fn, name)
    for name, fn in _IN_PLACE.items():
        members[f"{name}_"] = _changing(fn, name)
    members |= {f"{name}_": _step(name) for name in _STEPS if name not in _IN_PLACE}
    members |= {"__array_ufunc__": array_ufunc, "__array_function__": _array_function}
    members["__cupy_override_elementwise_kernel__"] = cupy_ufunc
    members["__tangentx_record__"] = staticmethod(lambda fn, args: call(fn, args, {}))
    members["__array_priority__"] = 1000.0
    for name, member in members.items():
        setattr(Tensor, name, member)


_install()
