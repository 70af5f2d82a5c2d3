"""The forward sweep works on the user's own objects; what the reverse sweep changes, or reads later, is its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile.pipeline import proofs

X = np.array([2.0, 3.0])
LOG: list[Any] = []
TABLE: dict[str, Any] = {}
BUFFER = np.zeros(3)
WEIGHTS = np.array([1.0, 5.0, 7.0])
NESTED: dict[str, Any] = {}
RATE = 3.0


class Model:
    def __init__(self):
        self.items = []
        self.w = np.array([1.0, 5.0])


MODEL = Model()


@pytest.fixture(autouse=True)
def as_it_was():
    global RATE
    RATE = 3.0
    LOG.clear()
    TABLE.clear()
    BUFFER[:] = 0.0
    WEIGHTS[:] = [1.0, 5.0, 7.0]
    NESTED.clear()
    NESTED.update(w=np.array([1.0, 5.0]), k=[3.0, np.array([2.0, 1.0])])
    MODEL.items.clear()
    MODEL.w = np.array([1.0, 5.0])


def shown(x: Any) -> Any:
    """What stands somewhere, to be compared."""
    if isinstance(x, np.ndarray | np.generic):
        return x.tolist()
    if isinstance(x, list):
        return [shown(item) for item in x]
    return {key: shown(item) for key, item in x.items()} if isinstance(x, dict) else x


def state() -> Any:
    return shown([LOG, TABLE, BUFFER, WEIGHTS, MODEL.items, MODEL.w, NESTED])


def fails(x):
    LOG.append(1.0)
    BUFFER[0] = x[0]
    TABLE["a"] = x[0] * 2
    if x[1] > 0:
        raise ValueError("no")
    return BUFFER[0] * x[0]


def log_and_table(x):
    LOG.append(x[0] * x[1])
    TABLE["a"] = x * 1.0
    TABLE["a"][0] = TABLE["a"][0] * x[1]
    BUFFER[1] = x[0]
    BUFFER[1] = BUFFER[1] * x[1]
    return BUFFER[1] * x[0] + LOG[-1] + TABLE["a"][0] * x[0]


def escaped_then_written(x):
    u = x * 1.0
    TABLE["u"] = u
    u[0] = u[0] * u[1]
    u *= u
    return u[0] * x[0] + np.sum(u)


def escaped_into_an_object(x):
    u = 0.5 * x
    MODEL.items.append(u)
    for i in range(2):
        u[i] = u[i] * u[0]
    return np.sum(np.sin(u)) + MODEL.items[-1][1]


def written_in_a_loop(x):
    for i in range(3):
        WEIGHTS[i] = WEIGHTS[i] * x[0] + WEIGHTS[i - 1] * x[1]
    return np.sum(WEIGHTS * WEIGHTS)


def a_row_by_another_name(x):
    part = WEIGHTS[1:]
    part[0] = part[0] * x[0]
    part[1] = np.exp(0.1 * part[0]) * x[1]
    return WEIGHTS[1] * part[1]


def left_early(x):
    for i in range(5):
        LOG.append(x[0] * i)
        if i == 2:
            return LOG[-1] * LOG[1] * x[1]
    return x[0]


def step(s, x):
    LOG.append(s)
    s = s * 1.0
    s[0] = s[0] * x[0] * 0.3 + LOG[len(LOG) // 2][1]
    return s


def steps_are_kept(x):
    s = x * 1.0
    for _ in range(4):
        s = step(s, x)
    return np.sum(s) + np.sum(LOG[1]) * LOG[2][0]


def rebound_after_it_escaped(x):
    u = x * 1.0
    for i in range(3):
        TABLE[i] = u
        u[0] = u[0] * x[1]
        u = u * 0.5
    return np.sum(TABLE[0]) * u[0] + TABLE[2][0]


WRITING = [
    *(log_and_table, escaped_then_written, escaped_into_an_object, written_in_a_loop, a_row_by_another_name),
    *(left_early, steps_are_kept, rebound_after_it_escaped),
]


def from_the_first_state(call: Callable[[], Any]) -> Any:
    LOG.clear()
    TABLE.clear()
    MODEL.items.clear()
    BUFFER[:] = 0.0
    WEIGHTS[:] = [1.0, 5.0, 7.0]
    return call()


def slope(f: Callable[..., Any], i: int, x: Any = X, step: float = 1e-6) -> Any:
    e = step * np.eye(2)[i]
    high, low = (from_the_first_state(lambda at=at: f(at)) for at in (x + e, x - e))
    return (high - low) / (2 * step)


def unproved(f: Callable[..., Any]) -> Any:
    with proofs(off="all"):
        return tx.grad(f, fallback="error")(X)


def twice(f: Callable[..., Any]) -> Any:
    pull = tx.vjp(f, X)[1]
    pull(2.0)
    return pull(1.0)


WAYS: dict[str, Callable[..., Any]] = {
    "grad": lambda f: tx.grad(f, fallback="error")(X),
    "unproved": unproved,
    "vjp": twice,
    "jvp": lambda f: np.array([from_the_first_state(lambda e=e: tx.jvp(f, (X,), (e,))[1]) for e in np.eye(2)]),
    "jacobian": lambda f: tx.jacobian(f)(X),
}


@pytest.mark.parametrize("f", WRITING)
@pytest.mark.parametrize("way", WAYS)
def test_the_objects_are_left_as_the_program_leaves_them(f, way) -> None:
    expected = [slope(f, 0), slope(f, 1)]
    from_the_first_state(lambda: f(X))
    left = state()
    found = from_the_first_state(lambda: WAYS[way](f))
    assert found == pytest.approx(expected, rel=1e-6)
    assert state() == left


@pytest.mark.share(1)
@pytest.mark.parametrize("f", WRITING)
@pytest.mark.parametrize("way", ["hessian", "nested"])
def test_and_in_second_order(f, way) -> None:
    step = 1e-3 * np.eye(2)

    def gradient(x):
        return np.array([slope(f, 0, x, 1e-4), slope(f, 1, x, 1e-4)])

    expected = np.array([(gradient(X + e) - gradient(X - e)) / 2e-3 for e in step])
    inner = tx.grad(f)
    if way == "hessian":
        found = from_the_first_state(lambda: tx.hessian(f, fallback="error")(X))
    else:
        found = from_the_first_state(lambda: tx.grad(lambda x: np.sum(inner(x)), fallback="error")(X))
        expected = expected.sum(0)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("way", WAYS)
def test_an_exception_leaves_what_was_written_before_it(way) -> None:
    with pytest.raises(ValueError, match="no"):
        fails(X)
    left = state()
    with pytest.raises(ValueError, match="no"):
        from_the_first_state(lambda: WAYS[way](fails))
    assert state() == left and LOG


def test_what_is_stored_is_one_object_where_it_is_stored_twice() -> None:
    def f(x):
        u = x * 2.0
        MODEL.items.append(u)
        TABLE["u"] = u
        u[0] = u[0] * x[1]
        return u[0]

    tx.grad(f, fallback="error")(X)
    assert MODEL.items[0] is TABLE["u"] and TABLE["u"].tolist() == [12.0, 6.0]


def test_threads_lose_nothing() -> None:
    def f(x):
        LOG.append(1)
        return np.sum(x * x)

    gradient = tx.grad(f, fallback="error")
    gradient(X)
    threads = [threading.Thread(target=lambda: [gradient(X) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(LOG) == 201


def reads_a_global(x):
    return np.sum(np.sin(x * WEIGHTS[:2])) * RATE


def reads_nested(x):
    return np.sum(np.sin(x * NESTED["w"])) * NESTED["k"][0] + np.sum(x * x * NESTED["k"][1])


def helper(y):
    return np.sin(y * MODEL.w)


def reads_in_a_helper(x):
    for _ in range(3):
        x = helper(x)
    return np.sum(x)


def selects(x):
    return np.sum(np.where(WEIGHTS[:2] > 2.0, np.sin(x), x * x))


def keeps_what_it_stored(x):
    u = np.sin(x)
    TABLE["u"] = u
    LOG.append(u)
    return np.sum(u * u * x)


READING = [reads_a_global, reads_nested, reads_in_a_helper, selects, keeps_what_it_stored]


def all_changes() -> None:
    global RATE
    RATE = 100.0
    WEIGHTS[:] = 50.0
    NESTED["w"][:] = 40.0
    NESTED["k"][1][:] = 30.0
    NESTED["k"][0] = 20.0
    MODEL.w[:] = 10.0
    for u in (*LOG, *TABLE.values()):
        u[:] = 60.0


def on_a_node(f: Callable[..., Any]) -> Any:
    x = tx.tensor(X.copy(), requires_grad=True)
    y = tx.differentiate(f)(x)
    all_changes()
    y.backward()
    return x.grad


def later(make: Callable[..., Any], use: Callable[..., Any]) -> Callable[..., Any]:
    def run(f: Callable[..., Any]) -> Any:
        made = make(f)[1]
        all_changes()
        return use(made)

    return run


LATER = {
    "vjp": later(lambda f: tx.vjp(f, X), lambda pull: pull(1.0)),
    "method": later(lambda f: tx.differentiate(f).vjp(X), lambda pull: pull(1.0)),
    "batch": later(lambda f: tx.vjp(f, X), lambda pull: tx.vmap(pull)(np.array([1.0, 2.0]))[0]),
    "linearize": later(lambda f: tx.linearize(f, X), lambda along: np.array([along(e) for e in np.eye(2)])),
    "tangents": later(lambda f: tx.linearize(f, X), lambda along: tx.vmap(along)(np.eye(2))),
    "node": on_a_node,
}


@pytest.mark.parametrize("f", READING)
@pytest.mark.parametrize("way", LATER)
def test_what_was_read_outside_may_be_written_before_the_pullback_is_called(f, way) -> None:
    expected = tx.grad(f)(X)
    LOG.clear()
    assert np.asarray(LATER[way](f)) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_linear_function_that_runs_the_program_anew_says_that_something_has_changed() -> None:
    def f(x):
        return np.sum(np.sin(x * MODEL.w)) * eval("2.0")

    along = tx.linearize(f, X)[1]
    assert along(X) == pytest.approx(tx.jvp(f, (X,), (X,))[1])
    MODEL.w[:] = 10.0
    with pytest.raises(tx.NotDifferentiable, match=r"test_privatise\.py:\d+: .* `w` has changed since"):
        along(X)


def test_what_no_reverse_sweep_reads_is_not_copied() -> None:
    def f(x):
        return np.sum(x * x) + np.sum(WEIGHTS)

    source = tx.differentiate(f).vjp.source_for(X)
    assert "WEIGHTS" in source and "entry_cop" not in source.partition("def f_vjp")[2].replace("x = entry_copy(x)", "")


@pytest.mark.parametrize("f", READING)
def test_checked_mode_has_nothing_to_say_of_it(f) -> None:
    expected = tx.grad(f)(X)
    LOG.clear()
    with tx.checked():
        assert tx.vjp(f, X, fallback="error")[1](1.0) == pytest.approx(expected)
