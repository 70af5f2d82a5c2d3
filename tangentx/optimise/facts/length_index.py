"""An index from lengths to the shapes that mention them.

When two lengths turn out to be equal, one of them is written for the other. The index says where the other is written,
so that an equation costs as much as it changes and not as much as is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tangentx.optimise.facts.shape_arithmetic import Length, Shape, mentioned


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
