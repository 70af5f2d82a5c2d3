"""The short ways of calls that are not recorded, for functions that have a template.

Their text is written once for each function and what it is given by place and by name, after a call of that form has
gone the long way (see `unrecorded`). What is met there too seldom to hurry with goes the long way again.
"""

from __future__ import annotations

import keyword
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.forms import inexact
from tangentx.tensor.holding import LASTING, ROWS, WITHOUT, taken
from tangentx.tensor.modes import STATE
from tangentx.tensor.operation import kept
from tangentx.tensor.places import PLACE_NAMES, placed
from tangentx.tensor.rules import Rule
from tangentx.tensor.storage import View
from tangentx.tensor.unrecorded import Viewed, results

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep  # the frames of what is written here are ours
_MOST = 8  # arguments of a call that is worth a text
_OF_METHODS = frozenset(("axis", "keepdims", "dtype", "ddof"))  # names that functions and their methods mean alike
_AS_METHODS: dict[Any, int] = {
    np.reshape: 2, np.transpose: 2, np.ravel: 2, np.squeeze: 2, np.swapaxes: 3, np.repeat: 3, np.take: 3,
    np.diagonal: 4, np.cumsum: 2, np.cumprod: 2, np.clip: 3, np.argmax: 2, np.argmin: 2, np.argsort: 2,
}  # fmt: skip
"""Functions that only look for a method of their argument's, and how many arguments these mean alike."""
_NUMBERS = frozenset((float, int, complex, np.float64, np.float32, np.complex128, np.int64, np.bool_))
_NAMES = {
    "Tensor_": Tensor, "View_": Viewed, "STATE_": STATE, "array_": np.ndarray, "enter_": View.enter,
    "inexact_": inexact, "isinstance_": isinstance, "kept_": kept, "lasting_": LASTING, "map_": map,
    "new_": object.__new__, "numbers_": _NUMBERS, "plain_": WITHOUT, "real_": (np.ndarray, float, complex),
    "results_": results, "rows_": ROWS, "shared_": np.may_share_memory, "taken_": taken, "tuple_": tuple,
    "type_": type, "wrap_": wrap, **PLACE_NAMES,
}  # fmt: skip

Way = Callable[..., Any]
WAYS: dict[Any, dict[Any, Way]] = {}
"""By function, then by the number of arguments, or by it and the names of others: what is called one frame behind the
user's."""


def learn(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], otherwise: Way) -> None:
    """Enters the short way of calls that have the form of this one, which has been gone."""
    count, names = len(args), tuple(kwargs)
    form = (count, *names) if names else count
    ways = WAYS.setdefault(fn, {})
    if form not in ways and 0 < count + len(names) <= _MOST and all(map(_is_plain, names)):
        ways[form] = short(rule, fn, count, otherwise, names)


