"""Statements of drawn programs on lists, dicts and tuples."""

from __future__ import annotations

from .expressions import array, element, num, num_leaf
from .model import NUM, Draft, Entry, Type, list_of
from .places import index, place, places, wrap
from .statements import rebind_number, tame, write_to


def new_list(d: Draft) -> None:
    arrays = d.rank(1)
    name = d.fresh("list")
    if arrays and d.chance(60):
        first = d.pick(arrays)
        same = places(d, first.type.shape)
        items = [first.name, *(d.pick(same) for _ in range(d.rng.randrange(1, 3)))]
        d.share(first.name)
        d.emit(f"{name} = [{', '.join(items)}]", "list of arrays")
        d.bind(name, list_of(first.type))
        return
    d.emit(f"{name} = [{', '.join(num_leaf(d) for _ in range(d.rng.randrange(1, 4)))}]", "list of numbers")
    d.bind(name, list_of(NUM))


def use_list(d: Draft) -> None:
    """Append, pop, or write an element; of a list of arrays also into an element."""
    if not d.entries("list"):
        return new_list(d)
    entry = d.pick(d.entries("list"))
    name, item = entry.name, entry.type.item or NUM
    if d.chance(12):
        name, held = d.fresh("list"), name
        d.emit(f"{name} = {held}", "alias of a list")
        d.bind(name, entry.type)
    value = tame(d, num(d)) if item == NUM else place(d, item.shape) or array(d, item.shape)
    form = d.rng.randrange(5)
    if form <= 1 and d.growing:
        d.emit(f"{name}.append({value})", "append")
    elif form == 2 and d.growing:
        d.emit(f"if len({name}) > 1:")
        with d.block():
            target = d.fresh(item.kind)
            d.emit(f"{target} = {name}.pop()", "pop")
            d.bind(target, item, shared=True)
            rebind_number(d) if item == NUM else write_to(d, d.names[target])
    elif form == 3 and item != NUM:
        d.tag("write through an alias")
        d.emit(f"{element(d, f'{name}[0]', item.shape)} = {tame(d, num(d))}", "element write")
    else:
        d.emit(f"{name}[{d.pick(['0', '-1', f'{wrap(index(d, 4))} % len({name})'])}] = {value}", "list write")


def new_dict(d: Draft) -> None:
    name, fields = d.fresh("dict"), [("a", NUM)]
    items = [f'"a": {num_leaf(d)}']
    for key, entry in zip("bw", d.entries("arr"), strict=False):
        fields.append((key, entry.type))
        items.append(f'"{key}": {entry.name}')
        d.share(entry.name)
    d.emit(f"{name} = {{{', '.join(items)}}}", "dict")
    if d.chance(40):
        d.emit(f'{name}["new"] = {num(d, 1)}', "new key")
        fields.append(("new", NUM))
    d.bind(name, Type("dict", fields=tuple(fields)))


def use_dict(d: Draft) -> None:
    if not d.entries("dict"):
        return new_dict(d)
    entry = d.pick(d.entries("dict"))
    if d.chance(15):
        d.emit(f'{entry.name}["extra"] = {tame(d, num(d, 1))}', "new key")
        bind = d.fresh("num")
        d.emit(f'{bind} = {entry.name}["extra"] * {num_leaf(d)}')
        d.bind(bind, NUM)
        return None
    type_ = d.pick(entry.type.fields)[1]
    name = d.pick(entry.type.picks(entry.name, type_))
    if type_ == NUM:
        return d.emit(f"{name} {d.pick(['', '+'])}= {tame(d, num(d, 1))}", "dict write")
    if d.chance(30):
        return d.emit(f"{name} = {array(d, type_.shape)}", "dict write")
    write_to(d, Entry(name, type_, shared=True))


def use_tuple(d: Draft) -> None:
    """A tuple made and taken apart; what it holds is shared."""
    held = d.pick(d.entries("arr", "num"))
    name, first, second = f"pair{len(d.used)}", d.fresh(held.type.kind), d.fresh("num")
    d.used.add(name)
    d.emit(f"{name} = ({held.name}, {num(d, 1)})", "tuple")
    if d.chance(40):
        d.bind(name, Type("tuple", fields=(("0", held.type), ("1", NUM))))
    d.emit(f"{first}, {second} = {name}", "tuple target")
    d.bind(second, NUM)
    d.bind(first, held.type, shared=True)
    if held.type.kind == "arr":
        d.share(held.name)
        write_to(d, d.names[first])
