"""What the root does first and after the forward sweep: copies of what is written, and objects from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx import arrays
from tangentx.analysis.kinds import Arr, Box, Kind
from tangentx.analysis.program import Instance
from tangentx.derive.emit import Emitter
from tangentx.ir.nodes import Index, Key, Lit, Op, Var


def entry(instance: Instance, emit: Emitter, names: Sequence[str], *, everything: bool = False) -> None:
    """Arguments that the program may write are replaced by one joint copy."""
    written = [n for n in names if _is_written(instance.kinds[n], everything)]
    if len(written) == 1:
        emit.assign(written[0], Op(arrays.entry_copy, (Var(written[0]),)))
    elif written:
        copies = emit.op(arrays.entry_copies, *(Var(n) for n in written))
        for i, name in enumerate(written):
            emit.assign(name, Index(copies, Key((Lit(i),))))


def outside_of(instance: Instance) -> dict[str, Any]:
    """Parameters of the root that stand for objects from outside, with those objects."""
    assert instance.link.function is not None
    found = instance.link.function.notes.get("outside", ())
    names = [p.name for p in instance.link.function.params]
    return dict(zip(names[len(names) - len(found) :], found, strict=True))


def fetch(instance: Instance, emit: Emitter) -> None:
    """Reads the objects from outside where the program begins."""
    for name, ext in outside_of(instance).items():
        emit.assign(name, ext)


def put_back(instance: Instance, emit: Emitter) -> None:
    """Gives the objects from outside their final content, where the forward sweep has ended."""
    for name, ext in outside_of(instance).items():
        emit.op(arrays.write_back, ext, Var(name))


def arguments_of(instance: Instance) -> list[str]:
    """The parameters of the root that the caller gives."""
    assert instance.link.function is not None
    own = outside_of(instance)
    return [p.name for p in instance.link.function.params if p.name not in own]


def _is_written(kind: Kind, everything: bool, seen: tuple[Any, ...] = ()) -> bool:
    if not isinstance(kind, Arr | Box):
        return False
    node = kind.region.root()
    if node.written or everything:
        return True
    if node in seen or isinstance(kind, Arr):
        return False
    return any(_is_written(k, everything, (*seen, node)) for k in (*node.fields.values(), node.elt))
