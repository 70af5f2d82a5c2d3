"""What the compiler took for granted of values, asserted where a program runs that was compiled in checked mode.

``claimed(facts, "3: u: an array of float64 of rank 1", u)`` stands after each binding and each write. A `Fact` is a
claim about one name at one statement; an untrue one raises `InternalError`.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays.libraries import library_of_class
from tangentx.arrays.library_objects import parts_of
from tangentx.arrays.memory import repeats
from tangentx.arrays.structures import fields
from tangentx.arrays.sweep_checks import content_of, marked, noting, outcome, recorded, restored, told
from tangentx.common.naming import with_article
from tangentx.common.scoped_state import lasting
from tangentx.errors import InternalError, NotDifferentiable, Span

ENDS = 8  # items of a long container that are looked at from either end
DEPTH = 6  # containers in containers that are looked into
WORK: Any = 10_000  # of `np.shares_memory`, which may take very long: what is not told by then counts as apart
REPORT = "report this: it is a fault of tangentx, not of your program, and the result is not to be trusted"


class Memory:
    """A class of memory that may alias; what lies in two of them is apart, unless nobody writes into either."""

    __slots__ = ("still",)

    def __init__(self, still: bool) -> None:
        self.still = still


@dataclass(frozen=True, slots=True, eq=False)
class Anything:
    """Nothing is claimed."""

    def fault(self, value: Any, depth: int = 0) -> str | None:
        return None

    def __str__(self) -> str:
        return "anything"


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number of `type`, or one that is made such a number where both meet; with `none` perhaps None.

    With `either` it may be Python's or NumPy's, or an array without axes, which `np.reshape` makes of Python's.
    """

    type: type
    none: bool = False
    value: Any = None
    either: bool = False

    def fault(self, value: Any, depth: int = 0) -> str | None:
        """What `value` is instead, if it is no such number."""
        if value is None and self.none:
            return None
        if self.either and type(value) is np.ndarray and not value.ndim:
            value = value[()]
        if not isinstance(value, bool | int | float | complex | np.generic):
            return shown(value)
        held = common(type(value), self.type)
        weak = self.either and type(value) in _LADDER and np.result_type(value, self.type) == self.type
        if held is not self.type and not weak and not (self.either and np.dtype(held) == np.dtype(self.type)):
            return shown(value)
        return shown(value) if self.value is not None and value != self.value else None

    def __str__(self) -> str:
        known = "" if self.value is None else f", {self.value!r}"
        return f"{with_article(self.type.__name__)}{known}{' or None' * self.none}"


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """An array, of no rank that is known if that is None; `loose`: or a number; with `none` perhaps None."""

    dtype: np.dtype[Any]
    rank: int | None
    memory: Memory
    loose: bool = False
    none: bool = False

    def fault(self, value: Any, depth: int = 0) -> str | None:
        """What `value` is instead, if it is no such array."""
        if value is None and self.none:
            return None
        if library_of_class(type(value)) is None:
            number = isinstance(value, bool | int | float | complex | np.generic)
            fits = number and self.loose and np.result_type(np.dtype(type(value)), self.dtype) == self.dtype
            return None if fits else shown(value)
        fits = np.result_type(value.dtype, self.dtype) == self.dtype
        return None if fits and self.rank in (None, value.ndim) else shown(value)

    def __str__(self) -> str:
        rank = "" if self.rank is None else f" of rank {self.rank}"
        return f"{'a number or ' * self.loose}an array of {self.dtype}{rank}{' or None' * self.none}"


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """One object, or one of several; strings and the like are compared by value."""

    values: tuple[Any, ...]

    def fault(self, value: Any, depth: int = 0) -> str | None:
        """What `value` is instead, if it is none of these."""
        return None if any(value is known or alike(value, known) for known in self.values) else shown(value)

    def __str__(self) -> str:
        return " or ".join(getattr(value, "__name__", None) or repr(value) for value in self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Of:
    """An object of a class."""

    cls: type

    def fault(self, value: Any, depth: int = 0) -> str | None:
        """What `value` is instead, if it is no such object."""
        return None if isinstance(value, self.cls) else shown(value)

    def __str__(self) -> str:
        return with_article(self.cls.__name__)


@dataclass(slots=True, eq=False)
class Container:
    """A container of class `cls`: what stands at known keys, and at any others where it is `open`.

    With `gaps` anything may stand for what has no value (`is_gap`), and a list for a tuple whose items are summed up.
    An object may be of one of several `classes`; with `none` there may be None in its place.
    """

    cls: type
    memory: Memory
    open: bool = False
    gaps: bool = False
    always: frozenset[Any] | None = None
    items: dict[Any, Claim] = field(default_factory=dict)
    others: Claim | None = None
    classes: tuple[type, ...] = ()
    none: bool = False

    def fault(self, value: Any, depth: int = 0) -> str | None:
        """What `value`, or something in it, is instead."""
        if self.none and value is None:
            return None
        shadow = self.gaps and isinstance(value, list) and issubclass(self.cls, tuple)
        record = isinstance(value, SimpleNamespace) and parts_of(self.cls) is not None  # what is never read is left out
        if not (isinstance(value, self.classes or self.cls) or shadow or record):
            return shown(value)
        found = contents(value)
        if depth >= DEPTH or found is None:
            return None
        keys = self.items if issubclass(self.cls, tuple) else self.always or ()
        for key in keys if not self.open else ():
            if key not in found:
                return f"{with_article(self.cls.__name__)} without {key!r}"
        chosen = list(found) if len(found) <= 2 * ENDS else [*list(found)[:ENDS], *list(found)[-ENDS:]]
        for key in chosen:
            if (fault := self._fault_at(key, found[key], depth)) is not None:
                return f"{with_article(self.cls.__name__)} with {fault} at {key!r}"
        return None

    def _fault_at(self, key: Any, item: Any, depth: int) -> str | None:
        if self.gaps and is_gap(item):
            return None
        claims = [claim for claim in (self.items.get(key), self.others) if claim is not None]
        if key not in self.items and self.others is None and self.open:
            claims = list(self.items.values())
        if not claims:
            return shown(item)
        faults = [claim.fault(item, depth + 1) for claim in claims]
        return faults[0] if None not in faults else None

    def __str__(self) -> str:
        name = with_article(self.cls.__name__)
        if self.items and not self.open and len(self.items) <= ENDS:
            inner = [
                str(c) if not isinstance(c, Container) else with_article(c.cls.__name__) for c in self.items.values()
            ]
            return f"{name} of {', '.join(inner)}"
        return name


@dataclass(frozen=True, slots=True, eq=False)
class Perhaps:
    """Something, or what stands for a value that is not there."""

    claim: Claim

    def fault(self, value: Any, depth: int = 0) -> str | None:
        """What `value` is instead, if it is neither."""
        return None if is_gap(value) else self.claim.fault(value, depth)

    def __str__(self) -> str:
        return f"{self.claim}, or nothing"


Claim: TypeAlias = Anything | Number | Array | Known | Of | Container | Perhaps


@dataclass(frozen=True, slots=True)
class Fact:
    """A claim about the value that `subject` has after the statement at `span`."""

    subject: str
    claim: Claim
    span: Span


Facts: TypeAlias = dict[str, Fact]


def claimed(facts: Facts, text: str, value: Any) -> None:
    """Asserts the fact that is entered under `text`. Raises InternalError where it does not hold."""
    fact = facts[text]
    fault = fact.claim.fault(value)
    if fault is not None:
        raise untrue(fact.subject, f"taken for {fact.claim}", f"is {fault}", fact.span)
    table = _OWNERS.get()
    if table is not None:
        table.enter(value, fact)


def claimed_real(facts: Facts, text: str, value: Any) -> None:
    """Refuses a complex array where a real one was taken for granted, as the derivative does. Raises
    NotDifferentiable."""
    if np.iscomplexobj(value):
        raise NotDifferentiable(
            "a complex function of a real matrix has no derivative",
            facts[text].span,
            "make the matrix complex: `a + 0j`",
        )


def claimed_zero(facts: Facts, text: str, value: Any) -> None:
    """Asserts that a cotangent is zero. Raises InternalError where it is not."""
    for leaf in numbers_in(value):
        if np.any(leaf):
            raise untrue(facts[text].subject, "taken for zero", f"is {shown(leaf)}", facts[text].span)


def claimed_alike(facts: Facts, text: str, value: Any, other: Any) -> None:
    """Asserts that two arrays have equal shapes. Raises InternalError where they have not."""
    if not is_gap(value) and not is_gap(other) and np.shape(value) != np.shape(other):
        claim, found = f"taken to have the shape {np.shape(other)}", f"has the shape {np.shape(value)}"
        raise untrue(facts[text].subject, claim, found, facts[text].span)


def claimed_way(facts: Facts, text: str, number: int, back: bool, *decided: Any) -> None:
    """Notes a test or the bounds of a loop; on the way `back`, where they are evaluated again, asserts that they are
    the same. Raises InternalError where they are not."""
    found = outcome(number, back, decided[0] if len(decided) == 1 else range(*decided))
    if found is not None:
        what = "the test" if len(decided) == 1 else "the range of the loop"
        claim = f"taken to be {found[0]!r} in the reverse sweep too"
        raise untrue(what, claim, f"is {found[1]!r} there", facts[text].span)


def claimed_recorded(facts: Facts, text: str, tape: Any, what: str, value: Any) -> None:
    """Notes the content of what has just been recorded, or of the memory that is overwritten next."""
    recorded(tape, what, value)


def claimed_restored(facts: Facts, text: str, tape: Any, what: str, value: Any) -> None:
    """Asserts that the content is what it was when the record was made. Raises InternalError where it is not."""
    found = restored(tape, what, value)
    if found is not None:
        claim = "taken to be restored to what it was in the forward sweep"
        raise untrue(facts[text].subject, claim, f"is {found[1]} in place of {found[0]}", facts[text].span)


def claimed_layout(facts: Facts, text: str, shadow: Any, primal: Any) -> None:
    """Asserts that a shadow has the shape and the strides of its primal. Raises InternalError where it has not."""
    if not (type(shadow) is type(primal) is np.ndarray) or is_gap(shadow) or repeats(primal):
        return
    if shadow.shape != primal.shape or _steps(shadow) != _steps(primal):
        claim = f"taken to have the shape {primal.shape} and the strides {_steps(primal)} of its primal"
        found = f"has the shape {shadow.shape} and the strides {_steps(shadow)}"
        raise untrue(facts[text].subject, claim, f"{found}, in elements", facts[text].span)


def _steps(array: Any) -> tuple[int, ...]:
    """The strides in elements, of axes along which there is a step; none of what has no elements."""
    pairs = zip(array.strides, array.shape, strict=True)
    return tuple(stride // array.itemsize if n > 1 else 0 for stride, n in pairs) if array.size else ()


def claimed_value(facts: Facts, text: str, name: str, value: Any) -> None:
    """Notes the value that a statement of the user's gave a name of theirs."""
    span = facts[text].span
    told((span.file, span.line, name), value)


def claimed_spent(facts: Facts, text: str, tape: Any) -> None:
    """Asserts that all records have been taken back. Raises InternalError where some are left."""
    if tape:
        claim, found = "taken to be used up in the end", f"has {len(tape)} records left"
        raise untrue(facts[text].subject, claim, found, facts[text].span)


def numbers_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """The numbers and arrays of numbers in a structure."""
    if isinstance(value, float | complex | np.inexact) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        yield value
    elif not isinstance(value, str | bytes | np.ndarray) and depth <= DEPTH:
        for item in (contents(value) or {}).values():
            yield from numbers_in(item, depth + 1)


def untrue(subject: str, claim: str, found: str, span: Span | None) -> InternalError:
    """The error for a claim that does not hold."""
    return InternalError(f"checked mode: {subject} was {claim}, and {found}", span, REPORT)


# ---- memory ----
@dataclass(slots=True)
class _Place:
    """An array that lies in memory of one owner, under the fact that told of it."""

    array: Any
    memory: Memory
    fact: Fact


class Owners:
    """The arrays that live, by who owns their memory; with their contents those that nobody is to write."""

    def __init__(self) -> None:
        self.by_owner: dict[int, tuple[Any, list[_Place]]] = {}
        self.still: dict[int, tuple[Any, Any, Fact]] = {}

    def demand_still(self) -> None:
        """Raises InternalError where an array that was taken for a value has another content by now."""
        for array, content, fact in self.still.values():
            if content_of(array) != content:
                claim = "taken for an array that nobody writes into"
                raise untrue(fact.subject, claim, "has another content in the end", fact.span)

    def enter(self, value: Any, fact: Fact) -> None:
        """Notes the array. Raises InternalError where it overlaps one that was taken to be apart from it."""
        claim = fact.claim.claim if isinstance(fact.claim, Perhaps) else fact.claim
        if type(value) is not np.ndarray or not isinstance(claim, Array) or value.size == 0:
            return
        if claim.memory.still and id(value) not in self.still and (content := marked(value)) is not None:
            self.still[id(value)] = value, content, fact
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        known, places = self.by_owner.get(id(owner), (None, []))
        if known is None or known() is not owner:
            places = []
            self.by_owner[id(owner)] = weakref.ref(owner), places
        places[:] = [place for place in places if place.array() is not None]
        for place in places:
            apart = place.memory is not claim.memory and not (place.memory.still and claim.memory.still)
            if apart and overlap(value, place.array()):
                where = f"{place.fact.subject} of line {place.fact.span.line}"
                raise untrue(fact.subject, f"taken to share no memory with {where}", "does", fact.span)
        if not any(place.array() is value and place.memory is claim.memory for place in places):
            places.append(_Place(weakref.ref(value), claim.memory, fact))


_OWNERS: ContextVar[Owners | None] = ContextVar("tangentx_owners", default=None)


def watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, each call of which tells of its arrays in a table of its own."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        owners = Owners()

        def whole() -> Any:
            result = function(*args, **kwargs)
            owners.demand_still()
            return result

        return lasting(_OWNERS, owners, lambda: noting(whole))

    return run


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common, as far as that can be told without much work."""
    (low, high), (first, last) = byte_bounds(a), byte_bounds(b)
    if high <= first or last <= low:
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=WORK))
    except (np.exceptions.TooHardError, OverflowError):
        return False


# ---- words ----
def shown(value: Any) -> str:
    """The value in a few words."""
    if library_of_class(type(value)) is not None:
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, bool | int | float | complex | np.generic):
        return f"{with_article(type(value).__name__)}, {value!r}"
    return "None" if value is None else with_article(type(value).__name__)


def is_gap(value: Any) -> bool:
    """Whether it may stand for a value that is not there: None for a name that was not bound when it was recorded, a
    zero for the cotangent of anything to which nothing was added, one without axes where there is perhaps None. Two of
    those that ``np.zeros_like(None)`` gives are Python's 0 together."""
    if library_of_class(type(value)) is not None:
        return value.ndim == 0 and not value.any()
    return value is None or (type(value) is int or isinstance(value, float | complex | np.inexact)) and value == 0.0


def alike(value: Any, known: Any) -> bool:
    """Whether two objects count as one by value: strings, and a method for the function of its class."""
    if isinstance(known, str | bytes | np.dtype):
        return type(value) is type(known) and bool(value == known)
    method = callable(known) and hasattr(value, "__self__")
    return method and getattr(value, "__name__", "") == getattr(known, "__name__", None)


_LADDER: tuple[type, ...] = (bool, int, float, complex)


def common(one: type, other: type) -> type:
    """The type that holds numbers of both."""
    if one in _LADDER and other in _LADDER:
        return _LADDER[max(_LADDER.index(one), _LADDER.index(other))]
    return np.result_type(np.dtype(one), np.dtype(other)).type


def contents(value: Any) -> dict[Any, Any] | None:
    """The items of a container by key; None for what has none that are known."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return dict(value)
    found = fields(value)
    return dict(found) if found is not None else None
