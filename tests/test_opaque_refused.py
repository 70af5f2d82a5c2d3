"""Rules of users that are not of the form of one, and those that are missing: the errors, golden in full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tangentx as tx
from tests.conftest import Golden
from tests.harness.messages import text_of


def without_source(f):
    f.__code__ = f.__code__.replace(co_filename="<nowhere>")
    return f


@tx.primitive
def opaque(x, k=1.0):
    return x * k


@tx.primitive
def without_rule(x):
    return x * x


@tx.primitive
def forward_only(x):
    return x * x


@forward_only.tangent
def forward_only_tangent(x, *, x_dot):
    return 2.0 * x * x_dot


@tx.primitive
def reverse_only(x):
    return x * x


@reverse_only.adjoint
def reverse_only_adjoint(x, *, ans_bar):
    x_bar = 2.0 * x * ans_bar
    return x_bar


def rule_of_others(y, *, ans_bar):
    y_bar = ans_bar
    return y_bar


def rule_that_asks(x, k, *, ans_dot):
    return x, ans_dot


def rule_with_branch(x, k, *, ans_bar):
    if k > 0.0:
        return ans_bar
    return ans_bar


def rule_without_names(x, k, *, ans_bar):
    return k * ans_bar


def rule_with_one_partial(x, k):
    return k


def by_keyword(x, *, k):
    return x * k


def captured_rule(x, limit):
    return tx.cotangent(x, lambda t: t * limit)


def made_inside(x):
    inner = tx.primitive(opaque)
    return inner(x)


CASES: dict[str, Callable[[], Any]] = {
    "without_rule": lambda: tx.grad(lambda x: without_rule(x), fallback="error")(1.0),
    "without_adjoint": lambda: tx.grad(lambda x: forward_only(x), fallback="error")(1.0),
    "without_tangent": lambda: tx.jvp(lambda x: reverse_only(x), (1.0,), (1.0,), fallback="error"),
    "captures": lambda: tx.grad(captured_rule, fallback="error")(1.0, 2.0),
    "inside": lambda: tx.grad(made_inside, fallback="error")(1.0),
    "twice": lambda: reverse_only.adjoint(reverse_only_adjoint),
    "by_keyword": lambda: tx.primitive(by_keyword).adjoint(rule_of_others),
    "parameters": lambda: opaque.adjoint(rule_of_others),
    "request": lambda: opaque.partials(rule_that_asks),
    "branches": lambda: opaque.adjoint(rule_with_branch),
    "names": lambda: opaque.adjoint(rule_without_names),
    "partials": lambda: opaque.partials(rule_with_one_partial),
    "lambda": lambda: opaque.partials(lambda x, k: (k, x)),
    "no_source": lambda: opaque.partials(without_source(lambda x, k: (k, x))),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str, golden: Golden) -> None:
    with pytest.raises(tx.TangentxError) as caught:
        CASES[name]()
    text = text_of(caught.value)
    assert "\nInstead: " in text
    golden(f"bad_primitive_{name}", text)
