"""Reverse of writes: restore, take, zero, give."""

from __future__ import annotations

import numpy as np

from tests.analysis.made import in_order
from tests.derive.made import reverse_text


def put(x, A, i):
    A[i] = x * x
    return A[0]


def test_a_store_is_recorded_restored_taken_zeroed_and_given() -> None:
    found = reverse_text(put, 2.0, np.ones(3), 1)
    assert in_order(found, " = A[i]", "clone(", "A_tape.append(", "A[i] = %1", "reverse sweep")
    reverse = found.partition("reverse sweep")[2]
    assert in_order(
        reverse, "A_tape.pop()", "A[i] = ", " = A_bar[i]", "clone(", "A_bar[i] = 0.0", "%1_bar = add(%1_bar,"
    )


def entered(x, d):
    d["k"] = x
    return d["k"]


def test_a_new_key_is_taken_away_again() -> None:
    forward, _, reverse = reverse_text(entered, 2.0, {"a": 1.0}).partition("reverse sweep")
    assert in_order(forward, "d_had", "d['k'] = x", "d_bar['k'] = 0.0")
    assert in_order(reverse, "= d_bar['k']", "if ", "d['k'] = ", "del d['k']", "del d_bar['k']")


def grow(x, n):
    L = []
    for i in range(n):
        L.append(x * i)
    return L.pop()


def test_append_is_popped_and_pop_appended() -> None:
    found = reverse_text(grow, 2.0, 3)
    forward, _, reverse = found.partition("reverse sweep")
    assert in_order(forward, "L.append(", "L_bar.append(0.0)", "L.pop()", "L_bar.pop()")
    assert in_order(reverse, "L.append(", "L_bar.append(", "reversed(range(0, n, 1))", "L.pop()", "L_bar.pop()")
