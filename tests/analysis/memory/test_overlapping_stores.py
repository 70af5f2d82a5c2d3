"""Assignments whose value lies in the memory that they write: as NumPy evaluates them, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile.pipeline import proofs
from tests.frontend.made import defined

A = np.arange(1.0, 17.0).reshape(4, 4) / 8.0
V = np.arange(1.0, 7.0) / 4.0

AS_A_COPY = {
    "in one step": ("v[1:] = v[:-1]", V),
    "into the first half": ("v[:3] = v[::2]", V),
    "backwards": ("v[:] = v[::-1]", V),
    "two names": ("head, tail = v[:-1], v[1:]; tail[...] = head", V),
    "a row to its own column": ("v[2, :] = v[:, 2]", A),
    "rows exchanged by halves": ("v[[0, 1]] = v[[1, 0]]; v[2], v[3] = v[3], v[2]", A),
    "a flipped matrix": ("v[:, :] = v.T", A),
    "chosen from a copy": ("v[v > 1.1] = v[:2].copy()", V),
}
AS_NUMPY_HAPPENS_TO = {
    "in longer steps": ("v[::2] = v[:-3]", V),
    "a column to another row": ("v[1, :] = v[:, 3]", A),
    "through two names": ("even, first = v[::2], v[:3]; even[...] = first", V),
    "to chosen elements": ("v[v > 0.9] = v[:3]", V),
    "to places": ("np.place(v, v > 0.9, v[:3])", V),
    "in the row of all": ("v.flat[[0, 2, 4]] = v[:3]", V),
    "joined": ("np.concatenate([v[1:3], v[:1]], out=v[:3])", V),
}


def weighed(body: str) -> Any:
    """A function that does so to a copy, and weighs the elements."""
    lines = "\n    ".join(body.split("; "))
    weights = "np.arange(1.0, v.size + 1.0).reshape(v.shape)"
    return defined(
        f"import numpy as np\ndef f(x):\n    v = x * 1.0\n    {lines}\n    return np.sum(v * v * {weights})\n"
    )


@pytest.mark.parametrize("off", [(), "all"], ids=["on", "off"])
@pytest.mark.parametrize(("body", "x"), AS_A_COPY.values(), ids=AS_A_COPY)
def test_what_numpy_does_as_with_a_copy(body: str, x: Any, off: Any) -> None:
    function = weighed(body)
    with proofs(off):
        gradient = tx.grad(function, fallback="error")(x)
        moved = tx.jvp(function, (x,), (x,))[1]
    step = 1e-6
    for place in np.ndindex(x.shape):
        unit = np.zeros_like(x)
        unit[place] = step
        assert gradient[place] == pytest.approx((function(x + unit) - function(x - unit)) / (2 * step), rel=1e-6)
    assert moved == pytest.approx(np.sum(gradient * x))


@pytest.mark.parametrize(("body", "x"), AS_NUMPY_HAPPENS_TO.values(), ids=AS_NUMPY_HAPPENS_TO)
def test_what_numpy_reads_after_it_wrote_it(body: str, x: Any) -> None:
    function = weighed(body)
    with pytest.raises(tx.SharedMemory, match="what it has just written"):
        tx.grad(function, fallback="error")(x)
    with pytest.raises(tx.SharedMemory, match="what it has just written"):
        tx.jvp(function, (x,), (x,))


def test_arguments_that_overlap() -> None:
    def f(target: Any, source: Any, s: float) -> Any:
        target[...] = source * 1.0
        target[...] = source
        return s * np.sum(target * np.arange(1.0, 4.0))

    memory = V.copy()
    assert tx.grad(f, wrt=2, fallback="error")(memory[:3], memory[1:4], 2.0) == pytest.approx(f(*_windows(), 1.0))
    with pytest.raises(tx.SharedMemory):
        tx.grad(f, wrt=2, fallback="error")(memory[::2], memory[:3], 2.0)


def _windows() -> tuple[Any, Any]:
    memory = V.copy()
    return memory[:3], memory[1:4]


def test_steps_known_to_be_equal_are_not_asked_for() -> None:
    asked = tx.grad(weighed("head, tail = v[:-1], v[1:]; tail[...] = head"), fallback="error")
    known = tx.grad(weighed("v[1:] = v[:-1]; v[::2], v[1::2] = v[1::2], v[::2]"), fallback="error")
    asked(V)
    known(V)
    assert "demand_copied" in asked.source
    assert "demand_copied" not in known.source
