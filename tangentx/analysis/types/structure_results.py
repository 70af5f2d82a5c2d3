"""Kinds of values that have the structure of another one: results of support functions, shadows, gradients."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.types import number_joins
from tangentx.analysis.types.kinds import (
    BOTTOM,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Region,
    Some,
    World,
    dtype_of,
    is_inexact,
)

# Kinds of shadows and of public gradients: structures laid out like another one.


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


# Result kinds of support functions whose result has the structure of an argument.

Fresh = Callable[[Any], Region]


def _shadow_of(position: int, *, boxes: bool = False) -> Callable[[World, Fresh, Sequence[Kind]], Kind | None]:
    def rule(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
        if boxes and not isinstance(kinds[position], Box):
            return None
        return shadow_of(world, fresh, kinds[position])

    return rule


def shadow_of(world: World, fresh: Fresh, kind: Kind) -> Kind:
    """The kind of what is laid out as the shadow of a value."""
    return Layout(world, fresh, True).kind(kind)


def _zero_like(position: int) -> Callable[[World, Fresh, Sequence[Kind]], Kind]:
    def rule(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
        return Layout(world, fresh, True, nothing=Num(float)).kind(kinds[position])

    return rule


def _public(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
    return Layout(world, fresh, False).kind(kinds[1])


def _copies(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
    tuple_region = fresh("all")
    whole = Box(tuple, tuple_region)
    memo: dict[Region, Region] = {}
    for i, kind in enumerate(kinds):
        tuple_region.put(i, _copied(kind, fresh, memo, (i,)))
    return whole


def _copied(kind: Kind, fresh: Fresh, memo: dict[Region, Region], path: tuple[Any, ...]) -> Kind:
    if not isinstance(kind, Arr | Box):
        return kind
    node = kind.region.root()
    known = node in memo
    if not known:
        memo[node] = fresh(path)
    region = memo[node]
    if node.varied:
        region.mark("varied")
    node.world.copies.append((node, region))
    if isinstance(kind, Arr):
        return replace(kind, region=region.root())
    if not known:
        if node.open:
            region.mark("open")
        region.put_key(node.key)
        region.born(node.always or ())
        for key, item in list(node.fields.items()):
            region.put(key, _copied(item, fresh, memo, (*path, key)))
        region.put_any(_copied(node.elt, fresh, memo, (*path, "*")))
    return Box(kind.cls, region.root(), kind.none)


def _always(kind: Kind) -> Callable[[World, Fresh, Sequence[Kind]], Kind]:
    return lambda world, fresh, kinds: kind


def _one_copy(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
    return _copied(kinds[0], fresh, {}, ())


def _filled(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """The items are those of the tangent, or zeros beside them."""
    if not isinstance(kinds[1], Box):
        return None
    return join_items(Layout(world, fresh, True, True).kind(kinds[1]), kinds[0])


def join_items(made: Kind, given: Kind) -> Kind:
    """What `given` holds is held by `made` too."""
    if isinstance(made, Box) and isinstance(given, Box):
        for key, item in list(given.region.root().fields.items()):
            old = made.region.get(key)
            if isinstance(item, Box):
                join_items(old, item)
            elif isinstance(item, Num | Arr):
                made.region.put(key, item)
        elt = given.region.root().elt
        if isinstance(elt, Box):
            join_items(made.region.root().elt, elt)
        elif isinstance(elt, Num | Arr):
            made.region.put_any(elt)
    return made


def _best(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    return Num(kinds[1].type) if isinstance(kinds[1], Num) else None


def _seed(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """The seed of a result whose rank is asked while the program runs, in the dtype of that."""
    ans, seed = kinds
    if not isinstance(seed, Num):
        return None
    if isinstance(ans, Arr) and ans.library != "numpy":
        return zeros_kind(ans, ans.dtype, fresh(()).root())
    return Num(dtype_of(ans).type) if isinstance(ans, Arr) and is_inexact(ans) else seed


def _real_zero(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
    kind = kinds[0]
    if isinstance(kind, Num) and not is_inexact(kind):
        return Num(float)
    if isinstance(kind, Arr) and not is_inexact(kind):
        return zeros_kind(kind, np.dtype(float), fresh(()).root())
    return _zero_like(0)(world, fresh, kinds)


def _of_shape(position: int) -> Callable[[World, Fresh, Sequence[Kind]], Kind | None]:
    """The rule of a function whose result has the shape that its argument at `position` says."""

    def rule(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
        shape = kinds[position]
        found = [d for kind in kinds for d in _dtypes(kind)]
        if not isinstance(shape, Box) or shape.region.root().open or not found:
            return None
        dtype = np.result_type(*found)
        rank = len(shape.region.root().fields)
        library = next((k.library for k in kinds if isinstance(k, Arr)), "numpy")
        there = rank > 0 or library != "numpy"
        return Arr(dtype, rank, fresh(()).root(), library=library) if there else Num(dtype.type)

    return rule


def _dtypes(kind: Kind) -> list[np.dtype[Any]]:
    """The dtypes of the reals in an argument."""
    if isinstance(kind, Box):
        node = kind.region.root()
        return [d for item in (*node.fields.values(), node.elt) for d in _dtypes(item)]
    return [dtype_of(kind)] if isinstance(kind, Num | Arr) and is_inexact(kind) else []


def _unnested(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    rank, like = 0, kinds[1]
    while isinstance(like, Box):
        node = like.region.root()
        like = next(iter(node.fields.values()), node.elt)
        rank += 1
    if not rank:
        return None
    inner = like.rank if isinstance(like, Arr) else 0
    return (
        Arr(np.dtype(float), rank + inner, fresh(()).root(), library=like.library if isinstance(like, Arr) else "numpy")
        if inner is not None
        else None
    )


def _block(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """An array of as many axes as the lists are deep, or the largest block has."""
    found = _blocks(kinds[0]) if len(kinds) == 1 else None
    if not found or any(rank is None for _, rank, _ in found) or len({depth for depth, _, _ in found}) > 1:
        return None
    rank = max(max(depth, rank or 0) for depth, rank, _ in found)
    return Arr(np.result_type(*(dtype for _, _, dtype in found)), rank, fresh(()).root())


def _blocks(kind: Kind, depth: int = 0) -> list[tuple[int, int | None, np.dtype[Any]]]:
    """Of each block its depth in lists, its rank and its dtype."""
    if isinstance(kind, Box):
        node = kind.region.root()
        if kind.cls is not list or depth > _DEEPEST:
            return [(depth, None, np.dtype(float))]
        items = (*node.fields.values(), *([] if isinstance(node.elt, Bottom) else [node.elt]))
        return [block for item in items for block in _blocks(item, depth + 1)]
    if isinstance(kind, Arr):
        return [(depth, kind.rank if kind.sure else None, kind.dtype)]
    return [(depth, 0 if isinstance(kind, Num) else None, dtype_of(kind) if isinstance(kind, Num) else np.dtype(float))]


_DEEPEST = 8


def _flat_key(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """One part for each axis: whole numbers for a number, else vectors of them."""
    key, dims = kinds
    if isinstance(key, Bottom) or not isinstance(dims, Box) or dims.region.root().open:
        return None
    whole = Box(tuple, fresh(()))
    for axis in range(len(dims.region.root().fields)):
        vector = Arr(np.dtype(int), 1, fresh(axis).root())
        whole.region.put(axis, Num(int) if isinstance(key, Num) else vector)
    return whole


def _outcome(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
    """See `arrays.form_of`."""
    assert isinstance(kinds[1], Obj)
    name, _, rank = kinds[1].value.partition("[")
    if rank:
        return Arr(np.dtype(name), int(rank.rstrip("]")), fresh(()).root())
    if name == "None":
        return Obj(None)
    plain = next((t for t in (bool, int, float, complex) if t.__name__ == name), None)
    return Num(plain or np.dtype(name.removeprefix("np.")).type)


def _pulled(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
    whole = Box(list, fresh(()))
    layout = Layout(world, lambda path: fresh(("item", *path)), True)
    for i, kind in enumerate(kinds[2:]):
        whole.region.put(i, layout.kind(kind, (i,)))
    return whole


def _solution(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """The solution of a sparse system, which samples of one element do not make."""
    data, right = kinds[0], kinds[3]
    if not isinstance(data, Arr) or not isinstance(right, Arr):
        return None
    return Arr(np.result_type(data.dtype, right.dtype), right.rank, fresh(()).root())


def _here(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """A copy in NumPy's memory."""
    return _moved(fresh, kinds[0], "numpy")


