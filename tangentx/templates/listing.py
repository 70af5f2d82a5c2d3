"""The table of operations as people read it: ``python -m tangentx.templates.listing``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.templates import compositions, templates


def listing() -> str:
    """A line for each operation that has a derivative: what it is called as, the kind of its rule, what it is.

    In Markdown, in order of declaration; compositions come last, and constants, whose derivative is zero, not at all.
    """
    rows: list[tuple[Any, str, Any]] = [(t.primals, t.kind, t.body) for t in templates() if t.body is not None]
    rows += [(c.primals, "composition", c.body) for c in compositions()]
    lines = ["| operation | rule | |", "|---|---|---|"]
    for primals, kind, body in rows:
        names = ", ".join(dict.fromkeys(f"`{_name(primal)}`" for primal in primals))
        lines.append(f"| {names} | {kind} | {(inspect.getdoc(body) or '').partition(chr(10))[0]} |")
    return "\n".join(lines) + "\n"


def _name(primal: Callable[..., Any]) -> str:
    owner, whose = getattr(primal, "__objclass__", None), getattr(primal, "__self__", None)
    if isinstance(whose, np.ufunc):
        return f"numpy.{whose.__name__}.{primal.__name__}"
    module = owner.__name__ if owner is not None else (getattr(primal, "__module__", None) or "numpy")
    name = getattr(primal, "__name__", str(primal))
    return name if module == "builtins" else f"{module.removeprefix('_')}.{name}"


if __name__ == "__main__":
    print(listing(), end="")
