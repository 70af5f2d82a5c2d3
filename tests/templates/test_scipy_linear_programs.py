"""Linear programs, by the equations that hold at the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import tangentx as tx
from tangentx.testing import check_grads

A = np.array([[1.0, 1.0], [3.0, 1.0]])
B = np.array([2.0, 3.0])
C = np.array([-1.0, -0.7])


def inequalities(c: Any, a: Any, b: Any) -> Any:
    found = optimize.linprog(c, a, b)
    return found.fun * found.x[0] + np.sum(found.x**3) + np.sum(found.slack) if found.success else 0.0


def equalities(c: Any, a: Any, b: Any) -> Any:
    costs = np.append(c * -1.0, 2.0)
    table = np.array([[1.0, 2.0, 1.0]]) * a[0, 0]
    found = optimize.linprog(costs, A_eq=table, b_eq=b[:1], bounds=[(0.1, 5), (None, None), (0.2, 0.2)], method="highs")
    return found.fun * found.x[0] + found.x[1] ** 2


@pytest.mark.parametrize("f", [inequalities, equalities])
def test_the_answer_moves_with_the_constraints_that_hold(f: Any) -> None:
    costs = C if f is inequalities else np.array([-1.0, -1.3])
    check_grads(f, (costs, A, B), wrt=(0, 1, 2), order=1, rtol=1e-5)
    value, _ = tx.value_and_grad(f, fallback="error")(costs, A, B)
    assert value == pytest.approx(f(costs, A, B))


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.array([[1.0, 0.7], [3.0, 1.0]]), np.array([2.0, 30.0]), "one of many answers"),
        (np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]), np.array([2.0, 3.0, 2.5]), "more constraints"),
        (np.array([[-1.0, 0.0]]), np.array([2.0]), "no answer"),
    ],
)
def test_answers_without_derivative_are_refused(a: Any, b: Any, message: str) -> None:
    with pytest.raises(tx.NotDifferentiable, match=message):
        tx.grad(inequalities, wrt="b", fallback="error")(C, a, b)
