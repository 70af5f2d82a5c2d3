"""Which texts a program on Tensors takes for ones that tell what its values are."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")


def slope(f: Callable[[Any], Any], at: float) -> Any:
    def program(x: Any) -> Any:
        vars(np)  # is not compiled
        return f(x)

    return tx.grad(program)(at)


def filled_in(x: Any) -> Any:
    found = np.full(2, "2.5000000")
    found[0] = str(x)
    return found


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a word": lambda x: float(f"a {x} b".split()[1]) * x,
    "padded": lambda x: float(f"{x:>12}") * x,
    "a long text": lambda x: float(f"{x:.5f}" + "1") * x,
    "bytes": lambda x: float(str(x).encode()) * x,
    "filled in": lambda x: float("%s" % (x,)) * x,
    "an array": lambda x: np.array([f"{x}", "2.5"], dtype=float)[0] * x,
    "a part of a text": lambda x: float(str(np.stack([x, x]))[1:4]) * x,
    "hexadecimal": lambda x: float.fromhex(x.hex()) * x,
    "written by NumPy": lambda x: float(np.format_float_positional(x)) * x,
    "an array that shows it": lambda x: np.fromstring(np.array2string(np.stack([x, x]))[1:-1], sep=" ")[0] * x,
    "an array of texts": lambda x: filled_in(x).astype(float)[0] * x,
    "a file": lambda x: np.loadtxt([f"{x} 2.0"])[0] * x,
}


@pytest.mark.parametrize("name", REFUSED)
def test_numbers_are_not_read_from_texts_that_hold_the_value(name: str) -> None:
    with pytest.raises(tx.NotDifferentiable, match="reads a number from the text"):
        slope(REFUSED[name], 1.5)


def test_the_refusal_cannot_be_caught() -> None:
    def f(x: Any) -> Any:
        try:
            return float(str(x)) * x
        except ValueError:
            return x

    with pytest.raises(tx.NotDifferentiable, match="reads a number from the text"):
        slope(f, 1.5)


READ: dict[str, Callable[[Any], Any]] = {
    "another number": lambda x: float("0.25") * x + len(str(x)),
    "digits among others": lambda x: float("10.51") * x + len(f"{x:.1f}"),
    "the digits before the point": lambda x: float(str(x).split(".")[0]) * x,
    "a constant by name": lambda x: min(float("inf"), 1.0) * x + len("information" + str(x)),
    "a count": lambda x: int(f"{x:.0f}") * x,
    "a path": lambda x: len(pathlib.Path(f"{x}").name) * x,
    "a pattern": lambda x: len(re.compile(f"a{x}").pattern) * x,
    "what is plain": lambda x: float(f"{len(str(x))}.5") * x,
}


@pytest.mark.parametrize(("name", "wanted"), list(zip(READ, (0.25, 10.51, 1.0, 1.0, 2.0, 3.0, 4.0, 3.5), strict=True)))
def test_other_texts_are_read(name: str, wanted: float) -> None:
    assert slope(READ[name], 1.5) == wanted
