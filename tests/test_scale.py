"""Long programs: many trips, many statements, a long expression, deep calls. None of them meets a RecursionError."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx


def defined(name: str, text: str) -> Callable[..., Any]:
    """The function `f` of a text that linecache alone holds, as a notebook's cell is."""
    file = f"<ipython-input-1-{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    function: Callable[..., Any] = scope["f"]
    return function


def statements(count: int) -> str:
    pairs = ["    a = a + 0.001 * b", "    b = 0.999 * b - 0.001 * a"] * (count // 2)
    return "\n".join(["def f(x):", "    a = x", "    b = 1.0", *pairs, "    return a * b"]) + "\n"


def names(count: int) -> str:
    lines = [f"    v{i} = np.sin(v{i - 1}) + 0.5 * x" for i in range(1, count)]
    return "\n".join(["def f(x):", "    v0 = x", *lines, f"    return v{count - 1}"]) + "\n"


def terms(count: int) -> str:
    return f"def f(x):\n    return {' + '.join(f'{i}.0 * np.sin(0.01 * {i}.0 * x)' for i in range(count))}\n"


def calls(count: int) -> str:
    lines = [f"def g{i}(x):\n    return 0.5 * g{i - 1}(x) + np.sin(x)\n" for i in range(1, count)]
    return "\n".join(["def g0(x):\n    return x * x\n", *lines, f"def f(x):\n    return g{count - 1}(x)\n"])


TEXTS = {
    "statements": statements(3_000),
    "names": names(1_000),
    "terms": terms(400),
    "brackets": f"def f(x):\n    return {'np.sin(' * 90}x{')' * 90}\n",
    "calls": calls(200),
}


@pytest.mark.parametrize("name", TEXTS)
def test_long_text(name: str) -> None:
    f = defined(name, TEXTS[name])
    h = 1e-5
    slope = (f(0.7 + h) - f(0.7 - h)) / (2.0 * h)
    assert tx.grad(f)(0.7) == pytest.approx(slope, rel=1e-6)


def many_trips(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = y + 1e-4 * np.sin(y)
    return y


def test_many_trips() -> None:
    h = 1e-5
    slope = (many_trips(1.0 + h, 20_000) - many_trips(1.0 - h, 20_000)) / (2.0 * h)
    assert tx.grad(many_trips)(1.0, 20_000) == pytest.approx(slope, rel=1e-6)


def descended(x: float, n: int) -> float:
    if n == 0:
        return x
    return 0.999 * descended(x, n - 1)


def test_recursion_that_is_too_deep_is_the_programs_own_error() -> None:
    gradient = tx.grad(descended)
    assert gradient(2.0, 3) == pytest.approx(0.999**3)
    with pytest.raises(RecursionError):
        descended(2.0, 1_000_000)
    with pytest.raises(RecursionError):
        gradient(2.0, 1_000_000)
    assert gradient(2.0, 300) == pytest.approx(0.999**300)
