"""The table of passes as people read it: ``python -m tangentx.optimise``."""

from __future__ import annotations

import inspect
import sys

from tangentx.optimise.pipeline import LAST, LATE, PASSES

_HEADER = "| proof | file | when | what it does |\n|---|---|---|---|\n"


def listing() -> str:
    """A line for each pass, in the order in which they run: the name by which `proofs` switches it off, its file, when
    it runs (in rounds until nothing changes, behind them, or once at the end), and what it does. In Markdown."""
    rows = []
    for name, run in PASSES.items():
        module = sys.modules[run.__module__]
        says = (inspect.getdoc(module) or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        when = "at the end" if name in LAST else "behind the rounds" if name in LATE else "in rounds"
        rows.append(f"| `{name}` | `{module.__name__.rpartition('.')[2]}.py` | {when} | {says} |\n")
    return _HEADER + "".join(rows)
