"""What cannot be compiled runs on Tensors: warned once, kept in explain(), with the same promises."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.pytrees import leaves
from tangentx.compile import gradients, products
from tests.harness.guard import assert_fresh, call
from tests.oracle.harness import check
from tests.oracle.survey import program_of


@dataclasses.dataclass
class Weights:
    w: Any
    b: float
    n: int = 2


@pytest.fixture(autouse=True)
def _allowed() -> Iterator[None]:
    """Elsewhere in the tests a fallback is an error, so that refusals are seen: `FallbackWarning` raises them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        yield


def tried(x):
    try:
        y = x * x
    except ValueError:
        y = x
    finally:
        pass
    return y


def cube(x):
    try:
        y = x * x * x
    except ValueError:
        y = x
    finally:
        pass
    return y


def writing(p, x):
    try:
        p["w"][0] = x[1] * p["b"]
        x[0] = p["w"][0] * 2.0
    except KeyError:
        pass
    finally:
        pass
    return np.sum(p["w"] * x)


def with_extras(x, k=2.0):
    try:
        y = np.sin(x) * k
    except ValueError:
        y = x
    finally:
        pass
    return np.sum(y), {"y": y, "n": 3}


def several(x):
    try:
        y = x * x
    except ValueError:
        y = x
    finally:
        pass
    return {"sum": np.sum(y), "all": [y, x[0]], "n": 1}


def gathered(x, *rest, scale, **more):
    try:
        y = x * rest[0] * scale * more["k"]
    except ValueError:
        y = x
    finally:
        pass
    return y


def by_float(x):
    try:
        y = x.__float__() * x
    except (ValueError, TypeError):
        y = x
    finally:
        pass
    return y


BUFFER = np.zeros(3)


def by_array(x):
    try:
        a = BUFFER.copy()
        a[0] = x
    except ValueError:
        a = np.ones(3)
    finally:
        pass
    return np.sum(a) * x


def by_what_makes_it(x):
    make = np.zeros
    try:
        a = make(3)
        a[0] = x
    except ValueError:
        a = np.ones(3)
    finally:
        pass
    return np.sum(a) * x


def by_its_own_array(x):
    try:
        a = np.zeros(3)
        a[0] = x
    except ValueError:
        a = np.ones(3)
    finally:
        pass
    return np.sum(a) * math.sin(x)


def detached(x):
    try:
        y = x * 2.0
    except ValueError:
        y = x
    finally:
        pass
    return y * float(tx.stop_gradient(x))


class Owner:
    k = 3.0

    @tx.differentiate
    def scaled(self, x):
        try:
            y = x * x * self.k
        except ValueError:
            y = x
        finally:
            pass
        return y


def test_it_is_warned_once_with_the_place_and_kept() -> None:
    g = tx.grad(tried)
    with pytest.warns(tx.FallbackWarning, match=r"(?s)`tried`.*runs on Tensors.*test_fallback\.py:\d+: .*try:") as seen:
        assert g(3.0) == 6.0 and g(4.0) == 8.0 and g(np.float64(2.0)) == 4.0
    assert len(seen) == 1 and seen[0].filename == __file__
    assert "`tried` runs on Tensors: UnsupportedSyntax" in g.explain()
    assert g.source_for(3.0).startswith("# `tried` runs on Tensors")


def test_an_error_where_it_is_asked_for() -> None:
    with pytest.raises(tx.UnsupportedSyntax):
        tx.grad(tried, fallback="error")(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tx.FallbackWarning)
        for _ in range(2):  # the warning as an error is the located error itself
            with pytest.raises(tx.UnsupportedSyntax, match="try"):
                tx.grad(cube)(3.0)


def test_results_are_as_compiled() -> None:
    assert type(tx.grad(tried)(3.0)) is float
    assert tx.value_and_grad(tried)(3.0) == (9.0, 6.0)
    assert type(tx.value_and_grad(tried)(3.0)[0]) is float
    x = np.array([1.0, 2.0], np.float32)
    (value, extras), gradient = call(tx.value_and_grad(with_extras, has_aux=True), x)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, 2.0 * np.cos(x), rtol=1e-6)
    assert type(extras["y"]) is np.ndarray and extras["n"] == 3
    assert_fresh((value, extras, gradient), (x,))
    gradient, extras = tx.grad(with_extras, has_aux=True)(x, k=1.0)
    np.testing.assert_allclose(gradient, np.cos(x), rtol=1e-6)


