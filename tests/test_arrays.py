"""The support module of generated code: copies, zeros, shapes and safe arithmetic."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import math
import random
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tangentx as tx
from tangentx import arrays as ar
from tangentx.errors import NotDifferentiable, SharedMemory

PLACES, STEPS = st.integers(0, 12), st.sampled_from((1, 2, 3, -1, -2))
Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A dataclass whose `__init__` must not run again."""

    w: Any
    name: str = "n"

    def __post_init__(self) -> None:
        if isinstance(self.w, str):
            raise AssertionError


@dataclasses.dataclass(slots=True)
class Slotted:
    """A dataclass without a `__dict__`."""

    w: Any


class Model:
    """A plain object that can be called."""

    def __init__(self, w: Any) -> None:
        self.w = w
        self.steps = 3

    def __call__(self, x: Any) -> Any:
        return self.w * x


def views() -> list[Any]:
    base = np.arange(48.0).reshape(4, 3, 4)
    return [
        base,
        base.T,
        base[::-1, :, ::2],
        base[1, 2, ::-1],
        np.asfortranarray(base),
        base.transpose(1, 2, 0),
        base[:0],
        base[1:2, 1:2, 1:2],
        np.array(1.5),
    ]


@pytest.mark.parametrize("a", views())
def test_zeros_as_keeps_shape_dtype_and_strides(a: Any) -> None:
    zeros = ar.zeros_as(a)
    assert (zeros.shape, zeros.dtype) == (a.shape, a.dtype)
    assert all(n <= 1 or s == t for n, s, t in zip(a.shape, zeros.strides, a.strides, strict=True)) or not a.size
    assert not zeros.any()
    zeros[...] = 1.0
    assert zeros.sum() == a.size
    assert not np.shares_memory(zeros, a)


def test_zeros_as_of_repeated_elements_is_plain() -> None:
    zeros = ar.zeros_as(np.broadcast_to(np.ones(3), (2, 3)))
    zeros[0, 0] = 1.0
    assert zeros.sum() == 1.0


@pytest.mark.parametrize("a", views())
def test_entry_copy_keeps_the_layout(a: Any) -> None:
    copied = ar.entry_copy(a)
    np.testing.assert_array_equal(copied, a)
    assert all(n <= 1 or s == t for n, s, t in zip(a.shape, copied.strides, a.strides, strict=True)) or not a.size
    assert not np.shares_memory(copied, a)


def test_entry_copies_keep_overlaps_identities_and_flags() -> None:
    base = np.arange(12.0)
    head, tail, fixed = base[:8], base[4:], base[::2]
    fixed.flags.writeable = False
    shared = [head]
    a, b, c, d, e = ar.entry_copies(head, {"t": tail}, fixed, shared, (shared, head, "s", None, math.sin))
    a[5] = -1.0
    assert b["t"][1] == -1.0
    assert not c.flags.writeable
    a[4] = -2.0
    assert c[2] == -2.0
    assert d[0] is a
    assert e[0] is d
    assert e[2:] == ("s", None, math.sin)
    assert base.tolist() == list(range(12))


def test_entry_copies_of_separate_arrays_stay_separate() -> None:
    a, b = ar.entry_copies(np.zeros(3)[::2], np.ones(3)[::-1])
    a[...] = 5.0
    assert b.tolist() == [1.0, 1.0, 1.0]


def test_entry_copy_of_a_broadcast_view_keeps_it_one() -> None:
    a = np.broadcast_to(np.arange(3.0), (2, 3))
    copied = ar.entry_copy(a)
    np.testing.assert_array_equal(copied, a)
    assert copied.strides == a.strides
    assert not copied.flags.writeable


def test_entry_copy_of_objects() -> None:
    loop: list[Any] = [1.0]
    loop.append(loop)
    copied = ar.entry_copy(loop)
    assert copied[1] is copied
    assert copied is not loop
    for x in (Frozen(np.ones(2)), Slotted(np.ones(2)), Model(np.ones(2)), Pair(np.ones(2), 2)):
        y = ar.entry_copy(x)
        assert type(y) is type(x)
        w, v = (x[0], y[0]) if isinstance(x, tuple) else (x.w, y.w)
        assert v is not w
        assert v.tolist() == [1.0, 1.0]
    for opaque in (math.sin, Model, functools.partial(max, 1), np.random.default_rng(0)):
        assert ar.entry_copy(opaque) is opaque


