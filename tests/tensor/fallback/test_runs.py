"""A function that cannot be compiled, inside of one that can: it alone runs on Tensors, each call for itself."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.frontend.approximate_lift import loosely
from tangentx.ir import nodes as ir
from tangentx.ir.walk import statements
from tangentx.testing import check_grads
from tests.harness.guard import call

LOG: list[Any] = []
TABLE = np.array([1.0, 2.0, 3.0])
PLACE = np.zeros(1)


@pytest.fixture(autouse=True)
def _allowed() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        yield


def root_of(x, n, tol=1e-3):
    try:
        r = x / 2.0
        for _ in range(n):
            r = 0.5 * (r + x / r)
        close = abs(r * r - x) < tol
    except ZeroDivisionError:
        r, close = x, False
    finally:
        pass
    return r, r * r * x, close


def of_numbers(x):
    total = 0.0
    for k in range(2):
        r, product, close = root_of(x + k, 4)
        total = total + r * product if close else total + r
    return total * x


def solved(a, b):
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError as error:
        if a.shape[0] == 1:
            raise ValueError("no solution") from error
        return 2.0 * b
    finally:
        pass


def of_matrices(a, b):
    c = solved(a, b)
    c[0] = 3.0 * c[1]
    return np.sum(solved(a @ a, c)) + np.sum(a * a)


def filled(x):
    w = np.zeros(3)
    try:
        w[0] = x
        w[1] = x * math.exp(x)
    except IndexError:
        pass
    finally:
        pass
    return w


def of_arrays_made(x):
    w = filled(x)
    w[2] = w[0] * w[1]
    return np.sum(w * w)


def flipped(y):
    try:
        return y * y[::-1]
    except TypeError:
        return y
    finally:
        pass


def between(y):
    return flipped(y) * flipped(2.0 * y)


def of_branches(x, n):
    y = x
    while True:
        if n % 2 == 0:
            y = flipped(y)
        else:
            y = between(y) + x
        n -= 1
        if n < 0:
            break
    return np.sum(y)


def product(x, y):
    try:
        z = x * y
    except ValueError:
        z = x
    finally:
        pass
    return z


def of_repeated(x):
    return np.sum(product(x, x) + product(y=x, x=3.0 * x))


def deep(n, x):
    try:
        z = np.sin(x) if n == 0 else np.sin(deep(n - 1, x) * x)
    except ValueError:
        z = x
    finally:
        pass
    return z


def of_recursion(x):
    return np.sum(deep(2, x))


def squared(z):
    try:
        w = z * np.conj(z) + z * z
    except ValueError:
        w = z
    finally:
        pass
    return w


def of_complex(x):
    return np.sum(np.real(squared(x + 1j * x * x)) * x)


def by_table(x, pair=(2.0, 3)):
    try:
        total = np.sum(x * TABLE) * pair[0]
    except ValueError:
        total = np.sum(x)
    finally:
        pass
    return total


def of_constants(x):
    return by_table(x) * by_table(x, (x[0], 2))


@dataclasses.dataclass
class Line:
    slope: Any
    shift: float


def network(params, x):
    try:
        h = np.tanh(x @ params["w"] + params["b"])
    except KeyError:
        h = x
    finally:
        pass
    return h @ params["out"]


def on_line(line, x):
    try:
        y = line.slope * x + line.shift
    except AttributeError:
        y = x
    finally:
        pass
    return y


def of_structures(w, x):
    params = {"w": w, "b": w[0], "out": 2.0 * w[:, 0]}
    return np.sum(network(params, x) ** 2) * np.sum(on_line(Line(w[1], x[0]), x))


def dotted(pairs):
    total = 0.0
    try:
        for a, b in pairs:
            total = total + np.sum(a * b)
    except ValueError:
        pass
    finally:
        pass
    return total


def of_the_same_twice(x):
    pairs = [(x, x[::-1])]
    pairs.append((x, x))
    return dotted(pairs) * dotted([(x, 2.0 * x)])


def halves(x, n):
    while True:
        x = x / 2.0
        yield x
        n -= 1
        if n == 0:
            return


def rows_of(a):
    yield 3.0 * a[0]
    yield from a


def by_generators(x, a):
    total = 0.0
    kept = halves(x, 3)
    for part in kept:
        total = total + part * part
    return total + sum(np.sum(row * row) for row in rows_of(a))


def of_generators(x, a):
    return by_generators(x, a) * x


def by_iterators(x, y):
    pairs, rest = zip([x, y], (y, 2.0)), iter([x * y, x])
    a, b = next(pairs)
    i, c = next(enumerate(rest))
    return a * b * c + i + next(rest, y) + next(reversed([x, y * y])) + sum(map(np.sin, [x, y]))


def of_iterators(x, y):
    return by_iterators(x, y) * y


def by_what_changes(x):
    queue, total = [x], 0.0
    for v in queue:
        if len(queue) < 4:
            queue.append(v * 1.5)
        total = total + v * v
    for k in {2, 3}:
        total = total + k * x
    with contextlib.suppress(ValueError):
        total = total * x
    return total


def of_what_changes(x):
    return by_what_changes(x) * x


X = np.array([0.5, 1.2, 0.9])
M = np.array([[1.3, 0.7], [0.4, 1.1]])
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (of_numbers, (2.0,)),
    (of_matrices, (M, np.array([0.9, 0.2]))),
    (of_arrays_made, (1.3,)),
    (of_branches, (X, 2)),
    (of_repeated, (X,)),
    (of_recursion, (X,)),
    (of_complex, (X,)),
    (of_constants, (X,)),
    (of_structures, (M, np.array([0.2, 0.5]))),
    (of_the_same_twice, (X,)),
    (of_generators, (0.8, M)),
    (of_iterators, (0.8, 1.7)),
    (of_what_changes, (0.8,)),
]
TWICE = (of_numbers, of_branches, of_structures, of_arrays_made, of_complex, of_generators)
RUNS = [(f, args, off) for f, args in CASES for off in ((), "all") if not off or f is of_arrays_made]


@pytest.mark.share(1)
@pytest.mark.parametrize(("f", "args", "off"), RUNS, ids=[f"{f.__name__}-{off}" for f, _, off in RUNS])
def test_both_modes_and_orders_against_differences(f: Any, args: Any, off: Any) -> None:
    wrt = tuple(i for i, a in enumerate(args) if not isinstance(a, int))
    with pipeline.proofs(off=off):
        check_grads(f, args, wrt=wrt, order=2 if f in TWICE else 1)
        derivative = tx.value_and_grad(f, wrt)
        value, _ = call(derivative, *args)
        np.testing.assert_allclose(value, f(*args))
        assert "on_tensors(" in derivative.source_for(*args)


def test_the_text_has_one_run_and_its_pullback() -> None:
    text = tx.grad(of_recursion).source_for(X)
    assert 'on_tensors(deep, "x", 2, x)' in text
    assert "pull(on_tensors_object, " in text
    assert "# `deep` runs on Tensors, which needs the runtime of tangentx: UnsupportedSyntax" in text


def test_it_is_warned_once_for_each_helper_and_explained() -> None:
    def halved(x):
        try:
            y = x / 2.0
        except ValueError:
            y = x
        finally:
            pass
        return y

    def f(x):
        return halved(x) * halved(x)

    g = tx.grad(f)
    with pytest.warns(tx.FallbackWarning, match=r"(?s)`halved`.*runs on Tensors.*test_runs\.py:\d+: .*try:") as seen:
        assert g(3.0) == 1.5 and g(4.0) == 2.0 and g(np.float64(2.0)) == 1.0
    assert len(seen) == 1 and seen[0].filename == __file__
    assert "`halved` runs on Tensors" in g.explain() and "Gradient of `f`" in g.explain()
    with pytest.raises(tx.UnsupportedSyntax):
        tx.grad(f, fallback="error")(3.0)
    with pytest.raises(tx.UnsupportedSyntax):
        tx.hessian(f, fallback="error")(3.0)


def test_pullbacks_again_jacobians_and_third_order() -> None:
    value, pullback = tx.vjp(lambda x: filled(x), 0.7)
    for _ in range(2):
        assert pullback(np.array([1.0, 1.0, 5.0])) == pytest.approx(1.0 + 1.7 * math.exp(0.7))
    np.testing.assert_allclose(value, filled(0.7))
    np.testing.assert_allclose(tx.jacobian(lambda x: flipped(x))(X), np.diag(X[::-1]) + np.fliplr(np.diag(X)))
    third = tx.grad(tx.grad(tx.grad(lambda x: filled(x)[1])))
    assert third(0.7) == pytest.approx(3.7 * math.exp(0.7))
    assert tx.jvp(tx.grad(tx.grad(lambda x: filled(x)[1])), (0.7,), (1.0,))[1] == pytest.approx(3.7 * math.exp(0.7))


def test_arguments_are_safe_and_float32_stays() -> None:
    x = X.astype(np.float32)
    gradient = call(tx.grad(lambda x: np.sum(flipped(x) * x)), x, watch=(flipped,))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, 2.0 * x * x[::-1] + (x * x)[::-1], rtol=1e-6)


def writes(a, x):
    try:
        a[0] = x * x
    except IndexError:
        pass
    finally:
        pass
    return a[0] * 2.0


def keeps(x):
    try:
        LOG.append(x)
    except AttributeError:
        pass
    finally:
        pass
    return x * x


def gives_its_own(a):
    try:
        b = a
    except ValueError:
        b = 2.0 * a
    finally:
        pass
    return b


def reads_the_place(x):
    try:
        return x * PLACE[0]
    except IndexError:
        return x
    finally:
        pass


def into_an_argument(x):
    a = np.zeros(2)
    return writes(a, x) + a[0]


def into_an_alias(x):
    a = x * 1.0
    b = gives_its_own(a)
    b[0] = 5.0 * a[1]
    return np.sum(a * b)


def through_a_place(x):
    PLACE[0] = x * x
    return reads_the_place(x)


def row_writer(a, x):
    for row in iter(a):
        row[0] = x
    first, *_ = zip(a, a)
    first[0][1] = x * x
    yield a[0, 0]


def writes_rows(a, x):
    return sum(row_writer(a, x)) * 2.0


def into_rows(x):
    a = np.zeros((2, 2))
    return writes_rows(a, x) + a[0, 1] + a[1, 0]


def filter(pair):
    """Not Python's."""
    return pair[1] * pair[1]


