"""Suggestions for library functions without a rule: the most similar name that has one."""

from __future__ import annotations

import difflib
from typing import Any

from tangentx.common.naming import public_name
from tangentx.errors import NO_RULE
from tangentx.templates.compositions import compositions
from tangentx.templates.registry import templates


def advice(fn: Any) -> str:
    """The hint of the error that says that `fn` has no rule.

    >>> from scipy import special
    >>> advice(special.jve)[:38]
    '`scipy.special.jv` has one, if that wi'
    """
    name = public_name(fn)
    home = ".".join(name.split(".")[:2])
    if not home.startswith("scipy."):
        return NO_RULE
    rules = [primal for rule in templates() for primal in rule.primals]
    rules += [primal for rule in compositions() for primal in rule.primals]
    names = [known for known in map(public_name, rules) if known.startswith(f"{home}.")]
    if name in names:
        return f"leave out the arguments that its rule does not know; else {NO_RULE}"
    close = difflib.get_close_matches(name, names, 1)
    return f"`{close[0]}` has one, if that will do; otherwise {NO_RULE}" if close else NO_RULE
