"""Items of a dict under construction by a comprehension over a range: keys that cannot occur twice.

    e = {k: x[k] ** 2 for k in range(3)}

By the general rule it is recorded whether a key is there already, and the reverse sweep takes away what was not. The
numbers of a range differ, so in a dict that was empty before the loop none of them is there; and nothing but the store
names the dict in the loop, so nobody sees in its reverse sweep what is left in it.
"""

from __future__ import annotations

from collections import Counter

from tangentx.ir.nodes import Assign, Block, For, If, Key, Make, Statement, Store, Var
from tangentx.ir.walk import blocks, bound, reads, statements, writes


def fresh_items(body: Block) -> frozenset[int]:
    """The stores of such items, by their identities."""
    bindings = Counter(name for s in statements(body) for name in writes(s))
    found: set[int] = set()
    todo = [body]
    while todo:
        block = todo.pop()
        empty: set[str] = set()
        for s in block:
            todo += blocks(s)
            store = _store_of(s) if isinstance(s, For) else None
            if store is not None and isinstance(store.base, Var) and store.base.name in empty:
                found.add(id(store))
            empty -= {name for inner in statements((s,)) for name in reads(inner)}
            if isinstance(s, Assign) and s.value == Make(dict, (), ()) and bindings[s.target] == 1:
                empty.add(s.target)
    return frozenset(found)


def _store_of(s: For) -> Store | None:
    """The statement of a loop, the only one that reads what it writes into, that stores an item under the loop's own
    number."""
    key = Key((Var(s.target),))
    stores = [each for each in _trip(s.body) if isinstance(each, Store) and each.key == key]
    if len(stores) != 1 or s.snapshots is not None or s.target in bound(s.body):
        return None
    (store,) = stores
    names = [name for each in statements(s.body) for name in reads(each)]
    return store if isinstance(store.base, Var) and names.count(store.base.name) == 1 else None


def _trip(block: Block) -> list[Statement]:
    """The statements that a trip comes to once at most."""
    inner = [each for s in block if isinstance(s, If) for each in (*_trip(s.body), *_trip(s.orelse))]
    return [*block, *inner]
