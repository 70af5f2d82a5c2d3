"""Where the covariance of a normal distribution is singular, SciPy's value is that of fewer axes."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx

stats = pytest.importorskip("scipy.stats")


def entropy(covariance):
    return stats.multivariate_normal.entropy(np.zeros(2), covariance)


@pytest.mark.parametrize("covariance", [np.full((2, 2), 0.5), np.diag([1.0, 0.0]), np.zeros((2, 2))])
def test_its_entropy_is_refused(covariance: np.ndarray) -> None:
    with pytest.raises(tx.NotDifferentiable, match="covariance is singular"):
        tx.value_and_grad(entropy)(covariance)