def test_entry_copy_keeps_the_class_of_containers() -> None:
    table = collections.defaultdict(list, {"a": [np.ones(2)]})
    copied = ar.entry_copy(table)
    assert type(copied) is collections.defaultdict
    assert copied["a"] is not table["a"]
    assert copied["b"] == []


def test_zero_by_structure() -> None:
    x = [1.0, 2, True, None, "s", (1j, np.float32(2.0)), {"k": np.ones(2), "i": np.arange(2)}]
    assert repr(ar.zero(x)) == repr([0.0, 0.0, 0.0, 0.0, None, [0j, np.float32(0.0)], {"k": np.zeros(2), "i": None}])
    assert ar.zero(Pair(1.0, 2)) == [0.0, 0.0]
    assert ar.zero(Frozen(1.0)) == {"w": 0.0, "name": None}
    assert ar.zero(Slotted(1.0)) == {"w": 0.0}
    assert ar.zero(Model(1.0)) == {"w": 0.0, "steps": 0.0}
    assert ar.zero(math.sin) is None


def test_finish_gives_the_structure_of_the_primal() -> None:
    bar = [np.float64(1.5), [np.float64(2.0), None], {"k": None}]
    primal = (1.0, Pair(np.float32(3.0), "s"), {"k": np.ones((2, 2), np.float32)})
    done = ar.finish(bar, primal)
    assert type(done) is tuple
    assert type(done[0]) is float
    assert type(done[1]) is Pair
    assert type(done[1].first) is np.float32
    assert done[1].second is None
    assert done[2]["k"].dtype == np.float32
    frozen = ar.finish({"w": np.ones(2)}, Frozen(np.zeros(2)))
    assert type(frozen) is Frozen
    assert frozen.w.tolist() == [1.0, 1.0]
    assert frozen.name is None
    assert ar.finish(None, 2.5) == 0.0
    assert ar.finish(None, 3) is None
    assert type(ar.finish(1.0, 2.0 + 1j)) is complex
    assert type(ar.finish(1.0 + 2j, 2.0)) is float


def test_finished_arrays_are_fresh_and_dense() -> None:
    bar = np.broadcast_to(1.0, (2, 3))
    done = ar.finish(bar, np.zeros((3, 2)).T)
    assert done.flags.f_contiguous
    assert done.flags.writeable
    same = np.ones(3)
    assert not np.shares_memory(ar.finish(same, same), same)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_unbroadcast_gives_shape_and_dtype(dtype: Any) -> None:
    like = np.ones((1, 3), dtype)
    for t in (np.ones((2, 2, 3)), np.ones((2, 3)) * (1 + 2j), 2.0, np.ones(3, np.float32), np.ones((5, 1, 1))):
        got = ar.unbroadcast(t, like)
        assert got.shape == like.shape
        assert got.dtype == like.dtype


