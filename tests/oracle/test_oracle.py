"""Tests of the oracle by differences, of the harness by stand-ins that fail, and of tangentx by both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tangentx.errors import TangentxError

from .comparing import Wrong, demand_apart
from .dual import Dual, Kink
from .grammar import Program, draft, odd_draft
from .harness import check
from .layout import FORMS, laid_out
from .reduction import reduce
from .screen import Unfit, copied, directions, generate, judge, leaves, load, moved, truth
from .standin import StandIn
from .survey import Summary, inspect, program_of, survey

CHUNKS, SIZE = 20, 25
EACH_CHUNK = pytest.mark.parametrize(
    "chunk", [pytest.param(i, marks=() if i == 0 else pytest.mark.thorough) for i in range(CHUNKS)]
)

VIEW = """
import numpy as np
def f(x, a, A):
    row = A[0]
    row[1:] = a[:2] * x
    a[[0, 0, 2]] = [x, x * x, A[0, 1]]
    A.T[0] += np.sin(a[:2])
    a[1:] = a[:-1]
    b = A.reshape(-1)
    b[5] *= x
    A[A > 1.0] /= 1.0 + x
    y = abs(x) * np.exp(x) / np.sqrt(2.0 + x)
    return y + np.sum(A ** 3) + np.dot(a, a) * np.max(A[1]) + np.mean(np.outer(a, a))
"""
COPY = """
import numpy as np
def f(x, a, A):
    flat = A.T.reshape(-1)
    flat[0] = x
    picked = a[[0, 1]]
    picked[0] = x
    c = np.concatenate([a, picked]) @ np.ones(5)
    s = 0.0
    for row in A:
        s += np.log(2.0 + row[0] ** 2) * (row @ a)
    return np.sum(flat * flat) + c * s + np.sum(A @ a) ** 2.0 - 1.0 / (3.0 + x) + np.stack([a, a * x]).sum(axis=0)[1]
"""


def fixed(source: str) -> Program:
    rng = np.random.default_rng(3)
    return Program(source, ([0.7, rng.standard_normal(3), rng.standard_normal((2, 3))],), (0, 1, 2), Counter())


# ---- the oracle by itself ----
@pytest.mark.parametrize("source", [VIEW, COPY], ids=["views", "copies"])
def test_fixed_programs_agree_with_differences_at_both_orders(source: str) -> None:
    program = fixed(source)
    point = program.points[0]
    found = judge(program, point, 1)
    assert_curvature(program, found.curvature)
    f = load(source)
    assert found.value == pytest.approx(f(*copied(point)), rel=1e-14)


def assert_curvature(program: Program, curvature: float, tolerance: float = 1e-6) -> None:
    """The curvature r H s against differences of the slope along r, moved along s."""
    point, (r, s) = program.points[0], directions(program, 1)
    ahead, behind = (truth(program, moved(point, s, h), r, s).along_r for h in (1e-5, -1e-5))
    assert curvature == pytest.approx((ahead - behind) / 2e-5, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("seed", range(1000, 1030))
def test_curvature_of_drawn_programs_agrees_with_differences(seed: int) -> None:
    program = program_of(seed)
    if program.tags["kink"]:
        pytest.skip("differences of slopes tell nothing where the slopes jump")
    point, (r, s) = program.points[0], directions(program, 1)
    try:
        assert_curvature(program, truth(program, point, r, s).curvature, 1e-4)
    except Kink:
        pytest.skip("a tie within the step of the differences")


SHARED = """
import numpy as np

def f(x, a, b):
    a[:-1] = x * b[1:]
    return np.sum(a * b)
