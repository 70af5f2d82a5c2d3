"""Batches of cotangents in one sweep: what as many sweeps would give, with each rule run once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.containers import tensors_in
from tangentx.tensor.graph import batched_engine
from tests.tensor.calls.test_apply import CASES, mapped
from tests.tensor.test_random_writes import on_tensors

ONE_BY_ONE = {
    *("unblock_", "at_quantile_", "from_quantile_"),
    *("median", "nanmedian", "quantile", "nanquantile", "percentile", "nanpercentile", "quantiles"),
    *("triangle_", "turned_", "lagged_", "delayed_", "advanced_", "lfilter", "solve_triangular", "expm", "sqrtm"),
    *("solve_sylvester", "solve_continuous_lyapunov", "solve_discrete_lyapunov", "logm", "fractional_matrix_power"),
    *("solve_banded", "band_transpose_", "band_product_", "band_outer_", "eliminated_"),
    *("as_reals_", "as_complex_"),
    *("neighbour_sums_", "neighbour_spread_", "neighbour_products_"),  # batches of both factors, of the weights alone
    *("conjugated_", "quaternion_product_", "form_as_matrix_", "matrix_as_form_"),
    *("upfirdn", "resample_poly", "sosfilt", "sosfiltfilt", "filtfilt"),
    *(
        "power_sum_",
        "power_rows_",
        "trailing_sum_",
        "trailing_spread_",
        "spline_weights_",
        "cosines_",
        "sines_",
        "first_type_",
        "fourth_type_",
        "dct",
        "idct",
        "dst",
        "idst",
        *("dctn", "idctn", "dstn", "idstn"),
        "triplet_product_",
        "triplet_outer_",
    ),
    *("solveh_banded", "cho_solve_banded", "polar", "orthogonal_procrustes", "expm_frechet"),
    *("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm"),
    "iqr",
}
"""Rules, by the names of their templates, that have no rule for batches: they are pulled back member by member."""


def leaf(data: Any, dtype: Any = float) -> Any:
    return tx.tensor(data, requires_grad=True, dtype=dtype)


def run(example: Any) -> tuple[list[Any], list[Any]]:
    """Leaves, behind an operation each so that they are kept as results too, and what the operation gives of them."""
    leaves: list[Any] = []

    def one(x: Any) -> Any:
        leaves.append(tx.tensor(x, requires_grad=True))
        return leaves[-1]

    given = [mapped(one, a) if i in example.wrt else a for i, a in enumerate(example.args)]
    outs = [t for t in tensors_in(call(example.fn, given, example.kwargs)) if t.requires_grad]
    return leaves, outs


def batch_of(outs: list[Any], count: int) -> list[Any]:
    random = np.random.default_rng(count)
    found = []
    for t in outs:
        g = random.normal(size=(count, *t.shape))
        if t.dtype.kind == "c":
            g = g + 1j * random.normal(size=g.shape)
        found.append(g.astype(t.dtype))
    return found


def one_after_the_other(outs: list[Any], leaves: list[Any], seeds: list[Any], **options: Any) -> list[Any]:
    rows = [
        tx.autograd.grad(outs, leaves, [g[k] for g in seeds], retain_graph=True, materialize_grads=True, **options)
        for k in range(len(seeds[0]))
    ]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def steps(function: Callable[[], Any]) -> int:
    """How many lines a call runs: whatever of NumPy's is called is called by one of them."""
    count = 0

    def trace(frame: FrameType, event: str, given: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()  # what it runs is somebody else's
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


@pytest.mark.share(7)
@pytest.mark.parametrize(("rule", "example"), CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_rule_runs_once_for_the_batch(rule: Any, example: Any, monkeypatch: Any) -> None:
    leaves, outs = run(example)
    if not outs:
        return
    narrow = example.fn in (np.float16, np.float32, np.complex64)
    slowly: list[Any] = []
    one_by_one = batched_engine.one_by_one
    monkeypatch.setattr(batched_engine, "one_by_one", lambda *args: slowly.append(args[0]) or one_by_one(*args))
    for create in (False, True):
        counts = []
        for size in (2, 2, 5):
            seeds = batch_of(outs, size)

            def sweep(seeds: Any = seeds, create: bool = create) -> Any:
                options = {"create_graph": create, "is_grads_batched": True, "materialize_grads": True}
                return tx.autograd.grad(outs, leaves, seeds, retain_graph=True, **options)

            found = sweep()
            counts.append(steps(sweep))
            for g, wanted, x in zip(found, one_after_the_other(outs, leaves, seeds), leaves, strict=True):
                assert (g.shape, g.dtype) == ((size, *x.shape), x.dtype)
                tolerance = 1e-2 if narrow else 1e-11
                np.testing.assert_allclose(g.detach().numpy(), wanted, rtol=tolerance, atol=tolerance)
        if (getattr(rule, "name", "") or rule.body.__name__) not in ONE_BY_ONE:
            slow = {str(node).lstrip("<").partition("Backward")[0].lower() for node in slowly}
            assert slow <= ONE_BY_ONE, "give it a rule in templates/batched/, or an entry above"
            assert slow or counts[1] == counts[2], counts


# ---- whole graphs ----


class Cube(tx.Function):
    """With a rule of the user's, for two results."""

    @staticmethod
    def forward(ctx: Any, x: Any, n: int) -> Any:
        ctx.save_for_backward(x)
        ctx.n = n
        return x**3 * n, x * 2.0

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        (x,) = ctx.saved_tensors
        if (first * first).sum() > 1e6:  # asks a number of each member
            return first * 0.0, None
        return 3.0 * x**2 * ctx.n * first + 2.0 * second, None


class Unneeded(tx.Function):
    """Gives no gradient for some cotangents."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, bar: Any) -> Any:
        return None if bar.sum() < 0.0 else bar


@tx.primitive
def doubled(x: Any) -> Any:
    return 2.0 * x


@doubled.adjoint
def doubled_adjoint(x: Any, *, ans_bar: Any) -> Any:
    x_bar = 2.0 * ans_bar
    return x_bar


@tx.primitive
def clipped(x: Any) -> Any:
    return x * 1.0


def by_norm(bar: Any) -> Any:
    return bar / max(1.0, float(np.sqrt(np.sum(bar * bar))))


@clipped.adjoint
def clipped_adjoint(x: Any, *, ans_bar: Any) -> Any:
    x_bar = by_norm(ans_bar)
    return x_bar


@tx.differentiate(fallback="error")
def compiled(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(a)):
        total = total + a[i] * np.sin(b[i])
    return total, a * b


@tx.differentiate(fallback="error")
def compiled_dict(x: Any) -> Any:
    return {"a": x * x, "b": np.sum(np.sin(x)), "n": 3}


def writes(x: Any) -> Any:
    u = x * 1.0
    rows = u.reshape(2, 2)
    rows[0] = rows[1] * 3.0
    u[np.array([0, 0, 3])] = x[:3] ** 2
    v = u.copy()
    v[v > 1.0] *= x[0]
    rows.T[1] += 1.0
    return u * x, v[::-1]


GRAPHS: dict[str, Callable[[Any], Any]] = {
    "one": lambda x: np.sin(x) * x,
    "network": lambda x: np.tanh(np.ones((3, 4)) @ x + 1.0) * np.arange(3.0),
    "numbers": lambda x: (x.sum(), x[0] * x[1]),
    "two results": lambda x: (x**2, (x * x).sum()),
    "a list": lambda x: np.stack([x[0], x[1] * x[2], 2.0 * x[3]]),
    "parts of a split": lambda x: np.split(np.exp(x), 2)[1] * x[0],
    "repeated": lambda x: x[np.array([0, 0, 3, 1, 0])] * 2.0,
    "complex": lambda x: (x * (1.0 + 2.0j)) ** 2,
    "real of complex": lambda x: np.real((x * 1j) ** 2 * (2.0 - 1.0j)),
    "the imaginary part written": lambda x: imaginary(x),
    "float32": lambda x: np.sin(x.astype(np.float32)) * x,
    "the input itself": lambda x: x,
    "a function of the user's": lambda x: Cube.apply(x, 3)[0] + Cube.apply(x, 2)[1],
    "one result of a function": lambda x: Cube.apply(x, 3)[1],
    "nothing for some": lambda x: Unneeded.apply(x),
    "a primitive": lambda x: doubled(x) * x,
    "a primitive that calls": lambda x: clipped(x * 3.0),
    "compiled": lambda x: compiled(x, x * 0.5),
    "compiled, in a dict": lambda x: (compiled_dict(x)["a"], compiled_dict(x)["b"] * x),
    "writes": writes,
    "a checkpoint": lambda x: tx.checkpoint(lambda v: np.sin(v) * v, x) * x,
    "unused": lambda x: tx.tensor([1.0, 2.0], requires_grad=True) * 2.0,
    "where": lambda x: np.where(x.detach() > 0.6, x**2, np.log(x - 0.6)),
}


def imaginary(x: Any) -> Any:
    z = x * (1.0 + 1.0j)
    z.imag[1:] = x[1:] * 5.0
    return z * z


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("create", [False, True], ids=("", "create"))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_batch_is_what_as_many_sweeps_give(name: str, create: bool) -> None:
    x = leaf([0.3, 1.5, -0.7, 0.9])
    outs = listed(GRAPHS[name](x))
    for count in (1, 4):
        seeds = batch_of(outs, count)
        wanted = one_after_the_other(outs, [x], seeds)[0]
        (found,) = tx.autograd.grad(
            outs, x, seeds, retain_graph=True, create_graph=create, is_grads_batched=True, materialize_grads=True
        )
        assert found.dtype == x.dtype
        np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(GRAPHS) - {"nothing for some", "a primitive that calls", "unused"}))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_batch_is_differentiated_again(name: str) -> None:
    """By the point and by the seeds, each as with one sweep for each member."""
    found = []
    for batched in (True, False):
        x = leaf([0.3, 1.5, 0.7, 0.9])
        outs = listed(GRAPHS[name](x))
        seeds = [tx.tensor(g, requires_grad=True) for g in batch_of(outs, 3)]
        options = {"create_graph": True, "materialize_grads": True}
        if batched:
            (bars,) = tx.autograd.grad(outs, x, seeds, is_grads_batched=True, **options)
        else:
            bars = np.stack([tx.autograd.grad(outs, x, [g[k] for g in seeds], **options)[0] for k in range(3)])
        weights = np.cos(np.arange(12.0)).reshape(3, 4)
        total = (bars * bars * weights).sum()
        second = tx.autograd.grad(total, [x, *seeds], materialize_grads=True)
        found.append([g.detach().numpy() for g in second])
    for mine, wanted in zip(*found, strict=True):
        tolerance = 1e-6 if name == "float32" else 1e-10
        np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance)


def test_random_programs_of_views_and_writes() -> None:
    for shape in ((4,), (2, 3), (2, 2, 2)):
        for seed in range(60):
            data = np.random.default_rng(seed).uniform(-1.0, 1.0, shape)
            x, made, _ = on_tensors(seed, data)
            outs = [t for t in made if t.requires_grad]
            if not outs:
                continue
            seeds = batch_of(outs, 3)
            wanted = one_after_the_other(outs, [x], seeds)[0]
            (found,) = tx.autograd.grad(outs, x, seeds, is_grads_batched=True, materialize_grads=True)
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-11, atol=1e-11, err_msg=f"{shape} {seed}")


# ---- what is shown of a sweep ----


def test_hooks_see_one_member_after_the_other() -> None:
    x = leaf([1.0, 2.0])
    y = x * 3.0
    z = np.sin(y)
    seen: list[Any] = []
    x.register_hook(lambda g: seen.append(("leaf", g.tolist())))
    y.register_hook(lambda g: g / np.sqrt((g * g).sum()))  # of each member the norm
    y.grad_fn.register_prehook(lambda bars: (bars[0] * 2.0,))
    y.grad_fn.register_hook(lambda given, bars: seen.append(("node", given[0].tolist(), bars[0].tolist())))
    z.register_hook(lambda g: seen.append(("result", g.tolist())))
    seeds = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    (found,) = tx.autograd.grad(z, x, seeds, retain_graph=True, is_grads_batched=True)
    batch, seen[:] = list(seen), []
    wanted = [tx.autograd.grad(z, x, g, retain_graph=True)[0].numpy() for g in seeds]
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-14)
    assert len(seen) == len(batch) == 9
    for kind in ("result", "node", "leaf"):
        of_kind = [[entry[1:] for entry in all_ if entry[0] == kind] for all_ in (batch, seen)]
        np.testing.assert_allclose(of_kind[0], of_kind[1], rtol=1e-14)


def test_hooks_are_recorded_with_create_graph() -> None:
    found = []
    for batched in (True, False):
        x = leaf([1.0, 2.0])
        y = x**3
        y.register_hook(lambda g, x=x: g * x)
        y.grad_fn.register_hook(lambda given, bars: (given[0] * given[0],))
        seeds = np.array([[1.0, 0.5], [2.0, 4.0]])
        if batched:
            (bars,) = tx.autograd.grad(y, x, seeds, create_graph=True, is_grads_batched=True)
        else:
            bars = np.stack([tx.autograd.grad(y, x, g, create_graph=True)[0] for g in seeds])
        found.append(tx.autograd.grad(bars.sum(), x)[0].numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-13)


def test_gradients_are_kept_nowhere_as_autograd_grad_keeps_none() -> None:
    x = leaf([1.0, 2.0])
    y = x * 3.0
    y.retain_grad()
    for options in ({}, {"is_grads_batched": True}):
        seeds = np.eye(2) if options else np.ones(2)
        tx.autograd.grad(np.sin(y), x, seeds, retain_graph=True, **options)
        assert y.grad is None and x.grad is None


def test_anomalies_are_found() -> None:
    x = leaf([0.0, 1.0])
    y = np.sqrt(x)
    seeds = np.array([[0.0, 1.0], [1.0, 0.0]])
    with (
        tx.autograd.detect_anomaly(),
        pytest.raises(
            tx.NotDifferentiable,
            match=r"test_batched_engine\.py:\d+: `SqrtBackward` gives the first cotangent that is not finite",
        ),
    ):
        tx.autograd.grad(y, x, seeds, retain_graph=True, is_grads_batched=True)
    with tx.autograd.detect_anomaly():
        tx.autograd.grad(y, x, seeds[:1], is_grads_batched=True)


def test_records_have_one_entry_for_a_node() -> None:
    x = leaf([1.0, 2.0])
    y = x * 2 + 3
    seeds = np.array([[3.0, 0.0], [0.0, 4.0]])
    with tx.autograd.record_gradients() as entries:
        tx.autograd.grad(y, x, seeds, is_grads_batched=True)
    assert [(name, *norms) for name, _, *norms in entries] == [("add", (5.0,), (5.0,)), ("mul", (10.0,), (5.0,))]


COMPILED: dict[str, Any] = {
    "of arrays": lambda x: compiled_arrays(x, x * 0.5),
    "of a number": lambda x: compiled_number(x[0], x),
    "a derivative": lambda x: tx.grad(lambda v: np.sum(np.sin(v) * v**2))(x),
}


@tx.differentiate(fallback="error")
def compiled_number(a: Any, b: Any) -> Any:
    return a * np.cos(b), a * a


@tx.differentiate(fallback="error")
def compiled_arrays(a: Any, b: Any) -> Any:
    return np.tanh(a) * b


def test_a_program_for_the_batch_that_is_wrong_is_not_used(monkeypatch: Any) -> None:
    x = leaf([0.3, 1.5, -0.7, 0.9])
    y = compiled_arrays(x, x * 0.5)
    node, wanted = y.grad_fn, np.diag(tx.grad(lambda v: np.sum(np.tanh(v) * v * 0.5))(np.array([0.3, 1.5, -0.7, 0.9])))
    assert node.pull_batch([np.eye(4)], 4) is not None
    for wrong in (lambda bars, count: [np.zeros((4, 4))] * 2, lambda bars, count: 1 / 0, lambda bars, count: None):
        node.at_once = wrong
        (found,) = tx.autograd.grad(y, x, np.eye(4), retain_graph=True, is_grads_batched=True)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", COMPILED)
def test_the_adjoint_of_a_compiled_function_runs_once_for_the_batch(name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(batched_engine, "one_by_one", None)
    x = leaf([0.3, 1.5, -0.7, 0.9])
    outs = [t for t in tensors_in(COMPILED[name](x)) if t.requires_grad]
    counts = []
    for count in (3, 3, 7):
        seeds = batch_of(outs, count)
        wanted = one_after_the_other(outs, [x], seeds)[0]
        (found,) = tx.autograd.grad(outs, x, seeds, retain_graph=True, is_grads_batched=True)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-12)
        counts.append(
            steps(lambda seeds=seeds: tx.autograd.grad(outs, x, seeds, retain_graph=True, is_grads_batched=True))
        )
    assert counts[1] == counts[2]


def test_a_checkpoint_is_run_once_more_for_the_batch() -> None:
    calls: list[int] = []

    def layer(x: Any) -> Any:
        calls.append(1)
        return np.tanh(x) * 2.0

    x = leaf([0.1, 0.2, 0.3])
    (found,) = tx.autograd.grad(tx.checkpoint(layer, x), x, np.eye(3), is_grads_batched=True)
    assert len(calls) == 2
    np.testing.assert_allclose(found.numpy(), np.diag(2.0 / np.cosh([0.1, 0.2, 0.3]) ** 2))


# ---- what is asked for, and refused ----


def test_only_what_is_asked_for_is_computed(monkeypatch: Any) -> None:
    """Of a product with a matrix the gradient by the matrix is the larger part."""
    shapes: list[Any] = []
    run = batched_engine._in_form
    monkeypatch.setattr(
        batched_engine, "_in_form", lambda bar, like, count: shapes.append(like[0]) or run(bar, like, count)
    )
    a, x = leaf(np.ones((3, 2))), leaf([1.0, 2.0])
    y = a @ x
    for wanted, needed in ((x, [(2,)]), ([x, a], [(3, 2), (2,)])):
        shapes.clear()
        found = tx.autograd.grad(y, wanted, np.eye(3), retain_graph=True, is_grads_batched=True)
        assert found[0].tolist() == [[1.0, 1.0]] * 3 and shapes[1:] == needed  # the first is that of the seed


def test_what_nothing_depends_on() -> None:
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0, 5.0])
    out = x * x
    for count in (0, 2):
        options: Any = {"retain_graph": True, "is_grads_batched": True}
        with pytest.raises(tx.NotDifferentiable, match="do not depend on input 1"):
            tx.autograd.grad(out, [x, y], np.ones((count, 2)), **options)
        first, second = tx.autograd.grad(out, [x, y], np.ones((count, 2)), allow_unused=True, **options)
        assert first.shape == (count, 2) and second is None
        first, second = tx.autograd.grad(out, [x, y], np.ones((count, 2)), materialize_grads=True, **options)
        assert (first.shape, second.shape) == ((count, 2), (count, 3)) and not second.numpy().any()


def test_a_batch_frees_the_graph() -> None:
    x = leaf([1.0, 2.0])
    y = np.sin(x) * x
    tx.autograd.grad(y, x, np.eye(2), retain_graph=True, is_grads_batched=True)
    tx.autograd.grad(y, x, np.eye(2), is_grads_batched=True)
    with pytest.raises(tx.NotDifferentiable, match="second time"):
        tx.autograd.grad(y, x, np.eye(2), is_grads_batched=True)


def test_a_value_that_was_overwritten_is_missed() -> None:
    x = leaf([1.0, 2.0])
    u = np.exp(x)
    y = u * 1.0
    shown = u.detach().numpy()
    y = np.sin(u)
    with tx.no_grad():
        u[0] = 3.0
    shown[1] = 0.0
    for options in ({}, {"is_grads_batched": True}):
        with pytest.raises(tx.NotDifferentiable, match="overwritten"):
            tx.autograd.grad(y, x, np.eye(2) if options else np.ones(2), retain_graph=True, **options)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([np.eye(2), np.ones((3, 2))], r"different lengths: \[2, 3\]"),
        ([np.eye(2), np.ones(2)], r"shape \(batch, \*\(2,\)\), not \(2,\)"),
        ([np.eye(2), None], "not that of None"),
        ([np.eye(2), np.eye(2) * 1j], "complex, but the Tensor is real"),
    ],
)
def test_batches_that_do_not_fit_are_refused(seeds: Any, message: str) -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(tx.NotDifferentiable, match=rf"(?s)test_batched_engine\.py:\d+: .*{message}"):
        tx.autograd.grad([x * 2.0, x * 3.0], x, seeds, is_grads_batched=True)


def test_a_row_of_numbers_is_a_batch_for_a_number_in_both_shapes() -> None:
    x = leaf([1.0, 2.0])
    for seeds in (np.array([1.0, 2.0]), np.array([[1.0], [2.0]])):
        assert tx.autograd.grad((x * x).sum(), x, seeds, is_grads_batched=True)[0].tolist() == [[2.0, 4.0], [4.0, 8.0]]


# ---- Jacobians ----


@pytest.mark.parametrize("create", [False, True])
def test_jacobians_at_once(create: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.tanh(np.outer(x, y)) * x[0]

    x, y = leaf([0.3, 0.7]), leaf([0.5, -0.2, 0.1])
    at_once = tx.autograd.jacobian(f, (x, y), create, vectorize=True)
    rows = tx.autograd.jacobian(f, (x, y), create)
    for found, wanted in zip(at_once, rows, strict=True):
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-13)
    if create:
        for found, wanted in zip(at_once, rows, strict=True):
            mine = tx.autograd.grad((found * found).sum(), [x, y], retain_graph=True)
            theirs = tx.autograd.grad((wanted * wanted).sum(), [x, y], retain_graph=True)
            np.testing.assert_allclose([*mine[0].numpy(), *mine[1].numpy()], [*theirs[0].numpy(), *theirs[1].numpy()])
    for result in (lambda x: x.sum(), lambda x: x[:0], lambda x: tx.tensor([1.0, 2.0]), lambda x: x[0] * 2.0):
        mine, theirs = (tx.autograd.jacobian(result, x, create, vectorize=way) for way in (True, False))
        assert mine.tolist() == theirs.tolist() and mine.shape == theirs.shape


@pytest.mark.parametrize("vectorize", [False, True])
def test_jacobians_of_several_results_and_of_complex_ones(vectorize: bool) -> None:
    x = leaf([0.3, 0.7])
    both = tx.autograd.jacobian(lambda x: (x * x, x.sum(), np.ones(2)), x, vectorize=vectorize)
    assert [j.tolist() for j in both] == [[[0.6, 0.0], [0.0, 1.4]], [1.0, 1.0], [[0.0, 0.0], [0.0, 0.0]]]
    turned = tx.autograd.jacobian(lambda x: x * (2.0 + 3.0j), x, vectorize=vectorize)
    np.testing.assert_allclose(turned.numpy(), np.eye(2) * (2.0 + 3.0j))
    z = leaf([0.3 + 1.0j], complex)
    np.testing.assert_allclose(tx.autograd.jacobian(lambda z: np.real(z * 1j), z, vectorize=vectorize).numpy(), [[1j]])
    with pytest.raises(tx.NotDifferentiable, match="complex result of a complex input"):
        tx.autograd.jacobian(lambda z: z * z, z, vectorize=vectorize)
