"""Every hazard with all passes, with none, and with each one off alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.optimise import hazards
from tests.optimise.support import WAYS, differences, gradient


@pytest.mark.share(2)
@pytest.mark.parametrize("off", WAYS, ids=str)
@pytest.mark.parametrize("name", hazards.CASES)
def test_gradient(name: str, off: Any) -> None:
    fn, args = getattr(hazards, name), hazards.CASES[name]
    found = gradient(fn, args, off)
    np.testing.assert_allclose(found, differences(fn, args), rtol=1e-6, atol=1e-7)
    assert np.shape(found) == np.shape(args[0])


def test_a_result_is_not_the_constant_of_the_program() -> None:
    found = gradient(hazards.shared_result, (hazards.X3,))
    found[...] = 0.0
    assert hazards.WEIGHTS.tolist() == [1.0, 2.0, 3.0]


def test_a_pullback_of_a_function_named_both() -> None:
    value, pullback = tx.vjp(hazards.both, 1.2, fallback="error")
    assert value == pytest.approx(6.0 * 1.44)
    assert pullback(1.0) == pytest.approx(12.0 * 1.2)
    assert tx.jvp(hazards.of_both, (1.2,), (1.0,))[1] == pytest.approx(12.0 * 1.2 + 2.0)
