"""Rules of users: what they leave out, structures as arguments and results, and what is of the wrong form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

X = np.array([1.0, 3.0])


@tx.primitive
def leaving_out(x, k, *rest):
    return x * k


@leaving_out.adjoint
def leaving_out_adjoint(x, k, *rest, ans_bar):
    x_bar = k * ans_bar
    return x_bar


@leaving_out.tangent
def leaving_out_tangent(x, k, *rest, x_dot):
    return k * x_dot


@tx.primitive
def partly(x, k):
    return x * k


@partly.partials
def partly_partials(x, k):
    return k, None


@tx.primitive
def saying_none(x, k):
    return x * k


@saying_none.adjoint
def saying_none_adjoint(x, k, *, ans_bar):
    x_bar = k * ans_bar
    k_bar = None
    return x_bar, k_bar


@tx.primitive
def of_list(v):
    return v[0] * v[1]


@of_list.adjoint
def of_list_adjoint(v, *, ans_bar):
    v_bar = [v[1] * ans_bar, v[0] * ans_bar]
    return v_bar


@of_list.tangent
def of_list_tangent(v, *, v_dot):
    return v[1] * v_dot[0] + v[0] * v_dot[1]


@tx.primitive
def of_dict(d):
    return d["a"] * d["b"][0]


@of_dict.adjoint
def of_dict_adjoint(d, *, ans_bar):
    d_bar = {"a": d["b"][0] * ans_bar, "b": [d["a"] * ans_bar]}
    return d_bar


@of_dict.tangent
def of_dict_tangent(d, *, d_dot):
    return d["b"][0] * d_dot["a"] + d["a"] * d_dot["b"][0]


@tx.primitive
def of_all(*v):
    return v[0] * v[1]


@of_all.adjoint
def of_all_adjoint(*v, ans_bar):
    v_bar = (v[1] * ans_bar, v[0] * ans_bar)
    return v_bar


@of_all.tangent
def of_all_tangent(*v, v_dot):
    return v[1] * v_dot[0] + v[0] * v_dot[1]


@dataclasses.dataclass
class Pair:
    u: Any
    v: Any


@tx.primitive
def of_object(p):
    return p.u * p.v


@of_object.adjoint
def of_object_adjoint(p, *, ans_bar):
    p_bar = {"u": p.v * ans_bar, "v": p.u * ans_bar}
    return p_bar


@of_object.tangent
def of_object_tangent(p, *, p_dot):
    return p.v * p_dot["u"] + p.u * p_dot["v"]


@tx.primitive
def giving_two(x):
    return x * x, 3.0 * x


@giving_two.adjoint
def giving_two_adjoint(x, *, ans_bar):
    x_bar = 2.0 * x * ans_bar[0] + 3.0 * ans_bar[1]
    return x_bar


@giving_two.tangent
def giving_two_tangent(x, *, x_dot):
    return 2.0 * x * x_dot, 3.0 * x_dot


@tx.primitive
def giving_dict(x):
    return {"a": x * x, "b": 3.0 * x}


@giving_dict.adjoint
def giving_dict_adjoint(x, *, ans_bar):
    x_bar = 2.0 * x * ans_bar["a"] + 3.0 * ans_bar["b"]
    return x_bar


@giving_dict.tangent
def giving_dict_tangent(x, *, x_dot):
    ans_dot = {"a": 2.0 * x * x_dot, "b": 3.0 * x_dot}
    return ans_dot


@tx.primitive
def spread_out(x, k):
    return x * k


@spread_out.adjoint
def spread_out_adjoint(x, k, *, ans_bar):
    x_bar = k * ans_bar
    k_bar = x * ans_bar
    return x_bar, k_bar


@spread_out.tangent
def spread_out_tangent(x, k, *, x_dot, k_dot):
    return x_dot * k + x * k_dot


RIGHT: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: leaving_out(x, 3.0, 4.0) + partly(x, 3.0), 2.0),
    (lambda x: leaving_out(x, tx.stop_gradient(x) * 0.0 + 3.0), 2.0),
    (lambda x: of_list([x[0], x[1] * x[0]]), X),
    (lambda x: of_list((x[0], x[1] * x[0])), X),
    (lambda x: of_list([2, x[1] * x[0]]) * x[0], X),
    (lambda x: of_list(x), X),
    (lambda x: np.sum(of_list([x * x, x]) * x), X),
    (lambda x: of_dict({"a": x[0], "b": [x[1] * x[0]]}), X),
    (lambda x: of_dict({"b": (x[0],), "a": x[1] * x[0]}), X),
    (lambda x: np.sum(of_dict({"a": x, "b": [x * x]}) ** 2), X),
    (lambda x: of_all(x[0], x[1] * x[0]) + of_all(2.0, x[0] * x[0]) + of_all(x[1], 2), X),
    (lambda x: of_object(Pair(x[0] * x[1], x[1])), X),
    (lambda x: giving_two(x)[0] * giving_two(x)[1], 2.0),
    (lambda x: np.sum(giving_two(x)[0] * giving_two(x)[1]), X),
    (lambda x: np.sum(giving_dict(x)["a"] * giving_dict(x)["b"]), X),
    (lambda x: np.sum(spread_out(x, x[0]) * x) + np.sum(spread_out(x, np.ones((2, 1))) * x), X),
    (lambda x: np.sum(spread_out(x[:, None], x[None, :]) ** 2), X),
]


@pytest.mark.share(4)
@pytest.mark.parametrize("number", range(len(RIGHT)))
@pytest.mark.parametrize("off", [(), "all"], ids=["proofs_on", "proofs_off"])
def test_structures(number: int, off: Any) -> None:
    f, x = RIGHT[number]
    with pipeline.proofs(off=off):
        check_grads(f, (x,), order=2)
    if number != 11:  # an object that holds a Tensor is refused: below
        t = tx.tensor(x, requires_grad=True)
        f(t).backward()
        np.testing.assert_allclose(t.grad.numpy(), tx.grad(f)(x))


def test_an_object_that_holds_tensors_is_refused() -> None:
    x = tx.tensor(2.0, requires_grad=True)
    with pytest.raises(tx.NoTemplate, match=r"(?s)object of class Pair.*Instead: .*in a dict"):
        of_object(Pair(x, x))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: leaving_out(x, x * x),
        lambda x: leaving_out(3.0, x),
        lambda x: leaving_out(3.0, 1.0, 2.0, x),
        lambda x: partly(3.0, x),
        lambda x: partly(x, x),
    ],
)
def test_what_a_rule_leaves_out_does_not_vary(f: Any) -> None:
    says = r"(?s)test_opaque_forms.*the rule of `\w+` says nothing of `\w+`.*Instead: .*0\.0.*stop_gradient"
    for go in (lambda: tx.grad(f, fallback="error")(2.0), lambda: tx.jvp(f, (2.0,), (1.0,), fallback="error")):
        with pytest.raises(tx.NoTemplate, match=says):
            go()
    with pytest.raises(tx.NoTemplate, match=says):
        f(tx.tensor(2.0, requires_grad=True))
    with pytest.raises(tx.NoTemplate, match=says):
        tx.grad(f)(2.0)


def rule(adjoint: Callable[..., Any], f: Callable[..., Any], tangent: Any = None) -> Any:
    made = tx.primitive(f)
    made.adjoint(adjoint)
    if tangent is not None:
        made.tangent(tangent)
    return made


def product(v):
    return v[0] * v[1]


def total(v):
    return np.sum(v * v)


def square(v):
    return v * v


def short(v, *, ans_bar):
    v_bar = [v[1] * ans_bar]
    return v_bar


def number(v, *, ans_bar):
    v_bar = np.sum(v[0] * ans_bar)
    return v_bar


def larger(v, *, ans_bar):
    v_bar = np.ones((2, 2)) * ans_bar
    return v_bar


def longer(v, *, ans_bar):
    v_bar = np.ones(4) * ans_bar
    return v_bar


def nothing(v, *, ans_bar):
    v_bar = None
    return v_bar


def other_keys(v, *, ans_bar):
    v_bar = {0: ans_bar, 2: ans_bar}
    return v_bar


def one_dot(v, *, v_dot):
    return np.sum(v_dot)


def of_keys(v):
    return v[0] * v[1]


SHORT, SCALAR, NUMBER = rule(short, product), rule(number, product), rule(number, square, one_dot)
LARGER, LONGER, NOTHING = rule(larger, total), rule(longer, total), rule(nothing, total)
MANY, KEYS = rule(longer, lambda v: v * 1.0), rule(other_keys, of_keys)


@pytest.mark.parametrize(
    ("f", "x", "says"),
    [
        (lambda x: SHORT([x[0], x[1]]), X, "a list of length 1, but what it belongs to is a list of length 2"),
        (lambda x: SCALAR([x[0], x[1]]), X, r"of shape \(\), but what it belongs to is a list of length 2"),
        (lambda x: SCALAR(x), X, r"of shape \(\), but what it belongs to is of shape \(2,\)"),
        (lambda x: np.sum(NUMBER(x)), X, r"of shape \(\), but what it belongs to is of shape \(2,\)"),
        (lambda x: LARGER(x), X, r"of shape \(2, 2\), but what it belongs to is of shape \(2,\)"),
        (lambda x: LONGER(x), X, r"of shape \(4,\), but what it belongs to is of shape \(2,\)"),
        (lambda x: NOTHING(x), X, r"None, but what it belongs to is of shape \(2,\)"),
        (lambda x: MANY(x), 2.0, r"of shape \(4,\), but what it belongs to is of shape \(\)"),
        (lambda x: KEYS({0: x[0], 1: x[1]}), X, r"a dict of length 2, but what it belongs to is a dict of \[0, 1\]"),
    ],
)
def test_what_a_rule_gives_has_the_form_of_its_argument(f: Any, x: Any, says: str) -> None:
    says = rf"(?s)test_opaque_forms.*`v_bar` in the rule of `.+` is {says}.*Instead: "
    with pytest.raises(tx.NotDifferentiable, match=says):
        tx.grad(f, fallback="error")(x)
    t = tx.tensor(x, requires_grad=True)
    with pytest.raises(tx.NotDifferentiable, match=says):
        f(t).backward()


def test_a_tangent_has_the_form_of_the_result() -> None:
    says = r"the tangent in the rule of `square` is of shape \(\), but what it belongs to is of shape \(2,\)"
    with pytest.raises(tx.NotDifferentiable, match=says):
        tx.jvp(lambda x: np.sum(NUMBER(x)), (X,), (X,), fallback="error")
