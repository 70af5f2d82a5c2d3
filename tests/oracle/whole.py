"""Statements of drawn programs on arrays that have no derivative: whole numbers, marks of what is chosen."""

from __future__ import annotations

from .expressions import array, num, num_leaf
from .model import NUM, Draft, Entry
from .places import index, place, wrap
from .statements import new_array, tame, write


def wholes(d: Draft) -> None:
    """A buffer of whole numbers: what is written into it loses its fraction, and its derivative."""
    name, n = f"count{len(d.used)}", d.width
    d.used.add(name)
    d.emit(f"{name} = np.{d.pick(['zeros', 'ones'])}({n}, dtype=int)", "buffer of whole numbers")
    for _ in range(d.rng.randrange(1, 4)):
        at, part = index(d, n), place(d, (n,))
        forms = [f"{name}[{at}] = 3.0 * {wrap(num(d, 1))}", f"{name}[1:] = {wrap(array(d, (n - 1,), 0))} * 2.5"]
        forms += [f"{name}[{at}] += {d.rng.randrange(1, 3)}", f"{name}[{name} > 1] -= 1", f"{name}[:2] *= 2"]
        forms += [f"{name}[...] = {part}", f"{name}[{part} > {d.const()}] = {d.rng.randrange(3)}"] if part else []
        d.emit(d.pick(forms))
    target = d.fresh("num")
    if d.rank(1) and d.chance(60):
        entry = d.pick(d.rank(1))
        key = f"{name}[{index(d, n)}] % {entry.type.shape[0]}"
        d.emit(f"{entry.name}[{key}] {d.pick(['=', '+='])} {tame(d, num(d, 1))}")
        d.emit(f"{name}[...] += 1") if d.chance(60) else None
        d.tag("write through an alias" if entry.shared else "")
    d.emit(f"{target} = 0.1 * {name}[{index(d, n)}] * {num_leaf(d)}")
    d.bind(target, NUM)


def marks(d: Draft) -> None:
    """A mask that is written itself before it chooses."""
    if not d.entries("arr"):
        return new_array(d)
    entry = d.pick(d.entries("arr"))
    name, shape = f"mask{len(d.used)}", entry.type.shape
    d.used.add(name)
    d.emit(f"{name} = {place(d, shape)} > {d.const()}", "mask written")
    last = f"{name}[{', '.join(index(d, extent) for extent in shape)}] = {d.pick(['True', 'False'])}"
    d.emit(d.pick([last, f"{name} &= {place(d, shape)} < {d.const()}", f"{name} = ~{name}", f"{name}[:1] |= True"]))
    if d.chance(50):
        write(d)
    chosen(d, name, entry)
    if d.chance(50):
        d.emit(d.pick([f"{name}[...] = ~{name}", last]))
        chosen(d, name, entry)


def chosen(d: Draft, mask: str, entry: Entry) -> None:
    shape, u = entry.type.shape, entry.name
    d.tag("write through an alias" if entry.shared else "")
    d.emit(d.pick([
        f"{u}[{mask}] {d.pick(['=', '+='])} {tame(d, num(d, 1))}",
        f"{u}[~{mask}] = {wrap(array(d, shape, 0))}[~{mask}]",
        f"{u}[...] = np.where({mask}, {array(d, shape, 1)}, {u})", f"np.negative({u}, out={u}, where={mask})",
    ]))  # fmt: skip


FORMS = (wholes, marks)
