"""`tx.vmap`: all members at once where that is right, one after the other where it is not, always what a loop gives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

RNG = np.random.default_rng(5)
VECTORS, OTHERS, MATRICES = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3, 3))
NUMBERS, WHOLE = RNG.normal(size=5), np.arange(5)


def energy(w, x):
    return np.sum(np.tanh(w @ x) ** 2)


def stencil(u):
    v = np.zeros_like(u)
    for i in range(1, len(u) - 1):
        v[i] = u[i - 1] - 2.0 * u[i] + u[i + 1]
    v[0] += u[-1]
    return v * u.size


def pieces(u, v):
    parts = [u[:2], v[1:] * 2.0]
    return {"joined": np.concatenate(parts), "dot": u @ v, "pair": (np.outer(u, v), u.max())}


def recurrence(x, n):
    total = 0.0
    for k in range(n):
        total += x / (k + 1)
        x = np.sin(x) * total
    return total


def half(x):
    return x * np.float32(0.5) + 1.0


def same(x):
    return 2.0


def selected(x):
    return np.where(x > 0.0, x, np.exp(x)), np.sort(x), np.argmax(x), x > 0.0, x[::-1].T


def settings(x, axis, scale):
    return np.sum(x, axis=axis) * scale + np.mean(x, axis=0, keepdims=True)


def clipped(x):
    return np.clip(x, -0.5, 0.5), np.linalg.norm(x), np.max(x), x.std(), np.cumsum(x), x.reshape(3, 1)


def inside(x, c):
    def force(y):
        return c * y**3

    return x + 0.1 * force(x + 0.05 * force(x))


def counted(n):
    return n * 2 + n // 2, n % 3 == 1, float(n) / 4


def solved(a, b):
    return np.linalg.solve(a + 5.0 * np.eye(3), b), np.linalg.det(a), np.trace(a), a.T @ a, a[0], a[:, 1], a[1, 2]


def own_places(u, k):
    return u[k % 3], u


AT_ONCE: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "energy": (energy, (MATRICES[0], VECTORS), (None, 0)),
    "energy_of_both": (energy, (MATRICES, VECTORS), 0),
    "stencil": (stencil, (VECTORS,), 0),
    "pieces": (pieces, (VECTORS, OTHERS), 0),
    "pieces_of_one": (pieces, (VECTORS, OTHERS[0]), (0, None)),
    "recurrence": (recurrence, (NUMBERS, 4), (0, None)),
    "half": (half, (VECTORS.astype(np.float32),), 0),
    "half_of_numbers": (half, (NUMBERS.astype(np.float32),), 0),
    "same": (same, (VECTORS,), 0),
    "selected": (selected, (VECTORS,), 0),
    "settings": (settings, (MATRICES, 1, NUMBERS), (0, None, 0)),
    "clipped": (clipped, (VECTORS,), 0),
    "inside": (inside, (VECTORS, NUMBERS), 0),
    "solved": (solved, (MATRICES, VECTORS), 0),
    "own_places": (own_places, (VECTORS, WHOLE), 0),
    "counted": (counted, (WHOLE,), 0),
    "gradient": (tx.grad(energy), (MATRICES[0], VECTORS), (None, 0)),
    "both_gradients": (tx.value_and_grad(energy, wrt=("w", "x")), (MATRICES, VECTORS), 0),
    "second": (tx.hessian(energy, wrt="x"), (MATRICES[0], VECTORS), (None, 0)),
}


def leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [leaf for k in sorted(tree) for leaf in leaves(tree[k])]
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, tuple | list) else [tree]


def loop(f: Any, args: tuple[Any, ...], axes: Any) -> list[Any]:
    given = axes if isinstance(axes, tuple) else (axes,) * len(args)
    members = [[a if x is None else a[k] for a, x in zip(args, given, strict=True)] for k in range(5)]
    results = [leaves(f(*member)) for member in members]
    return [np.stack([np.asarray(r) for r in column]) for column in zip(*results, strict=True)]


def agree(found: Any, wanted: list[Any]) -> None:
    for a, b in zip(leaves(found), wanted, strict=True):
        assert type(a) is np.ndarray and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype == np.float32 else 1e-12, atol=1e-14)


@pytest.mark.parametrize("name", AT_ONCE)
def test_all_members_at_once_are_what_a_loop_gives(name: str) -> None:
    f, args, axes = AT_ONCE[name]
    batch = tx.vmap(f, axes)
    agree(batch(*args), loop(f, args, axes))
    assert "all members at once" in batch.explain()


def branching(x):
    return x.sum() if x[0] > 0.0 else x.mean()


def masked(x):
    y = x.copy()
    y[y > 0.0] = 0.0
    return y


def iterated(x):
    total = 0.0
    while total < 3.0:
        total += abs(x[0]) + 0.1
    return total


def written(x):
    x[0] = 5.0
    return x


def shorter(x, n):
    return np.sum(x[:n]), np.sum(np.arange(n))


def lengths(n):
    return np.sum(np.arange(n))


def noisy(x):
    print("one")
    return x * 2.0


SEEN: list[float] = []


def counting(x):
    SEEN.append(1.0)
    return x * 2.0


def gathered(*vectors):
    return vectors[0] + vectors[1]


ONE_BY_ONE: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "branching": (branching, (VECTORS,), "a test depends on the batch (test_vmap.py:"),
    "masked": (masked, (VECTORS,), "an index that depends on the batch"),
    "iterated": (iterated, (VECTORS,), "a test depends on the batch"),
    "written": (written, (VECTORS,), "it writes into its arguments"),
    "shorter": (shorter, (VECTORS, WHOLE), "a slice that depends on the batch"),
    "lengths": (lengths, (WHOLE,), "raised ValueError"),
    "gathered": (gathered, (VECTORS, OTHERS), "a parameter gathers arguments"),
    "gradient": (tx.grad(branching), (VECTORS,), "a test depends on the batch"),
}


SETTINGS: dict[str, Callable[..., Any]] = {
    "ravel": lambda a: (a.ravel("F"), np.ravel(a, "F"), a.flatten("F"), np.reshape(a, (3, 3), "F")),
    "full": lambda a: (np.full((2, 3), a[0, 0], np.float32), np.full_like(a[0], a[0, 1], np.float32)),
    "full_like": lambda a: (np.full_like(np.arange(3), a[0, 0]), np.full_like(a.astype(np.float32), 2.5)),
    "whole": lambda a: np.full_like(a[0], int(a[0, 0])),
    "var": lambda a: (np.var(a, 0, None, None, 1), a.std(None, None, None, 1, True), np.std(a, 1, None, None, 1)),
    "sum": lambda a: (np.sum(a, 0, None, None, False, 5.0), np.sum(a, 0, None, None, True, 0.0, a[0] > 0.0)),
    "prod": lambda a: (np.prod(a, 1, None, None, True, 2.0), np.max(a, 0, None, True), a.max(0, None, True, 0.9)),
    "cumsum": lambda a: (np.cumsum(a, 0, np.float32), a.cumsum(0, np.float32), np.cumprod(a[0], 0, np.float32)),
    "numbers": lambda a: (float(a[0, 0]) * a, a.item(1) * a[0] + a.item(2), (float(a[0, 0]) + 1.0) * a),
    "power": tx.grad(lambda a: np.sum(2.0 ** a.astype(np.float32) * np.full_like(a.astype(np.float32), 2.0))),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_by_their_position(name: str) -> None:
    f = SETTINGS[name]
    for batch in (MATRICES, MATRICES.astype(np.float32)):
        agree(tx.vmap(f)(batch), loop(f, (batch,), 0))


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_members_that_differ_go_one_after_the_other(name: str) -> None:
    f, args, reason = ONE_BY_ONE[name]
    kept = [a.copy() for a in args]
    batch = tx.vmap(f)
    found = batch(*args)
    assert "one member after the other" in batch.explain() and reason in batch.explain()
    agree(found, loop(f, tuple(a.copy() for a in args), 0))
    for a, b in zip(args, kept, strict=True):
        np.testing.assert_array_equal(a, b)


def test_axes_anywhere_in_structures() -> None:
    def model(params, x):
        return {"y": params["w"] @ x + params["b"], "x": x}

    params = {"w": MATRICES[0], "b": VECTORS.T}
    found = tx.vmap(model, ({"w": None, "b": 1}, 0), {"y": 1, "x": 0})(params, OTHERS)
    np.testing.assert_allclose(found["y"], (OTHERS @ MATRICES[0].T + VECTORS).T, rtol=1e-13)
    np.testing.assert_array_equal(found["x"], OTHERS)
    assert not np.shares_memory(found["x"], OTHERS)
    last = tx.vmap(stencil, -1, -1)
    np.testing.assert_array_equal(last(VECTORS.T), tx.vmap(stencil)(VECTORS).T)
    assert "at once" in last.explain()


def test_numpy_is_called_equally_often_for_batches_of_any_length() -> None:
    calls = [0]
    batch, gradient = tx.vmap(energy, (None, 0)), tx.vmap(tx.grad(energy), (None, 0))

    def counted_of(f: Any, x: Any) -> int:
        def profile(frame: Any, event: str, arg: Any) -> None:
            calls[0] += event in ("call", "c_call")

        f(MATRICES[0], x)
        entry = f._cache.last.functions[0]
        calls[0] = 0
        sys.setprofile(profile)
        try:
            entry(len(x), MATRICES[0], x)
        finally:
            sys.setprofile(None)
        return calls[0]

    for f in (batch, gradient):
        assert 0 < counted_of(f, np.ones((1, 3))) == counted_of(f, np.ones((64, 3)))
        assert "at once" in f.explain()


class Spring:
    def __init__(self):
        self.stiffness = np.array([1.0, 2.0, 3.0])

    def energy(self, x):
        return np.sum(self.stiffness * x**2)


SPRING = Spring()


def batch_of_a_known_function(w, x):
    return np.sum(tx.vmap(energy, (None, 0))(w, x) ** 3)


def batch_of_a_closure(w, x):
    return np.sum(tx.vmap(lambda t: np.sum(np.sin(w @ t)))(x) ** 2)


def batch_of_a_gradient(w, x):
    return np.sum(tx.vmap(tx.grad(energy, wrt="x"), (None, 0))(w, x) ** 2)


def batch_one_by_one(w, x):
    return np.sum(tx.vmap(branching)(x + w[0]) ** 2) + np.sum(tx.vmap(written)(x) * x)


def batch_of_parts(w, x):
    parts = tx.vmap(pieces, 1)(x.T, w[:, :1] * x.T)
    return np.sum(parts["joined"] ** 2) + np.sum(parts["pair"][0])


def batch_along_another_axis(w, x):
    return np.sum(tx.vmap(stencil, 0, 1)(x) @ x) + np.sum(tx.vmap(settings, (0, None, None))(w, 0, 2.0)[0])


def batch_of_a_batch(w, x):
    def row(s):
        return tx.vmap(lambda t: w[0, 0] * s * t)(x[0])

    return np.sum(tx.vmap(row)(x[1]) ** 2)


def batch_that_is_written(w, x):
    y = tx.vmap(lambda t: t)(x)
    y[0] = w[0, 0]
    return np.sum(x * x) + np.sum(y * x) + np.sum(tx.vmap(SPRING.energy)(x))


INSIDE = (
    batch_of_a_known_function,
    batch_of_a_closure,
    batch_of_a_gradient,
    batch_one_by_one,
    batch_of_parts,
    batch_along_another_axis,
    batch_of_a_batch,
    batch_that_is_written,
)


@pytest.mark.parametrize("f", INSIDE, ids=lambda f: f.__name__)
def test_a_batch_inside_a_differentiated_function(f: Callable[..., Any]) -> None:
    w, x = MATRICES[0], VECTORS
    gradient = tx.grad(f, wrt=(0, 1), fallback="error")(w, x)
    rng = np.random.default_rng(1)
    dots = rng.normal(size=w.shape), rng.normal(size=x.shape)
    _, tangent = tx.jvp(f, (w, x), dots, fallback="error")
    h = 1e-6
    ends = [f(w + s * h * dots[0], x + s * h * dots[1]) for s in (1.0, -1.0)]
    assert tangent == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=1e-6)
    along = sum(np.sum(a * b) for a, b in zip(gradient, dots, strict=True))
    assert tangent == pytest.approx(along, rel=1e-12)


def test_derivatives_of_a_batch() -> None:
    batch = tx.vmap(energy, (None, 0))
    w, dots = MATRICES[0], OTHERS
    rows = np.stack([tx.grad(energy, wrt="x")(w, x) for x in VECTORS])
    _, tangent = tx.jvp(batch, (w, VECTORS), (None, dots), fallback="error")
    np.testing.assert_allclose(tangent, np.sum(rows * dots, axis=1), rtol=1e-12)
    _, pullback = tx.vjp(batch, w, VECTORS, fallback="error")
    np.testing.assert_allclose(pullback(NUMBERS)[1], NUMBERS[:, None] * rows, rtol=1e-12)
    whole = tx.jacobian(batch, wrt="x", fallback="error")(w, VECTORS)
    np.testing.assert_allclose(whole, np.eye(5)[:, :, None] * rows, atol=1e-14)
    found = tx.jacobian(batch, wrt="x", sparsity="auto", fallback="error")(w, VECTORS)
    assert found.nnz == 15
    np.testing.assert_allclose(found.toarray(), whole.reshape(5, 15), atol=1e-14)
    second = tx.grad(tx.grad(lambda c: np.sum(tx.vmap(lambda t: np.sin(c * t))(NUMBERS))), fallback="error")(0.3)
    assert second == pytest.approx(-np.sum(NUMBERS**2 * np.sin(0.3 * NUMBERS)), rel=1e-12)


def test_keyword_arguments() -> None:
    def scaled(x, shift=1.0, *, by=2.0):
        return x * by + shift

    np.testing.assert_allclose(tx.vmap(scaled)(VECTORS, by=NUMBERS), VECTORS * NUMBERS[:, None] + 1.0)
    np.testing.assert_allclose(tx.vmap(scaled, (0, None))(VECTORS, shift=3.0), VECTORS * 2.0 + 3.0)
    batch = tx.vmap(settings, (0, None, 0))
    np.testing.assert_allclose(batch(MATRICES, scale=NUMBERS, axis=1)[0], batch(MATRICES, 1, NUMBERS)[0])
    assert "at once" in batch.explain()
    with pytest.raises(tx.NotDifferentiable, match="the batch of argument 0 has 5 members, but that of `scale` has 4"):
        tx.vmap(settings, (0, None, 0))(MATRICES, 1, scale=NUMBERS[:4])
    with pytest.raises(tx.NotDifferentiable, match="entries of in_axes is 2, but that of arguments is 3"):
        tx.vmap(settings, (0, None))(MATRICES, 1, scale=NUMBERS)
    with pytest.raises(TypeError, match="missing a required argument: 'scale'"):
        tx.vmap(settings)(MATRICES, 1, size=NUMBERS)


def test_tensors_are_recorded() -> None:
    x = tx.tensor(VECTORS, requires_grad=True)
    batch = tx.vmap(branching)
    found = batch(x)
    (found * NUMBERS).sum().backward()
    np.testing.assert_allclose(found.detach().numpy(), [branching(v) for v in VECTORS])
    rows = [tx.grad(branching)(v) for v in VECTORS]
    np.testing.assert_allclose(x.grad, NUMBERS[:, None] * np.stack(rows))
    assert "Tensors are recorded" in batch.explain()
    with pytest.raises(tx.NotDifferentiable, match=r"argument 0 has shape \(\): it has no axis 0"):
        batch(tx.tensor(3.0))


def test_members_that_act_do_so_once_each(capsys: pytest.CaptureFixture[str]) -> None:
    gradient = tx.grad(lambda x: np.sum(tx.vmap(noisy)(x) ** 2), fallback="error")(VECTORS)
    np.testing.assert_allclose(gradient, 8.0 * VECTORS)
    assert capsys.readouterr().out == "one\n" * 5


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: np.sum(tx.vmap(energy)(x, x[:2])), "one batch has 5 members, but another one has 2"),
        (lambda x: np.sum(tx.vmap(lambda a, b: a * b)(x, x[:1])), "one batch has 5 members, but another one has 1"),
        (lambda x: np.sum(tx.vmap(energy)(x, 2.0)), "`x` is a float.*: .*only an array is a batch"),
        (lambda x: np.sum(tx.vmap(energy, (None, None))(x, x)), "test_vmap.*no argument is a batch"),
        (lambda x: np.sum(tx.vmap(energy, (0,))(x, x)), "entries of in_axes is 1, but that of arguments is 2"),
        (lambda x: np.sum(tx.vmap(pieces, 0, 1)(x, x)["dot"]), "out_axes=1 for a result of several parts"),
        (lambda x: np.sum(tx.vmap(counting)(x)), "`counting`.*writes into what is outside"),
    ],
)
def test_batches_that_have_no_derivative(f: Callable[..., Any], text: str) -> None:
    with pytest.raises(tx.NotDifferentiable, match=rf"(?s){text}.*Instead: "):
        tx.grad(f, fallback="error")(VECTORS)


def test_with_all_proofs_off() -> None:
    with pipeline.proofs(off="all"):
        agree(tx.vmap(energy, (None, 0))(MATRICES[0], VECTORS), loop(energy, (MATRICES[0], VECTORS), (None, 0)))


def residual(weights, points):
    """A network's second derivative, and what it should be: u'' + u = 0."""
    hidden, shift, out = weights

    def u(t):
        return np.sum(out * np.tanh(hidden * t + shift))

    second = tx.grad(tx.grad(u))
    total = 0.0
    for t in points:
        total += (second(t) + u(t)) ** 2
    return total


