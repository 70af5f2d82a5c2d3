"""Applies operations to Tensors: runs them on the data and records them by the rule of their template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ELSEWHERE
from tangentx.arrays.products import by_letters, pairwise
from tangentx.common.options import OFF
from tangentx.errors import NO_RULE, NoTemplate, place, span_of
from tangentx.templates import (
    calculates_with,
    composed,
    from_out,
    has_composition,
    no_rule,
    overwriting,
    spoken_of,
    takes_containers,
    without_rule,
)
from tangentx.templates.precision import has_policy
from tangentx.tensor.calls.lifting import lifted_function
from tangentx.tensor.calls.multi_tensor import Grouped
from tangentx.tensor.calls.operation import Operation, root_of
from tangentx.tensor.calls.plain_stubs import Text, learn
from tangentx.tensor.calls.precision import doubled, moved
from tangentx.tensor.calls.recorded_stubs import binary, unary
from tangentx.tensor.calls.rules import Rule, rule_of
from tangentx.tensor.calls.unrecorded import Viewed, made_of, results, unrecorded
from tangentx.tensor.core import dispatch
from tangentx.tensor.core.containers import CONTAINERS, holds_tensor, like_container, raw, tensors_in
from tangentx.tensor.core.devices import mixed
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import STATE, refusal
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.library_code import refuse_said
from tangentx.tensor.writes.writing import has_out, into


def as_array(value: Any) -> Any:
    """A list of Tensors and numbers as the array that NumPy would make of it, recorded; anything else as it is."""
    return call(np.array, (value,), {}) if isinstance(value, list | tuple) and holds_tensor(value) else value


def _in_precision(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments in the precision that the function is to be computed in."""
    named = {name: value if name == "out" else moved(fn, value) for name, value in kwargs.items()}
    return [moved(fn, value) for value in args], named


