"""The table of conventions at kinks in the README, row by row; and kinks that are told apart there by no row."""

from __future__ import annotations

import itertools
import linecache
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx

_COUNT = itertools.count()
README = (Path(__file__).parents[2] / "README.md").read_text()
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in README.partition("## At kinks")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| `")
]
POINTS = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
WEIGHTS = np.array([1.0, 2.0, 3.0, 5.0, 7.0])


def made(text: str) -> Any:
    """A function of `x` of which the compiler finds the text."""
    text = f"def f(x):\n    return {text}\n"
    name = f"<kink {next(_COUNT)}>"
    space: dict[str, Any] = {"np": np, "math": math}
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), space)
    return space["f"]


def strictly(run: Any) -> Any:
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return run()


def of_tensor(f: Any, x: Any, v: Any = None) -> Any:
    """The gradient on Tensors, or that of its product with `v`."""
    t = tx.tensor(x, requires_grad=True)
    (first,) = tx.autograd.grad(f(t), t, create_graph=v is not None, allow_unused=True, materialize_grads=True)
    if v is None or not first.requires_grad:
        return np.asarray(first) if v is None else np.zeros(np.shape(x))
    (second,) = tx.autograd.grad((first * v).sum(), t, allow_unused=True, materialize_grads=True)
    return np.asarray(second)


def check(f: Any, x: Any, slope: Any, curvature: Any) -> None:
    v = np.cos(np.arange(np.size(x))).reshape(np.shape(x))[()]
    v = float(v) if isinstance(x, float) else v
    np.testing.assert_array_equal(strictly(lambda: tx.grad(f, fallback="error")(x)), slope)
    np.testing.assert_array_equal(strictly(lambda: of_tensor(f, x)), slope)
    if np.all(np.isfinite(slope)):
        dot = strictly(lambda: tx.jvp(f, (x,), (v,), fallback="error"))[1]
        np.testing.assert_allclose(dot, np.sum(v * np.asarray(slope)), rtol=1e-15)
    if curvature is not None:
        found = strictly(lambda: tx.hvp(f, (x,), (v,)))
        np.testing.assert_allclose(found, curvature * np.asarray(v), rtol=1e-15)
        np.testing.assert_allclose(strictly(lambda: of_tensor(f, x, v)), curvature * np.asarray(v), rtol=1e-15)


@pytest.mark.parametrize(("text", "at", "slope", "curvature"), ROWS, ids=[row[0] for row in ROWS])
def test_the_table(text: str, at: str, slope: str, curvature: str) -> None:
    world = {"np": np}
    check(made(text), eval(at, world), eval(slope, world), float(curvature) if curvature else None)


def test_there_is_a_table() -> None:
    assert len(ROWS) > 15


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.norm(x) ** 2",
        "np.linalg.norm(x) * 3.0 / (1.0 + np.linalg.norm(x))",
        "np.linalg.norm(x, 1)",
        "np.linalg.norm(x, ord=2)",
        "np.linalg.norm(x, np.inf)",
        "np.linalg.norm(x, -np.inf)",
        "np.linalg.norm(x, 0) + np.linalg.norm(x)",
        "np.linalg.norm(x, 0.5)",
        "np.linalg.norm(x, 1.5)",
        "np.linalg.norm(x, None)",
        "np.linalg.vector_norm(x)",
        "np.linalg.vector_norm(x, ord=3)",
        "np.sum(np.linalg.norm(np.outer(x, x), axis=1))",
        "np.sum(np.linalg.norm(np.outer(x, x), 1, axis=0, keepdims=True))",
        "np.linalg.norm(np.outer(x, x))",
        "np.linalg.norm(np.outer(x, x), 'fro')",
        "np.linalg.norm(np.outer(x, x), axis=(0, 1))",
        "np.sum(np.linalg.norm(x[:, None] - x[None, :], axis=1))",
        "np.hypot(x[0], x[1])",
        "np.sum(np.hypot(x, x))",
        "np.std(x)",
        "x.std()",
        "np.std(x, ddof=1)",
        "np.sum(np.std(np.outer(x, x), axis=0))",
        "np.std(x, where=np.array([True, True, False]))",
        "np.sum((x - np.mean(x)) / (1.0 + np.std(x)))",
        "np.sum(np.abs(x + 1j * x))",
        "np.abs(x[0] + 1j * x[1])",
        "np.sum(x ** 0.0)",
        "np.sum(np.power(x, 0.0))",
        "np.sum(x ** 0)",
        "np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))",
        "np.sum(np.where(x > 0.0, x ** 0.5, 0.0))",
    ],
)
def test_what_is_made_of_lengths_is_flat_at_zero(text: str) -> None:
    x = np.zeros(3)
    f = made(text)
    v = np.array([1.0, 2.0, -1.0])
    second = 2.0 * v if "** 2" in text else None if "(1.0 + np" in text and "mean" not in text else 0.0 * v
    np.testing.assert_array_equal(strictly(lambda: tx.grad(f, fallback="error")(x)), x)
    dot = strictly(lambda: tx.jvp(f, (x,), (v,), fallback="error"))[1]
    np.testing.assert_allclose(dot, 0.0, atol=1e-15)  # a mean of what moves is rounded
    np.testing.assert_array_equal(strictly(lambda: of_tensor(f, x)), x)
    found, on_tensors = strictly(lambda: tx.hvp(f, (x,), (v,))), strictly(lambda: of_tensor(f, x, v))
    assert np.all(np.isfinite(found)) and np.all(np.isfinite(on_tensors))
    if second is not None and "** 2" not in text:
        np.testing.assert_allclose(found, second, atol=1e-15)
        np.testing.assert_allclose(on_tensors, second, atol=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        "math.hypot(x[0], x[1])",
        "math.hypot(x[0], x[1], x[2])",
        "math.dist([x[0], x[1]], [x[1], x[2]])",
        "math.dist(x, [0.0, 0.0, 0.0])",
        "abs(complex(x[0], x[1]))",
        "math.pow(x[0], 0.0)",
        "math.sqrt(x[0] * x[0] + x[1] * x[1])",
    ],
)
def test_numbers_of_python_are_flat_at_zero(text: str) -> None:
    x, v = np.zeros(3), np.array([1.0, 2.0, -1.0])
    f = made(text)
    np.testing.assert_array_equal(strictly(lambda: tx.grad(f, fallback="error")(x)), x)
    assert strictly(lambda: tx.jvp(f, (x,), (v,), fallback="error"))[1] == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(np.sqrt(x) ** 2)",
        "np.sum(np.sqrt(x) * np.sqrt(x))",
        "np.sum(np.square(np.sqrt(x)))",
        "np.sum(np.sqrt(x) ** 3)",
        "np.sum(np.array([0.0, 0.0, 0.0]) * np.sqrt(x))",
        "np.sqrt(x[0]) ** 2 + math.sqrt(x[1]) ** 2",
        "np.sum((x ** 0.5) ** 2)",
        "np.sum(2.0 * np.sqrt(np.sqrt(x)) ** 4)",
        "np.sum(np.sqrt(x) * x)",
        "np.sum(np.cbrt(x) ** 3)",
        "np.sum(np.cbrt(x) * np.array([0.0, 0.0, 0.0]))",
    ],
)
def test_a_root_times_what_is_zero_is_flat(text: str) -> None:
    x, f = np.zeros(3), made(text)
    np.testing.assert_array_equal(strictly(lambda: tx.grad(f, fallback="error")(x)), x)
    assert strictly(lambda: tx.jvp(f, (x,), (np.array([1.0, 2.0, 3.0]),), fallback="error"))[1] == 0.0
    if "math" not in text:
        np.testing.assert_array_equal(strictly(lambda: of_tensor(f, x)), x)


@pytest.mark.parametrize("scale", [1e-200, 1e160])
def test_angles_of_very_large_and_small_numbers(scale: float) -> None:
    with np.errstate(under="ignore"):
        found = tx.grad(lambda y, x: np.arctan2(y, x), wrt=("y", "x"), fallback="error")(scale, 2.0 * scale)
        np.testing.assert_allclose(np.multiply(found, scale), [0.4, -0.2], rtol=1e-12)


@pytest.mark.parametrize("text", ["np.sum(np.sqrt(x))", "np.sum(x ** 0.5)", "math.sqrt(x[0])", "np.sum(np.cbrt(x))"])
def test_a_root_whose_argument_stays_stays(text: str) -> None:
    x, f = np.zeros(2), made(text)
    assert strictly(lambda: tx.jvp(f, (x,), (x,), fallback="error"))[1] == 0.0
    assert strictly(lambda: tx.linearize(f, x, fallback="error")[1](x)) == 0.0


CLIPS = [
    "np.clip(x, {}, {})",
    "np.clip(x, a_min={}, a_max={})",
    "np.clip(x, min={}, max={})",
    "np.clip(a=x, a_max={1}, a_min={0})",
    "x.clip({}, {})",
    "x.clip(min={}, max={})",
]
BOUNDS = [(0.0, 1.0), (None, 1.0), (0.0, None), (1.0, 0.0), (0.0, 0.0), (0, 1), (-math.inf, 1.0)]


@pytest.mark.share(3)
@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("bounds", BOUNDS)
def test_clip_is_the_minimum_of_a_maximum(clip: str, bounds: tuple[Any, Any]) -> None:
    low, high = (repr(b).replace("inf", "np.inf") for b in bounds)
    inner = "x" if bounds[0] is None else f"np.maximum(x, {low})"
    inner = inner if bounds[1] is None else f"np.minimum({inner}, {high})"
    weights = "np.array([1.0, 2.0, 3.0, 5.0, 7.0])"
    f, g = made(f"np.sum({weights} * {clip.format(low, high)} ** 2)"), made(f"np.sum({weights} * {inner} ** 2)")
    slope = tx.grad(g, fallback="error")(POINTS)
    np.testing.assert_array_equal(tx.grad(f, fallback="error")(POINTS), slope)
    np.testing.assert_array_equal(tx.jacfwd(f, fallback="error")(POINTS), slope)
    np.testing.assert_array_equal(of_tensor(f, POINTS), slope)
    np.testing.assert_array_equal(tx.hessian(f, fallback="error")(POINTS), tx.hessian(g)(POINTS))
    np.testing.assert_array_equal(of_tensor(f, POINTS, WEIGHTS), tx.hessian(g)(POINTS) @ WEIGHTS)


@pytest.mark.parametrize("bounds", BOUNDS[:5])
def test_clamp_is_the_minimum_of_a_maximum(bounds: tuple[Any, Any]) -> None:
    found = of_tensor(lambda t: (t.clamp(min=bounds[0], max=bounds[1]) * WEIGHTS).sum(), POINTS)
    np.testing.assert_array_equal(found, of_tensor(lambda t: (np.clip(t, *bounds) * WEIGHTS).sum(), POINTS))


TIED = np.array([1.0, 3.0, 3.0, 2.0, 3.0])
THIRDS = np.array([0.0, 1.0, 1.0, 0.0, 1.0]) / 3.0


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("np.max(x)", THIRDS),
        ("np.amax(x)", THIRDS),
        ("x.max()", THIRDS),
        ("np.maximum.reduce(x)", THIRDS),
        ("-np.min(-x)", THIRDS),
        ("np.sort(x)[2]", THIRDS),
        ("np.sort(x)[-1]", THIRDS),
        ("np.sort(x)[0]", np.eye(5)[0]),
        ("np.sum(np.sort(x) * np.arange(5.0))", np.array([0.0, 3.0, 3.0, 1.0, 3.0])),
        ("np.sum(np.sort(np.stack([x, x]), axis=0)[0])", np.ones(5)),
        ("np.sort(np.stack([x, x]), axis=None)[-1]", THIRDS),
        ("np.partition(x, 2)[2]", THIRDS),
        ("np.median(x)", THIRDS),
        ("np.quantile(x, 0.5)", THIRDS),
        ("np.percentile(x, 100.0)", THIRDS),
        ("np.ptp(x)", THIRDS - np.eye(5)[0]),
        ("np.maximum(x[1], x[2])", (np.eye(5)[1] + np.eye(5)[2]) / 2.0),
        ("np.fmin(x[1], x[2])", (np.eye(5)[1] + np.eye(5)[2]) / 2.0),
    ],
)
def test_equal_elements_share_equally(text: str, slope: Any) -> None:
    f = made(text)
    for found in (tx.grad(f, fallback="error")(TIED), tx.jacfwd(f, fallback="error")(TIED), of_tensor(f, TIED)):
        np.testing.assert_allclose(found, slope, rtol=1e-15)


@pytest.mark.parametrize("text", ["max(x[1], x[2], x[4])", "max([x[1], x[2], x[4]])", "-min(-x[1], -x[2], -x[4])"])
def test_equal_numbers_share_equally(text: str) -> None:
    f = made(text)
    np.testing.assert_allclose(tx.grad(f, fallback="error")(TIED), THIRDS, rtol=1e-15)
    np.testing.assert_allclose(tx.jacfwd(f, fallback="error")(TIED), THIRDS, rtol=1e-15)
