"""What is not selected gives nothing: a nan in one element of an argument leaves the derivative of the others alone."""

from __future__ import annotations

import itertools
import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.templates import compositions, examples, templates

UNKNOWN = {"inv", "cholesky", "solve", "cross", "expm", "qr", "cond", "tensorsolve", "tensorinv"}
"""Whose results may be partly finite where a whole matrix is lost, and a difference of products."""
_COUNT = itertools.count()


def damaged(example: Any, moved: int, lost: int) -> Any:
    """A function of a number that moves one argument and has a nan in one; None where all or nothing is lost."""
    args = list(example.args)
    if not all(type(a) is np.ndarray and a.dtype == float and a.size > 1 for a in (args[moved], args[lost])):
        return None
    bad = np.zeros_like(args[lost])
    bad.flat[0] = np.nan
    args[lost] = args[lost] + bad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = example.fn(*args, **example.kwargs)
        except (ValueError, np.linalg.LinAlgError):
            return None
    if type(out) is not np.ndarray or out.dtype != float or np.isfinite(out).all() or not np.isfinite(out).any():
        return None
    given = [f"w * a{i}" if i == moved else f"a{i}" for i in range(len(args))] + [f"{k}=k_{k}" for k in example.kwargs]
    text = f"def f(w):\n    out = fn({', '.join(given)})\n    return np.sum(np.where(np.isnan(out), 0.0, out) * c)\n"
    space = {"np": np, "fn": example.fn, "c": np.cos(np.arange(out.size)).reshape(out.shape) + 1.5}
    space |= {f"a{i}": arg for i, arg in enumerate(args)} | {f"k_{k}": value for k, value in example.kwargs.items()}
    name = f"<unselected {next(_COUNT)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), space)
    return space["f"]


def cases() -> list[Any]:
    """One for each pair of arguments of each rule, of which the first moves and the second has a nan."""
    found: dict[Any, Any] = {}
    for rule in (*templates(), *compositions()):
        name = getattr(rule, "name", "") or getattr(rule, "body", rule).__name__
        if getattr(rule, "kind", "") == "constant" or name in UNKNOWN:
            continue
        for example in examples(rule):
            if (getattr(example.fn, "__module__", "") or "").startswith(("tangentx", "scipy.ndimage")):
                continue  # a place that is nan is a segmentation fault of scipy.ndimage's own
            for moved, lost in itertools.product(example.wrt, range(len(example.args))):
                if (name, moved, lost) not in found and (f := damaged(example, moved, lost)) is not None:
                    found[name, moved, lost] = f
    return [pytest.param(f, id=f"{name}-{moved}-{lost}") for (name, moved, lost), f in found.items()]


@pytest.mark.share(16)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", cases())
def test_what_is_not_selected_gives_nothing(f: Any) -> None:
    step = 1e-5
    wanted = (f(1.0 + step) - f(1.0 - step)) / (2.0 * step)
    assert tx.grad(f, fallback="error")(1.0) == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    assert tx.jvp(f, (1.0,), (1.0,), fallback="error")[1] == pytest.approx(wanted, rel=1e-5, abs=1e-6)
