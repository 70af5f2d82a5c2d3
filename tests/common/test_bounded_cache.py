"""What is kept is bounded: what belongs to a function goes with it, and what is kept by kind has a limit in bytes."""

from __future__ import annotations

import gc
import linecache
import types
import weakref
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.common import source
from tangentx.common.bounded_cache import Bounded
from tangentx.common.pytrees import UNKNOWN, sample
from tangentx.dispatch import entries
from tangentx.dispatch.entries import LIMIT_FOUND, LIMIT_KINDS


def test_the_least_recently_used_go() -> None:
    table: Bounded[str, str] = Bounded(10)
    for key in "abc":
        table.put(key, key.upper(), size=3)
    assert table.get("a") == "A" and table.size() == 9
    table.put("d", "D", size=4)
    assert [table.get(key) for key in "abcd"] == ["A", None, "C", "D"]
    table.put("e", "E", size=50)
    assert len(table) == 1 and table.get("e") == "E"
    table.put("e", "E", size=2)
    assert table.size() == 2
    table.clear()
    assert len(table) == 0


# ---- what goes with a function ----
def gradient_of(n: int) -> Any:
    f = lambda x: np.sum(np.sin(x) * n)
    assert tx.grad(f)(np.zeros(2))[0] == n
    return f


def every_product_of(n: int) -> Any:
    f = lambda x: np.sin(x) * n
    x = np.zeros(2)
    tx.linearize(f, x)[1](x)
    tx.vjp(f, x)[1](x)
    tx.jvp(f, (x,), (x,))
    tx.jacobian(f)(x)
    tx.jacobian(f, sparsity="auto")(x)
    tx.vmap(f)(np.ones((3, 2)))
    return f


def second_order_of(n: int) -> Any:
    f = lambda x: np.sum(np.sin(x) * n)
    tx.hessian(f)(np.ones(2))
    tx.grad(lambda y: np.sum(tx.grad(f)(y)))(np.ones(2))
    return f


def on_tensors(n: int) -> Any:
    f = lambda x: np.sum(eval("x") * n)
    tx.grad(f)(np.ones(2))
    return f


def nodes_of(n: int) -> Any:
    f = tx.differentiate(lambda x: np.sum(np.sin(x) * n))
    t = tx.tensor(np.ones(2), requires_grad=True)
    (slope,) = tx.autograd.grad(f(t), [t], create_graph=True)
    tx.autograd.grad(slope.sum(), [t])
    return f.__wrapped__


def primitive_of(n: int) -> Any:
    f = tx.primitive(lambda x: np.sum(np.sin(x) * n))

    def rule(x, *, ans_bar):
        x_bar = ans_bar * np.cos(x) * n
        return x_bar

    f.adjoint(rule)
    assert tx.grad(lambda y: f(y) * 1.0)(np.zeros(2))[0] == n
    f(tx.tensor(np.ones(2), requires_grad=True)).backward()
    return f


def checkpoint_of(n: int) -> Any:
    inner = lambda x: np.sum(np.sin(x) * n)
    f = tx.checkpoint(inner)
    tx.grad(lambda y: f(y) * 1.0)(np.ones(2))
    return inner


def observed_of(n: int) -> Any:
    decoder = __import__("json").JSONDecoder()
    f = lambda x: x * decoder.decode("2.0") * n
    tx.grad(f)(1.0)
    return decoder


def class_of(n: int) -> Any:
    cls = type("Made", (), {"scale": float(n)})
    made = cls()
    made.x = np.ones(2)
    tx.grad(lambda made: np.sum(made.x * made.scale))(made)
    return cls


def batch_of_a_method(n: int) -> Any:
    owner = Owner(n)
    tx.grad(lambda x: np.sum(tx.vmap(owner.scaled)(x)))(np.ones((3, 2)))
    return owner


class Owner:
    def __init__(self, n: int) -> None:
        self.n = n

    def scaled(self, x):
        return np.sin(x) * self.n


def refused(n: int) -> Any:
    f = lambda x: (yield x * n)
    with pytest.raises(tx.TangentxError):
        tx.grad(f)(np.ones(2))
    return f


MAKERS = {
    f.__name__: f
    for f in (gradient_of, every_product_of, second_order_of, on_tensors, nodes_of, primitive_of, checkpoint_of)
    + (observed_of, class_of, batch_of_a_method, refused)
}


