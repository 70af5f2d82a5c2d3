"""Iterators are read when Python reads them, whatever is written, bound, appended or raised meanwhile; or refused."""

from __future__ import annotations

import functools
import itertools as it
import operator
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tangentx as tx

X = np.array([1.3, 0.7, 2.1, 0.4])
TANGENT = np.array([0.3, -0.7, 0.2, 0.9])


def map_kept(x):
    L = [x[0], x[1]]
    taken = map(lambda v: v * x[0], L)
    L.append(x[2])
    return sum(taken)


def pairs_written(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    k = 0
    for a, b in it.pairwise(L):
        k += 1
        if k < 3:
            L[k] = a * b
        s = s + a * b
    return s


def chain_grown(x):
    A = [x[0]]
    B = [x[1]]
    s = 0.0
    for v in it.chain(A, B):
        if len(B) < 3:
            B.append(v * x[2])
        s = s + v * v
    return s


def chain_written(x):
    A = [x[0]]
    B = [x[1]]
    s = 0.0
    for v in it.chain(A, B):
        B[0] = v * x[2]
        s = s + v * v
    return s


def generator_reads_late(x):
    k = x[0]
    g = (v * k for v in x)
    k = 2 * k
    return sum(g)


def generator_of_the_first(x):
    y = x * 1.0
    g = (v * v for v in y)
    y = y * 3.0
    return sum(g)


def generator_source_written(x):
    y = x * 1.0
    g = (v * v for v in y)
    y[1] = y[0] * 3.0
    return sum(g)


def slice_then_the_rest(x):
    taken = iter([x[0], x[1], x[2], x[3]])
    s = 0.0
    for v in it.islice(taken, 2):
        s = s + v * v
    for v in taken:
        s = s + 3.0 * v
    return s


def zip_takes_one_more(x):
    a = iter([x[0], x[1], x[2]])
    b = [1.0, 2.0]
    s = 0.0
    for u, v in zip(a, b):
        s = s + u * u * v
    for u in a:
        s = s + 10.0 * u
    return s


def zip_takes_no_more(x):
    b = iter([x[0], x[1], x[2]])
    a = [1.0, 2.0]
    s = 0.0
    for u, v in zip(a, b):
        s = s + u * v * v
    for u in b:
        s = s + 10.0 * u
    return s


def counted_written(x):
    s = 0.0
    y = x * 1.0
    for i, v in enumerate(y):
        y[3] = v * y[0]
        s = s + v
    return s


def counted_rebound(x):
    s = 0.0
    y = x * 1.0
    for i, v in enumerate(y):
        y = y * 2.0
        s = s + v * y[i]
    return s


def totals_written(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for v in it.accumulate(L, operator.mul):
        L[2] = v
        s = s + v * v
    return s


def totals_from_a_start(x):
    L = [x[0], x[1], x[2]]
    first = x[3] * x[3]
    s = 0.0
    for k, v in enumerate(it.accumulate(L, func=lambda a, b: a * b, initial=first)):
        first = 7.0
        L[2] = v
        s = s + v * v * (k + 1)
    return s + sum(it.accumulate([], initial=x[0])) + sum(it.accumulate(L, initial=None))


def starmap_written(x):
    L = [(x[0], x[1]), (x[2], x[3])]
    s = 0.0
    for v in it.starmap(lambda a, b: a * b, L):
        L[1] = (v, v)
        s = s + v * v
    return s


def slice_written(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for v in it.islice(L, 3):
        L[2] = v
        s = s + v * v
    return s


def dict_values_kept(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    vs = d.values()
    d["b"] = x[2] * x[1]
    for v in vs:
        s = s + v * v
    return s


def dict_items_written(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for k, v in d.items():
        d["b"] = v * x[2]
        s = s + v * v
    return s


def dict_keys_kept(x):
    d = {"a": x[0], "b": x[1]}
    ks = d.keys()
    d["c"] = x[2]
    s = 0.0
    for k in ks:
        s = s + d[k] ** 2
    return s


def reversed_kept(x):
    L = [x[0], x[1], x[2]]
    r = reversed(L)
    L[0] = x[3] * x[3]
    s = 0.0
    w = 1.0
    for v in r:
        s = s + w * v
        w = w * 2
    return s


def reversed_written(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    w = 1.0
    for v in reversed(L):
        L[0] = v * x[3]
        s = s + w * v
        w = w * 2
    return s


def zip_of_reversed(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for v in zip(L, reversed(L)):
        L[0] = v[0] * x[3]
        s = s + v[0] * v[1]
    return s


def filter_kept(x):
    L = [x[0], x[1], x[2]]
    taken = filter(lambda v: v > 1.0, L)
    L[1] = x[1] * 3
    return sum(taken)


def filter_in_a_loop(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for v in filter(lambda v: v > 1.0, L):
        L[1] = x[1] * 3
        s = s + v
    return s


def until_a_sentinel(x):
    state = [0]

    def nxt():
        state[0] += 1
        return x[state[0] - 1] * state[0] if state[0] < 4 else None

    s = 0.0
    for v in iter(nxt, None):
        s = s + v * v
    return s


def squares(x, n):
    for i in range(n):
        yield x[i] * x[i]


def generator_stepped(x):
    g = squares(x, 3)
    s = next(g)
    for v in g:
        s = s + v * 2.0
    return s


def generator_source_stepped(x):
    y = x * 1.0
    g = squares(y, 3)
    s = next(g)
    y[1] = s * x[2]
    for v in g:
        s = s + v * 2.0
    return s


def next_with_default(x):
    taken = iter([x[0], x[1]])
    a = next(taken)
    b = next(taken)
    c = next(taken, x[2])
    return a * b * c


def until_it_stops(x):
    taken = iter([x[0], x[1]])
    s = 0.0
    try:
        while True:
            s = s + next(taken) ** 2
    except StopIteration:
        s = s * x[2]
    return s


def list_grown(x):
    L = [x[0], x[1]]
    s = 0.0
    for v in L:
        if len(L) < 4:
            L.append(v * x[2])
        s = s + v * v
    return s


def two_of_one(x):
    s = 0.0
    a, b = it.tee([x[0], x[1], x[2]])
    for v in a:
        s = s + v * v
    for v in b:
        s = s * v
    return s


def while_it_holds(x):
    s = 0.0
    for v in it.takewhile(lambda v: v < 2.0, x):
        s = s + v * v
    return s


def once_it_fails(x):
    s = 0.0
    for v in it.dropwhile(lambda v: v < 2.0, x):
        s = s + v * v
    return s


def longest_of_two(x):
    s = 0.0
    for a, b in it.zip_longest([x[0], x[1], x[2]], [x[3]], fillvalue=2.0):
        s = s + a * b
    return s


def round_and_round(x):
    s = 0.0
    for i, v in zip(range(6), it.cycle([x[0], x[1]])):
        s = s + v * v * i
    return s


def counted_beside(x):
    s = 0.0
    for v, k in zip([x[0], x[1], x[2]], it.count(2)):
        s = s + v * k
    return s


def what_fails(x):
    s = 0.0
    for v in it.filterfalse(lambda v: v < 1.0, [x[0], x[1], x[2]]):
        s = s + v * v
    return s


def groups(x):
    s = 0.0
    for k, g in it.groupby([x[0], x[1], x[2]], key=lambda v: v > 1.0):
        s = s + sum(g) ** 2
    return s


def product_written(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for a, b in it.product(L, L):
        L[0] = a * b
        s = s + a * b
    return s


def repeated(x):
    s = 0.0
    for v in it.repeat(x[1], 3):
        s = s + v * v
    return s


def compressed(x):
    s = 0.0
    for v in it.compress([x[0], x[1], x[2]], [1, 0, 1]):
        s = s + v * v
    return s


def pairs_chosen_grown(x):
    L = [x[0], x[1]]
    s = 0.0
    for a, b in it.combinations(L, 2):
        L.append(a)
        s = s + a * b
    return s


def enumerate_kept(x):
    L = [x[0], x[1]]
    e = enumerate(L)
    L.append(x[2])
    s = 0.0
    for i, v in e:
        s = s + (i + 1) * v * v
    return s


def zip_kept(x):
    L = [x[0], x[1]]
    z = zip(L, [1.0, 2.0, 3.0])
    L.append(x[2])
    s = 0.0
    for i, v in z:
        s = s + i * v * i
    return s


def map_of_a_rebound_name(x):
    k = x[0]
    m = map(lambda v: v * k, [x[1], x[2]])
    k = k * 2
    return sum(m)


def map_of_a_written_list(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for v in map(lambda v: v * L[0], L):
        L[0] = x[3] * 2
        s = s + v
    return s


def zip_beside_a_writer(x):
    A = [x[0], x[1]]
    B = [x[2], x[3]]

    def g(v):
        B[1] = v * v
        return v

    s = 0.0
    for a, b in list(zip(it.chain(A, B), map(g, [x[3], x[2], x[1], x[0]]))):
        s = s + a * b
    return s


def zip_beside_a_grower(x):
    L = [x[0], x[1]]
    M = [x[2], x[3], x[0]]

    def g(v):
        L.append(v)
        return v

    return sum([a * b for a, b in list(zip(L, map(g, M)))])


def any_stops(x):
    log = [1.0]

    def g(v):
        log.append(v)
        return v * log[0]

    return 1.0 * any(v > 1.0 for v in it.starmap(lambda a: g(a), [(x[0],), (x[1],), (x[2],)])) + sum(log)


def pairs_of_calls(x):
    log = [x[0]]

    def g(v):
        log.append(v)
        return v

    s = 0.0
    for a, b in it.pairwise(map(g, [x[1], x[2], x[3]])):
        s = s + a * b * len(log)
    return s


def pairs_of_calls_of_a_written_list(x):
    log = [x[0]]

    def g(v):
        return v * log[0]

    s = 0.0
    for a, b in it.pairwise(map(g, [x[1], x[2], x[3]])):
        log[0] = log[0] * 2
        s = s + a * b
    return s


def starmap_of_a_written_list(x):
    k = [x[0]]
    s = 0.0
    for v in it.starmap(lambda a, b: a * b * k[0], [(x[1], x[2]), (x[2], x[3])]):
        k[0] = 2 * k[0]
        s = s + v
    return s


def totals_of_a_written_list(x):
    k = [x[0]]
    s = 0.0
    for v in it.accumulate([x[1], x[2], x[3]], lambda a, b: a * b * k[0]):
        k[0] = 2 * k[0]
        s = s + v
    return s


def totals_of_a_rebound_name(x):
    k = x[0]
    s = 0.0
    for v in it.accumulate([x[1], x[2], x[3]], lambda a, b: a * b * k):
        k = 2 * k
        s = s + v
    return s


def starmap_that_raises_later(x):
    def g(a):
        if a < 0.5:
            raise ValueError("small")
        return a * a

    s = 0.0
    for v in it.starmap(g, [(x[0],), (x[1],), (x[3],)]):
        s = s + v
        if s > 2:
            break
    return s


def extended_by_itself(x):
    L = [x[0]]
    L.extend(L[-1] * x[1] for _ in range(3))
    return sum(L)


def extended_by_its_length(x):
    L = [x[0], x[1]]
    L.extend(v * len(L) for v in [x[2], x[3]])
    return sum(L)


def updated_by_itself(x):
    d = {"a": x[0]}
    d.update((k, d["a"] * v) for k, v in [("a", x[1]), ("b", x[2])])
    return d["a"] + d["b"] ** 2


def start_is_read_first(x):
    y = [x[0]]

    def g(v):
        y[0] = y[0] * v
        return v

    return sum((g(v) for v in [x[1], x[2]]), y[0])


def start_is_read_first_of_a_name(x):
    k = x[0]

    def g(v):
        nonlocal k
        k = k * v
        return v

    return sum((g(v) for v in [x[1], x[2]]), k)


def key_between_items(x):
    log = [x[0]]

    def g(v):
        log[0] = log[0] * v
        return v

    def key(v):
        log[0] = log[0] + v
        return v

    m = max(map(g, [x[1], x[2], x[3]]), key=key)
    return m * log[0]


def reduced_between_items(x):
    log = [x[0]]

    def g(v):
        log[0] = log[0] * v
        return v

    return functools.reduce(lambda a, b: a * b + log[0], (g(v) for v in [x[1], x[2], x[3]]))


def zip_calls_once_more(x):
    log = [x[0]]

    def g(v):
        log[0] = log[0] * v
        return v

    s = 0.0
    for a, b in zip(map(g, [x[1], x[2], x[3]]), [1.0, 2.0]):
        s = s + a * b
    return s * log[0]


def zip_calls_no_more(x):
    log = [x[0]]

    def g(v):
        log[0] = log[0] * v
        return v

    s = 0.0
    for a, b in zip([1.0, 2.0], map(g, [x[1], x[2], x[3]])):
        s = s + a * b
    return s * log[0]


def zip_of_two_maps(x):
    log = [x[0]]

    def g(v):
        log[0] = log[0] * v
        return v

    s = 0.0
    for a, b in zip(map(g, [x[1], x[2]]), map(g, [x[3], x[0]])):
        s = s + a * b
        log[0] = log[0] + 1
    return s * log[0]


def grown_by_an_alias(x):
    L = [x[0], x[1], x[2]]
    K = L
    s = 0.0
    for v in L:
        if v > 2:
            K.append(v * 0.5)
        s = s + v
    return s


def shrunk_by_an_alias(x):
    L = [x[0], x[1], x[2]]
    K = L
    s = 0.0
    for v in L:
        K.pop()
        s = s + v
    return s


def shrunk_in_a_try(x):
    L = [x[0], x[1], x[2]]
    K = L
    s = 0.0
    try:
        for v in L:
            K.pop()
            s = s + v
    except IndexError:
        s = s * 100
    return s


def grown_by_an_alias_and_left(x):
    L = [x[0], x[1], x[2]]
    K = L
    s = 0.0
    for v in L:
        K.append(v)
        s = s + v
        if len(L) > 5:
            break
    return s


def grown_in_a_comprehension(x):
    L = [x[0], x[1], x[2]]
    K = L
    return sum([K.append(v) or v for v in L if len(K) < 5])


def rows_written(x):
    y = x * 1.0
    s = 0.0
    for row in y.reshape(2, 2):
        y[3] = row[0] * y[2]
        s = s + row[0] * row[1]
    return s


def part_of_a_list(x):
    y = [x[0], x[1], x[2]]
    s = 0.0
    for v in it.islice(y, 1, 3):
        y[2] = v * v
        s = s + v
    return s


def part_of_an_array(x):
    y = x * 1.0
    s = 0.0
    for v in it.islice(y, 1, 3):
        y[2] = v * v
        s = s + v
    return s


def chain_of_views(x):
    y = x * 1.0
    s = 0.0
    for v in it.chain(y[:2], y[2:]):
        y[3] = v * v
        s = s + v
    return s


def totals_by_an_alias(x):
    y = x * 1.0
    z = y
    s = 0.0
    for v in it.accumulate(y):
        z += v
        s = s + v
    return s


def pairs_written_by_out(x):
    y = x * 1.0
    s = 0.0
    for a, b in it.pairwise(y):
        np.multiply(y, 2.0, out=y)
        s = s + a * b
    return s


def pairs_written_by_a_function(x):
    y = x * 1.0

    def w(v):
        y[3] = v

    s = 0.0
    for a, b in it.pairwise(y):
        w(a * b)
        s = s + a * b
    return s


def dict_shrinks(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    s = 0.0
    for k, v in d.items():
        d.pop("c", None)
        s = s + v
    return s


def dict_values_written(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    s = 0.0
    for v in d.values():
        d["c"] = v * v
        s = s + v
    return s


def chain_of_dict_values(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    s = 0.0
    for v in it.chain(d.values(), [x[3]]):
        d["c"] = v * v
        s = s + v
    return s


def chain_of_a_dict(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    s = 0.0
    for v in it.chain([x[3]], d):
        d["c"] = x[3] * d["c"]
        if v in d:
            s = s + d[v]
    return s


def part_beside_a_list(x):
    A = [x[0], x[1]]
    B = [x[2], x[3]]
    s = 0.0
    for a, b in it.zip_longest(A, B) if False else zip(A, it.islice(B, 2)):
        B[1] = a * b
        s = s + a * b
    return s


def rows_chained_grown(x):
    A = [[x[0], x[1]], [x[2]]]
    s = 0.0
    for v in it.chain.from_iterable(A):
        A[1].append(v) if len(A[1]) < 2 else None
        s = s + v
    return s


def rows_chained_rebound(x):
    A = [[x[0], x[1]], [x[2]]]
    s = 0.0
    for v in it.chain.from_iterable(A):
        A[1] = [v, v]
        s = s + v
    return s


def rows_chained_written(x):
    A = [[x[0], x[1]], [x[2]]]
    B = A[1]
    s = 0.0
    for v in it.chain.from_iterable(A):
        B[0] = v * v
        s = s + v
    return s


def map_by_index(x):
    y = x * 1.0
    s = 0.0
    for v in map(lambda i: y[i] * y[3], range(4)):
        y = y * 2.0
        s = s + v
    return s


def filter_that_notes(x):
    log = []

    def g(v):
        log.append(v)
        return v > 1.0

    s = 0.0
    for v in filter(g, [x[0], x[1], x[2], x[3]]):
        s = s + v * len(log)
        if len(log) == 3:
            break
    return s


def unpacked(x):
    log = [1.0]

    def g(v):
        log[0] = log[0] + v
        return v

    a, b = (g(v) * log[0] for v in [x[0], x[1]])
    return a * b


def unpacked_too_many(x):
    log = [1.0]

    def g(v):
        log[0] = log[0] + v
        return v

    try:
        a, b = (g(v) * log[0] for v in [x[0], x[1], x[2], x[3]])
    except ValueError:
        a = b = x[1]
    return a * b * log[0]


def list_rebound(x):
    L = [x[0], x[1]]
    s = x[2]
    for v in L + L if False else L:
        L = [v, s]
        s = s * v
    return s


def array_scaled(x):
    s = 0.0
    y = x * 1.0
    for v in y:
        y *= 2.0
        s = s + v
    return s


def starmap_of_a_builtin(x):
    s = 0.0
    for v in it.starmap(pow, [(x[0], 2), (x[1], 3)]):
        s = s + v
    return s


def zip_with_a_copy(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for a, b in zip(L, L[1:]):
        L[1] = a * b
        s = s + a * b
    return s


def grown_in_a_sum(x):
    L = [x[0], x[1], x[2]]
    return sum((L.append(v * 0.5) or v) if len(L) < 5 else v for v in L)


def permutations_written(x):
    L = [x[0], x[1], x[2]]
    s = 0.0
    for v in it.permutations(L, 2):
        L[0] = 5.0
        s = s + v[0] * v[1]
    return s


def columns_written(x):
    rows = [[x[0], x[1]], [x[2], x[3]]]
    s = 0.0
    for a, b in zip(*rows):
        rows[1][1] = a * b
        s = s + a * b
    return s


def column_rebound(x):
    rows = [[x[0], x[1]], [x[2], x[3]]]
    s = 0.0
    for a, b in zip(*rows):
        rows[1] = [x[0], x[0]]
        s = s + a * b
    return s


def one_of_two_lists_grown(x):
    L = [x[0], x[1], x[2]]
    M = [x[3], x[3], x[3]]
    s = 0.0
    for v in L if x[0] > 1 else M:
        L.append(v) if len(L) < 5 else None
        s = s + v
    return s


GIVEN = [1.0, 2.0, 3.0]


def values_of(d):
    return d.values()


def view_from_a_function(x):
    d = {"a": x[0], "b": x[1]}
    t = values_of(d)
    d["b"] = x[2] * x[2]
    return sum(t)


def view_in_a_list(x):
    d = {"a": x[0], "b": x[1]}
    t = [d.values()]
    d["b"] = x[2] * x[2]
    return sum(t[0])


def views_taken_at_once(x):
    d = {"a": x[0], "b": x[1]}
    d["b"] = x[2] * x[2]
    taken = []
    taken.extend(d.values())
    d["a"] = 5.0
    return sum(d.values()) + max(d.values()) + len(list(d.items())) * sum(taken)


def outside_extended_by_what_looks_at_it(x):
    GIVEN[3:] = []

    def look(v):
        return v * len(GIVEN)

    GIVEN.extend(look(v) for v in x)
    return sum(GIVEN)


def negative_part(x):
    n = int(-3.0 * x[3])
    return sum(v * v for v in it.islice(x, n))


def zips_of_iterators(x):
    s = 0.0
    for (a, b), c in zip(it.pairwise(x), it.islice(x, 1, None)):
        s = s + a * b * c
    for a, b in zip(it.chain(x, x), it.accumulate(x)):
        s = s + a * b
    return s


def map_of_two_calls_once_more(x):
    log = [1.0]

    def noted(v):
        log[0] = log[0] * v
        return v

    s = 0.0
    for p in map(lambda a, b: a * b, map(noted, x), x[:2]):
        s = s + p * log[0]
    return s * log[0]


def rows_in_pairs(x):
    y = x * 1.0
    s = 0.0
    for a, b in it.pairwise(y.reshape(2, 2)):
        y[0] = 3.0
        s = s + a[0] * b[1]
        y[0] = 5.0 * x[0]
    return s


REFUSED = frozenset(
    """
    zip_beside_a_grower grown_by_an_alias shrunk_by_an_alias grown_by_an_alias_and_left grown_in_a_comprehension
    dict_shrinks one_of_two_lists_grown
    """.split()
)
"""Lists and dicts whose length another name changes: known only while the loop runs."""
ON_TENSORS = frozenset(
    """
    map_kept chain_grown generator_reads_late generator_of_the_first generator_source_written
    slice_then_the_rest zip_takes_one_more zip_takes_no_more dict_values_kept dict_keys_kept reversed_kept
    filter_kept until_a_sentinel generator_stepped generator_source_stepped next_with_default until_it_stops
    list_grown two_of_one while_it_holds once_it_fails longest_of_two round_and_round what_fails groups
    compressed enumerate_kept zip_kept map_of_a_rebound_name extended_by_itself extended_by_its_length
    updated_by_itself key_between_items reduced_between_items shrunk_in_a_try chain_of_a_dict part_beside_a_list
    rows_chained_grown rows_chained_rebound rows_chained_written unpacked_too_many grown_in_a_sum column_rebound
    view_from_a_function view_in_a_list outside_extended_by_what_looks_at_it
    """.split()
)
"""What is not compiled, and runs on Tensors where that is allowed."""


PROGRAMS = [
    f
    for f in list(globals().values())
    if isinstance(f, FunctionType) and f.__code__.co_varnames[: f.__code__.co_argcount] == ("x",)
]


def slope(f: Any, x: np.ndarray) -> np.ndarray:
    """The gradient by differences."""
    step = 1e-6 * np.eye(len(x))
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in step])


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fallback", ["error", "tensor"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_iterators_are_read_when_python_reads_them(f: Any, fallback: str) -> None:
    try:
        wanted = slope(f, X)
    except (RuntimeError, ValueError) as error:
        wanted = type(error)
    try:
        found = tx.grad(f, fallback=fallback)(X.copy())
        value, tangent = tx.jvp(f, (X.copy(),), (TANGENT,), fallback=fallback)
        curved = tx.hvp(f, (X.copy(),), (TANGENT,), fallback=fallback)
    except (tx.UnsupportedSyntax, tx.NoTemplate, tx.NotResolved):
        assert f.__name__ in REFUSED or (fallback == "error" and f.__name__ in ON_TENSORS)
        return
    except (RuntimeError, ValueError) as error:
        found = type(error)
    if isinstance(wanted, type):
        assert found is wanted
        return
    assert f.__name__ not in REFUSED
    assert fallback == "tensor" or f.__name__ not in ON_TENSORS
    assert np.allclose(found, wanted, atol=1e-6)
    assert np.allclose(value, f(X.copy())) and np.allclose(tangent, wanted @ TANGENT, atol=1e-6)
    nearby = (slope(f, X + 1e-3 * TANGENT) - slope(f, X - 1e-3 * TANGENT)) / 2e-3
    assert np.allclose(curved, nearby, atol=1e-3)


def scaled(v):
    return 2.0 * v


def noted(v):
    print(v)
    return v


@pytest.mark.parametrize(
    ("text", "quiet"),
    [
        ("scaled", True),
        ("noted", False),
        ("np.sin", True),
        ("print", False),
    ],
)
def test_what_is_called_between_items_is_looked_into(text: str, quiet: bool) -> None:
    from tests.frontend.made import defined

    f = defined(f"def f(x):\n    return max(map({text}, x), key={text})", scaled=scaled, noted=noted, np=np)
    if quiet:
        assert np.count_nonzero(tx.grad(f, fallback="error")(np.array([3.0, 1.0]))) == 1
    else:
        with pytest.raises(tx.TangentxError):
            tx.grad(f, fallback="error")(np.array([3.0, 1.0]))