def with_its_own_filter(x):
    try:
        return filter([x, 2.0 * x])
    except StopIteration:
        return x
    finally:
        pass


def of_a_closure(x):
    def scaled(y):
        try:
            z = x * y
        except ValueError:
            z = y
        finally:
            pass
        return z

    return scaled(x) * x


@pytest.mark.parametrize(
    ("f", "x", "wanted"),
    [
        (into_an_argument, 3.0, 18.0),
        (into_rows, 3.0, 9.0),
        (lambda x: keeps(x) * 2.0, 3.0, 12.0),
        (into_an_alias, np.array([1.0, 2.0]), [0.0, 104.0]),
        (of_a_closure, 3.0, 27.0),
    ],
    ids=["argument", "rows", "log", "alias", "closure"],
)
def test_what_writes_or_keeps_runs_on_tensors_as_a_whole(f: Any, x: Any, wanted: Any) -> None:
    LOG.clear()
    derivative = tx.grad(f)
    np.testing.assert_allclose(derivative(x), wanted)
    assert "on_tensors" not in derivative.source_for(x)


def test_a_name_of_pythons_may_be_the_modules() -> None:
    assert tx.grad(lambda x: with_its_own_filter(x) * 1.0)(3.0) == 24.0


def test_state_that_the_caller_writes_is_not_read_behind_its_back() -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)stop_gradient"):
        tx.grad(through_a_place)(2.0)


