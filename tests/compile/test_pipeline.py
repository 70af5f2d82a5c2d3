"""The stages together, and proofs that can be switched off."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.kinds import Num
from tangentx.compile import pipeline
from tangentx.optimise.pipeline import PASSES


def settle(x, n):
    u = np.zeros(n)
    for i in range(n):
        u[i] = x * i
    return np.sum(u * u)


def test_every_proof_can_be_switched_off_alone() -> None:
    expected = 2 * 3.0 * sum(i * i for i in range(4))
    for off in ((), "all", *PASSES):
        with pipeline.proofs(off):
            assert tx.grad(settle)(3.0, 4) == pytest.approx(expected), off


def test_proofs_come_back() -> None:
    with pipeline.proofs("all"):
        assert pipeline.switched_off() >= frozenset(PASSES)
    assert not pipeline.switched_off()


def test_an_unknown_proof_is_refused() -> None:
    with pytest.raises(ValueError, match="no such proof: wishful"), pipeline.proofs("wishful"):
        pass


def test_the_derived_program_is_one_of_the_language() -> None:
    program = pipeline.new_program()
    instance = pipeline.analyse(program.lift(settle), [Num(float, True), Num(int)], program)
    derived = pipeline.derive_tangent(program, instance, (0,))
    closed = pipeline.close(derived, [Num(float, True), Num(int), Num(float, True)], program)
    assert [p.name for p in closed.params] == ["x", "n", "x_dot"]
