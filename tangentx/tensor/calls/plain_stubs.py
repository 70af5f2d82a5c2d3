"""Call stubs of unrecorded calls: the fast path for functions that have a template.

Their text is written once for each function and how many arguments it is given by place and by which names, after a
call of that form has gone the long way (see `unrecorded`). What is met there too seldom to hurry with goes the long
way again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ELSEWHERE
from tangentx.common.naming import is_identifier
from tangentx.common.options import OFF
from tangentx.templates.precision import has_policy
from tangentx.tensor.calls.operation import kept
from tangentx.tensor.calls.rules import Rule
from tangentx.tensor.calls.stub_texts import compiled, fresh
from tangentx.tensor.calls.unrecorded import UNWRAPPING, Viewed, results, unwrapping
from tangentx.tensor.core.containers import ROWS
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import recording
from tangentx.tensor.core.tensor import wrap
from tangentx.tensor.core.user_lines import placed
from tangentx.tensor.writes.storage import Step, View

_MOST = 8  # arguments of a call that is worth a text
BY_NAME = 1 << 20  # see `form_of`
_OF_METHODS = frozenset(("axis", "keepdims", "dtype", "ddof"))  # names that functions and their methods mean alike
_AS_METHODS: dict[Any, int] = {
    np.reshape: 2, np.transpose: 2, np.ravel: 2, np.squeeze: 2, np.swapaxes: 3, np.repeat: 3, np.take: 3,
    np.diagonal: 4, np.cumsum: 2, np.cumprod: 2, np.clip: 3, np.argmax: 2, np.argmin: 2, np.argsort: 2,
}  # fmt: skip
"""Functions that only look for a method of their argument's, and how many arguments these mean alike."""
_NUMBERS = frozenset((float, int, complex, np.float64, np.float32, np.complex128, np.int64, np.bool_))


def any_elsewhere(*data: Any) -> bool:
    """Whether an argument is an array of another library than NumPy, or a list of such."""
    return any(any_elsewhere(*x) if type(x) in ROWS else type(x) in ELSEWHERE for x in data)


_NAMES: dict[str, Any] = {
    "Viewed_": Viewed, "any_elsewhere_": any_elsewhere, "array_": np.ndarray, "elsewhere_": ELSEWHERE,
    "enter_": View.enter, "inexact_": inexact, "isinstance_": isinstance,
    "kept_": kept, "nothing_": {}, "numbers_": _NUMBERS, "off_": OFF.get, "real_": (np.ndarray, float, complex),
    "recording_": recording, "results_": results, "shared_": np.may_share_memory, "wrap_": wrap, **UNWRAPPING,
}  # fmt: skip

A_TENSOR = wrap(0.0)
"""What is like any Tensor."""

Way = Callable[..., Any]
WAYS: dict[Any, dict[int, Way]] = {}
"""By function and `form_of` a call: what is called with its arguments and its names, one frame behind the user's."""
KNOWN: set[tuple[Any, ...]] = set()
"""Functions with the number of arguments and the names of calls that have a way."""


def form_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """How many arguments a call gives by place and by name: the key of its way, which looks at the names itself."""
    return len(args) - BY_NAME * len(kwargs)


def learn(rule: Rule, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], otherwise: Way) -> None:
    """Enters the short way of calls that have the form of this one, which has been gone."""
    call = (fn, len(args), *sorted(kwargs))
    if call not in KNOWN and args and len(args) + len(kwargs) <= _MOST and all(map(_is_plain, kwargs)):
        ways, form = WAYS.setdefault(fn, {}), form_of(args, kwargs)
        likely = [(value,) for value in (*args, *kwargs.values())]
        ways[form] = Text(rule, fn, likely, tuple(kwargs)).packed(otherwise, ways.get(form))
        KNOWN.add(call)


def _is_plain(name: str) -> bool:
    """Whether a text can have it for the name of an argument; a result that is written is no new one."""
    return is_identifier(name) and not name.endswith("_") and name != "out"


