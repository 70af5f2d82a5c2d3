"""Gradients without guards: where they may be had, what makes them miss, and that nobody notices when they do."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.kinds import Num
from tangentx.compile.gradients import is_loud
from tangentx.dispatch.plain_sweeps import PlainSweep, finite

POINTS = np.array([0.0, 0.3, 1.7])
GAPS = np.array([[np.nan, np.nan, 1.0]] * 3)
INNER: Any = tx.grad(lambda z: np.sqrt(z * z))


@dataclass
class Wave:
    """An argument that is an object."""

    u: Any
    speed: float


class Pair(NamedTuple):
    """An argument that is a named tuple."""

    first: Any
    second: Any


def rooted(x):
    return np.sum(np.sqrt(x * x))


def chosen(x):
    return np.sum(np.where(x > 0.5, np.sqrt(x - 0.5), 0.0))


def overwritten(x):
    y = np.sqrt(x)
    y[0] = 2.0
    return np.sum(y * y * y)


def numbers(a, n):
    total = 0.0
    for k in range(n):
        total = total + (a * k) ** 0.5 * a
    return total


def divided(a, b):
    s = a / b if b != 0.0 else a
    return s * (b * b) ** 0.5


def entry_of(gradient: Any) -> Any:
    return gradient._cache.last.functions[0]


def is_plain(gradient: Any, *args: Any) -> bool:
    text = gradient.source_for(*args)
    return "no guards" in text and "guarded(" not in text


def quiet(call: Callable[[], Any]) -> Any:
    """What a call gives, which neither warns nor is told by NumPy of anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