def test_unbroadcast_of_numbers() -> None:
    assert ar.unbroadcast(np.ones((2, 3)), 1.0) == 6.0
    assert np.ndim(ar.unbroadcast(np.array(2.0), 1.0)) == 0
    assert not isinstance(ar.unbroadcast(np.array(2.0), 1.0), np.ndarray)
    assert ar.unbroadcast(2.0 + 3j, 1.0) == 2.0
    assert ar.unbroadcast(2.0 + 3j, 1j) == 2.0 + 3j
    assert type(ar.unbroadcast(2.0, np.float32(1.0))) is np.float32
    assert ar.unbroadcast(2.0, np.ones((2, 0))).shape == (2, 0)
    assert ar.unbroadcast(np.ones((0, 3)), np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    assert isinstance(ar.unbroadcast(2.0, np.array(1.0)), np.ndarray)


def test_spread_is_fresh_and_writable() -> None:
    t = np.ones(3)
    got = ar.spread(t, np.zeros((2, 3)))
    got[0, 0] = 5.0
    assert got[1, 0] == 1.0
    ar.spread(t, np.zeros(3))[0] = 7.0
    assert t[0] == 1.0


def test_winners_are_the_last_of_repeated_indices() -> None:
    a_bar = np.array([1.0, 2.0, 3.0])
    assert ar.winners(a_bar, np.array([0, 2, 0, 2])).tolist() == [0.0, 0.0, 1.0, 3.0]
    assert ar.winners(a_bar, np.array([-3, 0])).tolist() == [0.0, 1.0]
    assert ar.winners(a_bar, slice(0, 2)).tolist() == [1.0, 2.0]
    assert ar.winners(a_bar, 1) == 2.0
    grid = np.arange(6.0).reshape(2, 3)
    assert ar.winners(grid, (slice(None), [1, 1])).tolist() == [[0.0, 1.0], [0.0, 4.0]]
    inf = np.array([np.inf, 1.0])
    assert ar.winners(inf, [0, 0]).tolist() == [0.0, np.inf]


@given(st.lists(st.integers(-4, 3), min_size=1, max_size=8))
def test_winners_agree_with_assignment(key: list[int]) -> None:
    values = np.arange(1.0, len(key) + 1.0)
    a = np.zeros(4)
    a[key] = values
    kept = ar.winners(np.ones(4), key)
    assert np.sum(kept * values) == a.sum()


def test_a_product_of_vectors_in_a_plane_is_refused() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.ones(3)
    np.testing.assert_array_equal(ar.cross3(a, b), np.cross(a, b))
    for one, other in ((a[:, :2], b), (a, b[:2]), (a.T, b), (1.0, b)):
        with pytest.raises(NotDifferentiable, match="vectors with two components"):
            ar.cross3(one, other)


def test_slopes_that_meet_are_added_without_a_warning() -> None:
    both = np.array([np.inf, 1.0]), np.array([np.inf, 2.0])
    with np.errstate(all="raise"):
        assert np.isnan(ar.quiet_difference(*both)[0]) and ar.quiet_difference(*both)[1] == -1.0
        assert ar.quiet_sum(*both).tolist() == [np.inf, 3.0]
        assert np.isnan(ar.quiet_sum(np.float64(np.inf), np.float64(-np.inf)))


@pytest.mark.parametrize("bad", [np.inf, np.nan, 1e300, 0.0])
def test_guarded_by_numbers_of_every_size(bad: float) -> None:
    numbers = [0.0, -0.0, 1.5, 1e-300, 1e300, np.inf, np.nan, np.float64(0.5), np.float32(2.0)]
    for p in numbers:
        with np.errstate(over="ignore", invalid="ignore"):
            found, plain = ar.guarded(p, np.array([bad, 1.0])), p * np.array([bad, 1.0])
        of_zero = (bad == 0.0 or p == 0.0) and np.isnan(plain[0])
        assert np.array_equal(found[0], 0.0 if of_zero else plain[0], equal_nan=True)


def test_guarded_is_zero_where_the_cotangent_is() -> None:
    assert ar.guarded(np.inf, 0.0) == 0.0
    assert ar.guarded(np.array([np.inf, np.nan, 2.0]), np.array([0.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 6.0]
    assert math.isinf(ar.guarded(np.inf, 1.0))
    assert ar.guarded(np.ones(2, np.float32), np.ones(2, np.float32)).dtype == np.float32


@pytest.mark.filterwarnings("error")
def test_ratio_neither_raises_nor_warns() -> None:
    assert ar.ratio(1.0, 0.0) == math.inf
    assert math.isnan(ar.ratio(0.0, 0.0))
    assert type(ar.ratio(1.0, 0.0)) is float
    assert type(ar.ratio(1.0, 2.0)) is float
    assert ar.ratio(np.array([1.0, 0.0]), 0.0)[0] == np.inf
    assert ar.ratio_or_zero(1.0, 0.0) == 0.0
    assert ar.log_or_zero(0.0) == 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0.0, 0.0, 0.0), (0.0, 1.0, 1.0), (0.0, 2, 0.0), (0.0, 2.5, 0.0), (-2.0, 3, 12.0), (-2.0, 2.0, -4.0),
        (0.0, 0, 0.0), (-2.0, -1, -0.25), (0.0, 0.5, math.inf), (np.float64(0.0), 0, 0.0), (2.0, 0, 0.0),
    ],
)  # fmt: skip
def test_power_slope_at_hard_points(x: Any, y: Any, expected: float) -> None:
    assert ar.power_slope(x, y) == expected
    assert ar.power_slope(np.full(2, x), y).tolist() == [expected] * 2


