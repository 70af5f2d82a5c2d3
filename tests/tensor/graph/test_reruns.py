"""What is checkpointed is run a second time: what acts on the outside, or changes it, is refused, in compiled code and
where a derivative runs on Tensors."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import tangentx as tx

X = np.array([2.0, 3.0])
LOG: list[float] = []
BUFFER = np.zeros(3)
TABLE = {"n": 0}
COUNT = 0
NUMBERS = iter(range(1000))
LOGGER = logging.getLogger(__name__)


class Model:
    def __init__(self):
        self.calls = 0
        self.seen = []

    def inner(self, x):
        self.seen.append(1)
        return np.sum(x * x)

    def step(self, x):
        return self.inner(x) * 2.0

    def count(self, x):
        self.calls += 1
        return np.sum(x * x)


MODEL = Model()


def helper(x):
    LOG.append(1.0)
    return 2.0 * x


def appends(x):
    LOG.append(x[0])
    return np.sum(x * x)


def writes(x):
    BUFFER[0] = 1.0 + BUFFER[0]
    return np.sum(x * x)


def counts(x):
    TABLE["n"] += 1
    return np.sum(x * x) * TABLE["n"]


def through_a_helper(x):
    return np.sum(helper(x) * x)


def binds_a_global(x):
    global COUNT
    COUNT += 1
    return np.sum(x * x)


def prints(x):
    print("again")
    return np.sum(x * x)


def logs(x):
    LOGGER.info("again")
    return np.sum(x * x)


def takes_the_next(x):
    return np.sum(x * x) * next(NUMBERS)


def through_a_method(x):
    return MODEL.step(x)


def counts_in_an_object(x):
    return MODEL.count(x)


def has_an_inner_function(x):
    def inner(y):
        LOG.append(1.0)
        return y * y

    return np.sum(inner(x))


ACTING = [
    *(appends, writes, counts, through_a_helper, binds_a_global, prints, logs, takes_the_next, through_a_method),
    *(counts_in_an_object, has_an_inner_function),
]


def state() -> object:
    return list(LOG), BUFFER.tolist(), dict(TABLE), COUNT, MODEL.calls, len(MODEL.seen)


@pytest.fixture(autouse=True)
def as_it_was():
    global COUNT, NUMBERS
    LOG.clear()
    BUFFER[:] = 0.0
    TABLE["n"] = COUNT = MODEL.calls = 0
    MODEL.seen.clear()
    NUMBERS = iter(range(1, 1000))


def on_tensors(f):
    x = tx.tensor(X, requires_grad=True)
    f(x).backward()
    return x.grad


WAYS = {
    "alone": lambda f: tx.grad(f, fallback="error")(X),
    "grad": lambda f: tx.grad(f)(X),
    "vjp": lambda f: tx.vjp(f, X)[1](1.0),
    "hessian": lambda f: tx.hessian(f)(X),
}
LOSING = {**WAYS, "tensors": on_tensors}


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("acting", ACTING)
def test_what_a_second_run_would_do_again_is_refused(acting, way, capsys) -> None:
    def f(x):
        return tx.checkpoint(acting, x) * x[0]

    with pytest.raises(tx.TangentxError, match=r"\.py:\d+: ") as raised:
        WAYS[way](f)
    assert raised.value.hint
    f(X)  # a plain call acts once, and is never refused
    assert capsys.readouterr().out.count("again") <= 2


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("way", LOSING)
def test_so_is_what_appends_to_a_list_of_its_caller(way) -> None:
    def f(x):
        log = []

        def acting(y):
            log.append(y[0] * 2.0)
            return np.sum(y * y)

        return tx.checkpoint(acting, x) * x[0] + sum(log)

    with pytest.raises(tx.TangentxError, match="is checkpointed and"):
        LOSING[way](f)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("way", LOSING)
def test_and_what_appends_to_one_that_it_is_given(way) -> None:
    def acting(y, log):
        log.append(y[0] * 2.0)
        return np.sum(y * y)

    def f(x):
        log = []
        return tx.checkpoint(acting, x, log) * x[0] + sum(log)

    with pytest.raises(tx.TangentxError, match="is checkpointed and"):
        LOSING[way](f)


def test_on_tensors_of_ones_own_it_is_done_twice() -> None:
    def f(x):
        return tx.checkpoint(writes, x) + tx.checkpoint(binds_a_global, x)

    assert on_tensors(f).tolist() == [8.0, 12.0] and BUFFER[0] == 2.0 and COUNT == 2


WEIGHTS = {"w": np.arange(2.0), "deep": [np.ones(2), (1.0, "name")]}


def only_reads(x):
    found = []
    for w in (WEIGHTS["w"], WEIGHTS["deep"][0]):
        found.append(np.sum(np.sin(x) * w))
    return sum(found) * WEIGHTS["deep"][1][0]


@pytest.mark.parametrize("way", ["grad", "vjp", "tensors"])
def test_what_only_reads_is_run_again(way) -> None:
    def f(x):
        return tx.checkpoint(only_reads, x) * x[0]

    def plain(x):
        return only_reads(x) * x[0]

    found = LOSING[way](f)
    step = 1e-6 * np.eye(2)
    expected = [(plain(X + e) - plain(X - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
