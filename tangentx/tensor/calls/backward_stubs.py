"""Backward stubs: the fast path of a reverse sweep at a node with one result, on plain data.

Its text is written once for each rule and the places that it is pulled back to: the template's own lines, and around
them what the sweep does with a cotangent before and after.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.tensor.calls.rules import Pull, compiled_pullback
from tangentx.tensor.core.forms import fit

_NAMES = {"array_": np.ndarray, "fit_": fit, "tuple_": tuple, "type_": type, "any_": any}


def first_step(node: Any, *state: Any) -> None:
    """The step of a class of nodes until it is taken first, which is when its text is made."""
    kind = type(node)
    kind.step = _step(kind.pull_rule)
    node.step(*state)


def _step(pull: Pull) -> Any:
    """``step(node, bars, waiting, ready, sweep)`` takes the node's cotangent on to its sources.

    It also counts, adds to `ready` what waits for nothing more, and frees the node.
    """
    numbers = range(len(pull.wanted))
    lines = [
        "def pull_(node_, bars_, waiting_, ready_, sweep_):",
        "    ans_bar = bars_.pop(node_)",
        "    values_ = node_.values",
        "    if values_ is None or any_(node_.contents):" if pull.needs else "    if values_ is None:",
        "        node_.check()",
        *([f"    {', '.join(pull.needs)}, = values_"] if pull.needs else []),
        *(f"    {', '.join(f'{name}{i}_' for i in numbers)}, = node_.{name}s" for name in ("source", "like")),
        "    if not sweep_.retain:",
        "        node_.freed, node_.values, node_.contents = sweep_.where, None, ()",
        *pull.middle,
    ]
    for i, value in zip(numbers, pull.chosen, strict=True):
        lines += _given(f"source{i}_", f"like{i}_", value)
    return compiled_pullback("\n".join(lines) + "\n", {**pull.plain_names(), **_NAMES})


def _given(source: str, like: str, value: str) -> list[str]:
    """One cotangent, in the form of what it belongs to, if that is asked for."""
    return [
        f"    count_ = waiting_.get({source})",
        "    if count_ is not None:",
        f"        bar_ = {value}",
        f"        if type_({like}) is tuple_:",
        f"            if type_(bar_) is not array_ or bar_.dtype is not {like}[1] or bar_.shape != {like}[0]:",
        f"                bar_ = fit_(bar_, {like})",
        f"        elif type_(bar_) is not type_({like}):",
        f"            bar_ = fit_(bar_, {like})",
        f"        if {source} in bars_:",
        f"            sweep_.add({source}, bar_)",
        "        else:",
        f"            bars_[{source}] = bar_",
        "        if count_ == 1:",
        f"            ready_.append({source})",
        "        else:",
        f"            waiting_[{source}] = count_ - 1",
    ]
