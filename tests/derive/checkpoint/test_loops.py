"""Checkpointed loops: steps counted, snapshots counted, effects, and the loop that is not checkpointed beside them."""

from __future__ import annotations

import dataclasses
import io
import random
import re
import tracemalloc
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.compile import pipeline
from tests.frontend.made import defined
from tests.optimise.support import differences, gradient

HEAD = "import random\nimport numpy as np\nimport tangentx as tx\n"
SWEEP = """
def f(u, c, n):
    for t in LOOP:
        u[1:] += c * np.sin(u[:-1])
        u[0] = u[0] * u[1]
    return np.sum(u**2)
"""
U = np.linspace(0.3, 0.9, 4)


def looped(text: str, loop: str = "tx.checkpointed(range(n), snapshots=3)") -> Any:
    return defined(HEAD + text.replace("LOOP", loop))


def agree(text: str, *args: Any, loop: str = "range(n)", snapshots: int = 3) -> None:
    """The gradient by all is that of the loop that is not checkpointed, with proofs and without."""
    wanted = tx.grad(looped(text, loop), wrt=("u", "c"), fallback="error")(U, 0.4, *args)
    for off in ((), "all"):
        with pipeline.proofs(off):
            function = looped(text, f"tx.checkpointed({loop}, snapshots={snapshots})")
            found = tx.grad(function, wrt=("u", "c"), fallback="error")(U, 0.4, *args)
        for got, part in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, part, rtol=1e-10)


@pytest.mark.parametrize(("snapshots", "most"), [(40, 3.92), (14, 5.62)])
def test_steps_are_run_as_often_as_the_binomial_optimum_says(snapshots: int, most: float) -> None:
    text = "def f(x, n):\n    for t in LOOP:\n        x = 0.4 + 0.5 * x * np.sin(x)\n    return x\n"
    gradient = tx.grad(looped(text, f"tx.checkpointed(range(n), snapshots={snapshots})"), fallback="error")
    scope, counting = {}, Counting()
    exec(gradient.source_for(0.5, 1), scope)
    scope["np"] = counting
    assert scope["f_grad"](0.9, 10_000) == gradient(0.9, 10_000)
    assert 3.0 * 10_000 < counting.count <= most * 10_000


class Counting:
    """NumPy, with a sine that counts its calls."""

    def __init__(self) -> None:
        self.count = 0

    def sin(self, x: Any) -> Any:
        self.count += 1
        return np.sin(x)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def test_no_more_snapshots_are_held_than_said() -> None:
    gradient = tx.grad(looped(SWEEP, "tx.checkpointed(range(n), snapshots=4)"), fallback="error")
    scope: dict[str, Any] = {}
    text = re.sub(r"( *)place = next_snapshot", r"\1most.append(len(kept))\n\g<0>", gradient.source_for(U, 0.4, 1))
    exec(text, scope)
    most = scope["most"] = []
    np.testing.assert_allclose(scope["f_grad"](U, 0.4, 60), gradient(U, 0.4, 60))
    assert max(most) == 4 and len(most) >= 60


def test_the_memory_held_is_that_of_the_snapshots() -> None:
    gradient = tx.grad(looped(SWEEP, "tx.checkpointed(range(n), snapshots=5)"), fallback="error")
    u = np.linspace(0.0, 1.0, 20_000)
    gradient(u, 0.1, 2)
    tracemalloc.start()
    gradient(u, 0.1, 60)
    most = tracemalloc.get_traced_memory()[1] / u.nbytes
    tracemalloc.stop()
    assert 5 < most < 13


@pytest.mark.parametrize("snapshots", [1, 2, 5, 40])
@pytest.mark.parametrize("loop", ["range(n)", "range(2, n + 2)", "range(n, 0, -2)", "reversed(range(n))", "[0.5, n]"])
def test_any_loop_with_any_number_of_snapshots(loop: str, snapshots: int) -> None:
    text = "def f(u, c, n):\n    for t in LOOP:\n        c = c + np.sin(u[0] * c * t)\n    return c * u[1]\n"
    if snapshots in (2, 40) or loop == "range(n)":
        agree(text, 7, loop=loop, snapshots=snapshots)


