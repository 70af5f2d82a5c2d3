"""A line on the terminal while a compilation takes long, and none otherwise."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import tangentx as tx
from tangentx.common import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error, on which each stage is shown at once."""
    made = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made))  # pytest has a stream of its own for each phase
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.delenv("TANGENTX_PROGRESS", raising=False)
    return made


def made() -> Callable[..., object]:
    def heated(x):
        for _ in range(3):
            x = x + 0.1 * np.sin(x)
        return np.sum(x)

    return heated


def screen(text: str) -> str:
    """What is left of a text on a line of a terminal."""
    line: list[str] = []
    at = 0
    for letter in text:
        if letter == "\r":
            at = 0
            continue
        line[at : at + 1] = [letter]
        at += 1
    return "".join(line).rstrip()


def test_the_line_names_function_stage_and_share_and_is_wiped(terminal: Terminal) -> None:
    tx.grad(made(), fallback="error")(np.ones(2))
    lines = terminal.getvalue().split("\r")
    shares = [int(line.partition("%")[0].split()[-1]) for line in lines if "%" in line]
    assert shares == sorted(shares) and shares[0] < 20 and shares[-1] >= 90
    assert any("`heated`" in line and "optimising" in line for line in lines)
    assert screen(terminal.getvalue()) == ""


def test_of_compilations_inside_of_another_there_is_one_line(terminal: Terminal) -> None:
    tx.grad(tx.grad(lambda x: x**3.0 * np.sin(x)), fallback="error")(0.7)
    assert {line.split("[")[0].strip() for line in terminal.getvalue().split("\r") if "%" in line} != set()
    assert screen(terminal.getvalue()) == ""


@pytest.mark.parametrize("way", ["quick", "switched off", "no terminal", "no stream"])
def test_otherwise_nothing_is_written(way: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "quick":
        monkeypatch.setattr(progress, "PATIENCE", 1e6)
    if way == "switched off":
        monkeypatch.setenv("TANGENTX_PROGRESS", "0")
    if way == "no terminal":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    if way == "no stream":
        monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=None))
    tx.grad(made(), fallback="error")(np.ones(2))
    assert terminal.getvalue() == ""


def test_the_line_goes_whatever_ends_the_compilation(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tangentx.compile.pipeline.write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tx.grad(made(), fallback="error")(np.ones(2))
    assert "optimising" in terminal.getvalue() and screen(terminal.getvalue()) == ""
    assert progress._LINE.get() is None
