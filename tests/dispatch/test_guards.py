"""What a compiled derivative still stands for, and memory that it must not meet twice."""

from __future__ import annotations

import sys
import types
import typing

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.dispatch.entries import compilations

SCALE = np.array([1.0, 2.0, 3.0])
RATE = 2.0


def scaled(a):
    a[0] = a[1] * 2.0
    return np.sum(a * SCALE)


def only_read(a):
    return np.sum(a * SCALE)


def rated(x):
    return RATE * x * x


def test_an_argument_that_an_outside_object_shares_memory_with_is_refused_where_the_program_writes() -> None:
    assert np.array_equal(tx.grad(scaled)(np.array([1.0, 2.0, 3.0])), [0.0, 4.0, 3.0])
    for argument in (SCALE, SCALE[::-1]):
        with pytest.raises(tx.SharedMemory, match="SCALE"):
            tx.grad(scaled)(argument)
    assert np.array_equal(SCALE, [1.0, 2.0, 3.0])


def test_it_is_right_where_the_program_only_reads() -> None:
    assert np.array_equal(tx.grad(only_read)(SCALE), SCALE)


def test_an_outside_number_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = tx.grad(rated)
    assert gradient(3.0) == 12.0
    before = compilations()
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert gradient(3.0) == 30.0
    assert compilations() == before
    monkeypatch.setitem(globals(), "RATE", np.array(5.0))
    assert gradient(3.0) == 30.0
    assert compilations() == before + 1


SETTINGS = {"power": "two", "factors": [1.0]}


class Law:
    scale = 2.0
    limit = None

    def term(self, x):
        return x * x

    @classmethod
    def made(cls, x):
        return x * x


LAW = Law()


def powered(x):
    return x * x if SETTINGS["power"] == "two" else x * x * x


def summed(x):
    total = 0.0
    for factor in SETTINGS["factors"]:
        total = total + factor * x
    return np.sum(total)


def limited(x):
    return x * x if LAW.limit is None else x * LAW.limit


def by_class(x):
    return x * LAW.scale


def by_method(x, law):
    return law.term(x)


def by_class_method(x):
    return Law.made(x)


def test_an_outside_object_that_is_changed_in_place_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gradients = [tx.grad(f) for f in (powered, summed, limited)]
    assert [gradient(2.0) for gradient in gradients] == [4.0, 1.0, 4.0]
    monkeypatch.setitem(SETTINGS, "power", "three")
    monkeypatch.setitem(SETTINGS, "factors", [1.0, np.ones(3)])
    monkeypatch.setattr(LAW, "limit", 5.0, raising=False)
    assert [gradient(2.0) for gradient in gradients] == [12.0, 6.0, 5.0]


def test_a_class_that_is_changed_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    number, method = tx.grad(by_class), tx.grad(by_method)
    assert (number(2.0), method(2.0, LAW)) == (2.0, 4.0)
    monkeypatch.setattr(Law, "scale", 3.0)
    monkeypatch.setattr(Law, "term", lambda self, x: x * x * x)
    assert (number(2.0), method(2.0, LAW)) == (3.0, 12.0)


def test_a_class_method_is_the_same_each_time_that_it_is_read() -> None:
    gradient = tx.grad(by_class_method)
    assert gradient(2.0) == 4.0
    before = compilations()
    assert gradient(2.0) == 4.0 and compilations() == before


def test_a_name_that_comes_to_hide_a_builtin_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = tx.grad(lambda x: abs(x))
    assert gradient(-2.0) == -1.0
    monkeypatch.setitem(globals(), "abs", lambda x: x * x)
    assert gradient(-2.0) == -4.0


def test_a_closure_that_is_rebound_is_seen() -> None:
    factor = 2.0
    gradient = tx.grad(lambda x: factor * x)
    assert gradient(1.0) == 2.0
    factor = np.array(3.0)
    assert gradient(1.0) == 3.0


def growing(x, n):
    items = [x]
    other = items
    total = 0.0
    for item in items:
        if len(other) < n:
            other.append(item * x)
        total = total + item
    return total


def test_a_list_that_grows_under_another_name_while_it_is_iterated_is_refused_at_run_time() -> None:
    for off in ((), "all"):
        with pipeline.proofs(off=off):
            assert tx.grad(growing)(0.7, 1) == 1.0
            with pytest.raises(tx.UnsupportedSyntax, match="from 1 to 2 items"):
                tx.grad(growing)(0.7, 4)


def always_raises(x):
    raise ValueError(f"{x} is bad" if x else "bad")


def test_a_function_that_only_raises_raises_what_it_raises() -> None:
    with pytest.raises(ValueError, match="^3.0 is bad$"):
        tx.grad(always_raises)(3.0)


def picked(x, n):
    table = {"a": x}
    if n > 3:
        return table["z"]
    return x * table["a"]


def test_an_item_that_is_missing_raises_as_the_program_does() -> None:
    assert tx.grad(picked)(3.0, 1) == 6.0
    with pytest.raises(KeyError, match="z"):
        tx.grad(picked)(3.0, 5)


