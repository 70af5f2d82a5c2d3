"""Which views of arrays need not be counted among those that refer to their memory, where a program is printed as C.

A view that is bound at one place, read behind it in the same block alone, and whose base is bound anew nowhere before
the last reader has gone, refers to memory that its base keeps. Views of such a view count as its readers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tangentx.loops.loop_ir import Block, Function, Turn, View, blocks, statements
from tangentx.loops.simplify import names_read, targets


def borrowed(function: Function) -> frozenset[str]:
    """The names of views that their bases keep."""
    bound = Counter(name for s in statements(function.body) for name in targets(s))
    views = {s.name: s.base for s in statements(function.body) if isinstance(s, View | Turn) and bound[s.name] == 1}
    found: set[str] = set()
    _in_block(function.body, views, Counter(names_read(function.body)), found)
    return frozenset(found)


def _in_block(block: Block, views: Mapping[str, str], reads: Mapping[str, int], found: set[str]) -> None:
    """Finds those that are bound in a block and in those inside of it."""
    read = [Counter(names_read((s,))) for s in block]
    for place, s in enumerate(block):
        for inner in blocks(s):
            _in_block(inner, views, reads, found)
        if isinstance(s, View | Turn) and s.name in views and _is_kept(s, block, place, views, reads, read):
            found.add(s.name)


def _is_kept(
    s: View | Turn,
    block: Block,
    place: int,
    views: Mapping[str, str],
    reads: Mapping[str, int],
    read: Sequence[Mapping[str, int]],
) -> bool:
    """Whether the base of a view is kept as long as it, and what is a view of it, are read."""
    last = place
    for name in _family(s.name, views):
        places = [k for k in range(place + 1, len(block)) if read[k].get(name)]
        if sum(read[k][name] for k in places) != reads.get(name, 0):
            return False
        last = max([last, *places])
    return all(s.base not in targets(t) for t in statements(block[place + 1 : last + 1]))


def _family(name: str, views: Mapping[str, str]) -> Iterator[str]:
    """A view, and all that are views of it."""
    yield name
    for other, base in views.items():
        if base == name:
            yield from _family(other, views)