def test_the_gradient_of_a_physics_informed_residual() -> None:
    weights, points = tuple(RNG.normal(size=(3, 4))), np.linspace(0.1, 0.9, 3)
    gradient = tx.grad(residual, fallback="error")(weights, points)

    def plain(flat: Any) -> Any:
        hidden, shift, out = flat.reshape(3, 4)
        t = np.tanh(np.outer(points, hidden) + shift)
        return np.sum((((-2.0 * t * (1.0 - t * t) * hidden**2 + t) @ out) ** 2))

    np.testing.assert_allclose(np.concatenate(gradient), tx.grad(plain)(np.concatenate(weights)), rtol=1e-10)


@pytest.mark.parametrize(
    "turn",
    [
        lambda x: x.transpose(1, 0),
        lambda x: x.transpose(-1, 0),
        lambda x: x.transpose((1, 0)),
        lambda x: x.transpose(),
        lambda x: np.transpose(x, (1, 0)),
    ],
)
def test_axes_in_another_order_however_they_are_written(turn):
    batch = np.arange(12.0).reshape(2, 2, 3)
    np.testing.assert_array_equal(tx.vmap(turn)(batch), [turn(x) for x in batch])
    np.testing.assert_array_equal(tx.jacfwd(turn)(batch[0]), tx.jacrev(turn)(batch[0]))


