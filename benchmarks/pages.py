"""A page of the figures of ``jit="c"``, with a picture of the ratios: when they were measured, and on what."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.table import Row

PAGE, PICTURE = "jit.md", "jit.svg"


def write_page(folder: str, rows: Sequence[Row]) -> None:
    """Writes the page and the picture. Raises ImportError without matplotlib (the extra `viz`)."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    _draw(place / PICTURE, rows)
    (place / PAGE).write_text(page(rows), encoding="utf-8")


def page(rows: Sequence[Row]) -> str:
    """The figures as a table, under what they were measured on."""
    lines = [
        '# Gradients compiled by `jit="c"`',
        "",
        "Time of the compiled gradient as a share of that of the gradient that is written by hand with NumPy: less is",
        "faster. Medians of calls in turn, by `python -m benchmarks --jit --peers --page FOLDER`.",
        "",
        f"Measured on {datetime.now(UTC).date()}, on {machine()}.",
        "",
        f"![Ratios]({PICTURE})",
        "",
        "| program | share | goal | |",
        "|---|---|---|---|",
        *(f"| {_name(row)} | {row.figure:.3f} | {row.goal:g} | {row.more} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def machine() -> str:
    """The processor, how many of it there are, how busy they were, and the system."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = [line for line in cpuinfo.read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
        model = found[0].partition(": ")[2] if found else model
    load = f", a load of {os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{model}, {os.cpu_count()} processors{load}, {platform.system()}, Python {platform.python_version()}"


def _draw(place: Path, rows: Sequence[Row]) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.0, 0.3 * len(rows) + 1.2), layout="constrained")
    places = range(len(rows), 0, -1)
    colours = ["tab:blue" if row.figure <= row.goal else "tab:orange" for row in rows]
    axes.barh(places, [row.figure for row in rows], color=colours)
    axes.scatter([row.goal for row in rows], places, marker="|", s=120, color="black", label="goal")
    axes.set_yticks(places, [_name(row) for row in rows])
    axes.set_xscale("log")
    axes.axvline(1.0, color="grey", linewidth=0.8)
    axes.set_xlabel("time, as a share of that of the gradient written by hand")
    axes.legend(loc="lower right")
    figure.savefig(place)
    pyplot.close(figure)


def _name(row: Row) -> str:
    return row.name.removesuffix(": jit")
