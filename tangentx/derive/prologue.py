"""The prologue of a derived function: copies of arguments that are written, and outside objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region
from tangentx.analysis.types.primitives import acts
from tangentx.derive.emit import ALIKE, Emitter, Frame
from tangentx.ir.nodes import Assign, Function, Index, Key, Lit, Make, Op, Var
from tangentx.ir.walk import statements


def entry(instance: Instance, emit: Emitter, names: Sequence[str], *, everything: bool = False) -> None:
    """Arguments that the program may write are replaced by one joint copy."""
    written = [n for n in names if _is_written(instance.kinds[n], everything)]
    if len(written) == 1:
        emit.assign(written[0], Op(arrays.entry_copy, (Var(written[0]),)))
    elif written:
        copies = emit.op(arrays.entry_copies, *(Var(n) for n in written))
        for i, name in enumerate(written):
            emit.assign(name, Index(copies, Key((Lit(i),))))


def zeros_of_storages(frame: Frame, emit: Emitter, names: Sequence[str], apart: Sequence[str] = ()) -> None:
    """Zero shadows (or tangents) of parameters; those that may share memory get theirs together, sharing alike.

    What stands at two places of a parameter that is never written has a cotangent at each, as it has where two
    parameters are one. So it is with those that are `apart`: they are refused where they are written and share memory.
    """
    foreign = outside_of(frame.instance)
    alone = foreign if frame.program.apart else names
    mine = [name for name in names if name in alone and name not in apart]
    for group in [*([name] for name in names if name not in mine), *_sharing(frame, mine)]:
        if len(group) == 1:
            alike = group[0] not in apart and _holds_written(frame.kinds[group[0]])
            emit.assign(frame.other(group[0]), Op(arrays.zero, (Var(group[0]), ALIKE) if alike else (Var(group[0]),)))
            continue
        together = emit.op(arrays.zero, emit.let(Make(tuple, tuple(Var(name) for name in group))), ALIKE)
        for i, name in enumerate(group):
            emit.assign(frame.other(name), Index(together, Key((Lit(i),))))


def _holds_written(kind: Kind) -> bool:
    """Whether a container, or what it reaches, is written."""
    return isinstance(kind, Box) and any(_written(kind, set()))


def _sharing(frame: Frame, names: Sequence[str]) -> list[list[str]]:
    """The names in groups: those whose values may share written memory are in one."""
    groups: list[tuple[list[str], set[Region]]] = []
    for name in names:
        members, regions = [name], set(_written(frame.kinds[name], set()))
        for other in [g for g in groups if g[1] & regions]:
            groups.remove(other)
            members, regions = [*other[0], *members], regions | other[1]
        groups.append((members, regions))
    return [members for members, _ in groups]


def _written(kind: Kind, seen: set[Region]) -> Iterator[Region]:
    """The regions that a value of the kind reaches and that are written."""
    if not isinstance(kind, Arr | Box) or (node := kind.region.root()) in seen:
        return
    seen.add(node)
    if node.written:
        yield node
    for item in (*node.fields.values(), node.elt) if isinstance(kind, Box) else ():
        yield from _written(item, seen)


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


def has_effects(root: Instance) -> bool:
    """Whether a second run of the program could do or answer something else."""
    return writes_outside(root) or root.link.function is not None and _acts(root)


def writes_outside(root: Instance) -> bool:
    """Whether the program writes into what is outside."""
    return any(_is_written(root.kinds[name], False) for name in outside_of(root))


def _acts(root: Instance) -> bool:
    seen: list[Function] = []
    pending = [root.link.function]
    while pending:
        function = pending.pop()
        if function is None or function in seen:
            continue
        seen.append(function)
        for s in statements(function.body):
            if isinstance(s, Assign) and acts(s.value):
                return True
            if isinstance(s, Assign) and hasattr(s.value, "link"):
                pending.append(s.value.link.function)
    return False