def summed_elements(a):
    s = 0.0
    for i in range(3):
        s = s + a[i] * np.sin(a[i - 1])
    return s


def summed_in_a_helper(a):
    s = 0.0
    for i in range(3):
        s += _element(a, i)
    return s


def _element(a, i):
    return a[i] * np.cos(a[i - 1])


def of_views(a):
    rows = np.outer(a, a)
    s = 0.0
    for i in range(3):
        row = rows[i]
        row[0] = row[1] * row[2]
        s = s + row[0] * np.sin(row[1])
    return s * rows[:, 0]


def of_lists(a):
    kept = [a * 1.0, a * 2.0]
    for i in range(3):
        kept[i % 2][i] += a[i] * kept[1 - i % 2][i]
    return kept[0] + kept[1]


def of_a_dict(a):
    kept = {"x": a * a, "y": a + 1.0}
    kept["x"][0] = kept["y"][1] * 3.0
    s = 0.0
    for key in ("x", "y"):
        s = s + kept[key][0] * kept[key][2]
    return s


def of_a_closure(a):
    def product(i):
        return a[i] * a[i - 1]

    s = 0.0
    for i in range(3):
        s = s + product(i)
    return s * a


SHADOWED = [summed_elements, summed_in_a_helper, of_views, of_lists, of_a_dict, of_a_closure]