def alias_of_a_growing_sum(x):
    total = 0.0
    for i in range(2):
        total += x
        if i == 0:
            kept = total
    return np.sum(kept * kept)


def history_of_a_growing_sum(x):
    total = 0.0
    history = []
    for _ in range(3):
        total += x
        history.append(total)
    return np.sum(history[0] ** 2)


def item_that_becomes_an_array(x):
    table = {"s": 0.0}
    for i in range(2):
        table["s"] += x
        if i == 0:
            kept = table["s"]
    return np.sum(kept * kept)


def alone(x):
    total = 0.0
    for i in range(3):
        total += x * i
    return np.sum(total * total)


@pytest.mark.parametrize("f", [alias_of_a_growing_sum, history_of_a_growing_sum, item_that_becomes_an_array])
def test_in_place_on_a_number_or_array_that_others_hold_is_refused(f) -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="may be a number or an array"):
        tx.grad(f)(np.array([1.0, 2.0, 3.0]))


def test_in_place_on_a_number_or_array_that_nobody_else_holds_is_right() -> None:
    assert np.array_equal(tx.grad(alone)(np.array([1.0, 2.0, 3.0])), [18.0, 36.0, 54.0])


def by_another_name(x):
    lib = helpers
    return lib.scale(x) * x * lib.FACTOR


helpers = types.ModuleType("helpers_of_test_guards")
helpers.scale = lambda x: 2.0 * x
helpers.FACTOR = 1.0


@pytest.mark.parametrize("registered", [False, True])
def test_what_a_module_bound_to_a_local_name_has_is_noticed(registered, monkeypatch) -> None:
    if registered:
        monkeypatch.setitem(sys.modules, helpers.__name__, helpers)
    gradient = tx.grad(by_another_name, fallback="error")
    assert gradient(3.0) == 12.0
    monkeypatch.setattr(helpers, "scale", lambda x: 5.0 * x)
    assert gradient(3.0) == 30.0
    monkeypatch.setattr(helpers, "FACTOR", 2.0)
    assert gradient(3.0) == 60.0


# ---- what is bound anew while a derivative is compiled ----
def bent(v):
    return v * v


def straight(v):
    return 3.0 * v


def through_a_name(x):
    return bent(x) * RATE


class Bends:
    bend = staticmethod(bent)
    factors: typing.ClassVar = {0: 1.0, 1: 2.0}


def through_a_class(x):
    return Bends.bend(x)


def through_a_dict(x):
    return x * Bends.factors[0] if type(Bends.factors[0]) is float else x * x


def replaced():
    def inner(v):
        return v * v

    return inner


INNER = replaced()


def through_its_code(x):
    return INNER(x)


CHANGES = {
    "a global function": (through_a_name, lambda m: m.setitem(globals(), "bent", straight), 6.0),
    "a number for an array": (through_a_name, lambda m: m.setitem(globals(), "RATE", np.array(4.0)), 24.0),
    "an attribute of a class": (through_a_class, lambda m: m.setattr(Bends, "bend", staticmethod(straight)), 3.0),
    "a dict in place": (through_a_dict, lambda m: m.setitem(Bends.factors, 0, 5), 6.0),
    "the code of a function": (through_its_code, lambda m: m.setattr(INNER, "__code__", straight.__code__), 3.0),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("when", ["analyse", "compile_functions"])
def test_what_is_bound_anew_while_it_is_compiled_counts(name: str, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by another thread, after it has been read and before the guard is made: deterministic."""
    function, change, wanted = CHANGES[name]
    whole = getattr(pipeline, when)
    left = [1]

    def interrupted(*args, **kwargs):
        found = whole(*args, **kwargs)
        if left and not left.pop() - 1:
            change(monkeypatch)
        return found

    gradient = tx.grad(function, fallback="error")
    monkeypatch.setattr(pipeline, when, interrupted)
    assert gradient(3.0) == wanted
    assert not left
    assert gradient(3.0) == wanted
    before = compilations()
    assert gradient(3.0) == wanted
    assert compilations() == before


def test_what_is_bound_anew_each_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pipeline.compile_functions

    def interrupted(*args, **kwargs):
        monkeypatch.setitem(globals(), "bent", types.FunctionType(bent.__code__, globals(), "bent"))
        return whole(*args, **kwargs)

    monkeypatch.setattr(pipeline, "compile_functions", interrupted)
    with pytest.raises(tx.NotResolved, match="bound anew again and again"):
        tx.grad(through_a_name, fallback="error")(3.0)
    monkeypatch.undo()
    assert tx.grad(through_a_name, fallback="error")(3.0) == 12.0


def counted_by_name(x):
    found = dict.fromkeys(("a", "b"), x)
    return found["a"] * found["b"]


def test_a_method_of_a_type_is_the_same_each_time_that_it_is_read() -> None:
    gradient = tx.grad(counted_by_name, fallback="error")
    assert gradient(3.0) == 6.0
    before = compilations()
    assert gradient(4.0) == 8.0
    assert compilations() == before