@pytest.mark.parametrize("fn", [rooted, overwritten], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("first", [POINTS + 0.2, POINTS], ids=["regular", "singular"])
def test_the_same_with_and_without(fn: Callable[..., Any], first: Any) -> None:
    plain, careful = tx.grad(fn, fallback="error"), tx.grad(fn, guarded=True)
    assert is_plain(plain, first) and not is_plain(careful, first)
    for x in (first, POINTS, POINTS + 0.2, POINTS):
        np.testing.assert_array_equal(quiet(lambda x=x: plain(x)), quiet(lambda x=x: careful(x)))


@pytest.mark.parametrize("args", [(0.0, 3), (0.7, 1), (0.7, 3)])
def test_of_numbers_alone(args: tuple[Any, ...]) -> None:
    plain, careful = tx.grad(numbers, fallback="error"), tx.grad(numbers, guarded=True)
    found, wanted = quiet(lambda: plain(*args)), quiet(lambda: careful(*args))
    assert found == wanted and type(found) is type(wanted)


def test_a_division_by_zero_of_the_plain_sweep_is_not_seen() -> None:
    gradient = tx.grad(divided, ("a", "b"), fallback="error")
    assert is_plain(gradient, 0.5, 0.25)
    assert gradient(0.5, 0.0) == tx.grad(divided, ("a", "b"), guarded=True)(0.5, 0.0) == (0.0, 0.0)


def test_warnings_are_those_of_the_text_with_guards() -> None:
    def f(x):
        return np.sum(np.sqrt(np.log(x)) * np.sqrt(x))

    x = np.array([0.0, 1.0, 2.0])
    met = []
    for careful in (False, True):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            tx.grad(f, guarded=careful, fallback="error")(x)
        met.append([str(w.message) for w in found])
    assert met[0] == met[1] and met[0]


def test_an_error_of_the_program_is_its_own_and_has_its_line() -> None:
    gradient = tx.grad(rooted, fallback="error")
    gradient(POINTS)
    with np.errstate(all="raise"):
        assert np.array_equal(gradient(POINTS), tx.grad(rooted, guarded=True)(POINTS))

    def fails(x):
        if x[0] > 0.0:
            raise ValueError("too large")
        return np.sum(np.sqrt(x * x))

    with pytest.raises(ValueError, match="too large"):
        tx.grad(fails, fallback="error")(POINTS + 1.0)


@pytest.mark.parametrize(
    ("imports", "type_", "loud"),
    [
        ("", float, False),
        ("import math\n", float, False),
        ("import math\nimport numpy as np\n", float, True),
        ("from scipy import special\n", float, True),
        ("from tangentx.arrays import clone\n", int, True),
        ("import math\n", np.float64, True),
    ],
)
def test_where_numpy_may_warn(imports: str, type_: type, loud: bool) -> None:
    assert is_loud(f"# written by tangentx\n{imports}\ndef f(x):\n    return x\n", [Num(type_)]) is loud


def test_a_refusal_may_be_that_of_a_guard() -> None:
    def told(x):
        _, vectors = np.linalg.eigh(np.diag(x))
        return np.sum(np.where(np.isnan(GAPS), 0.0, vectors * vectors * GAPS) * x)

    x = np.array([1.0, 1.0 + 4e-16, 2.0])  # the first two vectors may turn, and have the cotangent 0
    wanted = tx.grad(told, guarded=True, fallback="error")(x)
    found = tx.grad(told, fallback="error")
    np.testing.assert_array_equal(found(x), wanted)
    assert is_plain(found, x) and entry_of(found).misses


def test_two_misses_and_the_guards_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        return np.sum(np.sqrt(x * x) * x)

    gradient = tx.grad(f, fallback="error")
    gradient(POINTS + 1.0)
    sweep = entry_of(gradient)
    assert isinstance(sweep, PlainSweep) and sweep.misses == 0
    monkeypatch.setattr("tangentx.dispatch.plain_sweeps.LIMIT_MISSES", 2)
    for _ in range(3):
        gradient(POINTS)
    assert sweep.misses == 2
    monkeypatch.setattr(sweep, "plain", None)
    np.testing.assert_array_equal(gradient(POINTS + 1.0), tx.grad(f, guarded=True)(POINTS + 1.0))


# ---- programs that keep their guards ----

LOG: list[float] = []


@tx.primitive
def clipped(x):
    return x * 1.0


@clipped.adjoint
def clipped_adjoint(x, *, ans_bar):
    x_bar = np.fmin(np.fmax(ans_bar, -1.0), 1.0)
    return x_bar


def with_an_effect(x):
    LOG.append(1.0)
    return np.sum(np.sqrt(x * x))


def with_a_rule_of_its_own(x):
    return np.sum(np.sqrt(clipped(x) * x))


def with_a_derivative_inside(x):
    g = INNER(x[0])
    return np.sum(x) if g > -1.0 else 5.0 * np.sum(x)


def with_settings(x):
    with np.errstate(all="ignore"):
        return np.sum(np.sqrt(x * x))


def with_a_handler(x):
    y = np.sqrt(x * x)
    try:
        z = 1.0 / x.tolist()[0]
    except ZeroDivisionError:
        z = 0.0
    return np.sum(y) * z


def with_a_draw(x):
    return np.sum(np.sqrt(x * x)) * np.random.default_rng(0).random()


@pytest.mark.parametrize(
    "fn",
    [
        with_an_effect,
        with_a_rule_of_its_own,
        with_a_derivative_inside,
        with_settings,
        with_a_handler,
        with_a_draw,
    ],
    ids=lambda fn: fn.__name__,
)
def test_these_have_guards_from_the_start(fn: Callable[..., Any]) -> None:
    gradient = tx.grad(fn)
    gradient(POINTS + 0.1)
    assert "no guards" not in gradient.source
    assert not isinstance(entry_of(gradient), PlainSweep)


def test_an_effect_is_seen_once() -> None:
    LOG.clear()
    tx.grad(with_an_effect)(POINTS)
    assert LOG == [1.0]


@pytest.mark.parametrize("transform", [tx.jacobian, tx.hessian], ids=["jacobian", "hessian"])
def test_other_transforms_have_guards(transform: Any) -> None:
    derivative = transform(rooted)
    derivative(POINTS + 1.0)
    assert "no guards" not in derivative.source


def test_auxiliary_results_may_be_anything() -> None:
    def f(x):
        return np.sum(np.sqrt(x * x)), {"what": np.nan}

    found, extras = tx.grad(f, has_aux=True, fallback="error")(POINTS)
    np.testing.assert_array_equal(found, [0.0, 1.0, 1.0])
    assert np.isnan(extras["what"])


def test_guarded_is_true_or_false() -> None:
    with pytest.raises(tx.NotDifferentiable, match="guarded=1 is not an option"):
        tx.grad(rooted, guarded=1)  # type: ignore[arg-type]


def energy(w):
    return np.sum(np.sqrt(w.u * w.u)) * w.speed


def joint(pair):
    return np.sum(np.sqrt(pair.first * pair.second))


@pytest.mark.parametrize(("program", "of"), [(energy, Wave), (joint, Pair)])
def test_results_that_are_objects_are_looked_into(program: Any, of: Any) -> None:
    gradient, guarded = tx.grad(program), tx.grad(program, guarded=True)
    gradient(of(POINTS[1:], 2.0))
    entry = entry_of(gradient)
    for u, misses in ((POINTS[1:], 0), (POINTS, 1)):
        found, wanted = (_parts(g(of(u, 2.0))) for g in (gradient, guarded))
        assert all(np.allclose(a, b) for a, b in zip(found, wanted, strict=True))
        assert type(entry) is PlainSweep and entry.misses == misses


def _parts(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple) else list(vars(x).values())


# ---- what is finite ----


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(
    "of",
    [
        float, np.float64, np.float32, complex, np.complex128, lambda v: np.array([1.0, v]), lambda v: np.array(v),
        lambda v: np.array([[1.0, v], [-v, 0.0]]), lambda v: np.array([v, 1j]), lambda v: (1.0, [v]),
        lambda v: {"a": (None, np.array([v, 0.0]))}, lambda v: Wave(np.ones(2), v),
        lambda v: [Wave(np.array([v]), 1.0)], lambda v: Pair(1.0, v),
    ],
)  # fmt: skip
def test_what_is_not_finite_is_told(of: Callable[[float], Any], bad: float) -> None:
    with np.errstate(invalid="ignore"):
        assert not finite(of(bad))
    assert finite(of(2.0))


@pytest.mark.parametrize("x", [None, 3, True, np.arange(3), np.bool_(True), np.zeros(0), (), {}])
def test_what_is_no_float_is_finite(x: Any) -> None:
    assert finite(x)


@pytest.mark.parametrize("x", ["text", object(), np.array([None]), {1.0}])
def test_of_what_is_not_known_it_is_not_told(x: Any) -> None:
    assert not finite(x)
