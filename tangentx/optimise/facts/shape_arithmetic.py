"""Symbolic shapes: tuples of lengths, each an integer or a tag for an unknown number, or derived from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tangentx.analysis.infer.program import Program
from tangentx.common.axes import evaluated
from tangentx.ir.nodes import Atom, Key, Lit, Slice
from tangentx.optimise.facts.unit import Unit

# Symbolic shapes: tuples of lengths, each an integer or a tag for an unknown number.
#
# Equal lengths are equal numbers. What the functions give is None where nothing is known of the whole shape; a single
# length that is not known is None in the tuple, for the caller to name.

Length: TypeAlias = object
Shape: TypeAlias = object
NUMBER: Shape = "number"
LEAVES: Shape = ("leaves",)
"""In place of the shape of a container: no array in it, or in those inside it, has an axis of length one."""


MADE_OF = ("slice", "less", "common", "linear")
"""Lengths that are made of others."""
LARGEST = 60
"""How many lengths one may be made of, in those that it is made of too. Each statement can make one of several times
the one before it, as ``a = np.concatenate((a[1:], a[:1]))`` does: a larger one counts as not known."""


class Lengths(tuple[Length, ...]):
    """The shape of an array whose rank is known."""

    __slots__ = ()


def of_argument(name: str, rank: int, single: Sequence[int]) -> Lengths:
    """The shape of an argument of which the axes of length one are known; no other axis has length one."""
    return Lengths(("single" if axis in single else "long", "param", name, axis) for axis in range(rank))


def of_leaf(tag: tuple[object, ...], rank: int) -> Lengths:
    """The shape of an array in such a container; the tag says where it was read."""
    return Lengths(("long", *tag, axis) for axis in range(rank))


def long_one(length: Length) -> Length:
    """The length, said not to be one."""
    return length if is_long(length) else ("long", length)


def plain(length: Length) -> Length:
    """The length without what was said of it in so many words."""
    return length[1] if isinstance(length, tuple) and length[:1] == ("long",) and len(length) == 2 else length


def of_parameter(tag: Length) -> tuple[str, int | None]:
    """The name of the parameter whose shape, or length along an axis, a tag stands for; no name for another tag."""
    if not isinstance(tag, tuple) or "param" not in tag[:2]:
        return "", None
    name, *axis = tag[tag.index("param") + 1 :]
    return name, axis[0] if axis else None


def is_single(length: Length) -> bool:
    """Whether the length is known to be one."""
    return length == 1 or (isinstance(length, tuple) and length[:1] == ("single",))


def is_long(length: Length) -> bool:
    """Whether the length is known not to be one, so that nothing is broadcast along it."""
    return length != 1 if isinstance(length, int) else isinstance(length, tuple) and length[:1] == ("long",)


def differ(shapes: Sequence[tuple[Length, ...]]) -> bool:
    """Whether lengths that are broadcast together are written differently, so that it matters which of them are one."""
    if _are_one(shapes):
        return False
    for axis in range(1, max(map(len, shapes), default=0) + 1):
        found = {s[-axis] for s in shapes if len(s) >= axis and s[-axis] != 1}
        if len(found) > 1 and any(isinstance(n, tuple) and n[0] in ("long", "single") for n in found):
            return True
    return False


def _are_one(shapes: Sequence[tuple[Length, ...]]) -> bool:
    """Whether all are written as one shape, as most are that are broadcast together."""
    return bool(shapes) and all(shape == shapes[0] for shape in shapes)


def agreed(shapes: Sequence[tuple[Length, ...]]) -> list[tuple[Length, Length]]:
    """Pairs of lengths that are equal where arrays of these shapes have been broadcast together."""
    if _are_one(shapes):
        return []
    rank = max(map(len, shapes), default=0)
    found: list[tuple[Length, Length]] = []
    for axis in range(1, rank + 1):
        first, *others = [s[-axis] for s in shapes if len(s) >= axis and is_long(s[-axis])] or [None]
        found += [(first, other) for other in others if other != first]
    return found


def lengths(shape: Sequence[Length] | None) -> Shape:
    """The shape with these lengths, where there are any."""
    return None if shape is None else Lengths(shape)


ELLIPSIS = Lit(Ellipsis)
NEW = Lit(None)


def together(shapes: Sequence[tuple[Length, ...]]) -> tuple[Length, ...]:
    """Of operands that are broadcast together."""
    if _are_one(shapes):
        return tuple(shapes[0])
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(_common(lengths) for lengths in zip(*padded, strict=True))


def _common(lengths: Sequence[Length]) -> Length:
    known = [n for n in lengths if is_long(n)]
    if known:
        return next((n for n in known if isinstance(n, int)), known[0])
    tags = [n for n in lengths if not is_single(n)]
    if not tags:
        ones = {n for n in lengths if n != 1}  # a known one takes nothing for granted of the other
        return ones.pop() if len(ones) == 1 else 1
    if None in tags:
        return None
    parts = frozenset(part for tag in tags for part in (tag[1] if is_common(tag) else (tag,)))  # type: ignore[index]
    return tags[0] if len(parts) == 1 else unless_large(("common", parts))


def unless_large(length: Length) -> Length:
    """The length; None where it is made of more than is worth knowing."""
    return None if _exceeds(length, LARGEST) else length


def _exceeds(length: Length, count: int) -> bool:
    """Whether a length is made of more than so many."""
    ahead = [length]
    while ahead and count >= 0:
        each = plain(ahead.pop())
        count -= 1
        if isinstance(each, tuple) and each[0] in MADE_OF:
            ahead += _parts(each)
    return count < 0


def _parts(length: tuple[Length, ...]) -> Iterable[Length]:
    """The lengths and numbers of which one is made, in no order."""
    if length[0] == "common":
        return length[1]  # type: ignore[return-value]
    return (term for term, _ in length[1]) if length[0] == "linear" else length[1:]  # type: ignore[attr-defined]


def is_common(length: Length) -> bool:
    """Whether it is the length that several, of which any may be one, have when they are broadcast together."""
    return isinstance(length, tuple) and length[:1] == ("common",)


def replaced(shape: Shape, old: Length, new: Length) -> Shape:
    """The shape, or length, with `new` for `old`; without it in a length that would be too large."""
    if shape == old:
        return new
    if not isinstance(shape, tuple):
        return shape
    found = _replaced(shape, old, new)
    return shape if shape[:1] and shape[0] in MADE_OF and (found is None or _exceeds(found, LARGEST)) else found


def _replaced(shape: tuple[Any, ...], old: Length, new: Length) -> Shape:
    if shape[:1] == ("common",):
        parts = [replaced(part, old, new) for part in sorted(shape[1], key=repr)]
        return shape if shape[1].issuperset(parts) and len(set(parts)) == len(shape[1]) else _common(parts)
    if shape[:1] == ("linear",):
        return _linear([(replaced(term, old, new), times) for term, times in shape[1]], shape[2])
    if shape[:1] == ("less",):
        cut: int = shape[2]
        return _less(replaced(shape[1], old, new), cut)
    if plain(shape) is not shape:
        return long_one(replaced(shape[1], old, new))
    return (Lengths if isinstance(shape, Lengths) else tuple)(replaced(part, old, new) for part in shape)


def written(shape: Shape, equal: Mapping[Length, Length]) -> Shape:
    """The shape with the lengths that `equal` has for others."""
    if not equal or not isinstance(shape, tuple):
        return shape
    if isinstance(shape, Lengths) or shape[:1] == ("items",):
        return type(shape)(written(part, equal) for part in shape)
    if shape in equal:
        return equal[shape]
    inner = frozenset(mentioned(shape))
    if equal.keys().isdisjoint(inner):
        return shape
    for old, new in equal.items():
        if old in inner:
            shape = replaced(shape, old, new)
            inner = frozenset(mentioned(shape))
    return shape


def mentioned(shape: Shape) -> Iterator[Length]:
    """The tags, and the lengths made of them, in whose place `replaced` may write others in a shape; the whole too."""
    if not isinstance(shape, tuple):
        return
    yield shape
    parts: Iterable[object] = shape
    if shape[:1] == ("common",):
        parts = shape[1]
    elif shape[:1] == ("linear",):
        parts = (term for term, _ in shape[1])
    for part in parts:
        if isinstance(part, tuple):
            yield from mentioned(part)


def substituted(shape: Shape, of: Callable[[tuple[object, ...]], Length]) -> Shape:
    """The shape, or length, with what `of` gives for the tags in it; None where that is None for one of them."""
    if isinstance(shape, int) or shape is None:
        return shape
    if not isinstance(shape, tuple):
        return None
    if isinstance(shape, Lengths):
        return Lengths(substituted(part, of) for part in shape)
    if shape[:1] == ("items",):
        return ("items", *(substituted(part, of) for part in shape[1:]))
    if plain(shape) is not shape:
        return substituted(shape[1], of)
    if shape[0] not in MADE_OF:
        return of(shape)
    if shape[0] == "linear":
        parts = [(substituted(term, of), times) for term, times in shape[1]]
        return None if any(term is None for term, _ in parts) else unless_large(_linear(parts, shape[2]))
    if shape[0] == "common":
        return _common([substituted(part, of) for part in sorted(shape[1], key=repr)])
    inner = [substituted(part, of) for part in shape[1:]]
    if any(new is None and old is not None for new, old in zip(inner, shape[1:])):
        return None
    return unless_large(_less(inner[0], shape[2]) if shape[0] == "less" else ("slice", *inner))


def spelled(length: object) -> str:
    """A text by which lengths can be put in an order that is the same in each process: sets of texts have none."""
    if isinstance(length, frozenset):
        return f"{{{', '.join(sorted(map(spelled, length)))}}}"
    return f"({', '.join(map(spelled, length))})" if isinstance(length, tuple) else repr(length)


def commons(shape: Shape) -> Iterator[tuple[Length, ...]]:
    """The lengths that were broadcast together, for each such length in a shape."""
    if is_common(shape):
        yield tuple(sorted(shape[1], key=spelled))  # type: ignore[index]
    parts = shape if isinstance(shape, Lengths) else parts_of(shape) if isinstance(shape, tuple) else ()
    for part in parts:
        yield from commons(part)


def stored(value: Sequence[Length], place: Sequence[Length]) -> list[tuple[Length, Length]]:
    """Pairs of lengths that are equal once an array of one shape has been written to a place of the other.

    What is written has the length of the place, or one. So it is equal where it is not one; and where it is what the
    place's own length and others have together, of which one would be the place's too.
    """
    pairs = zip(reversed(value), reversed(place), strict=False)
    return [(t, v) for v, t in pairs if v != t and (is_long(v) or (is_common(v) and t in v[1]))]  # type: ignore[index]


def matmul(x: tuple[Length, ...], y: tuple[Length, ...]) -> tuple[Length, ...] | None:
    """Of ``x @ y``; stacks of matrices are left open."""
    if not x or not y or len(x) > 2 or len(y) > 2:
        return None
    return (*x[:-1], *y[-1:]) if len(y) == 2 else x[:-1]


def reduced(shape: tuple[Length, ...], axis: int | None, keepdims: bool) -> tuple[Length, ...] | None:
    """Of a reduction along one axis, or along all."""
    if axis is None:
        return (1,) * len(shape) if keepdims else ()
    if not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    return (*shape[:axis], *((1,) if keepdims else ()), *shape[axis + 1 :])


def joined(shapes: Sequence[tuple[Length, ...]], axis: int) -> tuple[Length, ...]:
    """Of arrays of one rank, joined along an axis."""
    found: list[Length] = []
    for k, column in enumerate(zip(*shapes, strict=True)):
        if k != axis:
            found.append(next((n for n in column if is_long(n)), column[0]))
            continue
        whole: Length = 0
        for n in column:
            whole = total(whole, n)
        found.append(whole)
    return tuple(found)


def total(one: Length, other: Length, times: int = 1) -> Length:
    """``one + times * other``; None where one of them is not known, or the sum is too large."""
    return None if one is None or other is None else unless_large(_linear([(one, 1), (other, times)], 0))


def _linear(terms: Iterable[tuple[Length, int]], constant: int) -> Length:
    """A sum of multiples, in the one form that equal ones have: ``("linear", {(term, times)}, constant)``."""
    found: Counter[Length] = Counter()
    for term, times in ((plain(term), times) for term, times in terms):
        if isinstance(term, int):
            constant += term * times
        elif isinstance(term, tuple) and term[:1] == ("linear",):
            found.update({each: times * inner for each, inner in term[1]})
            constant += term[2] * times
        else:
            found[term] += times
    left = frozenset((term, times) for term, times in found.items() if times)
    if not left:
        return constant
    ((term, times), *others) = left
    return term if (times, others, constant) == (1, [], 0) else ("linear", left, constant)


def parts_of(length: Length) -> tuple[Length, ...]:
    """The lengths and numbers of which one is made."""
    if not isinstance(length, tuple):
        return ()
    return tuple(sorted(_parts(length), key=spelled)) if length[:1] in (("common",), ("linear",)) else length[1:]


Bound: TypeAlias = Callable[[Atom], Length]
Range: TypeAlias = Callable[[Length], "tuple[Length, Length] | None"]


def indexed(
    shape: tuple[Length, ...], key: Key, numbers: Sequence[bool], bound: Bound, ranges: Range = lambda number: None
) -> tuple[Length, ...] | None:
    """Of ``x[key]`` for integers (where `numbers` holds), slices, None and an ellipsis; None for any other key.
    `bound` gives the number that an atom stands for, None where it is not known; `ranges` what the number of a trip is
    not less than, and less than."""
    taken = sum(part not in (ELLIPSIS, NEW) for part in key.parts)
    if taken > len(shape):
        return None
    left, result = list(shape), list[Length]()
    for part, number in zip(key.parts, numbers, strict=True):
        if part == ELLIPSIS:
            spread = len(shape) - taken
            result += left[:spread]
            del left[:spread]
        elif part == NEW:
            result.append(1)
        elif isinstance(part, Slice):
            result.append(_sliced(left.pop(0), part, bound, ranges))
        elif number:
            left.pop(0)
        else:
            return None
    return (*result, *left)


def _sliced(length: Length, part: Slice, bound: Bound, ranges: Range) -> Length:
    """A slice takes as many of one length as one with equal bounds does of an equal length; one that lies in it for
    certain takes as many as its bounds are apart."""
    bounds = (part.start, part.stop, part.step)
    start, stop, step = (None if each == NEW else bound(each) for each in bounds)
    if length is None or any(found is None and each != NEW for found, each in zip((start, stop, step), bounds)):
        return None
    if all(isinstance(each, int | None) for each in (start, stop, step)):
        if isinstance(length, int):
            return len(range(*slice(start, stop, step).indices(length)))
        if step in (None, 1) and (start or 0) >= 0 and (stop is None or stop < 0):  # type: ignore[operator]
            return unless_large(_less(length, (start or 0) - (stop or 0)))  # type: ignore[operator]
    if step in (None, 1) and start is not None and stop is not None:
        apart = total(stop, start, -1)
        if _is_count(apart) and _lies_in(start, stop, length, ranges):
            return apart
    return length if (start, stop, step) == (None, None, -1) else unless_large(("slice", length, start, stop, step))


def _lies_in(start: Length, stop: Length, length: Length, ranges: Range) -> bool:
    """Whether ``0 <= start`` and ``stop <= length`` whatever the numbers of the trips are.

    In ``for i in range(n - k + 1)`` the slice ``x[i : i + k]`` of `n` lies in it: ``n - (n - k) - k`` is 0.
    """
    first = _at_most(total(0, start, -1), ranges)  # what start is at least, with its sign turned
    room = _at_most(total(stop, plain(length), -1), ranges)
    return _is_count(total(0, first, -1)) and isinstance(room, int) and room <= 0


def _at_most(number: Length, ranges: Range) -> Length:
    """What a number made of those of trips is at most; None where that is not known."""
    terms = number[1] if isinstance(number, tuple) and number[:1] == ("linear",) else [(number, 1)]
    found: Length = number[2] if isinstance(number, tuple) and number[:1] == ("linear",) else 0
    for term, times in terms:
        between = None if isinstance(term, int) else ranges(term)
        if between is None:
            found = total(found, term, times)
        elif times > 0:
            found = total(found, total(between[1], -1), times)
        else:
            found = total(found, between[0], times)
    return found


def _is_count(number: Length) -> bool:
    """Whether it is no less than 0, as a length is."""
    number = plain(number)
    if isinstance(number, tuple) and number[:1] == ("linear",):
        return number[2] >= 0 and all(times > 0 and _is_count(term) for term, times in number[1])
    if isinstance(number, tuple):
        return number[0] in ("long", "single", "less", "slice") or (number[0] == "param" and len(number) == 3)
    return isinstance(number, int) and number >= 0


def _less(length: Length, cut: int) -> Length:
    """``max(length - cut, 0)``"""
    if cut == 0:
        return length
    if isinstance(length, int):
        return max(length - cut, 0)
    length = plain(length)
    if isinstance(length, tuple) and length[0] == "less":
        return ("less", length[1], length[2] + cut)
    return ("less", length, cut)


# An index from lengths to the shapes that mention them.
#
# When two lengths turn out to be equal, one of them is written for the other. The index says where the other is
# written, so that an equation costs as much as it changes and not as much as is known.


class Mentions:
    """What mentions each length among the facts at one place, and perhaps more: what did before it was bound anew.

    Ways through a program have facts of their own, so the index is made again when it is asked of others.
    """

    def __init__(self, shapes: Callable[[Mapping[str, object]], Iterable[tuple[object, Shape]]]) -> None:
        self._shapes = shapes
        self._facts: Mapping[str, object] | None = None
        self._found: dict[Length, dict[object, None]] = {}

    def note(self, facts: Mapping[str, object], owner: object, shape: Shape) -> None:
        """Notes that the shape is now known of `owner` among these facts."""
        if self._facts is facts:
            self._add(owner, shape)

    def taken(self, facts: Mapping[str, object], length: Length) -> Iterable[object]:
        """What may mention the length among these facts, which nothing will from now on."""
        return self._of(facts).pop(length, {})

    def count(self, facts: Mapping[str, object], length: Length) -> int:
        """How much mentions the length among these facts, at most."""
        return len(self._of(facts).get(length, ()))

    def _of(self, facts: Mapping[str, object]) -> dict[Length, dict[object, None]]:
        if self._facts is not facts:
            self._facts, self._found = facts, {}
            for owner, shape in self._shapes(facts):
                self._add(owner, shape)
        return self._found

    def _add(self, owner: object, shape: Shape) -> None:
        for length in mentioned(shape):
            self._found.setdefault(length, {})[owner] = None


# Lengths derived from those of arguments, assumed not to be one because the entry checks it.
#
#     gate = h * w[n : 2 * n]                 # `h` of shape (n,)
#
# Where no axis of `h` has length one the slice is as long as `h`, or one: that it is as long is seen if it is not
# one. No proof tells that of every `w`. So it is asked of the shapes that the derivative is compiled for, and the
# text is for arguments of which it is true, as the dispatcher finds out; for others there is another one.
#
# In a function that is called the length is made of those of parameters, so it is asked at each of its calls, as far
# as these lead back to arguments: `Unit.rooted` has, for each way to call it, the lengths of its parameters in those
# of arguments.

_DERIVED = ("slice", "less", "linear")


def with_taken(program: Program, unit: Unit, shape: Lengths) -> Lengths:
    """The shape, in which lengths that may be taken not to be one are said to be so."""
    if not program.axes.shapes or not unit.rooted or not any(map(_is_derived, shape)):
        return shape
    return Lengths(long_one(n) if _is_derived(n) and _is_long(program, unit, n) else n for n in shape)


def _is_derived(length: Length) -> bool:
    return isinstance(length, tuple) and bool(length) and length[0] in _DERIVED


def _is_long(program: Program, unit: Unit, length: Length) -> bool:
    known = unit.long.get(length)
    if known is None:
        made = list(_at_arguments(unit, length))
        found = [evaluated(each, program.axes.shapes) for each in made]
        known = unit.long[length] = bool(found) and all(n is not None and n != 1 for n in found)
        if not known and None not in found:
            program.axes.missed.update(dict.fromkeys(each for each, n in zip(made, found, strict=True) if n == 1))
    return known


def _at_arguments(unit: Unit, length: Length) -> Iterator[Length]:
    """The length in those of arguments, for each way to call the function; None where that is not known."""
    for lengths in unit.rooted or ():
        yield substituted(length, lambda tag, lengths=lengths: lengths.get(of_parameter(tag)))  # type: ignore[misc]


def rely(program: Program, unit: Unit, lengths: Iterable[Length]) -> None:
    """Notes that it matters which axes, and which of these lengths, are one."""
    program.axes.rely()
    note_taken(program, unit, lengths)


def note_taken(program: Program, unit: Unit, lengths: Iterable[Length]) -> None:
    """Notes that those of these lengths that were taken not to be one must not be."""
    for length in lengths:
        if length in unit.relied or isinstance(length, int):
            continue
        unit.relied.add(length)
        for inner in _taken_in(length):
            program.axes.taken.update(dict.fromkeys(_at_arguments(unit, inner)))


def _taken_in(length: Length) -> Iterator[Length]:
    """The lengths that were taken not to be one in it."""
    if isinstance(length, tuple):
        if plain(length) is not length:
            yield plain(length)
        for part in parts_of(length):
            yield from _taken_in(part)


def at_call(
    names: Iterable[str], shapes: Iterable[object], caller: Mapping[tuple[str, int | None], Length]
) -> dict[tuple[str, int | None], Length]:
    """The lengths of a function's parameters in those of arguments, where it is called with arguments of these shapes
    by a function whose own are in `caller`."""
    found: dict[tuple[str, int | None], Length] = {}
    for name, shape in zip(names, shapes, strict=True):
        for axis, length in enumerate(shape) if isinstance(shape, Lengths) else ():
            found[name, axis] = substituted(length, lambda tag: caller.get(of_parameter(tag)))
    return found