def test_without_a_number_no_step_is_run_more_than_three_times() -> None:
    gradient = tx.grad(looped(SWEEP, "tx.checkpointed(range(n))"), wrt="c", fallback="error")
    wanted = tx.grad(looped(SWEEP, "range(n)"), wrt="c", fallback="error")
    assert gradient(U, 0.4, 30) == pytest.approx(wanted(U, 0.4, 30))
    assert "enough_snapshots(0, n)" in gradient.source


def test_no_trip_at_all() -> None:
    text = "def f(u, c, n):\n    y = c * u\n    for t in LOOP:\n        y = np.sin(u)\n        u[0] = c\n"
    agree(text + "    return np.sum(y * u)\n", 0)


def test_names_of_several_shapes_and_names_without_a_value_yet() -> None:
    text = "def f(u, c, n):\n    x = c\n    for t in LOOP:\n"
    text += "        if t == 0:\n            best = u * c\n        elif t % 2:\n"
    text += "            best = best * np.sin(best)\n"
    text += "            best[0] = x\n        w = u[:t] * x if t % 3 else np.cos(u)\n"
    agree(text + "        x = x + np.sum(best) * np.sum(w)\n    return x\n", 4)


def test_arrays_made_in_one_step_and_used_in_the_next() -> None:
    text = "def f(u, c, n):\n    v = u[1:]\n    for t in LOOP:\n        new = u * 1.0\n"
    text += "        new[1:] += c * np.sin(u[:-1])\n        v[0] *= new[0]\n        u = new if t % 2 else u\n"
    agree(text + "    return np.sum(u * u) + np.sum(v)\n", 5)


def test_lists_that_grow_and_lists_that_are_written() -> None:
    text = "def f(u, c, n):\n    log, pair, seen = [], [c, c * c], {}\n    for t in LOOP:\n"
    text += "        log.append(u * c)\n        pair[0] = np.sin(pair[1]) + pair[0]\n        c = 0.9 * c\n"
    text += "        if t % 2:\n            seen[t % 4] = pair[0]\n            pair.reverse()\n"
    agree(text + "    return np.sum(np.array(log) ** 2) * pair[1] + sum(seen.values())\n", 6)


def test_a_name_that_a_closure_shares_has_no_value_before_the_first_step() -> None:
    text = "def f(u, c, n):\n    for t in LOOP:\n        q = u[::-1]\n        q[::2] = c * q[::2]\n"
    text += "        def mean():\n            w = u if t > 1 else q\n            w[1:] *= 0.9\n"
    text += "            return np.mean(q)\n"
    agree(text + "        c = c * np.cos(mean())\n    return np.sum(u) * c\n", 4)


def test_nested_in_each_other_and_in_helpers_with_breaks() -> None:
    text = "def run(u, c, n):\n    for t in LOOP:\n        u[1] = u[1] * np.sin(c + u[0])\n"
    text += "        for i in LOOP:\n            if u[i % 3] > 0.8:\n                continue\n"
    text += "            u[i % 3] += c * 0.1\n            if i > 2:\n                break\n    return np.sum(u)\n"
    text += "def f(u, c, n):\n    total = 0.0\n    for k in range(2):\n"
    agree(text + "        total = total + run(u * c, c, n + k)\n    return total\n", 4)