def test_values_that_leave_the_record_are_errors() -> None:
    def rounded(x):
        try:
            y = x.__float__() * x
        except TypeError:
            y = x
        finally:
            pass
        return y

    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_runs\.py:\d+.*stop_gradient"):
        tx.grad(lambda x: rounded(x) * 2.0)(2.0)


def test_the_users_own_exceptions_pass_and_effects_happen_once(capsys: Any) -> None:
    with pytest.raises(ValueError, match="no solution"):
        tx.grad(lambda a: np.sum(solved(a, a)))(np.zeros((1, 1)))

    def shown(x):
        try:
            print("seen")
        except OSError:
            pass
        finally:
            pass
        return x * x

    shown_twice = tx.grad(lambda x: shown(x) * shown(2.0))
    capsys.readouterr()
    assert shown_twice(3.0) == 24.0
    assert capsys.readouterr().out == "seen\nseen\n"


def test_a_result_of_another_kind_is_refused_where_it_is_made() -> None:
    kinds: list[Any] = [2.0]

    def odd(x):
        try:
            return x * kinds[0]
        except ValueError:
            return x
        finally:
            pass

    derivative = tx.grad(lambda x: np.sum(odd(x) * 3.0))
    assert derivative(1.0) == 6.0
    kinds[0] = np.array([1.0, 2.0])  # the guards see that
    assert derivative(1.0) == 9.0