def test_arguments_are_safe_and_gradients_have_their_structure() -> None:
    p, x = {"w": np.array([1.0, 2.0]), "b": 2.0}, np.array([3.0, 4.0])
    by_p, by_x = call(tx.grad(writing, wrt=("p", "x")), p, x)
    # w = (2 x1, w1), x = (4 x1, x1): the result is 8 x1 b²/4 ... at b = 2.
    assert by_p["w"].tolist() == [0.0, 4.0]
    assert by_p["b"] == pytest.approx(4.0 * 2.0 * 16.0)
    assert by_x.tolist() == [0.0, pytest.approx(4.0 * 4.0 * 4.0 + 2.0)]
    assert p["w"].tolist() == [1.0, 2.0] and x.tolist() == [3.0, 4.0]


def test_objects_and_parameters_of_all_kinds() -> None:
    def of_object(m):
        try:
            y = m.w * m.b * m.n
        except ValueError:
            y = m.w
        finally:
            pass
        return np.sum(y)

    found = tx.grad(of_object)(Weights(np.ones(2), 3.0))
    assert type(found) is Weights and found.w.tolist() == [6.0, 6.0] and found.b == 4.0 and found.n is None
    assert tx.grad(gathered)(2.0, 3.0, scale=5.0, k=7.0) == 105.0
    assert tx.grad(gathered, wrt=("rest", "more"))(2.0, 3.0, scale=5.0, k=7.0) == ((70.0,), {"k": 30.0})
    assert Owner().scaled.grad(2.0) == 12.0


def test_products_and_higher_orders() -> None:
    x = np.array([1.0, 2.0])
    value, pullback = tx.vjp(several, x)
    assert type(value["all"][0]) is np.ndarray and value["n"] == 1
    for _ in range(2):
        seed = {"sum": 1.0, "all": [np.array([0.0, 1.0]), 5.0], "n": None}
        assert pullback(seed).tolist() == [2.0 + 5.0, 4.0 + 4.0]
    value, dot = tx.jvp(several, (x,), (np.array([1.0, 10.0]),))
    assert dot["sum"] == 42.0 and dot["all"][0].tolist() == [2.0, 40.0] and dot["all"][1] == 1.0
    assert tx.grad(tx.grad(cube))(2.0) == 12.0
    assert tx.grad(tx.grad(tx.grad(cube)))(2.0) == 6.0
    assert tx.vjp(tx.grad(cube), 2.0)[1](1.0) == 12.0
    assert tx.jvp(tx.grad(cube), (2.0,), (1.0,)) == (12.0, 12.0)


@pytest.mark.parametrize("f", [by_float, by_array], ids=lambda f: f.__name__)
def test_values_that_leave_the_record_are_errors_though_the_program_catches_them(f: Any) -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_fallback\.py:\d+.*stop_gradient"):
        tx.grad(f)(2.0)


def test_arrays_that_the_function_makes_are_recorded() -> None:
    assert tx.grad(by_what_makes_it)(3.0) == 6.0
    assert tx.grad(by_its_own_array)(2.0) == pytest.approx(np.sin(2.0) + 2.0 * np.cos(2.0))
    assert tx.grad(tx.grad(by_its_own_array))(2.0) == pytest.approx(2.0 * np.cos(2.0) - 2.0 * np.sin(2.0))
    value, dot = tx.jvp(by_its_own_array, (2.0,), (3.0,))
    assert (value, dot) == pytest.approx((2.0 * np.sin(2.0), 3.0 * np.sin(2.0) + 6.0 * np.cos(2.0)))


def test_what_is_said_to_be_constant_is() -> None:
    assert tx.grad(detached)(3.0) == 6.0