def _is_plain(name: str) -> bool:
    """Whether a text can have it for the name of an argument; a result that is written is no new one."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.endswith("_") and name != "out"


def short(rule: Rule, fn: Any, count: int, otherwise: Way, names: tuple[str, ...] = (), through: int = 1) -> Way:
    """The short way of a function. `otherwise` goes the long one: it is given the function, arguments and names.

    So many frames as it comes `through` are between it and the user's, where recording is off. Without any, it is
    called at all times, and goes otherwise where something is to be recorded.
    """
    by_place = [f"x{i}_" for i in range(count)]
    given = {x: f"{x}a_" for x in (*by_place, *names)}
    arguments = f"({''.join(f'{x}, ' for x in by_place)}), {_named({name: name for name in names})}"
    long_way = f"return otherwise_(fn_, {arguments})"
    alike = _AS_METHODS.get(fn, 1 if rule.reduces and rule.owner is None else 0)
    method = 0 < count <= alike and _OF_METHODS.issuperset(names)
    lines = [f"def way_({', '.join((*by_place, *(['*', *names] if names else [])))}):", "    late_ = False"]
    for x, a in given.items():
        lines += _unwrapped(x, a, long_way, rule.may_view)
    if method or rule.owner is not None:
        lines += ["    if type_(x0_a_) is not array_:", f"        {long_way}"]
    if not through:
        lines += ["    if late_ and STATE_.grad:", f"        {long_way}"]
    values = ", ".join((*(given[x] for x in by_place), *(f"{name}={given[name]}" for name in names)))
    lines.append("    ans_ = x0_a_[x1_a_]" if fn is operator.getitem else f"    ans_ = run_({values})")
    if rule.constant:
        lines.append("    return wrap_(ans_) if isinstance_(ans_, real_) and inexact_(ans_) else ans_")
    else:
        lines += _wrapped(rule, f"View_(rule_, fn_, {arguments})")
        lines += _viewed(given, names, f"View_(rule_, fn_, {arguments})") if rule.may_view and count else []
        lines += ["    if late_:", *placed("        ", "t_._made", 1 + through), "    return t_"]
    run = getattr(np.ndarray, fn.__name__) if method else getattr(fn, "_implementation", fn)
    space = {**_NAMES, "fn_": fn, "run_": run, "rule_": rule, "otherwise_": otherwise}
    exec(compile("\n".join(lines) + "\n", f"{_HERE}<{rule.name}>", "exec"), space)
    made: Way = space["way_"]
    return made


def _unwrapped(x: str, a: str, long_way: str, may_view: bool) -> list[str]:
    """The plain data of an argument; of what nobody can change, also as what a view of it may keep."""
    held = [f"    {x}h_ = None"] if may_view and x != "x0_" else []
    return [
        *held,
        f"    if type_({x}) is Tensor_:",
        f"        if {x}._view is not None:",
        f"            {x}._view.refresh({x})",
        f"        {a} = {x}._data",
        f"        late_ = late_ or {x}._needs",
        f"    elif type_({x}) in plain_:",
        f"        {a} = {x}",
        f"    elif type_({x}) is tuple_ and lasting_.issuperset(map_(type_, {x})):",
        f"        {a} = {f'{x}h_ = ' if held else ''}{x}",
        "    else:",
        f"        found_ = taken_({x}) if type_({x}) in rows_ else None",
        "        if found_ is None:",
        f"            {long_way}",
        f"        {a}, needs_ = found_",
        "        late_ = late_ or needs_",
    ]


def _wrapped(rule: Rule, viewing: str) -> list[str]:
    """The result as a Tensor."""
    return [
        "    kind_ = type_(ans_)",
        "    if kind_ is not array_ and kind_ not in numbers_:",
        f"        return results_(ans_, {viewing if rule.may_view else None}, late_)",
        "    t_ = new_(Tensor_)",
        "    t_._data = ans_",
        "    t_._node = t_._view = t_._content = t_._made = t_._grad = t_._hooks = t_._exported = None",
        "    t_._slot = 0",
        "    t_._needs = False",
    ]


def _viewed(given: Mapping[str, str], names: Sequence[str], viewing: str) -> list[str]:
    """The result as a view, where it shares the memory of the first argument or of another."""
    held = {x: f"{a} if type_({a}) in lasting_ else {x}h_ or kept_({a})" for x, a in given.items() if x != "x0_"}
    others = "".join(f"{value}, " for x, value in held.items() if x not in names)
    by_name = _named({name: held[name] for name in names})
    return [
        f"    if kind_ is array_ and (ans_.base is not None or {' or '.join(f'ans_ is {a}' for a in given.values())}):",
        "        base_ = ans_.base",
        "        if type_(x0_) is Tensor_ and type_(x0_a_) is array_ and (",
        "            ans_ is x0_a_ or base_ is x0_a_ or base_ is not None and (",
        "                base_ is x0_a_.base or type_(base_) is not array_ and shared_(ans_, x0_a_)",
        "            )",
        "        ):",
        f"            enter_(t_, x0_, fn_, (None, {others}), {by_name}, 0, None)",
        "        else:",
        f"            {viewing}(t_, None)",
    ]


def _named(values: Mapping[str, str]) -> str:
    """The text of a dict."""
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in values.items()) + "}"