class Text:
    """The text of a function's short way, for a number of arguments and for names.

    `likely` has values that are likely for each argument, of which the last have these names.
    """

    def __init__(self, rule: Rule, fn: Any, likely: Sequence[Sequence[Any]], names: Sequence[str] = ()) -> None:
        count = len(likely) - len(names)
        self.rule, self.fn, self.by_name = rule, fn, names
        self.by_place = [f"x{i}_" for i in range(count)]
        self.given = [*self.by_place, *names]
        self.likely = dict(zip(self.given, likely, strict=True))
        alike = _AS_METHODS.get(fn, 1 if rule.reduces and rule.owner is None else 0)
        self.method = 0 < count <= alike and _OF_METHODS.issuperset(names)
        self.names = {"fn_": fn, "rule_": rule, "run_": getattr(fn, "_implementation", fn), **_NAMES}
        if self.method:
            self.names["run_"] = getattr(np.ndarray, fn.__name__)

    def packed(self, otherwise: Way, before: Way | None = None) -> Way:
        """The way that is called with arguments and names, where recording is off.

        `otherwise` goes the long way: it is given the function too. Calls by other names go `before`.
        """
        arguments = "args_, kwargs_"
        lines = ["def way_(args_, kwargs_):", f"    {''.join(f'{x}, ' for x in self.by_place)} = args_"]
        if self.by_name:
            other_names = f"otherwise_(fn_, {arguments})" if before is None else f"before_({arguments})"
            lines += ["    try:", *(f"        {name} = kwargs_[{name!r}]" for name in self.by_name)]
            lines += ["    except KeyError:", f"        return {other_names}"]
        return self._compiled([*lines, *self._body(arguments, 1)], otherwise_=otherwise, before_=before)

    def flat(self, otherwise: Way, through: int) -> Way:
        """The way that is called with the arguments themselves. So many frames are between it and the user's.

        Without any it is called at all times, and goes otherwise where something is to be recorded.
        """
        arguments = f"({''.join(f'{x}, ' for x in self.by_place)}), nothing_"
        lines = [f"def way_({', '.join(self.by_place)}):", *self._body(arguments, through)]
        return self._compiled(lines, otherwise_=otherwise)

    def _compiled(self, lines: list[str], **names: Any) -> Way:
        step = _step_of(self.fn, len(self.by_place) - 1, self.by_name)
        made: Way = compiled(self.rule.name, lines, {**self.names, **names, "step_": step})["way_"]
        return made

    def _body(self, arguments: str, through: int) -> list[str]:
        long_way = f"return otherwise_(fn_, {arguments})"
        lines = ["    if off_():", f"        {long_way}"] if has_policy(self.fn) else []
        lines.append("    late_, made_ = False, None")
        for x in self.given:
            more, names = unwrapping(x, self.likely[x], self.rule.may_view and x != "x0_", long_way)
            lines += more
            self.names |= names
        if self.method or self.rule.owner is not None:
            lines += ["    if type_(x0_a_) is not array_:", f"        {long_way}"]
        else:
            data = ", ".join(f"{x}a_" for x in self.given)
            lines += [f"    if elsewhere_ and any_elsewhere_({data}):", f"        {long_way}"]
        if not through:
            lines += ["    if late_ and recording_():", f"        {long_way}"]
        values = ", ".join((*(f"{x}a_" for x in self.by_place), *(f"{name}={name}a_" for name in self.by_name)))
        lines.append("    ans_ = x0_a_[x1_a_]" if self.fn is operator.getitem else f"    ans_ = run_({values})")
        return [*lines, *self._result(f"Viewed_(rule_, fn_, {arguments})", 1 + through)]

    def _result(self, viewed: str, frames: int) -> list[str]:
        """The result as a Tensor that knows where it was made, and is a view where it is one."""
        if self.rule.constant:
            return ["    return wrap_(ans_) if isinstance_(ans_, real_) and inexact_(ans_) else ans_"]
        return [
            "    kind_ = type_(ans_)",
            "    if kind_ is not array_ and kind_ not in numbers_:",
            f"        return results_(ans_, {viewed if self.rule.may_view else None}, late_, made_)",
            *fresh("t_", "ans_"),
            *(self._viewed(viewed) if self.rule.may_view and self.by_place else []),
            "    if late_:",
            *placed("        ", "made_", frames),
            "    t_._made = made_",
            "    return t_",
        ]

    def _viewed(self, viewed: str) -> list[str]:
        """The result as a view, where it shares the memory of the first argument or of another."""
        held = "".join(f"kept_({x}a_) if {x}h_ is None else {x}h_, " for x in self.given[1:])
        same = "".join(f" or ans_ is {x}a_" for x in self.given)
        return [
            f"    if kind_ is array_ and ((base_ := ans_.base) is not None{same}):",
            "        if type_(x0_) is Tensor_ and (",
            "            base_ is x0_a_ or ans_ is x0_a_ or base_ is not None and type_(x0_a_) is array_ and (",
            "                base_ is x0_a_.base or type_(base_) is not array_ and shared_(ans_, x0_a_)",
            "            )",
            "        ):",
            f"            enter_(t_, x0_, step_, ({held}))",
            "        else:",
            f"            {viewed}(t_, None)",
        ]


def _step_of(fn: Any, count: int, names: Sequence[str]) -> Callable[..., Step]:
    """Makes the step to a view of the first argument, given the others: so many by place, the rest by name."""

    def step(*given: Any) -> Step:
        return Step(fn, (None, *given[:count]), dict(zip(names, given[count:], strict=True)), 0, None)

    return step