def test_what_was_asked_wrongly_stays_an_error() -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"shape \(2,\)"):
        tx.grad(tried)(np.ones(2))
    with pytest.raises(tx.NotDifferentiable):
        tx.grad(tried)(2)
    with pytest.raises(tx.TangentxError):
        tx.grad(tried)(np.ma.masked_array(1.0))

    def generator(x):
        yield x

    with pytest.raises(tx.UnsupportedSyntax):
        tx.grad(generator)(1.0)


def test_the_users_own_exceptions_pass() -> None:
    def failing(x):
        try:
            y = x * 2.0
        except ValueError:
            y = x
        finally:
            pass
        raise KeyError(y > 0.0)

    def once(x):
        calls.append(1)
        try:
            y = x * x
        except ValueError:
            y = x
        finally:
            pass
        return y

    calls: list[int] = []
    with pytest.raises(KeyError):
        tx.grad(failing)(1.0)
    tx.value_and_grad(once)(2.0)
    assert calls == [1]


def test_one_array_in_two_parameters() -> None:
    def product(a, b):
        try:
            y = a * b
        except ValueError:
            y = a
        finally:
            pass
        return np.sum(y)

    x = np.array([1.0, 2.0])
    by_a, by_b = tx.grad(product, wrt=(0, 1))(x, x)
    assert by_a.tolist() == [1.0, 2.0] and by_b.tolist() == [1.0, 2.0]


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any = 1.0


class Held:
    def __init__(self, a: Any) -> None:
        self.a = a


def of_pairs(p, k):
    first = iter([p.a])
    return next(first) ** 3 * k**2


def compiled_cube(p):
    return p.a**3


def taking_a_gradient(a):
    next(iter([1]))
    return tx.grad(compiled_cube)(Pair(a)).a


def of_arrays(p):
    first = iter([p.a, p.b])
    return np.sum(next(first) ** 3)


def test_dataclasses_at_second_order_on_tensors() -> None:
    p, k = Pair(2.0), 3.0
    along_a, along_k = tx.hvp(of_pairs, (p, k), (Pair(1.0, 0.0), None)), tx.hvp(of_pairs, (p, k), (None, 1.0))
    assert (along_a[0].a, along_a[1]) == (108.0, 72.0)
    assert (along_k[0].a, along_k[1]) == (72.0, 16.0)
    assert tx.hessian(of_pairs)(p, 1.0).a.a == 12.0
    assert tx.vjp(tx.grad(of_pairs), p, 1.0)[1](Pair(2.0, 0.0))[0].a == 24.0
    assert tx.grad(taking_a_gradient)(2.0) == 12.0
    q = Pair(np.array([2.0, 1.0]), np.ones(1))
    assert tx.hvp(of_arrays, (q,), (Pair(np.ones(2), np.zeros(1)),)).a.tolist() == [12.0, 6.0]


def test_tensors_in_dataclasses_keep_their_history() -> None:
    for derivative in (lambda w: tx.grad(compiled_cube)(Pair(w)).a, lambda w: tx.grad(of_pairs)(Pair(w), 1.0).a):
        w = tx.tensor(2.0, requires_grad=True)
        derivative(w).backward()
        assert w.grad == 12.0


def test_tensors_in_other_objects_are_refused() -> None:
    w = tx.tensor(2.0, requires_grad=True)
    with pytest.raises(tx.NotDifferentiable, match="an object of the class Held holds a Tensor"):
        tx.grad(lambda x, h: x * h.a**3)(1.0, Held(w))
    with pytest.raises(tx.NotDifferentiable, match="an object of the class Held holds a Tensor"):
        tx.vjp(lambda x, h: x * h[0].a ** 3, 1.0, [Held(w)])
    with pytest.raises(tx.NotDifferentiable, match="an object of the class deque holds a Tensor"):
        tx.grad(lambda x, h: x * h[0])(1.0, deque([w]))
    tx.differentiate(lambda x, h: x * h.a**3)(1.0, Held(w)).backward()  # a call as written
    assert w.grad == 12.0