def _sparing(fn: Any, spoils: Mapping[str, int], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call that spoils no argument. One that it was allowed to overwrite is nan from then on: what the
    library would leave there is not defined."""
    overwritten = []
    for option, i in spoils.items():
        if kwargs.get(option, args[i] if i < len(args) else False):
            name, at = spoken_of(fn, option)
            overwritten.append(kwargs.get(name, args[at] if at < len(args) else None))
    left = [False if i in spoils.values() else value for i, value in enumerate(args)]
    result = call(fn, left, {name: value for name, value in kwargs.items() if name not in spoils})
    for value in overwritten:
        if type(value) is Tensor and value.requires_grad and not value.is_leaf:
            value[...] = np.nan
    return result


def _says(spoils: Mapping[str, int], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call says something of such options; by position that is False once it is done."""
    return any(option in kwargs or (i < len(args) and args[i] is not False) for option, i in spoils.items())


def call(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of ``fn(*args, **kwargs)`` as Tensors, recorded where an argument requires a gradient.

    Raises NoTemplate where there is no rule for it.
    """
    rule = rule_of(fn)
    if OFF.get() and has_policy(fn):
        args, kwargs = _in_precision(fn, args, kwargs)
    if ("out" in kwargs and has_out(fn)) or (len(args) > 1 and len(args) > from_out(fn)[0]):
        return into(fn, args, kwargs)
    if (kwargs or len(args) > 2) and (spoils := overwriting(fn)) and _says(spoils, args, kwargs):
        return _sparing(fn, spoils, args, kwargs)
    if rule is None or rule.constant:
        return _without_rule(fn, args, kwargs, None) if rule is None else _constant(rule, fn, args, kwargs)
    if rule.quick == len(args) and not kwargs:
        if rule.quick == 1:
            return unary(rule, args[0])
        if not (isinstance(args[0], CONTAINERS) or isinstance(args[1], CONTAINERS)):
            return binary(rule, args[0], args[1])
    array = bool(args) and type(args[0]) is Tensor and type(args[0]._primal) is np.ndarray
    if fn is np.einsum and args:
        args = by_letters(args)
        if len(args) > 3 or "." in args[0] or kwargs.keys() == {"optimize"}:
            return _in_pairs(args)
    if not STATE.grad and (rule.owner is None or array):
        return _unrecorded(rule, fn, args, kwargs)
    if rule.reduces and len(args) == 1 and not kwargs and array:
        return unary(rule, args[0])
    try:
        values = args if rule.simple == len(args) and not kwargs else rule.arranged(args, kwargs)
    except NoTemplate as error:
        return _without_rule(fn, args, kwargs, error)
    data, places, nested = _opened(rule, values)
    ans = _run(rule, fn, args, kwargs, data)
    if STATE.program is not None and (given := _given_back(rule, values, ans)) is not None:
        return given
    if places and STATE.grad and not rule.whole_numbers(ans):
        several = nested or isinstance(ans, list | tuple | dict)
        record = Grouped.record if several else Operation.record
        return record(rule, tuple(places), values, data, ans, Viewed(rule, fn, args, kwargs))
    return results(ans, Viewed(rule, fn, args, kwargs) if rule.may_view else None, bool(places), made_of(values))


def _given_back(rule: Rule, values: Sequence[Any], ans: Any) -> Any:
    """The argument that NumPy has given back as it is: a program may ask whether it is the very object."""
    if not (rule.may_view and type(ans) is np.ndarray and STATE.program is not None and STATE.program.leaves):
        return None
    return next((value for value in values if type(value) is Tensor and value._primal is ans), None)


def _in_pairs(args: Sequence[Any]) -> Any:
    """``np.einsum`` as products of two operands, one after the other."""
    found = args[1]
    for k, subscripts in enumerate(pairwise(args[0], [np.ndim(raw(a)) for a in args[1:]])):
        found = call(np.einsum, (subscripts, found, *args[k + 2 : k + 3]), {})
    return found


def as_member(fn: Any, *likely: Sequence[Any]) -> Any:
    """A function as a method of a Tensor's, of arguments for which these values are likely."""
    rule = rule_of(fn)
    assert rule is not None
    return Text(rule, fn, likely).flat(call, 0)


def _opened(rule: Rule, values: Sequence[Any]) -> tuple[list[Any], list[int], bool]:
    """The plain data of arguments, which of them are differentiated by, and whether one holds Tensors."""
    places: list[int] = []
    data: list[Any] = []
    nested = False
    own = rule.template.signature is not None
    for i, value in enumerate(values):
        if type(value) is Tensor:
            if value._view is not None:
                value._view.refresh(value)
            data.append(value._primal)
            if value._needs and rule.with_cotangent[i]:
                places.append(i)
            elif value._needs and rule.refusing[i]:
                raise _not_there(rule, i)
        elif isinstance(value, CONTAINERS) and holds_tensor(value):
            nested = True
            data.append(raw(value))
            if any(t.requires_grad for t in tensors_in(value)):
                if rule.with_cotangent[i]:
                    places.append(i)
                elif rule.refusing[i]:
                    raise _not_there(rule, i)
        else:
            if own and holds_tensor(value):
                raise _of_object(rule, value)
            data.append(value)
    return data, places, nested


def _not_there(rule: Rule, i: int) -> Exception:
    """The error for a Tensor that requires a gradient at a parameter of which the rule says nothing."""
    error = without_rule(rule.template, rule.params[i])
    return refusal(NoTemplate(error.message, span_of(place()), error.hint))


def _of_object(rule: Rule, value: Any) -> Exception:
    """The error for an object that holds Tensors, given to a function with a rule of the user's."""
    message = f"`{rule.template.name}` is given an object of class {type(value).__name__} that holds Tensors"
    return refusal(NoTemplate(message, span_of(place()), "give it the attributes by themselves, or in a dict"))


def _run(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], data: list[Any]) -> Any:
    try:
        if rule.owner is not None and not isinstance(data[0], rule.owner):
            fn, number = _of_number(fn, data[0])
            return fn(number, *map(raw, args[1:]), **{name: raw(value) for name, value in kwargs.items()})
        if kwargs or rule.star >= 0:
            return fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
        return fn(*data[: len(args)])
    except TypeError as error:
        raise mixed(error, *data) from None
    except ValueError:
        for value in (*args, *kwargs.values()):
            refuse_said(value)
        raise


def _of_number(fn: Any, value: Any) -> tuple[Any, Any]:
    """A method of arrays as one of a number of NumPy's, or of another library's array, and what it is called of."""
    if type(value) in ELSEWHERE:
        return lambda array, *args, **kwargs: getattr(array, fn.__name__)(*args, **kwargs), value
    number = value if isinstance(value, np.generic | np.ndarray) else np.asarray(value)[()]
    return getattr(type(number), fn.__name__), number


def _unrecorded(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    result = unrecorded(rule, fn, args, kwargs)
    learn(rule, fn, args, kwargs, call)
    return result


def _constant(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Real results are Tensors without history, whole numbers and truth values are plain."""
    data = [raw(arg) for arg in args]
    own = fn
    if rule.owner is not None and not isinstance(data[0], rule.owner):
        own, data[0] = _of_number(fn, data[0])
    ans = own(*data, **{name: raw(value) for name, value in kwargs.items()})
    learn(rule, fn, args, kwargs, call)
    real = isinstance(ans, np.ndarray | float | complex) or type(ans) in ELSEWHERE
    return wrap(ans) if real and inexact(ans) else ans


def _without_rule(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], error: NoTemplate | None) -> Any:
    """A composition's body, or the plain function where nothing requires a gradient."""
    tensors = list(tensors_in([*args, *kwargs.values()]))
    recorded = STATE.grad and any(t.requires_grad for t in tensors)
    if not recorded and error is None and _is_of_library(fn) and has_composition(fn):
        ans = fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
        if _is_new(ans, tensors):
            return results(ans, None, any(t.requires_grad for t in tensors), made_of(tensors))
    body = composed(fn, args, kwargs)
    if body is not None:
        kinds = "" if takes_containers(fn) else calculates_with(fn, body)
        named = {name: doubled(body, _row_of(value, kinds)) for name, value in kwargs.items()}
        return lifted_function(body)(*(doubled(body, _row_of(value, kinds)) for value in args), **named)
    if STATE.grad and any(t.requires_grad for t in tensors_in([list(args), dict(kwargs)])):
        message, hint = no_rule(fn) if error is None else (error.message, NO_RULE)
        raise refusal(NoTemplate(message, span_of(place()), hint))
    for t in tensors_in([list(args), dict(kwargs)]):
        root_of(t)._exported = True
    ans = fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
    return results(_read_only(ans), None, False, made_of([list(args), dict(kwargs)]))


def _row_of(value: Any, kinds: str) -> Any:
    """The array of a list with which a body calculates, for there are numbers of these kinds in it; else the value."""
    if not kinds or not isinstance(value, list | tuple) or holds_tensor(value):
        return value
    try:
        found = np.array(value)
    except ValueError:  # of lists that differ in length
        return value
    return found if found.dtype.kind in kinds else value


def _is_of_library(fn: Any) -> bool:
    """Whether a function is NumPy's or SciPy's, and takes arrays as they are."""
    return hasattr(fn, "_implementation") or str(getattr(fn, "__module__", "")).startswith("scipy.")


def _is_new(ans: Any, tensors: Sequence[Tensor]) -> bool:
    """Whether a result of NumPy's shares memory with none of the Tensors, whose views it would not be. One with a
    whole number inside is not taken: the body of the composition gives that as it is."""
    if isinstance(ans, list | tuple):
        return all(_is_new(item, tensors) for item in ans)
    if isinstance(ans, np.ndarray) or type(ans) in ELSEWHERE:
        return not any(np.may_share_memory(ans, t._primal) for t in tensors)
    return isinstance(ans, np.inexact)


def _read_only(ans: Any) -> Any:
    """Arrays that may share memory with a Tensor, which would not know of a write: they are not written."""
    if isinstance(ans, list | tuple):
        return like_container(ans, [_read_only(item) for item in ans])
    if type(ans) is np.ndarray:
        ans = ans.view()
        ans.flags.writeable = False
    return ans


dispatch.provide(call)