def held() -> tuple[int, int]:
    gc.collect()
    return sum(name.startswith("<tangentx ") for name in linecache.cache), len(gc.get_objects())


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_what_is_kept_of_a_function_goes_with_it(name: str) -> None:
    make = MAKERS[name]
    make(0)
    gone = [weakref.ref(make(n)) for n in range(2, 5)]
    before = held()
    assert [ref() for ref in gone] == [None] * 3
    for n in range(5, 11):
        make(n)
    after = held()
    assert after[0] <= before[0]
    assert after[1] <= before[1] + 20


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_kept_of_2000_functions(name: str) -> None:
    make = MAKERS[name]
    for n in range(20):
        make(n)
    texts, objects = held()
    for n in range(2000):
        make(n)
    assert held()[0] <= texts
    assert held()[1] <= objects + 500


# ---- what is kept by kind ----
def total(parts):
    return sum(np.sum(part * part) for part in parts.values())


def kinds(count: int) -> None:
    function = types.FunctionType(total.__code__, globals(), "total")
    gradient = tx.grad(function)
    for n in range(count):
        found = gradient({f"k{n}": np.array([1.0, n])})
        assert found[f"k{n}"].tolist() == [2.0, 2.0 * n]
    assert len(gradient._cache.entries) <= LIMIT_KINDS


def test_so_many_kinds_are_kept() -> None:
    kinds(LIMIT_KINDS + 1)


@pytest.mark.thorough
def test_2000_kinds_take_no_more_memory_than_64() -> None:
    kinds(LIMIT_KINDS * 2)
    texts, objects = held()
    kinds(2000)
    assert held()[0] <= texts and held()[1] <= objects + 500


def test_so_much_text_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = tx.grad(lambda parts: sum(np.sum(part * part) for part in parts.values()))
    gradient({"k": np.ones(2)})
    monkeypatch.setattr(entries, "LIMIT_TEXT", 3 * gradient._cache.size())
    for n in range(6):
        gradient({f"{n}": np.ones(2)})
        assert gradient._cache.size() <= entries.LIMIT_TEXT
    assert 1 < len(gradient._cache.entries) <= 3
    assert "characters of text" in gradient.explain()
    monkeypatch.setattr(entries, "LIMIT_TEXT", 10)
    assert gradient({"x": np.ones(1)})["x"].tolist() == [2.0]
    assert gradient({"x": np.ones(1)})["x"].tolist() == [2.0]
    assert len(gradient._cache.entries) == 1


def test_the_strings_of_a_key_count_as_text() -> None:
    assert entries.size_of(("a" * 100, ("b" * 50, 1, None), frozenset({"c"}))) >= 151


def scaled(a, b):
    return np.sum(np.sin(a) * b)


def test_2000_shapes_are_one_kind() -> None:
    gradient = tx.grad(scaled)
    for n in range(2000):
        rows, columns = n % 50 + 2, n // 50 + 2
        gradient(np.zeros((rows, columns)), np.ones(columns))
    assert len(gradient._cache.entries) == 1
    assert sum(len(table.met) for table in gradient._cache.hits._tables.values()) <= 64


def test_axes_of_length_one_do_not_fill_the_table_of_hits() -> None:
    gradient = tx.grad(lambda a: np.sum(a))
    for n in range(2 * LIMIT_FOUND):
        gradient(np.ones([1 if n >> k & 1 else 2 for k in range(10)]))
    assert sum(len(table.found) for table in gradient._cache.hits._tables.values()) <= LIMIT_FOUND


def test_the_sample_of_a_large_argument_is_not_kept() -> None:
    assert sample([0.5] * 20_000) is UNKNOWN
    assert sample("x" * 20_000) is UNKNOWN
    assert sample({"a": np.ones((2,) * 14)}) is UNKNOWN
    assert sample({"a": (1.0, np.ones((1000, 1)))})["a"][1].shape == (2, 1)
    gradient = tx.grad(lambda items: sum(items))
    assert gradient([0.5] * 20_000)[0] == 1.0
    assert gradient._cache.last.notes["samples"] == (UNKNOWN,)


def test_texts_of_users_files_are_kept_by_their_size() -> None:
    assert source._SURVEYS.size() <= source.LIMIT_TEXT or len(source._SURVEYS) == 1
