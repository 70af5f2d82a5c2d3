"""Reverse of writes: restore, take, zero, give."""

from __future__ import annotations

import types

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.analysis.made import in_order
from tests.derive.made import ALL, reverse_text


def put(x, A, i):
    A[i] = x * x
    return A[0]


def test_a_store_is_recorded_restored_taken_zeroed_and_given() -> None:
    found = reverse_text(put, 2.0, np.ones(3), 1)
    assert in_order(found, " = A[i]", "clone(", "A_tape.append(", "A[i] = %1", "reverse sweep")
    reverse = found.partition("reverse sweep")[2]
    assert in_order(
        reverse, "A_tape.pop()", "A[i] = ", " = A_bar[i]", "clone(", "A_bar[i] = 0.0", "x_squared_bar = add("
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


class State:
    def __init__(self, x):
        self.x = x


def moved(x):
    s = State(x)
    for _ in range(3):
        s.x = s.x * x
    return s.x


def extended(x):
    s = State(x)
    s.y = x * x
    return s.y


def emptied(x):
    d = {"a": x}
    del d["a"]
    d["a"] = x * x
    return d["a"]


def test_an_attribute_is_there_if_all_objects_are_made_with_it() -> None:
    on = ALL - {"present"}
    found = reverse_text(moved, 2.0, off=on)
    assert "hasattr" not in found and "hasattr" in reverse_text(moved, 2.0)
    assert in_order(found, "s.x = ", "s_bar['x'] = 0.0", "reverse sweep", "s.x = ", "s_bar['x'] = ")
    assert in_order(
        reverse_text(extended, 2.0, off=on), "hasattr(s, 'y')", "reverse sweep", "del s.y", "del s_bar['y']"
    )
    assert "contains(d, 'a')" in reverse_text(emptied, 2.0, off=on)


def test_objects_with_and_without_an_attribute() -> None:
    def f(x, first):
        s, t = State(x), State(2.0 * x)
        t.y = x * x
        u = s if first else t
        u.y = u.x * x
        return u.y * t.y

    assert tx.grad(f)(3.0, True) == 4.0 * 27.0
    assert tx.grad(f)(3.0, False) == 16.0 * 27.0


class Settings:
    pass


def under_a_name(x, name="learning-rate"):
    s = Settings()
    setattr(s, name, x)
    for _ in range(2):
        setattr(s, name, getattr(s, name) * x)
    return x * getattr(s, name)


@pytest.mark.parametrize("name", ["learning-rate", "class", "", "%d", "x y", "1", "\ufb01", "a\nb", "__x", "x_tape"])
def test_the_old_content_of_an_attribute_of_any_name_is_recorded(name: str) -> None:
    """Its tape is called after it where a text can spell that; in checked mode, a PrinterFault of ours."""
    f = types.FunctionType(under_a_name.__code__, globals(), "f", (name,))
    with pipeline.proofs(off="all"):
        assert tx.grad(f, fallback="error")(2.0) == 32.0
    assert tx.grad(f, fallback="error", check=True)(2.0) == 32.0
