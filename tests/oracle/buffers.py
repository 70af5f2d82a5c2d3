"""Statements of drawn programs that write by NumPy's functions and attributes: buffers, flat places, order, parts."""

from __future__ import annotations

from .expressions import array, num, num_leaf
from .model import BUFFER, Draft, Entry, arr
from .places import index, place
from .statements import fancy, new_array, tame


def buffer(d: Draft) -> None:
    """One of NumPy's ways to write into an array, preferably one that has another name."""
    entries = d.entries("arr")
    if not entries:
        return new_array(d)
    shared = [entry for entry in entries if entry.shared]
    entry = d.pick(shared if shared and d.chance(50) else entries)
    d.tag("write through an alias" if entry.shared else "")
    forms = [into, into, into_some, filled, put, by_row, each_at, chosen, parts]
    forms += [ordered] * (len(entry.type.shape) == 1) + [diagonal] * (len(set(entry.type.shape)) == 1)
    d.pick(forms)(d, entry)


def into(d: Draft, entry: Entry) -> None:
    name, shape = entry.name, entry.type.shape
    if d.chance(40):
        return d.emit(f"np.{d.pick(['sin', 'tanh'])}({array(d, shape, 1)}, out={name})", "result into a buffer")
    op, other = (
        d.pick(["add", "subtract", "multiply"]),
        d.pick([num(d, 1), array(d, shape[1:], 0) if shape[1:] else "0.7"]),
    )
    d.emit(f"np.{op}({tame(d, array(d, shape, 1))}, {other}, out={name})", "result into a buffer")
    if d.chance(30) and name != BUFFER:
        again = d.bind(d.fresh("arr"), entry.type, shared=True)
        d.emit(f"{again} = np.cos({name}, out={name})", "result into a buffer")


def mask(d: Draft, entry: Entry) -> str:
    return f"{place(d, entry.type.shape)} {d.pick(['>', '<'])} {d.const()}"


def into_some(d: Draft, entry: Entry) -> None:
    name, shape = entry.name, entry.type.shape
    if d.chance(50):
        return d.emit(
            f"np.multiply({array(d, shape, 0)}, {num_leaf(d)}, out={name}, where={mask(d, entry)})",
            "chosen results into a buffer",
        )
    d.emit(f"np.copyto({name}, {array(d, shape, 1)}, where={mask(d, entry)})", "chosen elements copied")


def filled(d: Draft, entry: Entry) -> None:
    if d.chance(50):
        return d.emit(f"{entry.name}.fill({num(d, 1)})", "filled")
    d.emit(f"np.copyto({entry.name}, {tame(d, array(d, entry.type.shape, 1))})", "copied into")


def some(d: Draft) -> str:
    return d.pick([num(d, 1), f"[{num_leaf(d)}, {num_leaf(d)}]"])


def put(d: Draft, entry: Entry) -> None:
    count = 1
    for extent in entry.type.shape:
        count *= extent
    at = ", ".join(str(d.rng.randrange(-count, count)) for _ in range(3))
    d.emit(f"np.put({entry.name}, [{at}], {some(d)})", "put")


def by_row(d: Draft, entry: Entry) -> None:
    key = d.pick([index(d, entry.type.shape[0]), "1::2", "[0, 2, 0]"])
    if d.chance(40) and entry.name != BUFFER:
        return d.emit(f"{entry.name}.flat[{key}] *= np.cos({num(d, 1)})", "flat write")
    d.emit(f"{entry.name}.flat[{key}] = {num(d, 1) if key[0] not in '1[' else some(d)}", "flat write")


def each_at(d: Draft, entry: Entry) -> None:
    key = fancy(d, entry.type.shape)
    key = f"({key})" if len(entry.type.shape) > 1 else key
    d.emit(f"np.multiply.at({entry.name}, {key}, np.cos({num(d, 1)}))", "repeated indices multiply")


def chosen(d: Draft, entry: Entry) -> None:
    name = d.pick(["putmask", "place"])
    d.emit(f"np.{name}({entry.name}, {mask(d, entry)}, {some(d)})", "chosen elements in turn")


def ordered(d: Draft, entry: Entry) -> None:
    d.emit(f"{entry.name}{d.pick(['', '[::-1]', '[1:]'])}.sort()", "sorted in place")


def diagonal(d: Draft, entry: Entry) -> None:
    if len(entry.type.shape) < 2:
        return filled(d, entry)
    d.emit(f"np.fill_diagonal({entry.name}, {some(d)})", "diagonal filled")


def parts(d: Draft, entry: Entry) -> None:
    """Two parts of an array, one of which is written."""
    shape, cut = entry.type.shape, entry.type.shape[0] - 1
    first, last = d.fresh("arr"), d.fresh("arr")
    d.emit(f"{first}, {last} = np.split({entry.name}, [{cut}])", "array in parts")
    d.share(entry.name)
    d.bind(first, arr(cut, *shape[1:]), shared=True)
    d.bind(last, arr(1, *shape[1:]), shared=True)
    d.emit(f"{d.pick([first, last])}[0] {d.pick(['=', '+='])} {tame(d, num(d, 1))}", "array in parts")