"""


@pytest.mark.parametrize("form", ["one", "windows"])
def test_arguments_that_share_memory_do_so_in_each_copy(form: str) -> None:
    memory = np.array([0.3, -0.7, 1.1, 0.4])
    a, b = (memory[:3], memory[1:]) if form == "windows" else (memory, memory)
    program = Program(SHARED, ([0.7, a, b],), (0,), Counter())
    first, second = copied(program.points[0])[1:]
    assert np.shares_memory(first, second) and not np.shares_memory(first, a)
    found = judge(program, program.points[0], 1)
    assert found.along_r != 0.0
    assert_curvature(program, found.curvature)
    outcome = check(program, order2=True, pull=False)
    assert outcome.stages["grad"] == outcome.stages["jvp"] == ("compiled", "")


def test_a_comparison_near_a_tie_is_a_kink() -> None:
    x = Dual((1.0, 1.0, 0.0, 0.0))
    with pytest.raises(Kink):
        assert x < 1.0 + 1e-9
    assert x < 1.1
    assert not Dual((1.0, 0.0, 0.0, 0.0)) < 1.0


def test_dual_arrays_keep_one_layout() -> None:
    with pytest.raises(AssertionError, match="one layout"):
        Dual((np.zeros((2, 3)), np.zeros((3, 2)).T, np.zeros((2, 3)), np.zeros((2, 3))))


def test_the_oracle_does_not_lose_programs_to_its_own_faults() -> None:
    rejected: Counter[str] = Counter()
    programs = [generate(Random(seed), rejected) for seed in range(200)]
    assert not [reason for reason in rejected if reason.startswith("DISAGREES")]
    assert sum(rejected.values()) <= 0.1 * len(programs)


# ---- the harness by stand-ins for tangentx ----
def raising(error: Exception) -> Callable[..., None]:
    def before(*args: Any) -> None:
        raise error

    return before


def writing(x: float, a: Any, A: Any) -> None:
    a[0] += 1e-9


@pytest.mark.parametrize(
    ("api", "status", "text"),
    [
        (StandIn(), "compiled", ""),
        (StandIn(lambda g: g * (1.0 + 1e-5)), "wrong", "slope by grad"),
        (StandIn(lambda g: g * np.nan), "wrong", "slope by grad"),
        (StandIn(np.array), "wrong", "for a float"),
        (StandIn(before=writing), "wrong", "changed"),
        (StandIn(before=raising(TangentxError("no way"))), "refused", "no way"),
        (StandIn(before=raising(KeyError("x_tape"))), "crashed", "KeyError"),
    ],
    ids=["right", "inexact", "nan", "type", "writes", "refuses", "crashes"],
)
def test_the_harness_tells_outcomes_apart(api: Any, status: str, text: str) -> None:
    outcome = check(fixed(VIEW), order2=True, api=api)
    assert (outcome.status, text in outcome.details) == (status, True)


WAVE = """
import numpy as np
def f(psi, z):
    psi[1] *= z * 1j
    return np.sum(np.abs(psi) ** 2 * np.array([1.0, 2.0, 3.0])) + (z * z * psi[0]).imag