@pytest.mark.parametrize("x", [1.3, -1.3, 1e-3, 5e3, -5e3, 1e300, 1e-300, math.inf, math.nan])
@pytest.mark.parametrize("y", [1, 3, -2, 31, 40, 0.5, 1.5, -0.5, math.inf])
def test_the_quick_ways_of_power_slope_agree_with_the_general_one(x: float, y: Any) -> None:
    slow = ar.power_slope(np.full(2, x), np.full(2, y))
    quick = ar.power_slope(np.float64(x), y)
    assert type(quick) is np.float64
    np.testing.assert_allclose([quick, *ar.power_slope(np.full(2, x), y)], [slow[0]] * 3, rtol=4e-16)


def test_a_power_that_is_complex_is_refused() -> None:
    with pytest.raises(NotDifferentiable, match="complex number"):
        ar.power_slope(-2.0, 0.5)


def test_power_slope_keeps_float32() -> None:
    assert ar.power_slope(np.ones(2, np.float32), 2).dtype == np.float32


def test_shares() -> None:
    a = np.zeros(10)
    assert ar.shares(a, a[3:])
    assert not ar.shares(a[:3], a[3:])
    assert not ar.shares(a[::2], a[1::2])
    assert not ar.shares(a, 1.0)


def test_clone_sees_no_later_write() -> None:
    a = np.zeros((2, 3)).T
    kept = ar.clone(a)
    a[...] = 1.0
    assert not kept.any()
    assert kept.strides == a.strides
    assert ar.clone(2.0) == 2.0


def test_ties_and_shares() -> None:
    a = np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])
    assert ar.ties(a, a.max(axis=1), 1).tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    assert ar.ties(a.astype(np.float32), np.float32(3.0)).dtype == np.float32
    assert ar.ties(np.array([1.0, np.nan]), np.nan).tolist() == [0.0, 1.0]
    assert ar.share(1.0, 1.0, 1.0) == 0.5
    assert ar.share(np.nan, 1.0, 1.0) == 0.0
    assert ar.share(np.nan, 1.0, np.nan) == 1.0
    assert ar.give_best(1.0, 2.0, (2.0, 2.0, 1.0, 1, None)) == (0.5, 0.5, 0.0, 0.0, None)


def test_unreduce_of_empty_and_scalar() -> None:
    assert ar.unreduce(np.zeros(3), (0, 3), 0).shape == (0, 3)
    assert ar.unreduce(2.0, ()) == 2.0
    got = ar.unreduce(np.float32(2.0), (2, 2))
    got[0, 0] = 0.0
    assert got.dtype == np.float32
    assert got.sum() == 6.0


def test_add_at_adds_each_repeat() -> None:
    a = np.zeros(3)
    ar.add_at(a, [0, 0, 2], np.array([1.0, 2.0, 3.0]))
    assert a.tolist() == [3.0, 0.0, 3.0]


@pytest.mark.parametrize("key", [1, slice(0, 2), (Ellipsis, 0), (None, 1), np.array([True, False, True]), [0, -1]])
def test_add_at_takes_every_key(key: Any) -> None:
    a = np.zeros(3) if not isinstance(key, tuple) else np.zeros((3, 2))
    expected = a.copy()
    expected[key] += 2.0
    ar.add_at(a, key, 2.0)
    np.testing.assert_array_equal(a, expected)


