"""Simple statements of drawn programs: bindings, writes, aliases, containers, calls."""

from __future__ import annotations

from .expressions import array, element, num, num_leaf, test
from .model import BUFFER, NUM, Draft, Entry, arr
from .places import flat, index, place, places, views, wrap


def tame(d: Draft, text: str) -> str:
    """The expression, bounded, for a name that a loop may bind again and again."""
    return d.pick([f"np.sin({text})", f"np.tanh({text})", f"0.5 * {wrap(text)}"])


def factor(d: Draft, op: str, text: str) -> str:
    """The expression, made such that a name may be multiplied with it, divided by it or raised to it."""
    return {"*": f"np.cos({text})", "/": f"(1.5 + np.sin({text}))", "**": "2", "//": d.const()}[op]


# ---- bindings ----
def new_number(d: Draft) -> None:
    text = num(d)
    if d.chance(12):
        first, second = d.fresh("num"), d.fresh("num")
        d.emit(f"{first} = {second} = {text}", "chained assignment")
        d.bind(second, NUM)
    else:
        first = d.fresh("num")
        d.emit(f"{first} = {text}", "assignment")
    d.bind(first, NUM)


def rebind_number(d: Draft) -> None:
    choices = [entry for entry in d.entries("num") if not entry.fixed]
    if not choices:
        return new_number(d)
    name = d.pick(choices).name
    if d.chance(55):
        op = d.pick(["+", "-", "*", "+", "/"])
        text = f"{d.const()} * {wrap(num(d))}" if op in "+-" else factor(d, op, num(d, 1))
        return d.emit(f"{name} {op}= {text}", "augmented number")
    d.emit(f"{name} = {tame(d, num(d))}", "rebound number")


def new_array(d: Draft) -> None:
    shape = d.pick([(d.width,), (d.width,), (2, d.width), (d.width, d.width), (d.width - 1,)])
    size = ", ".join(map(str, shape))
    text = array(d, shape)
    if d.chance(25):
        like = d.of(arr(*shape))
        text = f"np.zeros_like({d.pick(like).name})" if like else f"np.zeros(({size},))"
    known = text in places(d, shape) or "(" not in text
    view = known or any(f"{routine.name}(" in text for routine in d.routines if routine.view)
    d.bind(name := d.fresh("arr"), arr(*shape), shared=view)
    d.emit(f"{name} = {text}", "assignment")


def rebind_array(d: Draft) -> None:
    """``u = g(u)``: the name gets another array, other holders keep the old one."""
    choices = [entry for entry in d.entries("arr") if not entry.fixed]
    if not choices:
        return new_array(d)
    entry = d.pick(choices)
    text = array(d, entry.type.shape)
    d.emit(f"{entry.name} = {text if '(' not in text else tame(d, text)}", "rebound array")
    d.share(entry.name) if "(" not in text else None


def swap(d: Draft) -> None:
    """Two names exchanged, or two elements or rows of an array (with the pit that rows are views)."""
    entry = d.pick(d.entries("arr", "num"))
    others = [other for other in d.of(entry.type) if other.name != entry.name and not (other.fixed or entry.fixed)]
    if others and d.chance(50):
        other = d.pick(others)
        d.share(*(e.name for e in (entry, other) if e.type.kind == "arr"))
        return d.emit(f"{entry.name}, {other.name} = {other.name}, {entry.name}", "names swapped")
    if entry.type.kind == "num":
        return rebind_number(d)
    name, i, j = entry.name, index(d, entry.type.shape[0]), index(d, entry.type.shape[0])
    copy = ".copy()" if len(entry.type.shape) == 2 and d.chance(50) else ""
    d.emit(f"{name}[{i}], {name}[{j}] = {name}[{j}]{copy}, {name}[{i}]{copy}", "elements swapped")