@pytest.mark.parametrize("f", SHADOWED)
@pytest.mark.parametrize("off", [(), "all"], ids=["proofs", "no proofs"])
def test_a_batch_through_a_pullback_that_keeps_shadows(f, off) -> None:
    rng = np.random.default_rng(3)
    with pipeline.proofs(off=off):
        value, pullback = tx.vjp(f, rng.normal(size=3), fallback="error")
        assert pullback.entry.notes["several"](()) is not None
        for count in (4, 2, 4):
            seeds = rng.normal(size=(count, *np.shape(value)))
            np.testing.assert_allclose(tx.vmap(pullback)(seeds), [pullback(seed) for seed in seeds], rtol=1e-12)


def test_a_gradient_by_a_real_number_is_real():
    def f(x, y):
        return np.abs(complex(x, y)) ** 2 + np.real(1j * (x + 1j * x * x))

    rows = tx.vmap(tx.grad(f, wrt=(0, 1)))(np.array([0.7, 1.0]), np.array([1.3, 2.0]))
    for row, expected in zip(rows, ([0.0, 0.0], [2.6, 4.0]), strict=True):
        assert row.dtype == float
        np.testing.assert_allclose(row, expected, atol=1e-15)
    slopes = tx.jacrev(lambda x: np.array([np.real(1j * (x + 1j * x * x)), x]))(0.7)
    np.testing.assert_allclose(slopes, [-1.4, 1.0])
