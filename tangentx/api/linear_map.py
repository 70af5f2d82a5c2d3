"""Linear maps at a point, tangents and pullbacks: applied to one direction or to a batch of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.common.pytrees import children, leaves, rebuild
from tangentx.dispatch.batch_axes import Arranged, Place, arranged, axes_of_leaves, members, stacked
from tangentx.dispatch.entries import Entry
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.results import separate


@dataclass(frozen=True)
class Form:
    """The places of the arguments that are not None, and of the results that are not, in their order.

    `many`: there are several results, in a tuple; else there is one, whatever its structure.
    """

    taken: tuple[int, ...]
    given: tuple[int, ...]
    many: bool


class Linear:
    """A linear function, to be called any number of times; `source` is the text that runs.

    `tx.vmap` of it takes a batch of tangents, or of cotangents, in one sweep where the program can be batched. `entry`
    is what was compiled, `state` what the first of its two functions kept at this point.
    """

    __tangentx_outside__ = "call tx.jvp or tx.vjp of its function there, or pass its result as an argument"

    def __init__(
        self, run: Callable[..., Any], entry: Entry, values: Sequence[Any] | None, state: Any, form: Form
    ) -> None:
        self._run = run
        self.entry = entry
        self.state = state
        self._values = values
        self._form = form
        self._states: dict[int, Any] = {}
        self.__doc__ = run.__doc__
        self.__name__ = run.__name__

    @shallow
    def __call__(self, *args: Any) -> Any:
        return self._run(*args)

    def __repr__(self) -> str:
        return f"<{self.__name__} at a point>"

    @property
    def source(self) -> str:
        """The text that runs."""
        from tangentx.compile.gradients import text_of

        return text_of(self.entry)

    def __tangentx_batched__(self, in_axes: Any, out_axes: Any) -> Callable[..., Any]:
        """This function of a batch of its arguments."""

        def batch(*args: Any) -> Any:
            places = tuple(Place(i, f"argument {i}") for i in range(len(args)))
            given = arranged(args, axes_of_leaves(in_axes, args, places), places)
            first = self._run(*next(members(given)))  # which says what is wrong, and what the results are like
            found = self._at_once(given, first)
            if found is None:
                return stacked([first, *(self._run(*one) for one in list(members(given))[1:])], out_axes)
            return stacked(found, out_axes, whole=True)

        return batch

    def _at_once(self, given: Arranged, first: Any) -> Any:
        """The results of all members, or None where there is no program for all at once."""
        args = [given.args[i] for i in self._form.taken]
        found = [leaf for arg in args for _, leaf in leaves("", arg)]
        results = [first[i] for i in self._form.given] if self._form.many else [first]
        parts = [leaf for result in results for _, leaf in leaves("", result)]
        whole = all(all(given.axes[i]) for i in self._form.taken) and len(given.batched) == len(args)
        doubles = all(type(leaf) is np.ndarray and leaf.dtype == np.float64 for leaf in found)
        if not (whole and doubles and all(type(part) in (float, np.float64, np.ndarray) for part in parts)):
            return None
        functions = self.entry.notes.get("several", lambda _: None)(self._values) if self._values is not None else None
        if functions is None or self._values is None:
            return None
        if given.count not in self._states:
            self._states = {given.count: functions[0](given.count, *self._values)[1]}
        moved = functions[1](given.count, self._states[given.count], *(rebuild(arg, np.copy) for arg in args))
        if not self._form.many:
            return separate(_formed(moved[0] if isinstance(moved, tuple) else moved, first, given.count), args)
        bars = dict(zip(self._form.given, separate(moved, args), strict=True))
        return tuple(bars.get(i) for i in range(len(first)))


def _formed(batch: Any, like: Any, count: int) -> Any:
    """A batch in the structure of the result of one member; tangents have lists for tuples, dicts for objects, and None
    for what does not move."""
    found = iter(list(_leaves_like(batch, like, count)))
    return rebuild(like, lambda _: next(found))


def _leaves_like(batch: Any, like: Any, count: int) -> Iterator[Any]:
    """The leaves of a batch in the order of those of `like`."""
    parts = children(like)
    if parts is None:
        yield np.zeros((count, *np.shape(like))) if batch is None else batch
        return
    by_place = isinstance(like, tuple | list)
    keys = list(range(len(parts))) if by_place else list(like) if isinstance(like, dict) else [p[1:] for p, _ in parts]
    for key, (_, part) in zip(keys, parts, strict=True):
        yield from _leaves_like(None if batch is None else batch[key], part, count)
