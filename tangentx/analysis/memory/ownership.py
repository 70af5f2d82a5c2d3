"""Ownership: who else may hold a reference to an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tangentx.analysis.types.kinds import Arr, Box, Kind

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker
    from tangentx.analysis.types.kinds import Region


def other_holder(w: Walker, target: str, kind: Arr, *, caller: bool = True) -> str:
    """Another name, or the caller, that may hold the array that `target` holds; empty where there is none."""
    node = kind.region.root()
    for (_, tag), definition in w.instance.definitions.items():
        if definition.round < w.program.round - 1 or definition.name.startswith("%"):
            continue
        passed = definition.name == target and tag == ("param", target)
        if (definition.name != target or (passed and caller)) and holds(definition.kind, node):
            return "the caller" if passed else f"`{definition.name}`"
    return ""


def holds(kind: Kind, region: Region, seen: tuple[Region, ...] = ()) -> bool:
    """Whether a value of the kind may be, or hold, memory of the region."""
    if not isinstance(kind, Arr | Box):
        return False
    node = kind.region.root()
    if node is region:
        return True
    if isinstance(kind, Arr) or node in seen:
        return False
    return any(holds(item, region, (*seen, node)) for item in (*node.fields.values(), node.elt))
