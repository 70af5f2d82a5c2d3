"""Kinds of shadows and of public gradients: structures laid out like another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Num, Obj, Region, World, is_inexact

Fresh = Callable[[Any], Region]


@dataclass
class Layout:
    """Writes the kind of a structure like another one, in new regions that are one where those of the other are.

    `shadow`: as a shadow is laid out; `reals`: whole numbers become real; `nothing`: what stands for None.
    """

    world: World
    fresh: Fresh
    shadow: bool
    reals: bool = False
    nothing: Kind = Obj(None)
    known: dict[Region, Region] = field(default_factory=dict)

    def kind(self, kind: Kind, path: tuple[Any, ...] = ()) -> Kind:
        """The kind with the leaves that have a derivative, None in the place of the others."""
        if isinstance(kind, Bottom):
            return BOTTOM
        if isinstance(kind, Num):
            if self.reals and not is_inexact(kind):
                return Num(float)
            return Num(kind.type) if is_inexact(kind) else Obj(None)
        if isinstance(kind, Arr):
            if not self.reals and not is_inexact(kind):
                return Obj(None)
            dtype = kind.dtype if is_inexact(kind) else np.dtype(float)
            return zeros_kind(kind, dtype, self._region(kind, path).root())
        if isinstance(kind, Box):
            return self._box(kind, path)
        return self.nothing if kind == Obj(None) else Obj(None)

    def _region(self, kind: Arr | Box, path: tuple[Any, ...]) -> Region:
        return self.known.setdefault(kind.region.root(), self.fresh(path))

    def _box(self, kind: Box, path: tuple[Any, ...]) -> Kind:
        node = kind.region.root()
        met = node in self.known
        region = self._region(kind, path)
        if met:
            return Box(self._class(kind.cls), region.root(), kind.none)
        region.born(node.always or ())
        if node.open:
            region.mark("open")
        region.put_key(node.key)
        for key, item in list(node.fields.items()):
            region.put(key, self.kind(item, (*path, key)))
        if not isinstance(node.elt, Bottom):
            region.put_any(self.kind(node.elt, (*path, "*")))
        return Box(self._class(kind.cls), region.root(), kind.none)

    def _class(self, cls: type) -> type:
        if not self.shadow:
            return cls
        return list if issubclass(cls, list | tuple) else dict


def zeros_kind(kind: Arr, dtype: np.dtype[Any], region: Region) -> Arr:
    """Zeros like an array; in the place of None stands the number zero."""
    return Arr(dtype, None if kind.none else kind.rank, region, kind.loose or kind.none, library=kind.library)
