"""An active value at every parameter of every template: its derivative is right, or it is refused."""

from __future__ import annotations

import warnings
from typing import Any

import engine
import numpy as np
import pytest
from test_compiled import weighed

import tangentx as tx
from tangentx import arrays
from tangentx.common.pytrees import is_differentiable, leaves
from tangentx.templates import Template, bind, examples, find, templates
from tangentx.templates.examples import Example
from tangentx.testing import check_grads

stats, spatial = pytest.importorskip("scipy.stats"), pytest.importorskip("scipy.spatial")
PUBLIC = [t for t in templates() if t.kind != "constant" and getattr(arrays, t.primals[0].__name__, None) is None]
SUPPORT = [t for t in templates() if t.kind != "constant" and t not in PUBLIC]


def active(value: Any) -> Any:
    """A real in the place of an argument, where it has one already or may have one; not where steps begin."""
    if isinstance(value, bool | int):
        return value + 0.25
    if isinstance(value, tuple | list) and value and all(type(item) is int for item in value):
        return np.array(value) + 0.25
    return 0.7 if value is None else value


def given(template: Template, example: Example, name: str, whole: bool) -> tuple[Any, ...] | None:
    """The arguments of the example by position, a real at the parameter of the name, if the function takes it there."""
    bound = bind(template, example.args, example.kwargs)
    plain = [p for p in template.params if p.kind is not p.VAR_POSITIONAL]
    if len(plain) < len(template.params):
        return None  # what is gathered has a cotangent in each rule that has any
    args = [bound[p.name] for p in plain]
    at = [p.name for p in plain].index(name)
    args[at] = active(args[at]) if whole else args[at]
    args = args[: max(at + 1, len(example.args))]
    found = is_differentiable(args[at]) and not np.iscomplexobj(args[at])
    try:
        with np.errstate(all="ignore"):
            result = example.fn(*args)
    except Exception:
        return None  # NumPy takes no real there
    return tuple(args) if found and any(is_differentiable(leaf) for _, leaf in leaves("", result)) else None


def cases(chosen: list[Template], whole: bool) -> list[Any]:
    """One call for each function and parameter without a cotangent that takes a real; `whole`: in the place of whole
    numbers and of None too."""
    found: dict[str, Any] = {}
    for template in chosen:
        for example in examples(template):
            for param in template.params:
                key = f"{template.name}-{getattr(example.fn, '__qualname__', example.fn)}-{param.name}"
                if key in found or param.name in (*template.cotangents, "out"):
                    continue
                args = given(template, example, param.name, whole)
                if args is not None:
                    at = [p.name for p in template.params].index(param.name)
                    found[key] = pytest.param(example.fn, args, at, id=key)
    return list(found.values())


def slope(f: Any, x: Any, h: float = 1e-6) -> Any:
    """The derivative of a number with respect to each element, by central differences."""
    result = np.zeros(np.shape(x))
    for place in np.ndindex(np.shape(x)):
        step = np.zeros(np.shape(x))
        step[place] = h
        result[place] = (f(x + step[()]) - f(x - step[()])) / (2.0 * h)
    return result


@pytest.mark.parametrize(("fn", "args", "at"), cases(PUBLIC, True))
def test_a_real_at_a_parameter_without_a_cotangent(fn: Any, args: tuple[Any, ...], at: int) -> None:
    f = weighed(fn, args, {}, (at,))
    beyond = weighed(fn, args, {}, (at,), "class NotCompiled: pass")
    with np.errstate(all="ignore"):
        wanted = slope(f, args[at])
    for mode, g in ((reverse, f), (forward, f), (on_tensors, beyond)):
        try:
            got = mode(g, args[at])
        except tx.TangentxError:
            continue
        np.testing.assert_allclose(got, wanted, atol=1e-6)


def reverse(f: Any, x: Any) -> Any:
    return tx.grad(f, fallback="error")(x)


def forward(f: Any, x: Any) -> Any:
    found = np.zeros(np.shape(x))
    for place in np.ndindex(np.shape(x)):
        unit = np.zeros(np.shape(x))
        unit[place] = 1.0
        found[place] = tx.jvp(f, (x,), (unit if np.shape(x) else 1.0,), fallback="error")[1]
    return found


