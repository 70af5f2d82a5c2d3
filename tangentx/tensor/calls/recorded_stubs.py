"""Call stubs of recorded calls: the fast path for functions of one or two operands.

Their text is written once for each rule and what it is given, so that a call meets no choice that is known before:
which operands are Tensors, which require a gradient, what the pullback reads. All formulas are the templates'.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS
from tangentx.common.options import OFF
from tangentx.templates.precision import has_policy
from tangentx.tensor.calls.operation import Operation, kept, of_another_class
from tangentx.tensor.calls.precision import in_precision
from tangentx.tensor.calls.rules import Rule
from tangentx.tensor.calls.stub_texts import compiled, current, fresh
from tangentx.tensor.core.devices import mixed
from tangentx.tensor.core.forms import demand_numbers, inexact, like_of
from tangentx.tensor.core.modes import recording
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.core.user_lines import placed
from tangentx.tensor.graph.nodes import TAPES, noted

QUICK = frozenset((Tensor, float, int, np.ndarray, np.float64))  # types of operands to hurry with
_NAMES = {
    "array": np.ndarray, "arrays": ARRAYS, "demand_numbers": demand_numbers, "inexact": inexact, "like_of": like_of,
    "kept": kept, "mixed": mixed, "new": object.__new__, "of_another_class": of_another_class,
    "tapes": TAPES, "noted": noted,
    "in_precision": in_precision, "off": OFF.get, "quick": QUICK, "recording": recording, "shape": np.shape,
}  # fmt: skip

_PLACES = ((0, 1), (0,), (1,))
_SIGNS: dict[Any, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.matmul: "@",
}  # fmt: skip


def way(rule: Rule, given: str, through: int = 0) -> Callable[..., Any]:
    """The function of a rule, for operands that are Tensors where `given` has "t", and plain where it has "p".

    So many frames as it comes `through` are between it and the user's.
    """
    found = rule.ways.get((given, through))
    if found is None:
        found = rule.ways[given, through] = _way(rule, given, through)
    return found


def operator_of(rule: Rule, otherwise: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The way for two Tensors as a method, which goes `otherwise` where the second is neither one nor plain."""
    return _way(rule, "tt", 0, otherwise)


def unary(rule: Rule, x: Tensor) -> Any:
    """``fn(x)``, recorded where that is asked for."""
    return way(rule, "t")(x)


def binary(rule: Rule, x: Any, y: Any) -> Any:
    """``fn(x, y)``, one of which is a Tensor and neither a list, recorded where that is asked for."""
    return way(rule, "tp" if type(y) is not Tensor else "tt" if type(x) is Tensor else "pt")(x, y)


def _way(rule: Rule, given: str, through: int, otherwise: Any = None) -> Callable[..., Any]:
    numbers = range(len(given))
    tensors = [i for i in numbers if given[i] == "t"]
    lines = [f"def way({', '.join(f'x{i}' for i in numbers)}):"]
    if otherwise is not None:
        lines += [
            "    if type(x1) is not Tensor_:",
            "        return plainly(x0, x1) if type(x1) in quick else otherwise(x0, x1)",
        ]
    if has_policy(rule.fn):
        operands = ", ".join(f"x{i}" for i in numbers)
        lines += ["    if off():", f"        {operands}{',' * (len(given) == 1)} = in_precision(policy, ({operands},))"]
    for i in numbers:
        lines += current("    ", f"x{i}", f"a{i}") if i in tensors else [f"    a{i} = x{i}"]
    sign = _SIGNS.get(rule.fn)
    data = ", ".join(f"a{i}" for i in numbers)
    lines += ["    try:", f"        ans = a0 {sign} a1" if sign else f"        ans = fn({data})"]
    lines += ["    except TypeError as error:", f"        raise mixed(error, {data}) from None", *fresh("t", "ans")]
    active = [i for i in tensors if rule.with_cotangent[i]]
    for places in _PLACES:
        if set(places) <= set(active):
            arguments = ", ".join(f"x{i}, a{i}" for i in numbers)
            lines += [
                f"    if {' and '.join(f'x{i}._needs' for i in places)}:",
                "        if recording():",
                f"            return record_{'_'.join(map(str, places))}(t, ans, {arguments})",
                *placed("        ", "t._made", 1 + through),
                "        return t",
            ]
    names = (
        {"policy": rule.fn}
        if otherwise is None
        else {"policy": rule.fn, "otherwise": otherwise, "plainly": way(rule, "tp", through + 1)}
    )
    lines += [f"    t._made = {' or '.join(f'x{i}._made' for i in tensors)}", "    return t"]
    space = _compiled(rule, lines, **names)
    for places in _PLACES:
        _promise(space, rule, places, given, through)
    made: Callable[..., Any] = space["way"]
    return made


