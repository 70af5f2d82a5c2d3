"""Calls of the user's functions."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads
from tests.analysis import programs
from tests.analysis.made import analysed

X = np.array([0.4, 0.3, 0.9])


def test_a_helper_is_compiled_once_for_each_kind() -> None:
    program, _ = analysed(programs.calls, 2.0, 3.0)
    assert sum(i.source.name == "helper" for i in program.reached()) == 2
    program, _ = analysed(programs.calls, 2.0, 3.0, wrt=(0, 1))
    assert sum(i.source.name == "helper" for i in program.reached()) == 1


def joined(x):
    """Two smallest rows at a time, as a code of Huffman's is made."""
    rows = [(v, i) for i, v in enumerate(x)]
    while len(rows) > 1:
        first = min(rows)
        rows.remove(first)
        second = min(rows)
        rows.remove(second)
        rows.append((first[0] * 2.0 + second[0], first[1]))
    return rows[0][0]


def chosen(x):
    square, _, v = max((v * v, i, v) for i, v in enumerate(x))
    return square * v + min([[v, 1.0] for v in x], default=[0.0, 0.0])[0] + max((x[0], x[2]), (x[1], x[0]))[1]


def of_none(x):
    return max([(v, 1.0) for v in x if v > 100.0])[0]


@pytest.mark.parametrize("f", [joined, chosen], ids=lambda f: f.__name__)
def test_the_best_of_tuples_is_chosen(f) -> None:
    tx.grad(f, fallback="error")(X)
    check_grads(f, (X,), order=2)


def test_the_best_of_no_tuples_is_the_program_s_own_error() -> None:
    with pytest.raises(ValueError) as plain:
        of_none(X)
    for f in (of_none, lambda x: min([v for v in x if v > 100.0], key=abs)):
        with pytest.raises(ValueError) as raised:
            tx.grad(f, fallback="error")(X)
        assert str(raised.value).replace("min", "max") == str(plain.value)