def _there(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """A copy in the library of which the module is given."""
    return _moved(fresh, kinds[0], kinds[1].value) if isinstance(kinds[1], Obj) else None


def _beside(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """A copy in the library of the second argument."""
    return _moved(fresh, kinds[0], kinds[1].library if isinstance(kinds[1], Arr) else "numpy")


def _moved(fresh: Fresh, kind: Kind, library: str) -> Kind | None:
    if isinstance(kind, Num):
        return Arr(dtype_of(kind), 0, fresh(()).root(), library=library) if library != "numpy" else None
    return Arr(kind.dtype, kind.rank, fresh(()).root(), library=library) if isinstance(kind, Arr) else None


def _places(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind:
    """A row of whole numbers, whatever the mode, which no sample is of where only the run chooses it."""
    return Arr(np.dtype(int), 1, fresh(()).root())


def _images(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """Images like the first argument's, which windows of any size may not fit where they have one element."""
    images = kinds[0]
    if not isinstance(images, Arr) or not images.sure or images.rank != 4 or images.dtype.kind not in "fc":
        return None
    return replace(images, region=fresh(()).root())


def _shaped() -> dict[Any, Callable[[World, Fresh, Sequence[Kind]], Kind | None]]:
    """Rules of all support functions that are told the shape of their result."""
    found = {}
    for name in arrays.__all__:
        fn = getattr(arrays, name)
        names = list(inspect.signature(fn).parameters)
        if "shape" in names and fn is not arrays.count_reduced:
            found[fn] = _of_shape(names.index("shape"))
    return found


RULES: dict[Any, Callable[[World, Fresh, Sequence[Kind]], Kind | None]] = {
    **_shaped(),
    arrays.unnested: _unnested,
    arrays.flat_key: _flat_key,
    np.block: _block,
    arrays.unblock: _shadow_of(1, boxes=True),
    arrays.to_host: _here,
    arrays.to_library: _there,
    arrays.brought: _beside,
    arrays.zero: _zero_like(0),
    arrays.real_zero: _real_zero,
    arrays.copied_tangent: _zero_like(1),
    arrays.tangent_as: _shadow_of(1),
    arrays.split_like: _shadow_of(1, boxes=True),
    arrays.of_rule: _shadow_of(1, boxes=True),
    arrays.to_rule: _shadow_of(1, boxes=True),
    arrays.nested: _shadow_of(1, boxes=True),
    arrays.repeated: _shadow_of(1, boxes=True),
    arrays.filled: _filled,
    arrays.take_best: _best,
    arrays.seed_of_scalar: _seed,
    arrays.finish: _public,
    arrays.entry_copy: _one_copy,
    arrays.apart: _always(Obj(None)),
    arrays.demand_bound: _always(Obj(None)),
    arrays.demand_copied: _always(Obj(None)),
    arrays.demand_own: _always(Obj(None)),
    arrays.demand_unshared: _always(Obj(None)),
    arrays.as_seen: _always(Some(object)),
    arrays.demand_same: _always(Obj(None)),
    arrays.once: _one_copy,
    arrays.regular: _one_copy,
    arrays.agreed: _one_copy,
    arrays.without_jumps: _one_copy,
    arrays.set_generators: _always(Obj(None)),
    arrays.generator_states: _always(Some(object)),
    arrays.there: _always(Num(bool)),
    arrays.has_memory: _always(Num(bool)),
    **dict.fromkeys((arrays.next_snapshot, arrays.enough_snapshots), _always(Num(int))),
    **dict.fromkeys((arrays.on_tensors, arrays.part, arrays.pulled, arrays.pushed), _always(Some(arrays.Run))),
    arrays.outcome: _outcome,
    **dict.fromkeys((arrays.window_sums, arrays.window_maxima, arrays.sums_at_maxima, arrays.part_means), _images),
    arrays.spread_maxima: _images,
    arrays.window_counts: _images,
    arrays.edge_places: _places,
    arrays.sparse_solved: _solution,
    arrays.sparse_iterated: _solution,
    arrays.pull: _pulled,
    arrays.push: _shadow_of(1),
    arrays.entry_copies: _copies,
    **number_joins.RULES,
}
COPIES = (arrays.entry_copy, arrays.entry_copies)
"""Of these the result varies where the argument does, and nowhere else."""
