"""Caches bounded by the bytes of what they hold."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Bounded(Generic[K, T]):
    """Values by key, each of a size that is told with it: of more than `limit` together the least recently used go.

    The last one stays, whatever its size. It takes no lock, so that a process forked meanwhile finds none taken: what
    two threads find at the same time is kept once.

    >>> table: Bounded[str, int] = Bounded(10)
    >>> table.put("a", 1, size=6)
    >>> table.put("b", 2, size=6)
    >>> table.get("a"), table.get("b")
    (None, 2)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._held: OrderedDict[K, tuple[T, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._held))

    def size(self) -> int:
        """Of all values together."""
        return sum(size for _, size in list(self._held.values()))

    def get(self, key: K) -> T | None:
        """The value that was put there; None where it is gone, or never was."""
        found = self._held.get(key)
        if found is None:
            return None
        with suppress(KeyError):  # another thread has dropped it since
            self._held.move_to_end(key)
        return found[0]

    def put(self, key: K, value: T, size: int) -> None:
        """Keeps a value."""
        self._held[key] = value, size
        while len(self._held) > 1 and self.size() > self.limit:
            with suppress(KeyError):
                self._held.popitem(last=False)

    def drop(self, key: K) -> None:
        """Forgets a value, if it is there."""
        self._held.pop(key, None)

    def clear(self) -> None:
        """Forgets all values."""
        self._held.clear()
