"""Programs of CuPy: the corpus on the double, right, and without a transfer that it did not ask for."""

from __future__ import annotations

from typing import Any

import pytest

import tangentx as tx
from tangentx.testing.device_arrays import transfers
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.testing.device_programs import function_there, has_arrays, numbers, slope, there, total

NOT_CUPYS = frozenset((
    "alignments assembled bent_truss best_scores bottleneck checkerboard clamped csr_power energy from_globals"
    " joined_and_cut lists_as_arrays noisy of_layers placed_values reachable response robust_fit spot stirred wandering"
    " windowed drawdown through_a_module single mixed narrow written_by_calls".split()
))  # fmt: skip
"""Programs that do what CuPy does not, that cannot be moved there, or of float32, of which differences say little."""
REFUSED = frozenset(
    "absorbed by_cell colliding delay_line matched_orders of_a_comprehension_in_a_loop polynomials pooled"
    " running_moments taken_names".split()
)
"""Programs that run there and are refused, at a line and with a remedy."""
MORE = {
    "iterables": 9, "mapped": 6, "driven": 8, "heads": 4, "distances": 11, "conducted": 1, "tuned_circuit": 1,
    "given_from_outside": 2, "edges_of": 1, "short_circuit": 1, "trial_step": 1,
}  # fmt: skip
"""How many more transfers than the program itself the derivatives of some programs make: numbers that Python's own
functions (``max``, ``complex``) are given are asked for again, and CuPy's `average` looks whether the weights are 0."""


@pytest.mark.share(8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("program", [p for p in PROGRAMS if has_arrays(p)], ids=lambda program: program.name)
def test_a_program_of_cupys(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    if program.name in NOT_CUPYS:
        pytest.skip("not a program of CuPy's")
    fn = function_there(program, tmp_path_factory.getbasetemp())
    gradient = tx.grad(fn, wrt=program.wrt, fallback="error")

    def counted(run: Any) -> tuple[int, int]:
        args = there(list(program.args()))
        transfers.reset()
        run(*args)
        return transfers.down, transfers.up

    if program.name in REFUSED:
        with pytest.raises(tx.TangentxError, match=r"\n *\^"):
            counted(gradient)
        return
    found = total(gradient(*there(list(program.args()))))
    assert found == pytest.approx(slope(fn, program), rel=1e-5, abs=1e-6)
    (down, up), (plain_down, plain_up) = counted(gradient), counted(fn)
    assert down <= plain_down + numbers(program) + MORE.get(program.name, 0) and up <= plain_up
