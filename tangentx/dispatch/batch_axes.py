"""Batch axes: which leaves of the arguments have one, selecting a member, and stacking results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_array, library_of_class
from tangentx.common.naming import with_article
from tangentx.common.pytrees import children, leaves, rebuild
from tangentx.dispatch.tensor_arguments import holds_tensors
from tangentx.errors import NotDifferentiable, Span


@dataclass(frozen=True)
class Arranged:
    """Arguments whose batches have their axis first; `axes` says of each leaf whether it is one."""

    args: tuple[Any, ...]
    axes: tuple[tuple[bool, ...], ...]
    count: int

    @property
    def batched(self) -> tuple[int, ...]:
        """The positions of the arguments that are batches."""
        return tuple(i for i, axes in enumerate(self.axes) if any(axes))

    @property
    def mixed(self) -> bool:
        """Whether an argument has parts that are batches and parts that are none."""
        return any(any(axes) and not all(axes) for axes in self.axes)


@dataclass(frozen=True)
class Place:
    """Which parameter an argument is given for, and what it is called."""

    number: int
    name: str


def one_axis_each(axes: Any, given: list[bool], span: Span | None) -> tuple[int | None, ...]:
    """One axis, or None, for each argument; `given` says which are not defaults that are no batch.

    Raises NotDifferentiable for structures, and where none is a batch.
    """
    count = len(given)
    if isinstance(axes, tuple | list):
        each = (*axes, *(None for known in given[len(axes) :] if not known))
    else:
        each = tuple(axes if known else None for known in given)
    if any(axis is not None and type(axis) is not int for axis in each):
        message = f"in_axes={axes!r} inside a differentiated function"
        raise NotDifferentiable(message, span, "give an axis or None for each argument, and parts as arguments")
    if len(each) != count:
        raise NotDifferentiable(
            f"the number of entries of in_axes is {len(each)}, but that of arguments is {count}",
            span,
            "give one for each argument, None for what is not a batch",
        )
    if all(axis is None for axis in each):
        raise NotDifferentiable("no argument is a batch", span, "give an axis in in_axes for one of them")
    return each


def axes_of_leaves(axes: Any, args: tuple[Any, ...], places: tuple[Place, ...]) -> tuple[tuple[int | None, ...], ...]:
    """The axis of each leaf of each argument. Raises NotDifferentiable where `axes` does not fit the arguments."""
    each = axes if isinstance(axes, tuple | list) else None
    count = max((place.number + 1 for place in places), default=0)
    if each is not None and len(each) != count:
        raise NotDifferentiable(
            f"the number of entries of in_axes is {len(each)}, but that of arguments is {count}",
            hint="give one for each argument, None for what is not a batch",
        )
    return tuple(
        tuple(_spread(axes if each is None else each[place.number], x, place.name, "in_axes"))
        for place, x in zip(places, args, strict=True)
    )


def _spread(axes: Any, tree: Any, path: str, what: str) -> Iterator[int | None]:
    if axes is None or type(axes) is int:
        yield from (axes for _ in leaves("", tree))
        return
    parts, given = children(tree), children(axes)
    if parts is None or given is None or type(axes) is not type(tree) or dict(parts).keys() != dict(given).keys():
        raise NotDifferentiable(
            f"{what} of {path} is {axes!r}, which does not have the structure of {with_article(type(tree).__name__)}",
            hint="give an axis, None, or a structure of them like that of the argument",
        )
    for label, part in parts:
        yield from _spread(dict(given)[label], part, path + label, what)


def arranged(args: tuple[Any, ...], axes: tuple[tuple[int | None, ...], ...], places: tuple[Place, ...]) -> Arranged:
    """The arguments with batch axes first. Raises NotDifferentiable where sizes differ, naming both sides."""
    sizes: list[tuple[str, int]] = []
    found = []
    for arg, given, place in zip(args, axes, places, strict=True):
        paths = iter(zip(given, [path for path, _ in leaves(place.name, arg)], strict=True))

        def first(leaf: Any, paths: Any = paths) -> Any:
            axis, path = next(paths)
            if axis is None:
                return leaf
            if not _has_axes(leaf) or not -leaf.ndim <= axis < leaf.ndim:
                shown = f"shape {leaf.shape}" if _has_axes(leaf) else f"type {type(leaf).__name__}"
                raise NotDifferentiable(
                    f"{path} has {shown}: it has no axis {axis}",
                    hint="give None in in_axes for an argument that is not a batch",
                )
            sizes.append((path, leaf.shape[axis]))
            return np.moveaxis(leaf, axis, 0) if axis else leaf

        found.append(rebuild(arg, first))
    if not sizes:
        raise NotDifferentiable("no argument is a batch", hint="give an axis in in_axes for one of them")
    name, count = sizes[0]
    for other, size in sizes:
        if size != count:
            raise NotDifferentiable(
                f"the batch of {name} has {count} members, but that of {other} has {size}",
                hint="give batches of equal length, or None in in_axes for what is not a batch",
            )
    if count == 0:
        raise NotDifferentiable(f"the batch of {name} has no members", hint="give it at least one")
    return Arranged(tuple(found), tuple(tuple(a is not None for a in given) for given in axes), count)


def _has_axes(leaf: Any) -> bool:
    return library_of_class(type(leaf)) is not None or holds_tensors((leaf,))


def members(given: Arranged) -> Iterator[tuple[Any, ...]]:
    """The arguments of one member after the other."""
    for k in range(given.count):
        yield tuple(_member(arg, axes, k) for arg, axes in zip(given.args, given.axes, strict=True))


def _member(arg: Any, axes: tuple[bool, ...], k: int) -> Any:
    each = iter(axes)

    def one(leaf: Any) -> Any:
        return leaf[k] if next(each) else leaf

    return rebuild(arg, one)


def stacked(results: Any, axes: Any, *, whole: bool = False) -> Any:
    """Results of all members as batches whose axes are those of `axes`; `whole`, they have theirs first."""
    first = results if whole else results[0]
    places = iter(list(_spread(axes, first, "the result", "out_axes")))
    rest = iter([]) if whole else iter(_columns(results))

    def put(leaf: Any) -> Any:
        axis = next(places)
        column = (leaf,) if whole else next(rest)
        if all(part is None for part in column):
            return None  # of what has no derivative
        batch = leaf if whole else _stack(column)
        if axis is None or not _has_axes(batch) or not -batch.ndim <= axis < batch.ndim:
            raise NotDifferentiable(
                f"out_axes={axis!r} is not an axis of a result of shape {np.shape(batch)}",
                hint="use 0, or another axis",
            )
        moved = np.moveaxis(batch, 0, axis) if axis else batch
        return np.ascontiguousarray(moved) if type(moved) is np.ndarray else moved

    return rebuild(first, put)


def _columns(results: list[Any]) -> list[tuple[Any, ...]]:
    try:
        return [found[1:] for found in leaves("the result", results[0], *results[1:])]
    except ValueError as error:
        raise NotDifferentiable(
            f"the results of the members have different structures: {error}", hint="return one structure"
        ) from None


def _stack(parts: tuple[Any, ...]) -> Any:
    if holds_tensors(parts):
        return np.stack(parts)
    shapes = {np.shape(part) for part in parts}
    odd = next(
        (p for p in parts if not (is_array(p) or isinstance(p, np.generic | bool | int | float | complex))), parts[0]
    )
    if not (is_array(odd) or isinstance(odd, np.generic | bool | int | float | complex)):
        raise NotDifferentiable(
            f"a result of type {type(odd).__name__} cannot be stacked into a batch", hint="return numbers or arrays"
        )
    if len(shapes) > 1:
        raise NotDifferentiable(
            "the results of the members have different shapes: " + " and ".join(map(str, sorted(shapes)[:2])),
            hint="return arrays of one shape",
        )
    return np.stack([np.asarray(part) for part in parts])
