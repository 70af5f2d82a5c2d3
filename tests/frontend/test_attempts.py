"""``try``, kept whole: what it is given, what it binds, and what its text looks like."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import pipeline
from tangentx.errors import UnsupportedSyntax
from tangentx.frontend.lift import lift
from tangentx.ir import walk
from tangentx.ir.attempts import Attempt
from tests.frontend.made import defined


def tried(body):
    """The first try statement of a function."""
    function = lift(defined("def f(x, y=0):\n    " + body.replace("\n", "\n    ") + "\n    return x"))
    ops = (stmt.value for stmt in walk.statements(function.body) if hasattr(stmt, "value"))
    return next(op.fn for op in ops if isinstance(getattr(op, "fn", None), Attempt))


@pytest.mark.parametrize(
    "body, results, names",
    [
        ("try:\n    n = int(x)\nexcept ValueError:\n    n = y", ["n"], ["x", "y"]),
        ("try:\n    n = int(x)\nexcept ValueError:\n    pass", ["n"], ["n", "x"]),
        (
            "try:\n    n = n + 1\n    m = n\nexcept ValueError as e:\n    m = e\nfinally:\n    k = m",
            ["k", "m", "n"],
            ["n"],
        ),
        ("try:\n    len(x)\nexcept TypeError:\n    raise ValueError(y)", [], ["x", "y"]),
        ("try:\n    if x:\n        n = 1\n    else:\n        n = 2\nfinally:\n    pass", ["n"], ["x"]),
    ],
)
def test_what_it_binds_and_what_it_asks_for(body, results, names):
    found = tried(body)
    assert list(found.results) == results
    assert [name for name in found.names() if not name.startswith("%")] == names


def scaled(x, text, table):
    total = 0.0
    for k in range(3):
        try:
            n = int(text[k])
            weight = table[n]
        except (ValueError, KeyError) as error:
            weight = len(str(error))
        total = total + weight * x**2
    return total


@pytest.mark.parametrize("off", [(), "all"])
def test_it_is_run_once_and_stays_as_it_was_written(off):
    args = 1.5, "1x3", {1: 2, 2: 5}
    with pipeline.proofs(off=off):
        gradient = tx.grad(scaled, fallback="error")
        weights = scaled(1.0, *args[1:])
        assert gradient(*args) == pytest.approx(2.0 * weights * 1.5)
        assert tx.grad(gradient)(*args) == pytest.approx(2.0 * weights)
        text = gradient.source_for(*args)
    lines = [line.strip() for line in text.splitlines()]
    assert lines.count("try:") == lines.count("except (ValueError, KeyError) as error:") == 1


def binds_what_varies(x, table):
    try:
        y = np.log(x)
    except ValueError:
        y = 0.0
    return y


def writes(x, table):
    try:
        table[0] = 1.0
    except KeyError:
        pass
    return x


def leaves_unbound(x, table):
    try:
        n = table[2]
    except IndexError:
        pass
    return x * n


@pytest.mark.parametrize("fn, message", [(binds_what_varies, "binds what is"), (writes, "writes into")])
def test_what_is_refused(fn, message):
    with pytest.raises((UnsupportedSyntax, tx.TangentxError), match=message) as caught:
        tx.grad(fn, fallback="error")(2.0, {0: 1.0})
    assert caught.value.span is not None and caught.value.hint


def test_a_name_may_be_left_without_value():
    gradient = tx.grad(leaves_unbound, fallback="error")
    assert gradient(2.0, [1, 2, 3]) == 3.0
    with pytest.raises(UnboundLocalError):
        gradient(2.0, [1])


def test_what_a_handler_raises_is_what_the_caller_meets():
    def checked(x, table):
        try:
            n = table["n"]
        except KeyError as error:
            raise ValueError("n is missing") from error
        return x * n

    gradient = tx.grad(checked, fallback="error")
    assert gradient(2.0, {"n": 3}) == 3.0
    with pytest.raises(ValueError, match="n is missing") as caught:
        gradient(2.0, {"m": 3})
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_cause_outside_of_a_handler():
    def positive(x):
        if x < 0.0:
            raise ValueError(f"negative: {x}") from None
        return x * x

    gradient = tx.grad(positive, fallback="error")
    assert gradient(3.0) == 6.0 and " from None" in gradient.source
    with pytest.raises(ValueError, match="negative: -1.0") as caught:
        gradient(-1.0)
    assert caught.value.__suppress_context__
