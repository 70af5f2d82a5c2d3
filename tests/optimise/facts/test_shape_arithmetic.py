"""Shapes as tuples of lengths: what NumPy gives for known lengths, and no claim where a length is not known."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.ir.nodes import Key, Lit, Slice, Var
from tangentx.optimise.facts import shape_arithmetic

M, N = "m", "n"
WHOLE = Slice(Lit(None), Lit(None), Lit(None))
NUMBERS = {"j": ("made", 7), "k": ("made", 8)}


def _indexed(shape: tuple[object, ...], key: Key, numbers: list[bool]) -> object:
    def bound(atom: object) -> object:
        return NUMBERS.get(atom.name) if isinstance(atom, Var) else atom.value  # type: ignore[attr-defined]

    return shape_arithmetic.indexed(shape, key, numbers, bound)


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 1), (1, 3)), ((4, 3), ()), ((1,), (1, 1)), ((2, 3), (3,))])
def test_known_lengths_are_broadcast_as_numpy_does(shapes: tuple[tuple[int, ...], ...]) -> None:
    assert shape_arithmetic.together(shapes) == np.broadcast_shapes(*shapes)


BOTH = ("common", frozenset((M, N)))


def test_a_tag_gives_way_to_a_length_and_has_one_together_with_another() -> None:
    assert shape_arithmetic.together([(M,), (M,)]) == (M,)
    assert shape_arithmetic.together([(M,), (1,)]) == (M,)
    assert shape_arithmetic.together([(M,), (3,)]) == (3,)
    assert shape_arithmetic.together([(M, N), (M,)]) == (M, BOTH)
    assert shape_arithmetic.together([(BOTH,), (N,), (1,)]) == (BOTH,)
    assert shape_arithmetic.together([(M,), (None,)]) == (None,)
    single = ("single", "param", "x", 0)
    assert shape_arithmetic.together([(1,), (single,)]) == (single,)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((2, 3), (3,)), ((3,), (3, 4)), ((3,), (3,))])
def test_products_have_the_shape_that_numpy_gives(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = shapes
    assert shape_arithmetic.matmul(x, y) == np.shape(np.ones(x) @ np.ones(y))


def test_stacks_of_matrices_and_numbers_are_left_open() -> None:
    assert shape_arithmetic.matmul((5, 2, 3), (3, 4)) is None
    assert shape_arithmetic.matmul((), (3,)) is None


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_have_the_shape_that_numpy_gives(axis: int | None, keepdims: bool) -> None:
    assert shape_arithmetic.reduced((2, 3), axis, keepdims) == np.shape(
        np.sum(np.ones((2, 3)), axis=axis, keepdims=keepdims)
    )


def test_an_axis_that_is_not_there_gives_nothing() -> None:
    assert shape_arithmetic.reduced((2, 3), 2, False) is None


def slice_of(*bounds: int | None) -> Slice:
    return Slice(*(Lit(bound) for bound in bounds))


@pytest.mark.parametrize(
    ("parts", "key"),
    [
        ((Lit(1),), 1),
        ((WHOLE, Lit(0)), (slice(None), 0)),
        ((slice_of(1, None, None),), slice(1, None)),
        ((slice_of(None, None, -1), slice_of(0, 2, None)), (slice(None, None, -1), slice(0, 2))),
        ((shape_arithmetic.ELLIPSIS, Lit(0)), (..., 0)),
        ((shape_arithmetic.NEW, Lit(1), shape_arithmetic.ELLIPSIS), (None, 1, ...)),
    ],
)
def test_basic_keys_select_the_shape_that_numpy_gives(parts: tuple[object, ...], key: object) -> None:
    numbers = [isinstance(part, Lit) and type(part.value) is int for part in parts]
    assert _indexed((4, 3), Key(parts, len(parts) > 1), numbers) == np.shape(np.ones((4, 3))[key])  # type: ignore[arg-type,index]


def test_equal_slices_of_equal_lengths_are_equal_and_others_are_not_known() -> None:
    inner = Key((slice_of(1, -1, None),))
    assert _indexed((M,), inner, [False]) == _indexed((M,), inner, [False]) != (None,)
    assert _indexed((M,), inner, [False]) != _indexed((N,), inner, [False])
    assert _indexed((M, N), Key((WHOLE,)), [False]) == (M, N)
    first = Key((slice_of(0, 3, None),))
    assert _indexed((M,), first, [False]) == (("slice", M, 0, 3, None),)


@pytest.mark.parametrize("length", range(6))
def test_slices_that_leave_out_as_much_are_of_equal_length(length: int) -> None:
    cuts = [(1, -1), (2, None), (None, -2), (0, -2)]
    assert len({_indexed((M,), Key((slice_of(*cut, None),)), [False]) for cut in cuts}) == 1
    assert len({len(range(length)[slice(*cut)]) for cut in cuts}) == 1


def test_a_slice_of_a_slice_leaves_out_the_sum() -> None:
    inner = _indexed((M,), Key((slice_of(1, None, None),)), [False])
    assert inner is not None
    again = _indexed(inner, Key((slice_of(None, -1, None),)), [False])
    assert again == _indexed((M,), Key((slice_of(1, -1, None),)), [False])


def test_other_keys_say_nothing() -> None:
    assert _indexed((3,), Key((Lit(True),)), [False]) is None
    assert _indexed((3,), Key((Lit(0), Lit(0)), True), [True, True]) is None


@pytest.mark.parametrize("m, n", [(1, 1), (1, 4), (4, 4), (4, 1), (0, 0), (1, 0), (0, 1)])
def test_what_is_stored_is_as_long_as_its_place(m: int, n: int) -> None:
    """Wherever NumPy takes the store, the lengths that are said to be equal are."""
    length = {BOTH: len(np.zeros(m) + np.zeros(n)), M: m, N: n}
    for place in (M, N):
        try:
            np.zeros(length[place])[...] = np.zeros(length[BOTH])
        except ValueError:
            continue
        for one, other in shape_arithmetic.stored((BOTH,), (place,)):
            assert length[one] == length[other]
    assert shape_arithmetic.stored((BOTH,), (M,)) == [(M, BOTH)]
    assert shape_arithmetic.stored((M,), (N,)) == []


def test_a_length_in_place_of_another() -> None:
    shape = shape_arithmetic.Lengths((M, BOTH, ("less", BOTH, 2)))
    assert shape_arithmetic.replaced(shape, N, M) == (M, M, ("less", M, 2))
    assert shape_arithmetic.replaced(shape, N, 3) == (M, 3, 1)
    assert shape_arithmetic.written(shape, {BOTH: N}) == (M, N, ("less", N, 2))


def test_slices_up_to_equal_numbers_are_equal() -> None:
    first, same, other = (Key((Slice(Lit(None), Var(name), Lit(None)),)) for name in ("j", "j", "k"))
    assert _indexed((M,), first, [False]) == _indexed((M,), same, [False]) != _indexed((M,), other, [False])
    unknown = Key((Slice(Lit(None), Var("unknown"), Lit(None)),))
    assert _indexed((M,), unknown, [False]) == (None,)


def test_sums_of_numbers_have_one_form() -> None:
    twice = shape_arithmetic.total(M, M)
    assert shape_arithmetic.total(0, M, 2) == twice
    assert shape_arithmetic.total(shape_arithmetic.total(twice, 3), M, -1) == shape_arithmetic.total(3, M)
    assert shape_arithmetic.total(twice, M, -2) == 0
    assert shape_arithmetic.total(shape_arithmetic.total(M, N), 1, 0) == shape_arithmetic.total(N, M)
    assert shape_arithmetic.replaced(shape_arithmetic.total(M, N), N, M) == twice
    assert shape_arithmetic.total(M, None) is None


def _rotated(length: object, count: int) -> object:
    """The length of ``a`` after so many of ``a = np.concatenate((a[1:], a[:k]))``."""
    for _ in range(count):
        first = _indexed((length,), Key((slice_of(1, None, None),)), [False])
        last = _indexed((length,), Key((Slice(Lit(None), Var("k"), Lit(None)),)), [False])
        (length,) = shape_arithmetic.joined([first, last], 0)  # type: ignore[list-item]
    return length


def test_lengths_that_grow_with_each_statement_are_not_known_in_the_end() -> None:
    """Else each costs twice what the one before it does."""
    assert _rotated(M, 2) not in (None, M)
    assert _rotated(M, 40) is None


def test_what_would_make_a_length_too_large_is_not_written_in_it() -> None:
    large = _rotated(M, 3)
    assert shape_arithmetic.replaced(("less", M, 1), M, N) == ("less", N, 1)
    for _ in range(20):
        grown = shape_arithmetic.replaced(large, M, large)
        assert len(list(shape_arithmetic.mentioned(grown))) <= 2 * shape_arithmetic.LARGEST
        large = grown
    assert large is not None