def selected_away(d: Draft) -> None:
    """A root whose slope is infinite at elements that a selection or an overwrite takes away."""
    if not d.rank(1):
        return new_array(d)
    entry = d.pick(d.rank(1))
    name, c, u = d.fresh("arr"), d.const(), entry.name
    root = f"np.sqrt(np.maximum({u}, {c}) - {c})"
    if d.chance(50) and not d.calm:
        d.emit(f"{name} = {root}", "infinite slope overwritten")
        d.emit(f"{name}[{u} <= {c}] = {tame(d, num(d, 1))}", "mask write")
    else:
        d.emit(f"{name} = np.where({u} > {c}, {root}, {array(d, entry.type.shape, 0)})", "infinite slope not selected")
    d.bind(name, entry.type)


def shape_by_branch(d: Draft, entry: Entry) -> None:
    """An array whose shape a branch decides, and one of the full shape made with it."""
    name, shape = d.fresh("arr"), entry.type.shape
    d.emit(f"if {test(d)}:", "shape decided by a branch")
    d.emit(f"    {name} = {tame(d, array(d, shape, 1))}")
    d.emit("else:")
    d.emit(f"    {name} = {entry.name}[:1]{d.pick(['', f' * {num_leaf(d)}'])}")
    d.emit(f"{d.bind(d.fresh('arr'), entry.type)} = {wrap(array(d, shape, 0))} * {name}")


# ---- aliases and views ----
def alias(d: Draft) -> str:
    """A second name for memory that the scope has: the name, or nothing."""
    have = d.entries("arr")
    if not have:
        return ""
    entry = d.pick(have)
    same = [other for other in d.of(entry.type) if other.name != entry.name]
    form = d.rng.randrange(5)
    name, shape = d.fresh("arr"), entry.type.shape
    if form == 0:
        d.emit(f"{name} = {entry.name}", "alias")
    elif form == 1 and same:
        other = d.pick(same).name
        d.emit(f"{name} = {entry.name} if {num(d, 1)} > {d.const()} else {other}", "alias by a condition")
        d.share(other)
    else:
        wants = [(d.width,), (d.width - 1,), (2,), (3,), (2, 2), (d.width, d.width), (2 * d.width,), (d.width, 2)]
        wants += [(1, *shape), (*shape, 1)] if len(shape) == 1 and d.chance(40) else []
        found = [(text, want) for want in wants for text in views(d, entry.name, shape, want)]
        if len(shape) == 2 and d.chance(40):
            found = [(text, (shape[0] * shape[1],)) for text in flat(entry.name)]
            d.tag("flattened: a view or a copy")
        text, shape = d.pick(found) if found else (entry.name, shape)
        d.emit(f"{name} = {text}", "view")
    d.share(entry.name)
    return d.bind(name, arr(*shape), shared=True)


def write_alias(d: Draft) -> None:
    name = alias(d)
    if name:
        write_to(d, d.names[name])


def copy_kept(d: Draft) -> None:
    """A copy of an array, and a write into the one or the other."""
    if not d.entries("arr"):
        return new_array(d)
    entry = d.pick(d.entries("arr"))
    u, name = entry.name, d.fresh("arr")
    d.emit(f"{name} = {d.pick([f'{u}.copy()', f'{u}.copy()', f'np.copy({u})', f'np.array({u})'])}", "copy kept")
    d.bind(name, entry.type)
    write_to(d, d.names[d.pick([name, u])])


# ---- writes ----
def write(d: Draft) -> None:
    entries = d.entries("arr")
    if not entries:
        return new_array(d)
    shared = [entry for entry in entries if entry.shared]
    write_to(d, d.pick(shared if shared and d.chance(50) else entries))