"""


def test_the_gradient_by_a_complex_number_has_one_convention() -> None:
    program = Program(WAVE, ([np.array([0.3 - 0.4j, 1.0 + 0.2j, -0.7j]), 0.6 - 0.5j],), (0, 1), Counter())
    judge(program, program.points[0], 0)
    assert check(program, order2=True).status == check(program, order2=True, api=StandIn()).status == "compiled"
    assert check(program, api=StandIn(lambda g: g.conjugate())).status == "wrong"


def test_gradients_must_be_apart_and_writable() -> None:
    a = np.zeros((2, 3))
    demand_apart([a, a.copy(), 1.0])
    with pytest.raises(Wrong, match="share memory"):
        demand_apart([a, a[0]])
    with pytest.raises(Wrong, match="read-only"):
        demand_apart([np.broadcast_to(1.0, 3)])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_a_layout_is_kept_by_copies(form: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    a = np.arange(float(np.prod(shape))).reshape(shape)
    made = laid_out(a, form(a))
    again = copied(made)
    assert (made.strides, made.shape) == (form(a).strides, shape)
    assert (again.strides, np.shares_memory(made, again)) == (made.strides, False)
    np.testing.assert_array_equal(again, a)


def test_each_stage_is_held_against_the_oracle() -> None:
    outcome = check(fixed(VIEW), order2=True, api=StandIn(lambda g: g * (1.0 + 1e-5)))
    stages = ("grad", "jvp", "vjp", "jvp_of_grad", "grad_of_grad")
    assert tuple((name, status) for name, (status, _) in outcome.stages.items()) == tuple((n, "wrong") for n in stages)


def test_the_survey_finds_a_right_compiler_right() -> None:
    found = survey(2000, 40, every=4, api=StandIn())
    assert found.statuses == {"compiled": 40}, str(found)
    assert found.stages["grad_of_grad compiled"] >= 10
    assert found.stages["vjp compiled"] > found.stages["grad_of_grad compiled"]


def test_reduction_keeps_what_fails() -> None:
    program = next(p for p in map(program_of, range(3000, 4000)) if p.tags["while"] and p.tags["early return"])
    small = reduce(program, lambda p: "while " in p.source, tries=150)
    assert "while " in small.source
    assert len(small.source) < 0.8 * len(program.source)
    judge(small, small.points[0], 0)


# ---- tangentx ----
def drawn(chunk: int, thorough: bool) -> list[int]:
    """Seeds of a chunk of twice as many programs: the shortest sixth, which take a tenth of the time of all."""
    seeds = range(2 * chunk * SIZE, 2 * (chunk + 1) * SIZE)
    by_length = sorted(seeds, key=lambda seed: program_of(seed).source.count("\n"))
    return list(seeds) if thorough else sorted(by_length[: SIZE // 3])


@pytest.mark.long
@EACH_CHUNK
def test_drawn_programs_are_right_or_refused(
    chunk: int, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    """All proofs on; second order for every tenth program, a pullback for every sixth. The distribution is printed."""
    found = Summary()
    for seed in drawn(chunk, request.config.getoption("--thorough")):
        found.add(inspect(seed, (), 10, short=0, pulls=6))
    with capsys.disabled():
        print(f"\noracle, chunk {chunk}: {found}" if chunk == 0 else "")
    assert_sound(found)
    assert found.statuses["compiled"] >= 0.75 * found.count
    assert 2 * found.sharing >= found.count


@pytest.mark.long
@EACH_CHUNK
def test_drawn_programs_are_right_or_refused_without_proofs(chunk: int, request: pytest.FixtureRequest) -> None:
    """All, and every tenth to second order, which takes ten times as long, with ``--thorough``: else a quarter of them,
    and every fiftieth."""
    thorough = request.config.getoption("--thorough")
    count, every = (SIZE, 10) if thorough else (SIZE // 4, 50)
    assert_sound(survey(chunk * SIZE, count, "all", every, short=0, pulls=0))


REFUSED = {
    "iterator kept": 1.0,
    "name without a value, caught": 1.0,
    "iterator left": 0.6,
    "iterator calls a function that writes": 0.6,
    "name deleted": 0.6,
}
"""How many of the programs that have a construct may be refused; of others a third. A program has several, and is
counted with each: where a limit is passed, look which of them became one that is refused."""


@pytest.mark.long
def test_odd_programs_are_right_or_refused() -> None:
    """Whole numbers among floats, kinks, iterators, names without a value, classes, memory outside. What is refused is
    right by default, on Tensors, or refused there too; and it is counted."""
    found = Summary()
    for seed in range(40):
        found.add(inspect(seed, (), 6, short=0, pulls=1, drawn=odd_draft))
    assert_sound(found)
    for tag, count in found.tags.items():
        if count >= 6:
            assert found.refused[tag] <= REFUSED.get(tag, 0.34) * count, f"{tag}: {found.refused[tag]} of {count}"
    assert found.stages["on_tensors compiled"] >= 0.8 * found.statuses["refused"]
    assert not [reason for reason in found.rejected if reason.startswith("DISAGREES")]


KINKS = """
import numpy as np
def f(x, a, x0, a0):
    y = max(x, x0) + 2.0 * min(x0, x, 9.0) + 3.0 * abs(x - x0) + np.maximum(x0, x)
    z = np.clip(a, a0, 9.0) + 2.0 * np.clip(a, -9.0, a0) + np.minimum(a, a0) + np.abs(a - a0)
    return y + np.sum(z * np.array([1.0, 2.0, 3.0])) + np.max(np.array([x, x0])) + np.linalg.norm(a - a0)
"""


def test_kinks_have_the_slopes_that_differences_have() -> None:
    a = np.array([0.3, -0.7, 1.1])
    program = Program(KINKS, ([0.7, a, 0.7, a.copy()],), (0, 1), Counter())
    assert judge(program, program.points[0], 1).along_r != 0.0
    assert [stage for stage in check(program, order2=True, api=StandIn()).stages] == ["grad", "jvp", "vjp"]


@pytest.mark.parametrize("seed", range(60))
def test_odd_programs_agree_with_differences(seed: int) -> None:
    program = program_of(seed, drawn=odd_draft)
    assert judge(program, program.points[0], 1).along_r != 0.0


@pytest.mark.long
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_programs_of_hypothesis(rng: Random) -> None:
    """The same grammar with hypothesis choosing, so that a failure shrinks."""
    program = draft(rng)
    try:
        judge(program, program.points[0], 0)
    except Unfit:
        assume(False)
    outcome = check(Program(program.source, program.points[:1], program.wrt, program.tags))
    assert outcome.status in ("compiled", "refused"), f"{outcome.details}\n{program.source}"


def assert_sound(found: Summary) -> None:
    bad = [f"seed {seed} is {status}: {details}\n{source}" for seed, status, details, source in found.failures]
    assert not bad, "\n\n".join(bad)


def test_leaves_are_in_order() -> None:
    assert leaves({"a": [1.0, None], "b": (2.0,)}) == [1.0, 2.0]