def test_a_step_that_is_run_again_prints_nothing_and_draws_the_same() -> None:
    text = "def f(u, c, rng, n):\n    for t in LOOP:\n        print('step', t)\n        u = u + c * drawn(u, rng)\n"
    text += "        u = u * random.random() + np.random.uniform()\n    return np.sum(u)\n"
    text += "def drawn(u, rng):\n    return np.sin(u) * rng.standard_normal()\n"
    states = []
    gradients = []
    for loop in ("range(n)", "tx.checkpointed(range(n), snapshots=2)"):
        gradient = tx.grad(looped(text, loop), wrt=("u", "c"), fallback="error")
        rng = np.random.default_rng(3)
        np.random.seed(4)
        random.seed(5)
        with redirect_stdout(io.StringIO()) as shown:
            gradients.append(np.append(*gradient(U, 0.4, rng, 5)))
        assert shown.getvalue() == "".join(f"step {t}\n" for t in range(5))
        states.append([rng.random(), np.random.uniform(), random.random()])
    np.testing.assert_allclose(*gradients, rtol=1e-12)
    assert states[0] == states[1]


def test_less_than_one_snapshot_is_an_error() -> None:
    with pytest.raises(ValueError, match="one snapshot at least"):
        tx.grad(looped(SWEEP, "tx.checkpointed(range(n), n - 2)"), fallback="error")(U, 0.4, 2)
    with pytest.raises(ValueError, match="one snapshot at least"):
        tx.checkpointed(range(3), 0)


def test_elsewhere_it_is_the_loop_itself() -> None:
    function = looped(SWEEP)
    assert function(U.copy(), 0.4, 5) == looped(SWEEP, "range(n)")(U.copy(), 0.4, 5)
    tangent = tx.jvp(function, (U, 0.4, 5), (U, 1.0, None), fallback="error")[1]
    slopes = tx.grad(function, wrt=("u", "c"), fallback="error")(U, 0.4, 5)
    assert tangent == pytest.approx(np.sum(slopes[0] * U) + slopes[1])
    text = "def f(u, c, n):\n    for t in LOOP:\n        u = u + c * np.sin(u)\n    return np.sum(u**2)\n"
    wanted = tx.grad(looped(text), fallback="error")(U, 0.4, 5)
    given = tx.tensor(U, requires_grad=True)
    looped(text)(given, 0.4, 5).backward()
    np.testing.assert_allclose(given.grad.numpy(), wanted)
    attempt = "        try:\n            u = u * 1.0\n        except ValueError:\n            u = c\n"
    guarded = text.replace("        u =", f"{attempt}        u =")
    with pytest.warns(tx.FallbackWarning):
        np.testing.assert_allclose(tx.grad(looped(guarded))(U, 0.4, 5), wanted)


def test_explain_says_what_a_snapshot_holds() -> None:
    function = tx.differentiate(looped(SWEEP))
    function.grad(U, 0.4, 3)
    told = function.explain().splitlines()
    at = next(k for k, line in enumerate(told) if "for t in tx.checkpointed" in line)
    assert told[at + 1].strip() == "snapshots of `np.copy(u)`"


def test_the_default_is_about_the_root_of_twice_the_steps() -> None:
    assert [arrays.enough_snapshots(0, n) for n in (0, 1, 3, 4, 6, 7, 10_000)] == [1, 1, 1, 2, 2, 3, 140]


@dataclasses.dataclass
class Track:
    u: np.ndarray
    trail: list[float]


def under_two_names(a):
    one = Track(a * 1.0, [a[0]])
    other = one
    for k in tx.checkpointed(range(3), snapshots=2):
        for r in tx.checkpointed(range(1, 3)):
            other.u[r] = np.cos(one.u[r] * other.trail[-1])
        other.trail.append(np.tanh(one.u[1] * other.trail[0]) * (k + 1))
    return np.sum(one.u) + np.sum(np.array(one.trail) ** 2)


@pytest.mark.parametrize("off", [(), "all"], ids=str)
def test_a_list_under_two_names(off: Any) -> None:
    a = np.array([0.3, 0.4, 0.5, 0.6])
    np.testing.assert_allclose(gradient(under_two_names, (a,), off), differences(under_two_names, (a,)), rtol=1e-6)
