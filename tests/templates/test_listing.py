"""The table of operations: three lists, whose lines are the rules themselves, and the command that prints them."""

from __future__ import annotations

import builtins
import math
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.__main__ import main
from tangentx.templates import compositions, templates
from tangentx.templates.listing import name_of, ops

ROOT = Path(__file__).parents[2]


def test_every_rule_has_a_line() -> None:
    found = ops()
    lines = str(found).splitlines()
    assert "| `numpy.exp`, `math.exp`" in str(found)
    assert any(line.startswith("| `numpy.add.outer` | composition | All sums") for line in lines)
    named = {name for entry in found.differentiable for name in entry.names}
    assert {name_of(p) for c in compositions() for p in c.primals} <= named
    primals = {name_of(p) for t in templates() if t.body is not None for p in t.primals}
    assert {name for name in primals if not name.startswith("tangentx.")} <= named
    assert not any(name.startswith("tangentx.") for name in named)
    assert all(entry.says for entry in (*found.differentiable, *found.refused))


def test_no_function_is_in_two_lists() -> None:
    found = ops()
    lists = [{n for e in part for n in e.names} for part in (found.differentiable, found.constant, found.refused)]
    assert not lists[0] & lists[1] and not lists[0] & lists[2] and not lists[1] & lists[2]
    assert found.counts() == tuple(map(len, lists))


NOT_FUNCTIONS = {"copyright", "credits", "exit", "license", "quit", "test", "ufunc", "ndarray", "busdaycalendar"}
"""What Python's prompt has for people, and classes that programs get their objects of from functions."""


@pytest.mark.parametrize("module", [np, np.fft, math, builtins, statistics], ids=lambda m: m.__name__)
def test_every_public_function_is_in_a_list(module: Any) -> None:
    found = ops()
    known = {n for part in (found.differentiable, found.constant, found.refused) for e in part for n in e.names}
    missing = []
    for name in getattr(module, "__all__", None) or dir(module):
        public = getattr(module, name)
        plain = isinstance(public, type) and issubclass(public, BaseException | np.generic)
        if callable(public) and not name.startswith("_") and not plain and name not in NOT_FUNCTIONS:
            missing += [name] * (name_of(public) not in known)
    assert missing == []


def test_those_of_a_name() -> None:
    text = str(tx.ops("quantile"))
    assert "`numpy.quantile`" in text and "numpy.exp`" not in text
    assert "np.argmax" not in text and "## Refused" not in text
    assert "it writes a file" in str(tx.ops("savez"))
    assert "## Constant" in str(tx.ops("argsort"))
    assert str(tx.ops("no such function")) == ""


def test_what_is_refused_says_why() -> None:
    def f(x):
        np.save("nowhere", x)
        return np.sum(np.asmatrix(x) * 2.0)

    for fallback in ("error", "tensor"):
        with pytest.raises(tx.NoTemplate, match="writes a file"):
            tx.grad(f, fallback=fallback)(np.ones(3))


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "tangentx", "ops"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines() == str(ops()).splitlines()
    assert main(["ops", "logaddexp"]) == 0
    assert "`numpy.logaddexp`" in capsys.readouterr().out
    assert main(["ops", "no such function"]) == 1
    assert "no operation of that name" in capsys.readouterr().err


def test_the_documentation_counts_them() -> None:
    """The README names round numbers below, so that a rule more does not make it wrong."""
    (text,) = re.findall(r"more than (\d+) functions have a\s+derivative", (ROOT / "README.md").read_text())
    count = ops().counts()[0]
    assert int(text) < count <= int(text) + 200
