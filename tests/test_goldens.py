"""How the gradients of programs that a reader learns from read, whole; the three of the textbook have theirs besides.

After a change that is meant to change them: ``pytest tests/test_goldens.py --update-goldens``, and read the diff.
"""

from __future__ import annotations

import inspect

import pytest

import tangentx as tx
from tangentx.arrays import tangent_as
from tests.conftest import GOLDEN, Golden
from tests.programs import PROGRAMS

CHOSEN = (
    # numbers, branches, loops
    "horner",
    "targets",
    "powers",
    "newton_root",
    "growing_total",
    "skipping",
    "logistic_map",
    "power_iteration",
    "early",
    "ladder",
    "weights_in_a_loop",
    # whole arrays
    "broadcasting",
    "softmax_loss",
    "selections",
    "products",
    "waves",
    "masked",
    # writes, views, aliases
    "swapped",
    "cumulative",
    "convolved",
    "scattered",
    "rows",
    "old_row",
    "rotated",
    # helpers, recursion, closures, containers, structures
    "writes_below",
    "several_results",
    "function_argument",
    "tree",
    "quadrature",
    "from_globals",
    "stack_machine",
    "history",
    "parameters",
    "of_layers",
    "kinetic",
    "moving_window",
    # what scientists write
    "heat",
    "conducted",
    "stirred",
    "runge_kutta",
    "pendulum",
    "black_scholes",
    "binomial_tree",
    "logistic_regression",
    "kalman",
    "thomas",
    "cholesky",
    "simpson",
    "shortest_paths",
)


TANGENTS = (
    "horner",
    "newton_root",
    "growing_total",
    "broadcasting",
    "softmax_loss",
    "masked",
    "swapped",
    "cumulative",
    "rows",
    "writes_below",
    "tree",
    "parameters",
    "heat",
    "runge_kutta",
    "black_scholes",
    "logistic_regression",
    "cholesky",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_the_gradient_reads_as_it_did(name: str, golden: Golden) -> None:
    (program,) = [program for program in PROGRAMS if program.name == name]
    text = tx.grad(program.fn, wrt=program.wrt, fallback="error").source_for(*program.args())
    assert "# No import reaches" not in text  # it can be saved, and runs alone: tests/test_standalone.py
    golden(f"gradient_{name}", text)


@pytest.mark.parametrize("name", TANGENTS)
def test_the_tangent_reads_as_it_did(name: str, golden: Golden) -> None:
    (program,) = [program for program in PROGRAMS if program.name == name]
    names = list(inspect.signature(program.fn).parameters)
    wrt = program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)
    places = [names.index(each) if isinstance(each, str) else each for each in wrt]
    args = program.args()
    tangents = [tangent_as(None, value) if i in places else None for i, value in enumerate(args)]
    golden(f"tangent_{name}", tx.differentiate(fallback="error")(program.fn).jvp.source_for(args, tangents))


def test_there_are_enough_and_none_is_left_over() -> None:
    assert len(CHOSEN) >= 40
    assert sorted(path.stem for path in GOLDEN.glob("gradient_*")) == sorted(f"gradient_{name}" for name in CHOSEN)
    assert sorted(path.stem for path in GOLDEN.glob("tangent_*")) == sorted(f"tangent_{name}" for name in TANGENTS)