@dataclasses.dataclass
class Node:
    length: float
    children: tuple[Node, ...] = ()


def total(node):
    s = node.length**2
    for child in node.children:
        s += total(child)
    return s


def test_second_order_of_a_tree() -> None:
    tree = Node(1.0, (Node(3.0), Node(1.0, (Node(2.0),))))
    for found in (
        tx.jvp(tx.grad(total, fallback="error"), (tree,), (tree,))[1],
        tx.linearize(tx.grad(total), tree)[1](tree),
        tx.vjp(tx.grad(total), tree)[1](tree),
    ):
        assert found == Node(2.0, (Node(6.0), Node(2.0, (Node(4.0),))))
    assert tx.hvp(total, (Node(3.0),), (Node(3.0),)) == Node(6.0)


def _written_first(items, x):
    try:
        items[0][0] = x
    finally:
        pass
    return items[1][0] * items[0][1] * 1.0


def _summed(items, x):
    try:
        y = np.sum(items[0] * x) + np.sum(items[1] ** 2)
    finally:
        pass
    return y


def test_one_array_at_two_places_of_a_parameter() -> None:
    a, x = np.array([1.0, 2.0]), 3.0
    gradient = tx.grad(_summed)
    for items in ([a, a], [a, a[:]]):
        first, second = gradient(items, x)
        assert first.tolist() == [3.0, 3.0] and second.tolist() == [2.0, 4.0]
    t = tx.tensor(a, requires_grad=True)
    assert [bar.tolist() for bar in gradient([t, t], x)] == [[3.0, 3.0], [2.0, 4.0]]
    assert tx.grad(_summed, wrt="x")([a, a], x) == 3.0


def test_what_stands_at_two_places_of_a_parameter_is_not_written() -> None:
    a, x = np.array([1.0, 2.0]), 3.0
    for items in ([a, a], [a, a[:]]):
        with pytest.raises(ValueError, match="read-only"):
            tx.grad(_written_first)(items, x)
        assert tx.grad(_written_first, wrt="x")(items, x) == 2.0
    row = [1.0, 2.0]
    with pytest.raises(tx.SharedMemory, match="a container is at two places of an argument"):
        tx.grad(_written_first)([row, row], x)
    assert a.tolist() == [1.0, 2.0] == row


class _OnTensors:
    """tangentx, with the fallback that the tests of drawn programs forbid."""

    vjp, jvp = staticmethod(tx.vjp), staticmethod(tx.jvp)

    def grad(self, f: Any, wrt: Any, fallback: str) -> Any:
        return tx.grad(f, wrt=wrt)