def write_through(d: Draft) -> None:
    """A write through a view that has no name."""
    if not d.entries("arr"):
        return new_array(d)
    entry = d.pick(d.entries("arr"))
    name, shape = entry.name, entry.type.shape
    wants = {*d.shapes, shape, shape[::-1], shape[1:], (2,), (*shape, 1), (1, *shape)}
    found = [(text, want) for want in sorted(wants) if want for text in views(d, name, shape, want)]
    if len(shape) == 2:
        found += [(text, (shape[0] * shape[1],)) for text in flat(name)]
    text, want = d.pick(found) if found else (name, shape)
    d.tag("view without a name")
    write_to(d, Entry(text, arr(*want), shared=True))


def write_to(d: Draft, entry: Entry) -> None:
    """Write into the array `entry` names: one element, a slice, a row, chosen elements, or all of it."""
    if entry.shared:
        d.tag("write through an alias")
    form = d.rng.randrange(10)
    name, shape = entry.name, entry.type.shape
    if form <= 3:
        return assign(d, element(d, name, shape), (), "element write")
    if form <= 6:
        key, part = section(d, shape)
        return assign(d, f"{name}[{key}]", part, "slice write")
    if form == 7:
        if len(shape) == 1 and d.chance(20):
            return d.emit(f"{name}[[0, {d.pick([0, 1])}]] = [{num_leaf(d)}, {num_leaf(d)}]", "list written to an array")
        if d.chance(30):
            key, part = chosen(d, shape)
            return assign(d, f"{name}[{key}]", part, "chosen rows written")
        key = fancy(d, shape)
        if d.chance(50):
            return add_at(d, name, shape, key)
        return assign(d, f"{name}[{key}]", (), "fancy write")
    if form == 8:
        return write_masked(d, name, shape)
    if d.chance(50):
        return assign(d, f"{name}[{d.pick([':', '...'])}]", shape, "whole write")
    name += "[...]" if name == BUFFER or name[-1] in ")T" else ""  # a name that is augmented would be a local one
    if len(shape) == 2 and d.chance(25):
        return d.emit(f"{name} += {d.const()} * {wrap(array(d, shape[1:], 1))}", "augmented array, broadcasting")
    op = d.pick(["+", "-", "*"])
    text = d.pick(["0.7", tame(d, array(d, shape, 1))]) if op == "*" else f"{d.const()} * {wrap(array(d, shape, 1))}"
    d.emit(f"{name} {op}= {text}", "augmented array")


def write_masked(d: Draft, name: str, shape: tuple[int, ...]) -> None:
    """Elements chosen by a test of each, or rows by a test of one; a number or what is chosen of another array."""
    if len(shape) == 2 and shape[0] > 1 and d.chance(30):
        other = place(d, shape[:1])
        return assign(d, f"{name}[{other} > {d.const()}]", (), "rows by a mask") if other else None
    mask = f"{place(d, shape) or array(d, shape, 1)} {d.pick(['>', '<'])} {d.const()}"
    if d.chance(60):
        return assign(d, f"{name}[{mask}]", (), "mask write")
    held, op = f"mask{len(d.used)}", d.pick(["", "", "+", "*"])
    d.used.add(held)
    d.emit(f"{held} = {mask}", "mask write of an array")
    value = f"{wrap(array(d, shape, 0))}[{held}]"
    return d.emit(f"{name}[{held}] {op}= {factor(d, op, value) if op == '*' else tame(d, value)}")


