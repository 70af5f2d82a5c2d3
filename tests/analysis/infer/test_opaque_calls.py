"""Calls of code that has neither source nor rule: each runs once, in the forward sweep."""

from __future__ import annotations

import collections
import datetime
import functools
import io
import json
import logging
import random
import re
import time
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.errors import NoTemplate, NotResolved, UnsupportedSyntax
from tests.analysis.made import analysed, text

OUT = io.StringIO()
LOG = logging.getLogger("tangentx.tests")


def dropout(x, rng):
    y = np.tanh(x)
    for k in range(3):
        y = np.where(rng.random(x.shape) < 0.5, y * x, 0.0) + 0.1 * rng.standard_normal(len(x))
        if rng.random() < 0.5:
            y = y * rng.normal(size=3)
    return np.sum(y)


def walk(x, rng):
    s = 0.0
    for k in range(len(x)):
        if rng.random() < 0.5:
            s += x[k] * rng.gauss(0.0, 1.0)
        else:
            s += x[k] ** 2 * rng.choice([1.0, 2.0, 5.0])
        s += rng.randint(1, 4) * rng.uniform(0, 1) * x[k]
    return s


@pytest.mark.parametrize("off", [(), "all"])
@pytest.mark.parametrize(
    "fn, make",
    [
        (dropout, lambda: np.random.default_rng(1)),
        (dropout, lambda: np.random.RandomState(4)),
        (walk, lambda: random.Random(2)),
    ],
)
def test_a_generator_that_is_passed(fn: Any, make: Any, off: Any) -> None:
    x, mine, its = np.array([0.3, 0.4, 0.5]), make(), make()
    fn(x, its)
    with pipeline.proofs(off=off):
        found = tx.grad(fn)(x, mine)
        assert mine.random() == its.random()
        twice = tx.grad(lambda x, rng: np.sum(tx.grad(fn)(x, rng) ** 2))(x, make())
        _, tangent = tx.jvp(fn, (x, make()), (np.ones(3), None))
    step = 1e-6 * np.eye(3)
    wanted = [(fn(x + e, make()) - fn(x - e, make())) / 2e-6 for e in step]
    assert np.allclose(found, wanted, rtol=1e-6)
    assert np.isclose(tangent, np.sum(wanted))
    slopes = [(tx.grad(fn)(x + e, make()) - tx.grad(fn)(x - e, make())) / 2e-6 for e in step]
    assert np.allclose(twice, 2.0 * np.stack(slopes) @ found, rtol=1e-5)


def test_generators_of_modules() -> None:
    def f(x):
        return x * (random.random() + random.gauss(0.0, 1.0)) * np.random.normal() + x * np.random.rand(3)[1]

    def seeded(fn: Any) -> Any:
        random.seed(3)
        np.random.seed(3)
        return fn(2.0), random.random(), np.random.random()

    value, *state = seeded(f)
    slope, *after = seeded(tx.grad(f))
    assert np.isclose(slope, value / 2.0) and state == after


def shown(x):
    print("x is", x, file=OUT)
    LOG.warning("x %s", x)
    y = x * x
    print(f"{y:.2f}", json.dumps({"a": [1, 2]}), file=OUT)
    return y


def test_what_is_shown_is_shown_once(caplog: Any) -> None:
    for differentiated in (tx.grad(shown), lambda x: tx.vjp(shown, x)[1](1.0), tx.grad(tx.grad(shown))):
        OUT.truncate(OUT.seek(0))
        caplog.clear()
        assert differentiated(3.0) in (6.0, 2.0)
        assert OUT.getvalue() == 'x is 3.0\n9.00 {"a": [1, 2]}\n'
        assert len(caplog.records) == 1


def test_an_array_is_shown_as_it_is_at_that_point() -> None:
    def f(x):
        u = np.zeros(2)
        u[0] = x
        print(u, file=OUT)
        u[0] = x * x
        print(u, file=OUT)
        return x

    OUT.truncate(OUT.seek(0))
    assert tx.grad(f)(3.0) == 1.0
    assert OUT.getvalue() == "[3. 0.]\n[9. 0.]\n"


def test_clocks_and_texts() -> None:
    def f(x, word):
        begin = time.perf_counter()
        if re.match("a(.)", word) is None:
            x = x * x
        day = datetime.date(2020, 1, 2)
        age = time.perf_counter() - begin
        return x * len(word.strip().upper()) * int(day.day) + 0.0 * age * float(str(day.year))

    assert tx.grad(f)(3.0, " abc ") == 36.0
    assert tx.grad(f)(3.0, "abc") == 6.0


calls: list[int] = []


@functools.lru_cache
def table(n):
    calls.append(n)
    return float(n) if n < 2 else table(n - 1) + table(n - 2)


def test_a_cache_is_used() -> None:
    def f(x):
        return x * table(20) + x * table(20)

    calls.clear()
    table.cache_clear()
    assert tx.grad(f)(1.0) == 2.0 * 6765.0
    assert len(calls) == 21


def test_a_function_with_a_cache_of_what_is_differentiated() -> None:
    @functools.cache
    def squared(x):
        return x * x

    assert tx.grad(lambda x: squared(x) * squared(2.0))(3.0) == 24.0


def test_what_is_unknown_is_not_decided() -> None:
    def f(x, word):
        found = re.search("b", word)
        return x if isinstance(found, re.Match) else x * x

    assert "isinstance" in text(f, 2.0, "abc")
    assert tx.grad(f)(3.0, "abc") == 1.0 and tx.grad(f)(3.0, "ac") == 6.0


def mixed(x):
    return x * random.choice([1, 2.5])


def written(x, items):
    random.shuffle(items)
    return x * items[0]


def drawn(x, rng):
    return rng.standard_t(x)


def unknown(x, word):
    return x * re.match("a", word).end()


@pytest.mark.parametrize(
    "fn, args, error, hint",
    [
        (mixed, (), UnsupportedSyntax, "outside the differentiated function"),
        (written, ([1.0, 2.0],), UnsupportedSyntax, "outside the differentiated function"),
        (drawn, (np.random.default_rng(0),), NoTemplate, "mu \\+ sigma"),
        (unknown, ("a",), NotResolved, "float"),
    ],
)
def test_refused_with_a_way_out(fn: Any, args: Any, error: Any, hint: str) -> None:
    with pytest.raises(error, match=hint):
        analysed(fn, 2.0, *args)


def test_a_class_that_is_made_by_a_call_is_told_as_that() -> None:
    def f(x: Any) -> Any:
        Moments = collections.namedtuple("Moments", "mean spread")
        found = Moments(mean=np.mean(x), spread=np.std(x))
        return found.mean * found.spread

    with pytest.raises(NoTemplate, match="made while the program ran") as told:
        tx.grad(f, fallback="error")(np.ones(3))
    assert told.value.hint == "define the function or class at the top of the module"


def test_what_unknown_code_may_change_is_read_before_it() -> None:
    def f(x):
        rng = random.Random(1)
        rng.gauss(0.0, 1.0)
        return x * (float(rng.gauss_next) + (drawn := rng.gauss(0.0, 1.0))) * (x + drawn)

    step = 1e-6
    assert np.isclose(tx.grad(f)(2.0), (f(2.0 + step) - f(2.0 - step)) / (2.0 * step))
