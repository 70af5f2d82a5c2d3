"""The root in forward mode, and the derived functions of its callees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tangentx import arrays
from tangentx.analysis.program import Instance, Program
from tangentx.derive.emit import SHADOW, VALUE, Emitter, motion
from tangentx.derive.entry import arguments_of, entry, fetch, zeros_of_storages
from tangentx.derive.forward import Forward
from tangentx.derive.tangents import notes_of
from tangentx.ir.nodes import Function, Link, Op, Param, Var


@dataclass(eq=False)
class Tangents:
    """Forward mode of a whole program: one derived function for each instance that a derivative flows through."""

    program: Program
    links: dict[Instance, Link] = field(default_factory=dict)
    pending: list[Instance] = field(default_factory=list)

    def link(self, instance: Instance) -> Link:
        """The derived function of a callee; written by `finish`."""
        if instance not in self.links:
            self.links[instance] = Link(f"{instance.link.name}_tangent")
            self.pending.append(instance)
        return self.links[instance]

    def finish(self) -> None:
        """Writes the functions that were asked for."""
        while self.pending:
            instance = self.pending.pop(0)
            link = self.links[instance]
            link.function = Forward(self, instance).function(link.name)


def tangent(program: Program, instance: Instance, with_tangent: Sequence[int]) -> Function:
    """The root: primals by position, then the tangents of those at `with_tangent`; returns (value, tangent)."""
    tangents = Tangents(program)
    f = Forward(tangents, instance, is_root=True)
    names = [p.name for p in f.frame.function.params]
    chosen = [names[i] for i in with_tangent if motion(f.frame.kinds[names[i]]) is not None]
    dots = [f.frame.other(n) for n in chosen]
    emit = Emitter(f.frame.function.span)
    fetch(instance, emit)
    entry(instance, emit, arguments_of(instance))
    _own_tangents(emit, f, chosen)
    still = [name for name in names if name not in chosen]
    zeros_of_storages(f.frame, emit, [name for name in still if motion(f.frame.kinds[name]) == SHADOW])
    for name in still:
        if motion(f.frame.kinds[name]) == VALUE:
            emit.assign(f.frame.other(name), f.frame.zero(emit, Var(name), f.frame.kinds[name]))
    body = (*emit.block, *f.block(f.frame.function.body))
    tangents.finish()
    params = tuple(Param(n) for n in (*arguments_of(instance), *dots))
    notes = notes_of(f.frame, chosen) | {"of primal": all(i.source.origin is not None for i in program.reached())}
    return Function(f"{instance.source.name}_jvp", params, body, f.frame.function.span, notes=notes)


def _own_tangents(emit: Emitter, f: Forward, chosen: Sequence[str]) -> None:
    """Tangents of storages are copied in the layout of the primal: the user's are not written."""
    for name in chosen:
        kind = f.frame.kinds[name]
        if motion(kind) == SHADOW:
            dot = Var(f.frame.other(name))
            emit.assign(dot.name, Op(arrays.tangent_as, (dot, Var(name))))
