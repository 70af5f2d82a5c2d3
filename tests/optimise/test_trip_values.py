"""What a trip has computed is not computed again; what may have changed since is."""

from __future__ import annotations

import numpy as np

import tangentx as tx

X = np.linspace(0.1, 1.2, 12).reshape(4, 3)


def test_the_way_back_reads_what_the_way_there_has_read() -> None:
    def f(w, x):
        total = 0.0
        for k in range(len(x)):
            row = x[k]
            total += np.tanh(row @ w) * row[1]
        return total

    w = np.array([0.3, 0.5, 0.7])
    text = tx.grad(f).source_for(w, X)
    code = "\n".join(line for line in text.splitlines() if "#" not in line or "--" in line)
    assert "# -- reverse" in text and [code.count(each) for each in ("x[k]", "np.tanh(", "row @ w")] == [1, 1, 1]
    assert np.allclose(tx.grad(f)(w, X), (X[:, 1] * (1.0 - np.tanh(X @ w) ** 2)) @ X)


def test_what_is_written_in_the_trip_is_read_again() -> None:
    def f(w, x):
        total = 0.0
        for k in range(len(x)):
            u = np.zeros(2)
            u[0] = x[k, 0] * w
            total += u[0] * u[0]
            u[0] = u[0] * u[0]
            total += u[0] * w
        return total

    t = X[:, 0]
    assert np.isclose(tx.grad(f)(0.5, X), np.sum(2 * 0.5 * t * t + 3 * 0.25 * t * t))