def _promise(space: dict[str, Any], rule: Rule, places: tuple[int, ...], given: str, through: int) -> None:
    """Stands for a recorder until it is called first, which is when its pullback is made."""
    name = f"record_{'_'.join(map(str, places))}"

    def first(*arguments: Any) -> Any:
        space[name] = made = _recorder(rule, places, given, through)
        return made(*arguments)

    space[name] = first


def _recorder(rule: Rule, places: tuple[int, ...], given: str, through: int) -> Callable[..., Any]:
    """Enters a node behind the result `t` and gives `t`: what the pullback to these places reads is kept."""
    node = Operation.kind(rule, places)
    ports = [f"x{i}._slot" for i in places]
    likes = _tuple(f"(a{i}.shape, a{i}.dtype) if type(a{i}) is array else like_of(a{i})" for i in places)
    lines = [
        f"def record(t, ans, {', '.join(f'x{i}, a{i}' for i in range(len(given)))}):",
        *(
            []
            if rule.inexact
            else [
                "    if ans.dtype.kind not in 'fc' if type(ans) is array else not inexact(ans):",
                "        demand_numbers(ans)",
                "        return t",
            ]
        ),
        "    if type(ans) is not array and isinstance(ans, array):",
        "        raise of_another_class(ans)",
        "    t._node = node = new(Node)",
        "    t._needs = True",
        *placed("    ", "node.place", 2 + through),  # behind its way, and what that comes through
        f"    node.sources = {_tuple(f'x{i} if x{i}._node is None else x{i}._node' for i in places)}",
        "    node.ports = None",
        f"    if {' or '.join(ports)}:",
        f"        node.ports, node.simple = {_tuple(ports)}, False",
        f"    node.likes = {likes}",
        "    node.freed = None",
    ]
    lines += [*_keeping(node.pull_rule.reads, given), "    if tapes:", "        noted(node, (t,))", "    return t"]
    space = _compiled(rule, lines, Node=node, **{f"default{i}": value for i, value in enumerate(rule.defaults)})
    made: Callable[..., Any] = space["record"]
    return made


def _keeping(reads: Sequence[tuple[str, int]], given: str) -> list[str]:
    """The lines that keep what a pullback reads: results, arguments, shapes, defaults."""
    lines, values, contents = [], [], []
    for number, (how, i) in enumerate(reads):
        held = how == "ans" or (how == "value" and given[i : i + 1] == "t")
        if held:
            lines += _hold(number, "t", "ans") if how == "ans" else _hold(number, f"x{i}", f"a{i}")
        value = "ans" if how == "ans" else f"a{i}" if i < len(given) else f"default{i}"
        plain = how == "value" and not held and i < len(given)
        values.append(
            f"shape({value})"
            if how == "shape"
            else f"{value} if type({value}) is float else kept({value})"
            if plain
            else value
        )
        contents.append(f"content{number}" if held else "None")
    return [*lines, f"    node.values = {_tuple(values)}", f"    node.contents = {_tuple(contents)}"]


def _hold(number: int, t: str, data: str) -> list[str]:
    """The content of what is kept; a number has none."""
    return [
        f"    content{number} = None",
        f"    if type({data}) in arrays:",
        f"        root = {t} if {t}._view is None else {t}._view.root",
        f"        content{number} = root._content",
        f"        if content{number} is None:",
        f"            content{number} = root._content = []",
    ]


def _tuple(items: Iterable[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


def _compiled(rule: Rule, lines: list[str], **names: Any) -> dict[str, Any]:
    # NumPy's functions do what the methods do, and take longer to find out that they may.
    fn = getattr(np.ndarray, rule.fn.__name__) if rule.reduces else rule.fn
    return compiled(rule.name, lines, {**_NAMES, "fn": fn, **names})
