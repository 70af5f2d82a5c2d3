"""Transfers kinds from one program to another, with their regions renamed."""

from __future__ import annotations

from dataclasses import replace

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Region, World


def copy_kind(kind: Kind, world: World, memo: dict[Region, Region]) -> Kind:
    """The kind in another world: same structure and aliases, nothing varied, nothing written yet."""
    if isinstance(kind, Num):
        return replace(kind, varied=False)
    if not isinstance(kind, Arr | Box):
        return kind
    node = kind.region.root()
    known = node in memo
    if not known:
        memo[node] = world.region()
    if isinstance(kind, Arr):
        return replace(kind, region=memo[node])
    if not known:
        memo[node].open = node.open
        memo[node].born(node.always or ())
        for name, item in node.fields.items():
            memo[node].fields[name] = copy_kind(item, world, memo)
        memo[node].elt = copy_kind(node.elt, world, memo)
    return Box(kind.cls, memo[node], kind.none)


def settle_copies(world: World) -> None:
    """What is copied as a whole is rewritten if the copy is written, or copied in turn to one that is.

    No walk asks for that, so it is found when all walks are done.
    """
    marked = True
    while marked:
        marked = False
        for node, copy in world.copies:
            if not (node.root().rewritten or copy.still()):
                node.mark("rewritten")
                marked = True
