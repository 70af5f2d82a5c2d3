"""An exception at each line of each text that is generated for the corpus, and at each line of a program on Tensors.

Afterwards arguments are as they were, what is outside is as the program itself leaves it at some line, no mode or lock
is left, and the next call gives what the call before gave.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.harness import Fault, Stop, assert_same, each_line, leaves, snapshot, with_fault
from tests.harness.surroundings import assert_unchanged, surroundings
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import chosen, names, tangents
from tests.tensor.fallback.test_tracing import on_tensors
from tests.test_programs import BY_ALL, SMOOTH

SOME = 5
"""How many lines of a program are tried in the short run."""
pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")


def shared(programs: list[Program] | tuple[Program, ...], step: int) -> list[Any]:
    """Every so manieth program; the others with ``--thorough``."""
    return [p if k % step == 0 else pytest.param(p, marks=pytest.mark.thorough) for k, p in enumerate(programs)]


@pytest.fixture
def all_lines(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--thorough"))


def faults(work: Callable[..., Any], args: Callable[[], Any], watch: tuple[object, ...], whole: bool) -> int:
    """Raises at each line that ``work(*args())`` runs, every other time what no program catches; gives how often."""
    given = args()
    work(*given)
    expected = work(*given)
    lines = each_line(lambda: work(*given))
    assert lines, "it ran no line of a generated text or a program"
    around = surroundings()
    chosen_lines = lines if whole else lines[:: max(1, len(lines) // SOME)]
    for k, at in enumerate(chosen_lines):
        before = snapshot(given, *watch)
        kind = Stop if k % 2 else Fault
        error = with_fault(lambda: work(*given), at, kind)
        assert isinstance(error, kind) or (error is None and kind is Fault), repr(error)
        error = None
        before.assert_unchanged()
        assert_unchanged(around)
        if k % 4 == 0 or k == len(chosen_lines) - 1:
            assert_same(work(*given), expected)
    return len(chosen_lines)


@pytest.mark.parametrize("program", shared(PROGRAMS, 20), ids=lambda program: program.name)
def test_in_reverse(program: Program, all_lines: bool) -> None:
    gradient = tx.grad(program.fn, wrt=names(program), fallback="error")
    assert faults(gradient, program.args, (program.fn,), all_lines) > 0


@pytest.mark.parametrize("program", shared(SMOOTH, 40), ids=lambda program: program.name)
def test_forward(program: Program, all_lines: bool) -> None:
    def work(*args: Any) -> Any:
        return tx.jvp(program.fn, args, tangents(program), fallback="error")

    assert faults(work, program.args, (program.fn,), all_lines) > 0


@pytest.mark.parametrize("program", shared(BY_ALL, 40), ids=lambda program: program.name)
def test_a_pullback(program: Program, all_lines: bool) -> None:
    """Both functions, and the second one again: what it keeps is as it was."""
    given = program.args()
    value, pullback = tx.vjp(program.fn, *given)
    assert faults(pullback, lambda: (1.0,), (program.fn, given), all_lines) > 0
    assert faults(lambda *args: tx.vjp(program.fn, *args)[1](1.0), program.args, (program.fn,), all_lines) > 0


@pytest.mark.parametrize("program", shared(PROGRAMS, 20), ids=lambda program: program.name)
def test_on_tensors(program: Program, all_lines: bool) -> None:
    assert faults(on_tensors(program), program.args, (program.fn,), all_lines) > 0


# ---- what is outside ----
LOG: list[Any] = []
TABLE: dict[str, Any] = {}
ROW = np.zeros(3)
TOTAL = 0.0


def appends(x):
    for i in range(3):
        LOG.append(float(i))
        x = x * 1.5
        LOG[0] = LOG[0] + 1.0
    return np.sum(x * x)


def fills(x):
    for i in range(3):
        ROW[i] = i + 1.0
        x = x * ROW[i]
        ROW[0] *= 2.0
    return np.sum(x * ROW)


def counts(x):
    for name in ("a", "b", "a"):
        TABLE[name] = TABLE.get(name, 0.0) + 1.0
        x = np.sin(x) * TABLE["a"]
    TABLE["done"] = 1.0
    return np.sum(x)


def rebinds(x):
    global TOTAL
    for i in range(3):
        TOTAL = TOTAL + 1.0
        x = x * TOTAL
    return np.sum(x * x)


def state() -> Any:
    return copy.deepcopy((LOG, TABLE, ROW.tolist(), TOTAL))


def reset() -> None:
    global TOTAL
    LOG[:], ROW[:], TOTAL = [], 0.0, 0.0
    TABLE.clear()


def states(f: Callable[..., Any], x: Any) -> list[Any]:
    """What is outside at each line of the program, and at its end."""
    found: list[Any] = []

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if Path(frame.f_code.co_filename) != Path(__file__) or frame.f_code is not f.__code__:
            return None
        found.append(state())
        return trace

    reset()
    sys.settrace(trace)
    try:
        f(x)
    finally:
        sys.settrace(None)
    return [*found, state()]


class _Here:
    """`tests.harness.faults` traces the programs of the corpus; here it is those of this file."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from tests.harness import faults

        monkeypatch.setattr(faults, "PROGRAMS", __file__)


WAYS = {
    "grad": lambda f, x: tx.grad(f, fallback="error")(x),
    "pullback": lambda f, x: tx.vjp(f, x, fallback="error")[1](1.0),
    "jvp": lambda f, x: tx.jvp(f, (x,), (np.ones(3),), fallback="error")[1],
    "on Tensors": lambda f, x: on_tensors(Program(f, lambda: (x,), "x"))(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [appends, fills, counts, rebinds])
def test_what_is_outside_is_as_the_program_leaves_it(f: Any, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At some line of the program: never more than one call of it does, never less than was done."""
    _Here(monkeypatch)
    x = np.array([0.4, 0.7, -0.3])
    met = states(f, x)
    work = lambda: WAYS[way](f, x)
    reset()
    try:
        work()
    except tx.TangentxError:
        assert way != "on Tensors" and f is rebinds  # a name that is bound anew
        return
    reset()
    expected = work()
    assert state() == met[-1]
    reset()
    lines = each_line(work)
    seen: list[Any] = []
    for k, at in enumerate(lines):
        reset()
        kind = Stop if k % 2 else Fault
        error = with_fault(work, at, kind)
        assert isinstance(error, kind)
        error = None
        assert state() in met
        seen.append(state())
    assert seen[0] == met[0] and seen[-1] == met[-1]
    assert [met.index(one) for one in seen] == sorted(met.index(one) for one in seen) or way == "pullback"
    reset()
    assert_same(work(), expected)
    assert state() == met[-1]


def test_chosen_leaves_are_compared() -> None:
    """The comparison that the tests above rest on sees a single element."""
    program = PROGRAMS[0]
    assert leaves(chosen(program, program.args()))
    with pytest.raises(AssertionError):
        assert_same(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
