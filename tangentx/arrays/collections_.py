"""Stand-ins for classes of Python's `collections`, written with dicts, which derivatives of programs use.

Each method does what that of the class it stands for does, in the time that it takes there.
"""

from __future__ import annotations

from typing import Any


class Deque:
    """`collections.deque`: the items by numbers that go up from `low` to `high`."""

    def __init__(self, iterable: Any = None, maxlen: Any = None) -> None:
        self.items: dict[int, Any] = {}
        self.low = 0
        self.high = 0
        self.limit = -1 if maxlen is None else maxlen
        if iterable is not None:
            for value in iterable:
                self.append(value)

    def __len__(self) -> int:
        return self.high - self.low

    def __bool__(self) -> bool:
        return self.high > self.low

    def __getitem__(self, index: Any) -> Any:
        return self.items[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.items[self._place(index)] = value

    def _place(self, index: Any) -> Any:
        count = self.high - self.low
        if index < -count or index >= count:
            raise IndexError("deque index out of range")
        return self.low + index if index >= 0 else self.high + index

    def append(self, value: Any) -> None:
        """An item behind the last."""
        if self.limit == 0:
            return
        if self.high - self.low == self.limit:
            self.popleft()
        self.items[self.high] = value
        self.high = self.high + 1

    def appendleft(self, value: Any) -> None:
        """An item before the first."""
        if self.limit == 0:
            return
        if self.high - self.low == self.limit:
            self.pop()
        self.low = self.low - 1
        self.items[self.low] = value

    def pop(self) -> Any:
        """Takes the last item."""
        if self.high == self.low:
            raise IndexError("pop from an empty deque")
        self.high = self.high - 1
        return self.items.pop(self.high)

    def popleft(self) -> Any:
        """Takes the first item."""
        if self.high == self.low:
            raise IndexError("pop from an empty deque")
        value = self.items.pop(self.low)
        self.low = self.low + 1
        return value

    def extend(self, values: Any) -> None:
        """Items behind the last."""
        for value in values:
            self.append(value)

    def extendleft(self, values: Any) -> None:
        """Items before the first, one after the other."""
        for value in values:
            self.appendleft(value)

    def rotate(self, n: Any = 1) -> None:
        """Items from the end to the front; with a negative number the other way."""
        if self.high > self.low:
            for _ in range(n):
                self.appendleft(self.pop())
            for _ in range(-n):
                self.append(self.popleft())

    def reverse(self) -> None:
        """The items in the other order."""
        for k in range((self.high - self.low) // 2):
            first, last = self.low + k, self.high - 1 - k
            self.items[first], self.items[last] = self.items[last], self.items[first]

    def clear(self) -> None:
        """Takes all items."""
        for _ in range(self.high - self.low):
            self.pop()

    def listed(self) -> Any:
        """The items in order, in a list."""
        found = []
        for place in range(self.low, self.high):
            found.append(self.items[place])
        return found


class DefaultDict:
    """`collections.defaultdict`: `table` has the items, `factory` makes those that are missing."""

    def __init__(self, factory: Any, table: Any = None) -> None:
        self.factory = factory
        self.table: Any = {}
        if table is not None:
            self.table.update(table)

    def __len__(self) -> int:
        return len(self.table)

    def __bool__(self) -> bool:
        return len(self.table) > 0

    def __contains__(self, key: Any) -> bool:
        return key in self.table

    def __getitem__(self, key: Any) -> Any:
        if key not in self.table:
            self.table[key] = self.factory()
        return self.table[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.table[key] = value

    def get(self, key: Any, default: Any = None) -> Any:
        """The item, or a default; nothing is made."""
        return self.table.get(key, default)

    def pop(self, key: Any) -> Any:
        """Takes an item."""
        return self.table.pop(key)

    def update(self, other: Any) -> None:
        """Puts the items of a dict in."""
        self.table.update(other)

    def keys(self) -> Any:
        """A list of the keys."""
        return list(self.table.keys())

    def values(self) -> Any:
        """A list of the values."""
        return list(self.table.values())

    def items(self) -> Any:
        """A list of pairs of keys and values."""
        return list(self.table.items())

    def listed(self) -> Any:
        """The keys in order, in a list."""
        return list(self.table)
