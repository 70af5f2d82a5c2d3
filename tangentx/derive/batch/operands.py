"""Operands of batched operations: where each has its batch axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, dtype_of
from tangentx.derive.emit import Emitter
from tangentx.ir.nodes import Atom, Lit, Make


@dataclass(frozen=True)
class Operand:
    """An argument: its atom, whether it is a batch, the kind of one member."""

    atom: Atom
    batch: bool
    kind: Kind

    @property
    def rank(self) -> int:
        """The rank of one member. Raises NoRule where it is not known."""
        if isinstance(self.kind, Num):
            return 0
        if isinstance(self.kind, Arr) and self.kind.rank is not None and not self.kind.loose:
            return self.kind.rank
        raise NoRule


class NoRule(Exception):
    """The operation is done member by member."""


def exactly(count: int, operands: list[Operand]) -> list[Operand]:
    """The operands, where there are so many. Raises NoRule: others are settings of which a rule knows nothing."""
    if len(operands) != count:
        raise NoRule
    return operands


def is_double(kind: Kind) -> bool:
    """Whether a number or array is of doubles, or of whole numbers."""
    dtype = dtype_of(kind) if isinstance(kind, Num | Arr) else None
    return dtype is not None and (dtype.kind not in "fc" or dtype in (np.dtype(float), np.dtype(complex)))


def aligned(emit: Emitter, o: Operand, rank: int) -> Atom:
    """A batch whose members have `rank` axes."""
    return with_axes(emit, o.atom, tuple(range(1, 1 + rank - o.rank))) if o.batch and o.rank < rank else o.atom


def with_axes(emit: Emitter, atom: Atom, axes: tuple[int, ...]) -> Atom:
    """An array with new axes of length one."""
    if not axes:
        return atom
    axis: Atom = Lit(axes[0]) if len(axes) == 1 else emit.let(Make(tuple, tuple(Lit(i) for i in axes)))
    return emit.op(np.expand_dims, atom, axis)


def known(o: Operand | None, default: Any) -> Any:
    """The value of a setting. Raises NoRule where it is not known."""
    if o is None:
        return default
    if isinstance(o.atom, Lit):
        return o.atom.value
    kind = o.kind
    items = list(kind.region.root().fields.values()) if isinstance(kind, Box) and kind.cls is tuple else [kind]
    values = [getattr(item, "value", None) for item in items]
    if any(type(v) not in (int, bool) for v in values):
        raise NoRule
    return tuple(values) if isinstance(kind, Box) else values[0]


def settings(operands: list[Operand], named: dict[str, Operand], names: tuple[str, ...]) -> dict[str, Any]:
    """The values of the arguments after the first, by name; `names` are in the order of positions. Raises NoRule."""
    if len(operands) - 1 > len(names):
        raise NoRule
    given = dict(zip(names, operands[1:], strict=False)) | named
    if set(given) - set(names) or any(o.batch for o in given.values()):
        raise NoRule
    return {name: known(o, None) for name, o in given.items()}


def shifted(axis: int) -> int:
    """The axis of a batch that an axis of its members is."""
    return axis + 1 if axis >= 0 else axis


def literal(emit: Emitter, axis: Any) -> Atom:
    """An axis, or several, as an atom."""
    return emit.let(Make(tuple, tuple(Lit(i) for i in axis))) if isinstance(axis, tuple) else Lit(axis)
