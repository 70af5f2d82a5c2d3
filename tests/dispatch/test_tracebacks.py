"""Exceptions of a reverse sweep say which line of the program was being differentiated."""

from __future__ import annotations

import io
import linecache
import pdb
import traceback

import numpy as np
import pytest

import tangentx as tx


def grown(x):
    y = x * 1e100
    return y * 1e100


def total(x):
    """Nothing overflows on the way forward."""
    return np.sum(grown(grown(x * 1e-300)))


def doubled(x):
    y = x + 1.0
    return y * y


def raising(x):
    if x < 0.0:
        raise ValueError("negative")
    return x * x


AT = grown.__code__.co_firstlineno + 1
NOTE = f"in the reverse sweep of {__file__}:{AT}: y = x * 1e100"


def test_a_note_names_the_line_of_the_callee() -> None:
    gradient = tx.grad(total)
    with np.errstate(over="ignore"):
        gradient(np.ones(2))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError) as caught:
        gradient(np.ones(2))
    assert caught.value.__notes__ == [NOTE]
    shown = "".join(traceback.format_exception(caught.value))
    assert "total_grad" in shown and NOTE in shown


def test_a_note_in_the_first_call_and_in_a_pullback() -> None:
    with np.errstate(over="raise"), pytest.raises(FloatingPointError) as caught:
        tx.grad(lambda x: total(x) * 3.0)(np.ones(2))
    assert caught.value.__notes__ == [NOTE]
    _, pullback = tx.vjp(total, np.ones(2))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError) as caught:
        pullback(1.0)
    assert caught.value.__notes__ == [NOTE]


def test_what_the_program_raises_has_no_note() -> None:
    with pytest.raises(ValueError, match="negative") as caught:
        tx.grad(raising)(-1.0)
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(TypeError) as mismatch:
        tx.grad(raising)()
    assert not hasattr(mismatch.value, "__notes__")


def looked_up(x, points):
    y = x * 2.0
    for _ in range(2):
        y = y + np.interp(y, points, x * np.arange(3.0))
    return np.sum(y * y)


def looking_up(x, points):
    z = x + 1.0
    return looked_up(x, points) * z


def test_a_refusal_while_the_program_runs_names_the_line() -> None:
    line = looked_up.__code__.co_firstlineno + 3
    for fallback in ("error", "tensor"):
        for derivative in (tx.grad(looking_up, fallback=fallback), tx.hessian(looking_up, fallback=fallback)):
            assert np.isfinite(derivative(0.3, np.arange(3.0)))
            for _ in range(2):
                with pytest.raises(tx.NotDifferentiable, match="do not increase") as caught:
                    derivative(0.3, np.array([0.0, 2.0, 1.0]))
                assert caught.value.span is not None
                assert (caught.value.span.file, caught.value.span.line) == (__file__, line)
                assert str(caught.value).startswith(f"{__file__}:{line}: np.interp")
        for product in (tx.vjp, lambda f, *args, fallback: tx.jvp(f, args, (1.0, None), fallback=fallback)):
            with pytest.raises(tx.NotDifferentiable, match="do not increase") as caught:
                product(looking_up, 0.3, np.array([0.0, 2.0, 1.0]), fallback=fallback)
            assert caught.value.span is not None and caught.value.span.line == line


def test_what_is_wrong_with_an_argument_names_the_call() -> None:
    with pytest.raises(tx.TangentxError) as caught:
        tx.grad(total)(np.ones(2, dtype=object))
    assert caught.value.span is None or caught.value.span.file == __file__


def test_the_traceback_shows_the_generated_line_after_linecache_was_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = tx.grad(total)
    with np.errstate(over="ignore"):
        gradient(np.ones(2))
    monkeypatch.setattr(linecache, "cache", {})
    with np.errstate(over="raise"), pytest.raises(FloatingPointError) as caught:
        gradient(np.ones(2))
    linecache.checkcache()
    frames = traceback.extract_tb(caught.value.__traceback__)
    generated = [frame for frame in frames if frame.filename.startswith("<tangentx total_grad")]
    assert generated and all(frame.line for frame in generated)


class Typist(io.StringIO):
    """Types `step` until the debugger stands in the generated text, walks to the end of it, and looks around."""

    def __init__(self, shown: io.StringIO) -> None:
        super().__init__()
        self.shown = shown
        self.last = iter(["list\n", "p x, y\n", "continue\n"])

    def readline(self, *_: object) -> str:
        now = self.shown.getvalue().rpartition("\n(Pdb) > ")[2]
        if not now.startswith("<tangentx doubled_grad"):
            return "step\n"
        return next(self.last) if "-> return" in now else "next\n"


def test_the_text_steps_in_pdb() -> None:
    gradient = tx.grad(doubled)
    gradient(2.0)
    shown = io.StringIO()
    debugger = pdb.Pdb(stdin=Typist(shown), stdout=shown, nosigint=True, readrc=False)
    assert debugger.runcall(gradient, 2.0) == 6.0
    text = shown.getvalue()
    assert "-> y = x + 1.0" in text
    assert "# line " in text and ": return y * y" in text  # the listing has the comment
    assert "(2.0, 3.0)" in text