def test_the_form_of_a_result_is_asked_for() -> None:
    from tangentx import arrays as ar

    run = ar.on_tensors(lambda x: x * 2.0, "x", 3.0)
    assert ar.outcome(run, "float", 3.0) == 6.0
    with pytest.raises(tx.NotResolved, match=r"(?s)test_runs\.py:\d+.*gave float.*says np\.float64\[1\]"):
        ar.outcome(run, "np.float64[1]", 3.0)
    assert ar.outcome(ar.on_tensors(lambda x: 2, "x", 3.0), "np.float64", 3.0) == 2
    with pytest.raises(tx.NotResolved):
        ar.outcome(ar.on_tensors(lambda x: np.float64(2.0), "x", 3.0), "float", 3.0)


def test_in_threads() -> None:
    derivative = tx.grad(of_branches)
    wanted = derivative(X, 3)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: derivative(X, 3), range(8)):
            np.testing.assert_array_equal(found, wanted)


@tx.differentiate(wrt=("x", "rate"))
def step(x, rate):
    return x - rate * between(x) * np.cos(x)


def outer(x, rate, tol):
    """A loop whose length depends on values, with no source that is compiled: it runs on Tensors."""
    for _ in range(6):
        x = step(x, rate)
        if float(np.max(np.abs(np.asarray(x.detach() if isinstance(x, tx.Tensor) else x)))) < tol:
            break
    return (x * x).sum()


def test_mixed_programs_against_differences() -> None:
    """A dynamic loop on Tensors, a compiled step in it, a function in that which runs on Tensors."""
    x, rate, tol = tx.tensor(X, requires_grad=True), tx.tensor(0.05, requires_grad=True), 0.9
    loss = outer(x, rate, tol)
    by_x, by_rate = tx.autograd.grad(loss, [x, rate], create_graph=True)
    h = 1e-6
    for i in range(3):
        e = np.eye(3)[i] * h
        wanted = (outer(X + e, 0.05, tol) - outer(X - e, 0.05, tol)) / (2.0 * h)
        np.testing.assert_allclose(np.asarray(by_x.detach())[i], wanted, rtol=1e-6)
    np.testing.assert_allclose(
        float(by_rate), (outer(X, 0.05 + h, tol) - outer(X, 0.05 - h, tol)) / (2.0 * h), rtol=1e-6
    )
    (second,) = tx.autograd.grad(by_rate, [rate])

    def slope(r: float) -> float:
        t = tx.tensor(r, requires_grad=True)
        return float(tx.autograd.grad(outer(tx.tensor(X), t, tol), [t])[0])

    np.testing.assert_allclose(float(second), (slope(0.05 + h) - slope(0.05 - h)) / (2.0 * h), rtol=1e-5)


def test_loosely_every_way_through_try_is_a_branch() -> None:
    lifted = loosely(solved)
    kinds = [type(s) for s in statements(lifted.body)]
    assert kinds.count(ir.Return) == 3  # the body's, once more as far as it got, and the handler's
    assert any(isinstance(s, ir.Raise) for s in statements(lifted.body))


def waved(x):
    try:
        y = np.sin(x) * x
    except ValueError:
        y = x
    finally:
        pass
    return y


def test_under_other_transforms_and_beside_its_own_gradient() -> None:
    def f(x):
        return np.sum(waved(x) * x)

    def both(x):
        return waved(x) + tx.grad(waved)(x)

    slopes = 2.0 * X * np.sin(X) + X * X * np.cos(X)
    np.testing.assert_allclose(tx.vmap(tx.grad(f))(X), slopes)
    np.testing.assert_allclose(tx.grad(lambda x: tx.checkpoint(f, x))(X), slopes)
    np.testing.assert_allclose(tx.grad(lambda x: tx.jvp(f, (x,), (np.ones(3),))[1])(X), tx.hvp(f, (X,), (np.ones(3),)))
    assert tx.grad(both)(0.7) == pytest.approx(2.7 * math.cos(0.7) + 0.3 * math.sin(0.7))
    bends = 2.0 * np.sin(X) + 4.0 * X * np.cos(X) - X * X * np.sin(X)
    np.testing.assert_allclose(tx.grad(lambda x: np.sum(tx.jacobian(lambda v: waved(v) * v)(x)))(X), bends)