def test_places_by_one_index() -> None:
    a = np.arange(12.0).reshape(3, 4)
    for key in (5, -1, slice(1, None, 3), slice(None, None, -5), np.array([0, -2, 7]), [3, 3], a.ravel() > 4.0):
        np.testing.assert_array_equal(a[ar.flat_key(key, a.shape)], a.flat[key])
    for outside in (12, -13, [0, 12], [-13]):
        with pytest.raises(IndexError):
            ar.flat_key(outside, a.shape)
    places = np.array([[3, 0], [1, 1], [2, 3]])
    np.testing.assert_array_equal(a[ar.along(places, 1, a.shape)], np.take_along_axis(a, places, 1))
    assert ar.positions((2, 2)) == ar.positions(2, 2) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_elements_that_a_mask_selects() -> None:
    mask = ar.mask_like([True, False, True], np.zeros((2, 3)))
    np.testing.assert_array_equal(mask, [[True, False, True]] * 2)
    assert ar.mask_like(mask, np.zeros((2, 3))) is mask
    with pytest.raises(ValueError):
        ar.mask_like(mask, np.zeros((3, 3)))
    np.testing.assert_array_equal(ar.selected(np.arange(3.0), mask), [0.0, 2.0, 0.0, 2.0])
    np.testing.assert_array_equal(ar.unselected(np.arange(4.0), mask), [[0.0, 0.0, 1.0], [2.0, 0.0, 3.0]])


def test_values_round_and_round() -> None:
    np.testing.assert_array_equal(ar.cycled([[1.0], [2.0]], 5), [1.0, 2.0, 1.0, 2.0, 1.0])
    assert ar.cycled([], 0).size == 0
    with pytest.raises(ValueError):
        ar.cycled([], 2)
    assert ar.section_bounds(7, 3, False) == (3, 5)
    assert ar.section_bounds(6, 3, True) == (2, 4)
    with pytest.raises(ValueError):
        ar.section_bounds(7, 3, True)


def test_zeros_share_memory_as_their_primal_does() -> None:
    whole = np.arange(6.0)
    inner = [whole[1:4]]
    primal = [whole[:3], inner, {"same": inner, "turned": whole[::-1]}, 2.0, None, "text"]
    made = ar.zero(primal, True)
    assert made[1] is made[2]["same"] and made[3:] == [0.0, 0.0, None]
    made[0][1] = 7.0
    assert made[1][0][0] == 7.0 and made[2]["turned"][4] == 7.0
    assert not np.shares_memory(made[0], whole)
    first, inside, named, *_ = ar.zero(primal)
    places = [first, inside[0], named["same"][0], named["turned"]]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(places, 2))


def test_zeros_of_an_array_that_repeats_its_elements_and_shares_them() -> None:
    row = np.arange(3.0)
    with pytest.raises(SharedMemory, match="overlap in memory"):
        ar.zero([row, np.broadcast_to(row, (2, 3))], True)
    assert ar.zero([np.broadcast_to(row, (2, 3))])[0].strides == (24, 8)


def test_windows_have_zeros_of_their_own_and_are_not_copied_to_be_written() -> None:
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3, writeable=True)
    made = ar.zeros_as(windows)
    made[0, 1] = 1.0
    assert made[1, 0] == 0.0
    for apart in (np.zeros((4, 6)).T[::2], np.zeros((3, 2))[:, ::-1], np.zeros((2, 3, 4)).transpose(1, 0, 2)):
        assert ar.zeros_as(apart).strides == apart.strides
    with pytest.raises(SharedMemory, match="would be written"):
        ar.entry_copy(windows)


def test_a_structure_that_holds_itself_has_a_zero() -> None:
    ring: list[object] = [1.0]
    ring.append(ring)
    for alike in (False, True):
        made = ar.zero(ring, alike)
        assert made[0] == 0.0 and made[1] is made


def test_a_copied_tangent_is_laid_out_as_the_primal() -> None:
    whole = np.arange(4.0)
    primal = [whole[:3], whole[1:], {"n": 2.0, "k": 3}]
    made = ar.copied_tangent([None, np.ones(3), {"n": 5.0, "k": None}], primal)
    assert made[0].tolist() == [0.0, 1.0, 1.0] and made[2] == {"n": 5.0, "k": 0.0}
    assert np.shares_memory(made[0], made[1])


def test_what_stands_twice_is_not_apart() -> None:
    row = np.arange(3.0)
    ar.apart([row, row.copy(), (1.0, "x"), {"a": []}])
    for twice in ([row, row], [row[:2], row[1:]], {"a": [row], "b": (row,)}):
        with pytest.raises(SharedMemory, match="twice"):
            ar.apart(twice)


