"""Checkpointed calls: what is kept, and what is refused."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.frontend.made import defined
from tests.harness import leaves
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import names, positions

STEP = """
import numpy as np
import tangentx as tx

def step(u, c):
    for k in range(10):
        u = u + c * np.sin(u) * np.cos(u)
    return u

def write(u, c):
    for k in range(10):
        u += c * np.sin(u) * np.cos(u)

def f(u, c):
    for n in range(12):
        {call}
    return np.sum(u**2)
"""


def peak(call: str) -> tuple[float, object]:
    """The most memory that a gradient holds, in arrays of the size of its argument, and the gradient."""
    gradient = tx.grad(defined(STEP.format(call=call)), wrt=("u", "c"), fallback="error")
    u = np.linspace(0.0, 1.0, 20_000)
    gradient(u, 0.1)
    tracemalloc.start()
    found = gradient(u, 0.1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / u.nbytes, found


@pytest.mark.parametrize(
    ("plain", "again"),
    [("u = step(u, c)", "u = tx.checkpoint(step, u, c)"), ("write(u, c)", "tx.checkpoint(write, u, c)")],
)
def test_less_is_kept(plain: str, again: str) -> None:
    recorded, wanted = peak(plain)
    kept, found = peak(again)
    for got, part in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, part, rtol=1e-12)
    assert recorded > 120 and kept < recorded / 2


def test_a_result_in_memory_of_an_argument_is_refused_at_run_time() -> None:
    text = "import tangentx as tx\ndef tail(u, k):\n    if k > 0:\n        return u[1:]\n    return 2.0 * u\n"
    text += (
        "def f(x, k):\n    a = 1.0 * x\n    v = tx.checkpoint(tail, a, k)\n    v[0] *= x[1]\n    return v[0] + a[1]\n"
    )
    gradient = tx.grad(defined(text), fallback="error")
    with pytest.raises(tx.SharedMemory, match=r"`tail` in .*:8 is checkpointed and returns memory"):
        gradient(np.ones(3), 1)
    np.testing.assert_allclose(gradient(np.ones(3), 0), [2.0, 3.0, 0.0])


def test_what_is_stored_in_a_container_counts_as_held() -> None:
    text = "import tangentx as tx\ndef held(u, c):\n    box = [c]\n    box[0] = c\n    bag = []\n    bag.append(u)\n"
    text += "    bag[0][1] = c * u[0] ** 2\n    part = bag[0][2:]\n    part *= c\n"
    text += "def f(x):\n    u = 1.0 * x\n    tx.checkpoint(held, u, x[0])\n    u[0] = 0.0\n    return u[1] * u[2]\n"
    f = defined(text)
    x = np.array([0.7, 1.1, 1.3])
    np.testing.assert_allclose(tx.grad(f, fallback="error")(x), [4 * 0.7**3 * 1.3, 0.0, 0.7**4])


REFUSED = {
    **dict.fromkeys(
        "terms_of_prime_powers stirred wandering stratified noisy configured with_constants".split(),
        "has side effects",
    ),
    **dict.fromkeys(
        "one_list_twice one_row_in_two_places list_writes dict_writes nested_lists arrays_in_a_list in_place options "
        "advanced".split(),
        "writes into a container that it is given",
    ),
}


def some_programs() -> list[Any]:
    """Every thirty-second program; with ``--thorough`` each."""
    return [p if i % 32 == 0 else pytest.param(p, marks=pytest.mark.thorough) for i, p in enumerate(PROGRAMS)]


@pytest.mark.share(1)
@pytest.mark.parametrize("program", some_programs(), ids=lambda program: program.name)
def test_whole_programs(program: Program) -> None:
    given = ", ".join(f"a{i}" for i in range(len(program.args())))
    text = f"import tangentx as tx\ndef f({given}):\n    return tx.checkpoint(whole, {given})\n"
    again = tx.grad(defined(text, whole=program.fn), wrt=tuple(f"a{i}" for i in positions(program)), fallback="error")
    if program.name in REFUSED:
        with pytest.raises(tx.TangentxError, match=REFUSED[program.name]):
            again(*program.args())
        return
    wanted = tx.grad(program.fn, wrt=names(program), fallback="error")(*program.args())
    for got, part in zip(leaves(again(*program.args())), leaves(wanted), strict=True):
        np.testing.assert_allclose(got.value, part.value, rtol=1e-9, atol=1e-12)


def into_a_copy(params, x):
    params = dict(params)
    params["w"] = params["w"] * x
    return np.sum(params["w"] ** 2)


def through_a_copy(params, x):
    params = dict(params)
    params["w"][0] = x[1]
    return np.sum(params["w"] * x)


def test_a_copy_of_a_container_may_be_written_and_what_it_shares_may_not() -> None:
    def loss(x, f):
        return tx.checkpoint(f, {"w": 2.0 * x}, x)

    x = np.array([0.3, 1.2, 0.7])
    assert np.allclose(tx.grad(loss, fallback="error")(x, into_a_copy), 16.0 * x**3)
    with pytest.raises(tx.UnsupportedSyntax, match="writes into a container"):
        tx.grad(loss, fallback="error")(x, through_a_copy)
