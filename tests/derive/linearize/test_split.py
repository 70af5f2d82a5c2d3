"""Forward mode in two functions: the second one repeats what moves, with what the first one kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.batch.varying import Unbatchable
from tangentx.compile import pipeline
from tangentx.derive.linearize import split
from tests.programs import PROGRAMS as PROGRAMS_OF_ALL_KINDS
from tests.programs.case import Program
from tests.programs.reference import tangents

SCALE = np.array([0.5, 2.0, 1.5])


def wave(x, n):
    for _ in range(n):
        x = np.sin(x) * x + SCALE
    return x


def smoothed(u, c):
    for i in range(1, len(u) - 1):
        u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1]) ** 2
    return u


def step(x, b, w):
    change = 0.0
    for i in range(len(x)):
        new = (1.0 - w) * x[i] + w * np.cos(b[i] * x[i - 1])
        change = max(change, abs(new - x[i]))
        x[i] = new
    return change


def settled(b, w):
    x = np.zeros_like(b)
    for _ in range(50):
        if step(x, b, w) < 1e-3:
            break
    return np.mean(x)


def early(x, y):
    total = 0.0
    for k in range(6):
        z = x * y + k
        if k == 1:
            continue
        total += np.sin(z) * y
        if total > 1.5:
            return total * x
        y = y + total
    return total


def before_and_after(x):
    kept = 0
    total = 0.0
    for i in range(3):
        total += x[kept] * x[kept]
        kept = i * 1
    return total + x[kept]


def twice_named(x):
    total = 0.0
    for i in range(2):
        j = i + 1
        total += x[j] ** 2
    for i in range(1):
        total += x[j] * x[i]
    return total


def halved(n, x):
    return x if n < 1 else x * np.sin(halved(n - 1, x))


def in_lists(x, names):
    parts = {"one": x * x, "two": [np.exp(x), 3.0], "size": len(x)}
    rows = []
    for k in range(parts["size"]):
        rows.append(parts["two"][0] * x[k] * names["scale"])
    while len(rows) > 1:
        rows[0] = rows[0] * rows.pop()
    return {"all": np.stack([rows[0], parts["one"], np.ones(3)]), "n": len(rows), "pair": (rows[0][1], SCALE)}


def recast(x):
    w = x.copy()
    w *= 2.0
    y = w.reshape(1, 3)
    w[0] = y[0, 1] * w[2]
    return y * w, w.T


VECTOR = np.array([0.3, -0.7, 1.1])
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "wave": (wave, (VECTOR, 3)),
    "smoothed": (smoothed, (np.arange(5.0) ** 2, 0.1)),
    "settled": (settled, (VECTOR, 0.4)),
    "early": (early, (0.4, 0.9)),
    "before_and_after": (before_and_after, (VECTOR,)),
    "twice_named": (twice_named, (VECTOR,)),
    "halved": (halved, (2, 0.8)),
    "in_lists": (in_lists, (VECTOR, {"scale": 1.5})),
    "recast": (recast, (VECTOR,)),
    "of_a_gradient": (tx.grad(lambda x: np.sum(np.tanh(x) * x)), (VECTOR,)),
    "of_nothing": (lambda x: np.ones(2), (1.0,)),
    "linear": (lambda x: 2.0 * x, (1.0,)),
}


def leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [leaf for k in sorted(tree) for leaf in leaves(tree[k])]
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, tuple | list) else [tree]


def moved(values: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)

    def one(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: one(v) for k, v in x.items()}
        return None if isinstance(x, int) else rng.normal(size=x.shape) if isinstance(x, np.ndarray) else rng.normal()

    return tuple(map(one, values))


@pytest.mark.parametrize(
    ("name", "off"), [*((name, ()) for name in PROGRAMS), *((name, "all") for name in ("early", "halved", "recast"))]
)
def test_the_linear_function_gives_what_forward_mode_gives(name: str, off: Any) -> None:
    f, values = PROGRAMS[name]
    with pipeline.proofs(off=off):
        value, linear = tx.linearize(f, *values, fallback="error")
        for seed in (1, 2, 1):
            tangents = moved(values, seed)
            wanted = tx.jvp(f, values, tangents, fallback="error")
            for mine, its in zip(leaves((value, linear(*tangents))), leaves(wanted), strict=True):
                assert type(mine) is type(its)
                if its is not None:
                    np.testing.assert_allclose(mine, its, rtol=1e-13, atol=1e-15)
    assert ("_linear(saved" in linear.source) is (off == ())


@pytest.mark.parametrize("program", PROGRAMS_OF_ALL_KINDS[7::40], ids=lambda program: program.name)
def test_programs_of_all_kinds(program: Program) -> None:
    _, wanted = tx.jvp(program.fn, program.args(), tangents(program))
    _, linear = tx.linearize(program.fn, *program.args(), fallback="error")
    for _ in range(2):
        assert linear(*tangents(program)) == pytest.approx(wanted, rel=1e-12)


def test_nothing_of_the_primal_is_run_again() -> None:
    _, linear = tx.linearize(lambda x: np.sum(np.sin(np.exp(x) * x)), VECTOR)
    text = linear.source
    assert "np.exp" in text[: text.index("_linear(")] and "np.cos" in text[: text.index("_linear(")]
    assert not any(name in text[text.index("_linear(") :] for name in ("np.exp", "np.cos", "np.sin"))


def test_what_is_kept_is_nobody_elses() -> None:
    x = np.arange(5.0) ** 2
    value, linear = tx.linearize(smoothed, x, 0.1)
    first = linear(np.ones(5), 1.0)
    x[:], value[:] = 7.0, 8.0
    again = linear(np.ones(5), 1.0)
    np.testing.assert_array_equal(again, first)
    first[:] = 9.0
    np.testing.assert_array_equal(linear(np.ones(5), 1.0), again)


def test_data_from_outside_is_that_of_the_point(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = np.array([2.0, 3.0])

    def weighed(x):
        return scale * x * x

    _, linear = tx.linearize(weighed, np.ones(2))
    scale[:] = 0.0
    np.testing.assert_array_equal(linear(np.ones(2)), [4.0, 6.0])


def test_effects_happen_once() -> None:
    seen: list[float] = []

    def noted(x):
        seen.append(1.0)
        return x * x * len(seen)

    value, linear = tx.linearize(noted, 3.0, fallback="error")
    assert (value, linear(1.0), linear(2.0), seen) == (9.0, 6.0, 12.0, [1.0])
    with (
        pipeline.proofs(off="split"),
        pytest.raises(tx.NotDifferentiable, match=r"test_split.*linear function of `noted` would run it anew"),
    ):
        tx.linearize(noted, 3.0, fallback="error")


def test_where_it_cannot_be_split_the_program_is_run_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any) -> Any:
        raise Unbatchable("of the test", args[1].source.span)

    monkeypatch.setattr(split, "split", refused)
    x = np.array([1.0, 2.0])

    def cubed(x):
        return x**3

    value, linear = tx.linearize(cubed, x)
    x[:] = 0.0
    np.testing.assert_array_equal(linear(np.ones(2)), [3.0, 12.0])
    assert "run anew for each tangent: of the test (test_split.py:" in linear.source