@given(st.integers(2, 12), st.tuples(PLACES, PLACES), st.tuples(STEPS, STEPS), st.booleans())
def test_a_value_is_written_as_a_copy_or_refused(
    size: int, starts: tuple[int, int], steps: tuple[int, int], narrow: bool
) -> None:
    memory = np.arange(size, dtype=np.float32 if narrow else float)
    target, value = (memory[start::step] for start, step in zip(starts, steps, strict=True))
    count = min(len(target), len(value))
    target, value = target[:count], value[:count]
    copied = memory.copy()
    copied[starts[0] :: steps[0]][:count] = value.copy()
    try:
        ar.demand_copied(target, value)
        refused = False
    except SharedMemory:
        refused = True
    target[...] = value
    assert refused == (not np.array_equal(memory, copied))


def test_arrays_in_the_memory_of_the_target_are_refused() -> None:
    memory = np.arange(6.0)
    ar.demand_unshared(memory, [memory.copy(), 1.0])
    ar.demand_unshared(2.0, memory)
    with pytest.raises(SharedMemory):
        ar.demand_unshared(memory[:3], [np.ones(2), memory[2:]])


def test_stop_gradient_is_the_value_itself() -> None:
    a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    got = ar.stop_gradient(a)
    assert got.strides == a.strides and not np.shares_memory(got, a)
    np.testing.assert_array_equal(got, a)
    for number in (2, 1.5, 2j, np.float32(0.5)):
        assert ar.stop_gradient(number) is number
    with pytest.raises(TypeError, match="not a list"):
        ar.stop_gradient([1.0])


def test_snapshots_are_placed_as_dynamic_programming_would() -> None:
    @functools.cache
    def least(steps: int, states: int) -> int:
        if steps < 2 or states == 1:
            return steps * (steps - 1) // 2
        return min(m + least(m, states) + least(steps - m, states - 1) for m in range(1, steps))

    @functools.cache
    def run(steps: int, states: int) -> int:
        if steps < 2 or states == 1:
            assert ar.next_snapshot(5, 5 + steps, states - 1) == 5 + steps
            return steps * (steps - 1) // 2
        m = ar.next_snapshot(5, 5 + steps, states - 1) - 5
        return m + run(m, states) + run(steps - m, states - 1)

    assert all(run(n, c) == least(n, c) for n in range(1, 60) for c in range(1, 8))


def test_the_states_of_random_generators() -> None:
    rng, old = np.random.default_rng(1), np.random.RandomState(2)
    given = (rng, old, np.random.normal, random.random)
    states = ar.generator_states(*given)
    first = [rng.random(), old.rand(), np.random.normal(), random.random()]
    ar.set_generators(states, *given)
    assert [rng.random(), old.rand(), np.random.normal(), random.random()] == first


def test_lengths_that_must_be_equal() -> None:
    assert ar.equal_lengths(3, 3, 3) == ar.equal_lengths(3) == 3
    for lengths, items in (((2, 3), ([0] * 2, [0] * 3)), ((2, 2, 1), ([0] * 2, [0] * 2, [0]))):
        with pytest.raises(ValueError) as wanted:
            list(zip(*items, strict=True))
        with pytest.raises(ValueError, match=re.escape(str(wanted.value))):
            ar.equal_lengths(*lengths)


def test_parts_of_blocks() -> None:
    t = np.arange(9.0).reshape(3, 3)
    (a, b), (c, d) = ar.unblock(t, [[np.ones((2, 2)), np.ones((2, 1))], [np.ones(2), 3]])
    np.testing.assert_array_equal(a, t[:2, :2])
    np.testing.assert_array_equal(b, t[:2, 2:])
    np.testing.assert_array_equal(c, t[2, :2])
    assert d is None
    np.testing.assert_array_equal(np.block([[a, b], [c, 8.0]]), t)


def test_what_is_taken_along_an_axis_may_be_broadcast() -> None:
    a, places = np.arange(6.0).reshape(2, 3), np.array([[2, 2]])
    t = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.take_along_axis(a, places, 1).shape == t.shape
    np.testing.assert_array_equal(ar.put_along(t, (2, 3), places, 1), [[0.0, 0.0, 3.0], [0.0, 0.0, 7.0]])
    np.testing.assert_array_equal(ar.put_along(t[:, :1], (1, 3), places.T, 1), [[0.0, 0.0, 4.0]])


