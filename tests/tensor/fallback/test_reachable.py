"""What a call reaches: what its arguments hold, though others change that meanwhile."""

from __future__ import annotations

import pytest

import tangentx as tx
from tangentx.tensor.fallback.reachable import active_in


class Changing(list):
    """Another thread changes its size while it is read for the first time."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        for item in super().__iter__():
            if self.reads == 1:
                raise RuntimeError("deque mutated during iteration")
            yield item


def test_what_another_thread_changes_is_read_again() -> None:
    t = tx.tensor(1.5, requires_grad=True)
    assert active_in(Changing([2, t])) is t
    assert active_in({"k": Changing([2, 3])}) is None


def test_what_cannot_be_read_raises_what_it_raises() -> None:
    class Broken(list):
        def __iter__(self):
            raise RuntimeError("closed")

    with pytest.raises(RuntimeError, match="closed"):
        active_in(Broken([1]))
