"""Memory that a pullback owns: its private copies of arguments and outside arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tangentx.arrays.copies import entry_copies, still_among
from tangentx.arrays.memory import arrays_in, is_writable
from tangentx.dispatch.entries import Entry, own_state
from tangentx.errors import NotDifferentiable


@dataclass(frozen=True)
class Owned:
    """What a pullback holds: the arguments as they were, where a batch of cotangents runs the program again for them
    (else None), and arrays that it shares with others, for nobody can write there."""

    values: tuple[Any, ...] | None
    shared: tuple[Any, ...]

    def demand_still(self) -> None:
        """Raises NotDifferentiable where an array that nobody could write can be written now."""
        if any(map(is_writable, self.shared)):
            raise NotDifferentiable(
                "an array that was read-only when this pullback was made is writable now, and the pullback reads it",
                hint="leave it read-only, or make it writable before",
            )


def owned(entry: Entry, state: Any, values: Sequence[Any]) -> Owned:
    """What the pullback with this state holds. Where it copied something, notes for `explain` how many bytes."""
    copied = entry.text.copied if entry.text is not None else ()
    state = own_state(state)
    sizes, shared, own = [], [], dict[int, Any]()
    for one in copied:
        part = state if one.place is None else state[one.place]
        inside = arrays_in(part)
        still = still_among(inside)
        shared += [a for a in still if any(a is b for b in _given(one, values))] if one.source == "argument" else still
        sizes.append(sum(a.nbytes for a in inside if not any(a is b for b in still)))
        if one.parameter is not None:
            own[one.parameter] = part
    others = [value for i, value in enumerate(values) if i not in own]
    rest = entry_copies(*others) if "several" in entry.notes else None
    entry.notes["sizes"] = tuple(sizes), _size(others, rest or ())
    if rest is None:
        return Owned(None, tuple(shared))
    copies = iter(rest)
    return Owned(tuple(own[i] if i in own else next(copies) for i in range(len(values))), tuple(shared))


def _given(one: Any, values: Sequence[Any]) -> list[Any]:
    return arrays_in(values) if one.parameter is None else arrays_in(values[one.parameter])


def _size(given: Sequence[Any], copies: Sequence[Any]) -> int:
    """The bytes of the arrays that were copied."""
    taken = set(map(id, arrays_in(given)))
    return sum(a.nbytes for a in arrays_in(copies) if id(a) not in taken)