def on_tensors(f: Any, x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        return tx.grad(f)(x)


@pytest.mark.parametrize(("fn", "args", "at"), cases(SUPPORT, False))
def test_support_functions_depend_on_the_form_alone(fn: Any, args: tuple[Any, ...], at: int) -> None:
    """Derivatives of derivatives hand them active values: what has no cotangent there has none to have."""

    def along(h: float) -> Any:
        changed = [
            a if i != at else a + h * np.cos(np.arange(np.size(a))).reshape(np.shape(a)) for i, a in enumerate(args)
        ]
        return [np.sum(leaf) for leaf in engine.leaves(fn(*changed)) if leaf is not None]

    with np.errstate(all="ignore"):
        np.testing.assert_allclose(along(1e-6), along(-1e-6), atol=1e-9)


def test_what_is_found_here() -> None:
    names = {case.id for case in cases(PUBLIC, True)}
    assert {"var-var-ddof", "var-ndarray.var-ddof", "where-where-condition", "copysign-copysign-y"} <= names
    assert find(np.where).stepwise == ("condition",) and find(np.where).refusing == ()
    assert find(np.einsum).refusing == ("subscripts",) and "ddof" in find(np.std).refusing
    for template in templates():
        assert set(template.stepwise) <= {p.name for p in template.params} - set(template.cotangents)


A = np.array([[1.0, 2.0], [3.0, 4.0]])


def by_number(A):
    return np.einsum(A, (0, 1), (1, 0))[0, 1] ** 2


def trace_by_number(A):
    return np.einsum(A, [0, 0]) ** 2


def product_by_number(A):
    return np.sum(np.einsum(A, [0, 1], A, [1, 2], [0, 2]) ** 2) * np.einsum(A, [0, 1], A, [0, 1], [])


def implicit_order(A):
    return np.sum(np.einsum(A, [1, 0]) ** 2 * A) + np.sum(np.einsum(A, [30, 0], A, [0, 2]) ** 2 * A)


B = np.array([[0.5, 1.0, -0.3], [2.0, 0.1, 0.7]])


def of_three(A):
    return np.sum(np.einsum("ij,jk,kl->il", A, B, B.T, optimize=True) ** 2) + np.einsum("ij,ij,ij", A, A, A)


def of_more_axes(A):
    stack = A * np.ones((3, 2, 2))
    return np.sum(np.einsum("...ij,jk->...ik", stack, B) ** 2) + np.sum(np.einsum("...i,i...", A, A) ** 2)


@pytest.mark.parametrize("f", [of_three, of_more_axes, by_number, trace_by_number, product_by_number, implicit_order])
def test_axes_of_a_product_by_number(f: Any) -> None:
    check_grads(f, (A,), order=2)
    t = tx.tensor(A, requires_grad=True)
    f(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), tx.grad(f, fallback="error")(A))


@pytest.mark.share(1)
@pytest.mark.parametrize("q", [1.3, np.array(1.3)])
@pytest.mark.parametrize(
    "f",
    [
        lambda q: np.einsum("i,->", A[0], q) ** 2,
        lambda q: np.einsum(",i->", q, A[0] * q),
        lambda q: np.einsum("->", q) * q,
        lambda q: np.sum(np.einsum(A[0], [0], q, [], [0])) * q,
    ],
)
def test_a_number_among_the_operands_of_einsum(f: Any, q: Any) -> None:
    check_grads(f, (q,), order=2, rtol=1e-5)
    assert tx.grad(f, fallback="error")(q) == pytest.approx((f(q + 1e-5) - f(q - 1e-5)) / 2e-5, rel=1e-6)


def test_axes_that_are_not_known_are_refused_when_compiled() -> None:
    f = lambda A, axes: np.sum(np.einsum(A, axes, (1, 0)) ** 2 * A)
    with pytest.raises(tx.UnsupportedSyntax, match="axes of this product are not known"):
        tx.grad(f, fallback="error")(A, (0, 1))
    with pytest.warns(tx.FallbackWarning):
        np.testing.assert_allclose(tx.grad(f)(A, (0, 1)), slope(lambda A: f(A, (0, 1)), A), rtol=1e-6)


ORDERS: dict[str, Any] = {
    "norm": lambda p: np.linalg.norm(np.array([0.3, -0.7, 1.2]), p),
    "power mean": lambda p: stats.pmean([0.3, 0.7, 1.2], p),
    "weighed power mean": lambda p: stats.pmean([0.3, 0.7, 1.2], p, weights=[1.0, 2.0, 0.5]),
    "likelihood of Box and Cox": lambda p: stats.boxcox_llf(p, [0.3, 0.7, 1.2, 2.0]),
    "distance": lambda p: np.sum(spatial.distance_matrix([[0.3, 0.7]], [[1.2, 0.5], [0.1, 2.0]], p)),
}


AT_LEAST_ONE = ("norm", "distance")
CASES = [(name, at) for name in ORDERS for at in (0.0, 1.0, 2.0) if at or name not in AT_LEAST_ONE]


def interpreted(f: Any) -> Any:
    """The function as one that cannot be compiled."""

    def run(p):
        exec("")
        return f(p)

    return run


@pytest.mark.share(1)
@pytest.mark.parametrize("name, at", CASES)
def test_an_order_may_vary_where_the_function_has_a_shorter_way(name: str, at: float) -> None:
    """By such an order, of which the shorter way knows nothing, the derivative was 0."""
    f = ORDERS[name]
    found = tx.grad(f, fallback="error")(at)
    if at == 1.0 and name == "distance":  # of orders below 1 there is none
        wanted = (4.0 * f(at + 1e-5) - f(at + 2e-5) - 3.0 * f(at)) / 2e-5
    else:
        wanted = (f(at + 1e-4) - f(at - 1e-4)) / 2e-4
    assert found == pytest.approx(wanted, rel=1e-6)
    with pytest.warns(tx.FallbackWarning):
        assert tx.grad(interpreted(f))(at) == pytest.approx(found, rel=1e-12)
    if name != "power mean" and name != "weighed power mean":  # SciPy wants a number
        assert tx.grad(f, fallback="error")(np.array(at)) == pytest.approx(found, rel=1e-12)