@pytest.mark.share(8)
@pytest.mark.parametrize("seed", range(5000, 5016))
def test_drawn_programs_on_tensors_agree_with_the_oracle(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling is made to fail, so that all of them take the fallback, at both orders."""

    def failing(*args: Any, **kwargs: Any) -> Any:
        raise tx.UnsupportedSyntax("not compiled here")

    monkeypatch.setattr(gradients, "compile_gradient", failing)
    monkeypatch.setattr(products, "compile_vjp", failing)
    monkeypatch.setattr(products, "compile_jvp", failing)
    outcome = check(program_of(seed), order2=True, seed=seed, api=_OnTensors())
    assert outcome.status in ("compiled", "refused"), outcome.details
    if outcome.status == "refused":
        assert "stop_gradient" in outcome.details or "no derivative rule" in outcome.details


def written_before(x):
    try:
        y = x[0] * x[1]
    except ValueError:
        y = x[0]
    finally:
        pass
    x[0] = y * x[2]
    return np.sum(x * x * x)


def test_arguments_that_are_written_at_second_order() -> None:
    x = np.array([0.5, 1.5, 0.7])

    def compiled(x):
        x[0] = x[0] * x[1] * x[2]
        return np.sum(x * x * x)

    v = np.array([1.0, -2.0, 0.5])
    found = tx.jvp(tx.grad(written_before), (x,), (v,))
    wanted = tx.jvp(tx.grad(compiled), (x,), (v,))
    np.testing.assert_allclose(found[0], wanted[0])
    np.testing.assert_allclose(found[1], wanted[1])
    np.testing.assert_allclose(tx.vjp(tx.grad(written_before), x)[1](v), wanted[1])


def flattened(x):
    try:
        q = x.reshape(-1)
    except ValueError:
        q = x
    finally:
        pass
    q[0] = q[1] * q[2]
    return np.sum(x * x * x) + q[0]


def test_strides_are_kept_at_second_order() -> None:
    x, v = np.arange(1.0, 13.0).reshape(3, 4)[:, :3], np.ones((3, 3))
    wanted = 6.0 * x
    wanted[0, 1:3] += 1.0
    np.testing.assert_allclose(tx.vjp(tx.grad(flattened), x)[1](v), wanted)


def clear(p, x):
    """Compiles; `tried_clear` does not, and means the same."""
    return {"rows": np.outer(x, p["w"]) * p["b"], "sum": np.sum(x * x), "n": 3, "none": np.zeros((0, 2))}


def tried_clear(p, x):
    try:
        rows = np.zeros((len(x), 2))
        for i in range(len(x)):
            rows[i] = x[i] * p["w"] * p["b"]
    except ValueError:
        rows = x
    finally:
        pass
    return {"rows": rows, "sum": np.sum(x * x), "n": 3, "none": np.zeros((0, 2))}


@pytest.mark.parametrize("wrt", ["p", "x", ("p", "x")], ids=str)
@pytest.mark.parametrize("make", [tx.jacobian, tx.jacfwd, tx.jacrev], ids=lambda make: make.__name__)
def test_jacobians_are_as_compiled(make: Any, wrt: Any) -> None:
    p = {"w": np.array([1.0, -2.0], np.float32), "b": 0.5, "name": "p"}
    x = np.array([1.0, 2.0, 3.0])
    found = call(make(tried_clear, wrt), p, x, watch=(tried_clear,))
    wanted = make(clear, wrt, fallback="error")(p, x)
    for (_, got), (_, right) in zip(leaves("", found), leaves("", wanted), strict=True):
        assert type(got) is type(right)
        assert getattr(got, "dtype", None) == getattr(right, "dtype", None)
        np.testing.assert_array_equal(got, right) if right is None else np.testing.assert_allclose(got, right)
    assert_fresh(found, (p, x))


def test_hessians_and_their_products() -> None:
    x, dot = np.array([0.5, 2.0]), np.array([1.0, -1.0])

    def g(x):
        return np.sum(tried(x) * np.sin(x))

    def clear_g(x):
        return np.sum(x * x * np.sin(x))

    for f in (tried_sum, g):
        with pytest.raises(tx.UnsupportedSyntax):
            tx.hessian(f, fallback="error")(x)
    np.testing.assert_allclose(tx.hessian(g)(x), tx.hessian(clear_g)(x))
    np.testing.assert_allclose(tx.hvp(g, (x,), (dot,)), tx.hvp(clear_g, (x,), (dot,)))
    np.testing.assert_allclose(tx.hessian(tried_sum)(x), 2.0 * np.eye(2))
    assert tx.hessian(cube)(2.0) == 12.0
    assert type(tx.jacobian(cube)(2.0)) is float


def tried_sum(x):
    return np.sum(tried(x))


def with_aux(x):
    return tried(x), {"x": x}


def test_jacobians_with_extras_and_what_they_refuse() -> None:
    x = np.array([1.0, 2.0])
    found, aux = tx.jacobian(with_aux, has_aux=True)(x)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]] and aux["x"].tolist() == x.tolist() and aux["x"] is not x
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_fallback\.py:\d+.*complex result of a complex"):
        tx.jacobian(tried)(1.0j)
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_fallback\.py:\d+.*no real number"):
        tx.jacobian(lambda x: int(tried(x)))(2.0)


def spiral(t):
    return {"w": np.exp(1j * t["a"]) * t["b"], "r": t["a"] * t["b"]}


def tried_spiral(t):
    try:
        w = np.exp(1j * t["a"]) * t["b"]
    except ValueError:
        w = t["a"]
    finally:
        pass
    return {"w": w, "r": t["a"] * t["b"]}


def tried_modulus(z):
    try:
        r = np.abs(z) ** 2
    except ValueError:
        r = z
    finally:
        pass
    return r


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_jacobians_of_complex_numbers_are_as_compiled(kind: Any) -> None:
    t = {"a": np.array([0.3, 1.2], kind), "b": 0.7}
    found, wanted = tx.jacobian(tried_spiral)(t), tx.jacobian(spiral, fallback="error")(t)
    for (_, got), (_, right) in zip(leaves("", found), leaves("", wanted), strict=True):
        assert (type(got), got.dtype, got.shape) == (type(right), right.dtype, right.shape)
        np.testing.assert_allclose(got, right, rtol=1e-6)
    z = np.array([1.0 + 2.0j, 0.5j])
    np.testing.assert_allclose(tx.jacobian(tried_modulus)(z), np.diag(2.0 * np.conj(z)))
    number = tx.jacobian(lambda t: tried_spiral({"a": t, "b": 2.0})["w"])(0.4)
    right = tx.jacobian(lambda t: spiral({"a": t, "b": 2.0})["w"], fallback="error")(0.4)
    assert number == pytest.approx(right) and type(number) is type(right)


def test_a_whole_number_shares_with_what_it_equals() -> None:
    starred = [
        (lambda v: max(2, *v), lambda v: max(2, v[0], v[1])),
        (lambda v: max(*v, 2), lambda v: max(v[0], v[1], 2)),
        (lambda v: min(2, *v) * v[0], lambda v: min(2, v[0], v[1]) * v[0]),
        (lambda v: (max(True, 2, *v) + 1) * v[1], lambda v: (max(True, 2, v[0], v[1]) + 1) * v[1]),
        (lambda v: max((*v, 2), default=3), lambda v: max((v[0], v[1], 2), default=3)),
        (lambda v: max((*v, 2), key=None), lambda v: max((v[0], v[1], 2))),
        (lambda v: min(*v, 2, key=abs), lambda v: min(v[0], v[1], 2, key=abs)),
        (lambda v: sorted([2, *v])[1], lambda v: sorted([2, v[0], v[1]])[1]),
        (lambda v: max(3, *v) * v[0], lambda v: max(3, v[0], v[1]) * v[0]),
    ]
    for at in (np.array([2.0, 2.0]), np.array([2.0, 1.0]), np.array([3.0, 2.0])):
        for on_tensors, compiled in starred:
            found, wanted = tx.grad(on_tensors)(at), tx.grad(compiled, fallback="error")(at)
            np.testing.assert_allclose(found, wanted, rtol=1e-15)
            dot = np.array([1.0, -2.0])
            np.testing.assert_allclose(tx.jvp(on_tensors, (at,), (dot,))[1], wanted @ dot, rtol=1e-15)


def unwrapped(x, t):
    while isinstance(t, list):
        t = t[0]
    return x * t


@pytest.mark.parametrize("depth", [1, 2, 3, 8])
def test_a_walk_down_lists_of_lists_runs_on_tensors(depth: int) -> None:
    nested: Any = 3.0
    for _ in range(depth):
        nested = [nested]
    with pytest.raises(tx.NotResolved, match="a list in one place and a float in another"):
        tx.grad(unwrapped, fallback="error")(2.0, nested)
    assert tx.grad(unwrapped)(2.0, nested) == 3.0


def masked_in_turns(x, count):
    for k in range(count):
        x = x + tx.tensor(np.triu(np.full(x.shape, -1.0), k))
    return np.sum(x**2)


def test_tensors_that_are_made_in_a_loop() -> None:
    x = np.arange(9.0).reshape(3, 3)
    with pytest.warns(tx.FallbackWarning, match=r"`tensor` makes a Tensor(.|\n)*Instead: make an array in its place"):
        found = tx.grad(masked_in_turns)(x, 2)
    np.testing.assert_array_equal(found, 2.0 * (x - np.triu(np.ones((3, 3))) - np.triu(np.ones((3, 3)), 1)))