def chosen(d: Draft, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """A key with a list of places along one axis, of which each names an element once, and the shape it selects."""
    places = d.rng.sample(range(shape[0]), min(2, shape[0]))
    rows = f"[{', '.join(map(str, places))}]"
    if len(shape) == 1:
        return d.pick([(rows, (len(places),)), (f"np.array({rows})", (len(places),)), (f"None, {rows}", ())])
    return d.pick([
        (rows, (len(places), shape[1])), (f"{rows}, :", (len(places), shape[1])), (f"..., {rows}", ()),
        (f"{rows}, {index(d, shape[1])}", (len(places),)), (f"{rows}, ::2", ()),
        (f"np.array({rows})[:, None], [0, -1]", ()),
    ])  # fmt: skip


def add_at(d: Draft, name: str, shape: tuple[int, ...], key: str) -> None:
    """Values added at a key, each as often as it is named; one number for a key selects a row, which is a view."""
    values = d.pick([num(d, 1), f"[{num_leaf(d)}, {num_leaf(d)}, {num_leaf(d)}]"])
    key = f"({key})" if len(shape) > 1 else key
    if d.chance(50):
        whole = len(shape) == 1
        key, part = ("...", shape) if whole else (index(d, shape[0]), shape[1:])
        values = d.pick([num(d, 1), array(d, part, 0)])
        d.tag("view added to")
    d.emit(f"np.{d.pick(['add', 'subtract'])}.at({name}, {key}, {values})", "repeated indices add up")


def section(d: Draft, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """A basic key that selects more than one element, and the shape of what it selects."""
    n = shape[0]
    start = {"1:": n - 1, ":-1": n - 1, "::2": (n + 1) // 2, "::-1": n, f":{n - 1}": n - 1, "-2:": min(n, 2)}
    start |= {"-1:0:-1": n - 1, "1::2": n // 2, "::-2": (n + 1) // 2}
    key = d.pick(sorted(start))
    if len(shape) == 1:
        return d.pick([key, key, f"..., {key}", f"np.newaxis, {key}"]), (start[key],)
    i, cols = index(d, n), shape[1]
    rows = [(i, (cols,)), (f"{i}, ...", (cols,)), (f"{i}, 1:", (cols - 1,)), (f"{i}, ::-1", (cols,))]
    columns = [(f":, {index(d, cols)}", (n,)), (f"..., {index(d, cols)}", (n,)), (f"::-1, {index(d, cols)}", (n,))]
    return d.pick([*rows, *columns, (key, (start[key], cols)), (key, (start[key], cols)), (f"{key}, None", ())])


def fancy(d: Draft, shape: tuple[int, ...]) -> str:
    """A key of integer lists, which may name an element twice."""
    given = [entry.name for entry in d.entries("idx")]
    if given and len(shape) == 1 and shape[0] >= d.width:
        return given[0]
    keys = [f"[{', '.join(str(d.rng.randrange(extent)) for _ in range(3))}]" for extent in shape]
    return f"np.array({keys[0]})" if len(keys) == 1 and d.chance(30) else ", ".join(keys)


def assign(d: Draft, target: str, shape: tuple[int, ...], tag: str) -> None:
    op = d.pick(["", "", "", "+", "-", "*", "+", "-", "*", "/", d.pick(["**", "//"]) if not d.loops else ""])
    value = array(d, shape, 1) if shape and d.chance(75) else num(d, 1)
    if not op and shape and d.chance(40):
        return d.emit(f"{target} = {value}", tag)
    d.tag("power or whole part written" if op in ("**", "//") else "quotient written" if op == "/" else "")
    d.emit(f"{target} {op}= {tame(d, value) if op in ('', '+', '-') else factor(d, op, value)}", tag)


def shift(d: Draft) -> None:
    """An array moved along itself: source and target overlap."""
    if not d.entries("arr"):
        return new_array(d)
    entry = d.pick(d.entries("arr"))
    name = entry.name
    d.tag("write through an alias" if entry.shared else "")
    forms = [f"[1:] = {name}[:-1]", f"[:-1] = {name}[1:]", f"[:] = {name}[::-1]", f"[1:] += 0.4 * {name}[:-1]"]
    if len(entry.type.shape) == 2:
        forms += [
            f"[:, :-1] -= 0.4 * {name}[:, 1:]",
            f"[...] = {name}[::-1, ::-1]",
            f"[:, 1:] *= np.cos({name}[:, :-1])",
        ]
        forms += [f"[...] = {name}.T", f"[0] += {name}[:, 0]"] if len(set(entry.type.shape)) == 1 else []
    d.emit(name + d.pick(forms), "overlapping write")
