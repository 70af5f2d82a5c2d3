"""What is compiled, and when: kinds, never values; and what is noticed of a program that changes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import tangentx as tx
from tangentx.dispatch.entries import LIMIT_KINDS, compilations

FACTOR: Any = 2.0
ARRAY: Any = np.ones(2)


def compiled(work: Callable[[], Any]) -> tuple[Any, int]:
    before = compilations()
    result = work()
    return result, compilations() - before


def helper(x):
    return x * x


def by_helper(x):
    return helper(x) * FACTOR


def by_array(x):
    return np.sum(ARRAY * x)


def flagged(x, flag):
    return x * x if flag else x


def counted(x, n):
    return np.sum(x * x) * n


def test_shapes_and_values_compile_once() -> None:
    derivative = tx.grad(counted)
    count = compiled(lambda: [derivative(np.ones(i + 1), float(i)) for i in range(100)])[1]
    assert count == 1
    assert compiled(lambda: [derivative(np.ones(3) * i, n=0.5 * i) for i in range(100)])[1] == 0
    assert compiled(lambda: tx.grad(counted)(np.ones(2), 1.0))[1] == 0


def test_booleans_strings_and_none_are_kinds() -> None:
    derivative = tx.grad(flagged)
    found = [compiled(lambda b=b: derivative(3.0, b)) for b in (True, False, True, 1, 0, None, "s", "", "s")]
    assert found == [(6.0, 1), (1.0, 1), (6.0, 0), (6.0, 1), (1.0, 0), (1.0, 1), (6.0, 1), (1.0, 1), (6.0, 0)]
    assert compiled(lambda: derivative(flag=True, x=3.0)) == (6.0, 0)


def test_a_rebound_helper_compiles_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tx.grad(by_helper)(3.0) == 12.0

    def other(x):
        return x * x * x

    monkeypatch.setitem(globals(), "helper", other)
    assert compiled(lambda: [tx.grad(by_helper)(3.0) for _ in range(3)]) == ([54.0] * 3, 1)


def test_replaced_code_is_seen() -> None:
    def f(x):
        return x * 2.0

    def g(x):
        return f(x)

    assert (tx.grad(f)(1.0), tx.grad(g)(1.0)) == (2.0, 2.0)
    f.__code__ = (lambda x: x * 7.0).__code__
    assert (tx.grad(f)(1.0), tx.grad(g)(1.0)) == (7.0, 7.0)


def test_changed_defaults_are_seen() -> None:
    def f(x, y=2.0, *, z=1.0):
        return x * y * z

    def g(x):
        return f(x)

    assert (tx.grad(f)(1.0), tx.grad(g)(1.0)) == (2.0, 2.0)
    f.__defaults__ = (7.0,)
    assert (tx.grad(f)(1.0), tx.grad(g)(1.0)) == (7.0, 7.0)
    f.__kwdefaults__ = {"z": 3.0}
    assert (tx.grad(f)(1.0), tx.grad(g)(1.0)) == (21.0, 21.0)
    f.__kwdefaults__["z"] = 5.0
    assert (tx.grad(f)(1.0), tx.grad(g)(1.0)) == (35.0, 35.0)


def test_globals_are_read_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    tx.grad(by_helper)(3.0)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert compiled(lambda: tx.grad(by_helper)(3.0)) == (30.0, 0)
    assert tx.grad(by_array)(2.0) == 2.0
    monkeypatch.setitem(globals(), "ARRAY", np.array([5.0, 6.0, 7.0]))
    assert compiled(lambda: tx.grad(by_array)(2.0)) == (18.0, 0)
    ARRAY[0] = 100.0
    assert compiled(lambda: tx.grad(by_array)(2.0)) == (113.0, 0)


def test_a_global_of_another_kind_compiles_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tx.grad(by_array)(2.0)
    monkeypatch.setitem(globals(), "ARRAY", np.ones((2, 2)))
    assert compiled(lambda: tx.grad(by_array)(2.0)) == (4.0, 1)


def test_closures_are_read_at_the_call() -> None:
    def made():
        k = 2.0

        def f(x):
            return x * k

        def put(value: float) -> None:
            nonlocal k
            k = value

        return f, put

    f, put = made()
    assert tx.grad(f)(3.0) == 2.0
    put(9.0)
    assert compiled(lambda: tx.grad(f)(3.0)) == (9.0, 0)


def test_the_kinds_used_last_are_kept() -> None:
    def f(x, name):
        return x * 2.0

    derivative = tx.grad(f)
    assert compiled(lambda: [derivative(1.0, f"s{i}") for i in range(LIMIT_KINDS + 6)])[1] == LIMIT_KINDS + 6
    assert f"6 dropped: only the {LIMIT_KINDS} kinds used last" in derivative.explain()
    assert compiled(lambda: derivative(1.0, f"s{LIMIT_KINDS}"))[1] == 0
    assert compiled(lambda: derivative(1.0, "s0"))[1] == 1


def writes(a, b, c):
    a[0] = 3.0
    return c * np.sum(a) * b[0]


def test_shared_memory_is_refused_only_for_what_is_asked() -> None:
    x = np.array([1.0, 2.0])
    assert tx.grad(writes, "c")(x, x, 2.0) == 15.0
    assert tx.grad(writes, "c")(x, x.copy(), 2.0) == 5.0
    for wrong in (lambda: tx.grad(writes)(x, x, 2.0), lambda: tx.vjp(writes, x, x, 2.0)):
        with pytest.raises(tx.SharedMemory, match="`a` and `b`"):
            wrong()
    assert tx.jvp(writes, (x, x, 2.0), (None, None, 1.0)) == (30.0, 15.0)
    np.testing.assert_array_equal(x, [1.0, 2.0])


Vector: TypeAlias = NDArray[np.float64]
Later = "np.ndarray"
Loop = "Loop"


def annotated(x: Vector, y: Later, z: Loop, k: float):
    return k * z * np.sum(x * y)


def test_names_in_annotations_stand_for_what_they_are() -> None:
    text = tx.grad(annotated).source
    kinds = "x: an array of float64 of rank 1; y: an array of float64 of rank 1; z: a float; k: a float."
    assert f"# for {kinds}" in text


ALIASES = """
type Vector = NDArray[np.float64]
type Pair[T] = tuple[T, T]
type Endless = list[Endless]
type Missing = NotThere


def aliased(x: Vector, y: Pair[Vector], z: Missing, k: Endless):
    return z * np.sum(x * y[0])
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement came with Python 3.12")
def test_aliases_by_statement_stand_for_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "with_aliases.py").write_text(f"import numpy as np\nfrom numpy.typing import NDArray\n{ALIASES}")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = tx.grad(importlib.import_module("with_aliases").aliased).source
    assert "# for x: an array of float64 of rank 1; y: a tuple of 2; z: a float; k: a list" in text
    assert "x_bar = y[0] * (z * ans_bar)" in text
