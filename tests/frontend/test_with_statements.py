"""``with``: what becomes part of a place, and what is refused."""

import contextlib
import threading
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import TangentxError, UnsupportedSyntax
from tangentx.frontend.lift import lift
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tests.frontend.made import defined

LOCK = threading.Lock()
NAMES = {"np": np, "warnings": warnings, "contextlib": contextlib, "LOCK": LOCK, "open": open}


def places(body):
    """For each statement the names of the managers around it."""
    function = lift(defined("def f(x, y=0):\n    " + body.replace("\n", "\n    "), **NAMES))
    return [[manager.call.fn.name for manager in stmt.span.around] for stmt in walk.statements(function.body)]


def test_a_manager_is_part_of_the_place_of_its_statements():
    assert places("with np.errstate(all='ignore'):\n    x = 1\nreturn x") == [["errstate"], []]
    both = "with np.errstate(), warnings.catch_warnings():\n    warnings.simplefilter('error')\n    x = 1\nreturn x"
    assert places(both) == [["errstate", "catch_warnings"], []]
    nested = "with np.errstate():\n    if x:\n        with np.printoptions():\n            return x\nreturn y"
    assert places(nested)[1:] == [["errstate"], ["errstate", "printoptions"], []]


def test_a_manager_that_does_nothing_binds_its_value():
    (first, _) = lift(defined("def f(x):\n    with contextlib.nullcontext(x) as y:\n        return y", **NAMES)).body
    assert isinstance(first, ir.Assign) and first.target == "y" and not first.span.around


def test_calls_that_belong_to_a_manager_stand_in_it():
    text = "with warnings.catch_warnings():\n    warnings.simplefilter('error', UserWarning)\n    return x"
    function = lift(defined("def f(x):\n    " + text.replace("\n", "\n    "), **NAMES))
    (manager,) = function.body[0].span.around
    assert [call.fn.name for call in manager.first] == ["simplefilter"] and len(function.body) == 1


@pytest.mark.parametrize(
    "head",
    [
        "open('a') as y",
        "contextlib.suppress(ValueError)",
        "LOCK",
        "np.errstate(all=y)",
        "np.errstate() as y",
        "y",
        "y()",
        "warnings.catch_warnings(record=True) as y",
    ],
)
def test_what_is_refused(head):
    with pytest.raises(UnsupportedSyntax) as caught:
        lift(defined(f"def f(x, y=0):\n    with {head}:\n        return x", **NAMES))
    assert caught.value.span.line == 2 and caught.value.hint


def logs(x):
    with np.errstate(divide="ignore"):
        y = np.log(x)
    return np.sum(np.where(x > 0.0, y, 0.0))


def test_both_sweeps_run_under_the_manager():
    x = np.array([1.0, 2.0, 0.0])
    gradient = tx.value_and_grad(logs, fallback="error")
    np.testing.assert_array_equal(gradient(x)[1], [1.0, 0.5, 0.0])
    forward, reverse = gradient.source_for(x).split("reverse sweep")
    for sweep in (forward, reverse):
        assert sweep.count('with np.errstate(divide="ignore"):') == 1
    value, tangent = tx.jvp(logs, (x,), (np.ones(3),))
    assert value == np.log(2.0) and tangent == 1.5
    assert np.geterr()["divide"] != "ignore"


def test_an_error_names_a_place_that_can_be_pickled():
    def f(x):
        with np.errstate(divide="ignore"):
            return no_such(x)  # noqa: F821

    with pytest.raises(TangentxError) as caught:
        tx.grad(f, fallback="error")(1.0)
    assert caught.value.span.around == ()
