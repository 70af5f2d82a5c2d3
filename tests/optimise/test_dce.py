"""What nobody needs is deleted, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.optimise.pipeline import PASSES
from tests.conftest import Golden
from tests.optimise import textbook

U = np.linspace(0.0, 1.0, 6) ** 2
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "glide": (12.0, 5, 0.01),
    "smooth": (U, 0.1, 2),
    "settle": (np.linspace(0.1, 1.0, 4), 0.7, 1e-10),
}


def text(fn: Callable[..., Any], args: tuple[Any, ...], passes: tuple[str, ...] = ("dead",), **options: Any) -> str:
    """The gradient's text with these passes alone."""
    with pipeline.proofs(off=["again", "inline", *(name for name in PASSES if name not in passes)]):
        source: str = tx.grad(fn, **options).source_for(*args)
    return source


def gradient(fn: Callable[..., Any], args: tuple[Any, ...], off: Any, **options: Any) -> Any:
    with pipeline.proofs(off=off):
        return tx.grad(fn, fallback="error", **options)(*args)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_text(name: str, golden: Golden) -> None:
    passes = ("dead", "slots", "signatures", "sink", "coalesce")
    golden(f"dead_{name}", text(getattr(textbook, name), ARGUMENTS[name], passes))


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("off", ["dead", "slots", "signatures", "sink", "coalesce", ()])
def test_the_gradient_is_that_of_the_general_rule(name: str, off: Any) -> None:
    fn, args = getattr(textbook, name), ARGUMENTS[name]
    np.testing.assert_allclose(gradient(fn, args, off), gradient(fn, args, "all"), rtol=1e-13)


def test_old_content_that_is_not_read_again_is_not_restored() -> None:
    found = text(textbook.smooth, ARGUMENTS["smooth"])
    assert "u_tape" not in found
    assert "u_[i_] =" not in found


def test_old_content_that_is_read_again_is_restored() -> None:
    found = text(read_before_written, (U,))
    assert "u_tape.append" in found
    assert "u_tape.pop()" in found
    np.testing.assert_allclose(gradient(read_before_written, (U,), ()), 2.0 * np.sum(U**2) * U + 2.0 * U, rtol=1e-12)


def read_before_written(u):
    """The whole content is read by an operation before each write."""
    s = np.sum(u * u)
    u[0] = s * 1.0
    return s * s * 0.5 + np.sum(u) - np.sum(u[1:])


def test_loops_and_lists_for_nothing_vanish() -> None:
    found = text(textbook.idle, (2.0, 3))
    assert "range" not in found
    assert "append" not in found
    assert gradient(textbook.idle, (2.0, 3), ()) == 3.0


def test_a_raise_stays_with_its_test() -> None:
    found = text(textbook.refused, (2.0,))
    assert "raise ValueError" in found
    with pytest.raises(ValueError, match="negative"):
        gradient(textbook.refused, (-1.0,), ())


def test_what_ends_a_loop_stays() -> None:
    assert gradient(textbook.halved, (8.0,), ()) == 0.125
    with pipeline.proofs(off=[name for name in PASSES if name != "dead"]):
        value, tangent = tx.jvp(textbook.halved, (8.0,), (1.0,))
    assert (value, tangent) == (1.0, 0.125)


def test_the_value_of_what_a_callee_writes_is_kept() -> None:
    b, w, tol = ARGUMENTS["settle"]
    value, _ = tx.value_and_grad(textbook.settle, fallback="error")(b, w, tol)
    assert value == pytest.approx(textbook.settle(b, w, tol))


def test_a_second_derivative_of_what_is_left() -> None:
    second = tx.grad(tx.grad(textbook.glide))
    with pipeline.proofs(off="all"):
        wanted = tx.grad(tx.grad(textbook.glide))(12.0, 5, 0.01)
    assert second(12.0, 5, 0.01) == pytest.approx(wanted, rel=1e-12)


# ---- what is put into objects from outside ----
ROWS: list[object] = []
TABLE: dict[str, object] = {}


class Recorder:
    rows: ClassVar[list[object]] = []


def appends(x, n):
    ROWS.append((n, 2.0))
    return np.sum(x * x)


def stores(x, n):
    TABLE["last"] = (n, (n, "nested"))
    return np.sum(x * x)


def appends_some(x, n):
    for k in range(2):
        if k < n:
            Recorder.rows.append({"row": (k, n)})
    return np.sum(x * x)


def reads_one_item(x, n):
    row = (n, x)
    ROWS.append(row)
    return np.sum(x * row[1])


@pytest.mark.parametrize("f", [appends, stores, appends_some, reads_one_item])
def test_a_tuple_that_is_put_outside_has_all_its_items(f: Callable[..., object]) -> None:
    """Those that the function itself does not read were None there."""
    x = np.array([0.5, -1.25])

    def seen(call: Callable[[], object]) -> str:
        ROWS.clear(), TABLE.clear(), Recorder.rows.clear()
        call()
        return repr((ROWS, TABLE, Recorder.rows))

    wanted = seen(lambda: f(x, 1.5))
    for _ in range(2):
        assert seen(lambda: tx.grad(f, fallback="error")(x, 1.5)) == wanted
        assert seen(lambda: tx.vjp(f, x, 1.5, fallback="error")) == wanted
        assert seen(lambda: tx.jvp(f, (x, 1.5), (x, None), fallback="error")) == wanted
        assert seen(lambda: tx.linearize(f, x, 1.5)) == wanted
        assert seen(lambda: tx.jacobian(tx.grad(f))(x, 1.5)) == wanted