def test_a_tangent_of_nothing_stays_nothing_where_nothing_is() -> None:
    moved = ar.filled([None, np.ones(2), None], [None, np.ones(2), np.ones(3)])
    assert moved[0] is None
    np.testing.assert_array_equal(moved[2], np.zeros(3))


def test_the_best_so_far_shares_where_elements_are_equal() -> None:
    a = np.array([1.0, 3.0, 3.0, 2.0, 3.0])
    best = ar.running_max(a)
    np.testing.assert_allclose(ar.running_as(np.arange(5.0), a, best), [0.0, 1.0, 1.5, 1.5, 7 / 3])
    np.testing.assert_allclose(ar.unrun(np.ones(5), a, best), [1.0, 1 + 0.5 + 0.5 + 1 / 3, 0.5 + 0.5 + 1 / 3, 0, 1 / 3])
    a = np.array([[2.0, 2.0], [1.0, 2.0], [1.0, np.nan], [5.0, 1.0]])
    t, x = np.arange(8.0).reshape(4, 2), np.arange(1.0, 9.0).reshape(4, 2) ** 2
    for axis in (0, 1):
        for running in (ar.running_max, ar.running_min):
            best = running(a, axis)
            assert np.vdot(t, ar.running_as(x, a, best, axis)) == pytest.approx(np.vdot(ar.unrun(t, a, best, axis), x))


def test_the_lead_of_equal_infinities_is_nothing() -> None:
    with np.errstate(all="raise"):
        found = ar.lead(np.array([np.inf, -np.inf, -np.inf, 3.0]), np.array([np.inf, -np.inf, np.inf, 1.0]))
        assert ar.lead(-np.inf, -np.inf) == 0.0
    np.testing.assert_array_equal(found, [0.0, 0.0, -np.inf, 2.0])


METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest"
).split()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fn", [np.quantile, np.nanquantile])
def test_what_stands_at_a_quantile_of_itself_is_the_quantile(fn: Any, method: str) -> None:
    random = np.random.default_rng(1)
    a = random.normal(size=(4, 5))
    for hole in (0.3, np.nan):
        a[1, 2] = hole
        for axis, q in itertools.product((None, 0, -1, (0, 1)), (0.0, 0.35, 1.0, [0.2, 0.9])):
            wanted = fn(a, q, axis, method=method, keepdims=True)
            found = ar.at_quantile(a, a, q, axis, True, method, gaps=fn is np.nanquantile)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            t, x = random.normal(size=np.shape(wanted)), random.normal(size=a.shape)
            of_x = ar.at_quantile(x, a, q, axis, True, method, gaps=fn is np.nanquantile)
            of_t = ar.from_quantile(t, a, q, axis, True, method, gaps=fn is np.nanquantile)
            assert np.vdot(of_x, t) == pytest.approx(np.vdot(of_t, x))


def broadcast() -> np.ndarray:
    """An array that NumPy warns of, where it is asked whether it may be written."""
    return np.broadcast_arrays(np.arange(1.0, 4.0), np.ones((2, 3)))[0]


BROADCAST = broadcast()


def of_an_outside_one(x):
    return np.sum(x * x * BROADCAST)


def of_one_of_its_own(x):
    a, b = np.broadcast_arrays(x[0], x)
    return np.sum(a * b)


@pytest.mark.parametrize("f", [of_an_outside_one, of_one_of_its_own])
def test_no_warning_of_broadcast_arrays_that_the_program_does_not_give(f) -> None:
    """Warnings are errors here: it was a FutureWarning of NumPy's, raised in the middle of a derivative."""
    x, ones = np.array(BROADCAST), np.ones((2, 3))
    slope = tx.grad(f)(x)
    assert np.array_equal(tx.grad(f)(broadcast()), slope)
    assert tx.jvp(f, (broadcast(),), (ones,))[1] == pytest.approx(np.sum(slope))
    assert tx.vmap(f)(np.stack([x, x])).shape == (2,)
    for product in (tx.vjp, tx.linearize):  # which keep copies of their arguments
        with pytest.raises(SharedMemory, match="pass a copy"):
            product(f, broadcast())
