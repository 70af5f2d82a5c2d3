"""Functions of SciPy's that go on in double precision, whatever they are given: values of that, gradients as given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg, stats
from scipy.spatial import distance

import tangentx as tx

ROW = np.array([0.3, 1.4, 0.8], np.float32)
TABLE = np.array([[2.1, 0.3, 0.4], [0.2, 1.7, 0.1], [0.5, 0.3, 1.9]], np.float32)
PROGRAMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "a number's density": (lambda x: stats.norm.logpdf(x, 0.1, 2.0), np.float32(0.3)),
    "densities": (lambda x: np.sum(stats.t.logpdf(x, 3.0, 0.1, 1.3)), ROW),
    "probabilities of a frozen one": (lambda x: np.sum(stats.gamma(2.5, scale=0.7).cdf(x)), ROW),
    "by a keyword": (lambda x: np.sum(stats.expon.logsf(0.9, scale=x)), ROW),
    "determinant": (linalg.det, TABLE),
    "length": (linalg.norm, ROW),
    "distances": (lambda x: np.sum(distance.cdist(x, 2 * x)), TABLE),
}


def on_tensors(program: Callable[..., Any]) -> Callable[..., Any]:
    """The same, of which something cannot be compiled."""

    def run(x: Any) -> Any:
        return program(x) * eval("1.0")

    return run


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fallback", ["error", "tensor"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_gradient_have_their_own_precision(name: str, fallback: str) -> None:
    program, x = PROGRAMS[name]
    if fallback == "tensor":
        program = on_tensors(program)
    value, found = tx.value_and_grad(program, fallback=fallback)(x)
    wanted = program(x)
    assert np.asarray(value).dtype == np.asarray(wanted).dtype == np.float64
    np.testing.assert_allclose(value, wanted, rtol=1e-7)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, tx.grad(program)(np.float64(x)), rtol=2e-6)
    moved = tx.jvp(program, (x,), (np.ones_like(x),), fallback=fallback)[1]
    np.testing.assert_allclose(moved, np.sum(found, dtype=np.float64), rtol=2e-5)
