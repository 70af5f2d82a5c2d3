"""Statements of drawn programs that write by NumPy's functions and attributes: buffers, flat places, order, parts."""

from __future__ import annotations

from .expressions import array, element, num, num_leaf
from .model import BUFFER, NUM, Draft, Entry, arr
from .places import index, place, wrap
from .statements import factor, fancy, new_array, tame, write_to


def buffer(d: Draft) -> None:
    """One of NumPy's ways to write into an array, preferably one that has another name."""
    entries = d.entries("arr")
    if not entries:
        return new_array(d)
    shared = [entry for entry in entries if entry.shared]
    entry = d.pick(shared if shared and d.chance(50) else entries)
    d.tag("write through an alias" if entry.shared else "")
    forms = [into, into, reduced_into, into_some, filled, put, by_row, each_at, chosen, ordered, renumbered]
    forms += [parts] * (entry.type.shape[0] > 1)
    forms += [by_axis, by_axis, diagonal, diagonal, diagonal] if len(entry.type.shape) == 2 else [other_shape]
    forms += [by_matrix] * 3 if len(entry.type.shape) == 2 and len(set(entry.type.shape)) == 1 else []
    d.pick(forms)(d, entry)


def by_matrix(d: Draft, entry: Entry) -> None:
    name = entry.name + ("[...]" if entry.name == BUFFER else "")
    d.emit(f"{name} @= 0.4 * {wrap(array(d, entry.type.shape, 0))}", "augmented by a matrix")


def into(d: Draft, entry: Entry) -> None:
    name, shape = entry.name, entry.type.shape
    if d.chance(40):
        return d.emit(f"np.{d.pick(['sin', 'tanh'])}({array(d, shape, 1)}, out={name})", "result into a buffer")
    op = d.pick(["add", "subtract", "multiply", "divide", "maximum"])
    other = d.pick([num(d, 1), array(d, shape[1:], 0) if shape[1:] else "0.7"])
    other = factor(d, "/", other) if op == "divide" else other
    d.emit(f"np.{op}({tame(d, array(d, shape, 1))}, {other}, out={name})", "result into a buffer")
    if d.chance(30) and name != BUFFER:
        again = d.bind(d.fresh("arr"), entry.type, shared=True)
        d.emit(f"{again} = np.cos({name}, out={name})", "result into a buffer")
        write_to(d, d.names[again])


def reduced_into(d: Draft, entry: Entry) -> None:
    """A function that is no ufunc, or a product, into a buffer."""
    name, shape = entry.name, entry.type.shape
    if len(shape) == 2:
        forms = [f"np.matmul({array(d, (shape[0], shape[0]), 0)}, {array(d, shape, 0)}, out={name})"]
    else:
        forms = [f"np.sum({array(d, (2, *shape), 1)}, axis=0, out={name})", f"np.cumsum(np.sin({name}), out={name})"]
        forms += [f"np.mean({array(d, (*shape, 2), 1)}, axis=1, out={name})"]
        forms += [f"np.matmul({array(d, shape * 2, 0)}, {array(d, shape, 0)}, out={name})"]
    d.emit(
        d.pick([*forms, f"np.clip({name}, -{d.const()}, {num_leaf(d)} ** 2 + 0.1, out={name})"]),
        "reduced into a buffer",
    )


def mask(d: Draft, entry: Entry) -> str:
    return f"{place(d, entry.type.shape) or entry.name} {d.pick(['>', '<'])} {d.const()}"


def into_some(d: Draft, entry: Entry) -> None:
    name, shape = entry.name, entry.type.shape
    if d.chance(60):
        op, other = d.pick(["multiply", "divide", "add"]), d.pick([num_leaf(d), array(d, shape, 0)])
        other = factor(d, "/", other) if op == "divide" else other
        return d.emit(
            f"np.{op}({array(d, shape, 0)}, {other}, out={name}, where={mask(d, entry)})",
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
    d.emit(f"{d.pick([f'np.put({entry.name}, ', f'{entry.name}.put('])}[{at}], {some(d)})", "put")


def by_row(d: Draft, entry: Entry) -> None:
    key = d.pick([index(d, entry.type.shape[0]), "1::2", "[0, 2, 0]"])
    if d.chance(40) and entry.name != BUFFER:
        return d.emit(f"{entry.name}.flat[{key}] *= np.cos({num(d, 1)})", "flat write")
    d.emit(f"{entry.name}.flat[{key}] = {num(d, 1) if key[0] not in '1[' else some(d)}", "flat write")


def each_at(d: Draft, entry: Entry) -> None:
    key = fancy(d, entry.type.shape)
    key = f"({key})" if len(entry.type.shape) > 1 else key
    op, value = d.pick(["multiply", "multiply", "divide", "maximum", "minimum"]), num(d, 1)
    value = tame(d, value) if op[0] == "m" and op != "multiply" else factor(d, "/" if op == "divide" else "*", value)
    d.emit(f"np.{op}.at({entry.name}, {key}, {value})", "repeated indices multiply")


def chosen(d: Draft, entry: Entry) -> None:
    name = d.pick(["putmask", "place"])
    values = d.pick([some(d), f"[{num_leaf(d)}, {num(d, 1)}]", f"np.array([{num(d, 1)}, {num_leaf(d)}, {d.const()}])"])
    d.emit(f"np.{name}({entry.name}, {mask(d, entry)}, {values})", "chosen elements in turn")


def ordered(d: Draft, entry: Entry) -> None:
    part, axis = d.pick(["", "[::-1]", "[1:]"]), d.pick(["", "axis=0", "0"]) if len(entry.type.shape) == 2 else ""
    if d.chance(50) and entry.type.shape[0] > 1:
        kth = d.pick(["0", "0", "1"])
        return d.emit(f"{entry.name}.partition({', '.join(filter(None, [kth, axis]))})", "partitioned in place")
    d.emit(f"{entry.name}{part}.sort({axis})", "sorted in place")


def by_axis(d: Draft, entry: Entry) -> None:
    """A place in each row or column, the same one twice never."""
    rows, cols = entry.type.shape
    if d.chance(50):
        at, value = ", ".join(f"[{d.rng.randrange(cols)}]" for _ in range(rows)), num(d, 1)
        value = d.pick([value, f"{wrap(array(d, (rows,), 0))}[:, None]"])
        return d.emit(f"np.put_along_axis({entry.name}, np.array([{at}]), {value}, axis=1)", "a place in each row")
    at, value = ", ".join(str(d.rng.randrange(rows)) for _ in range(cols)), d.pick([num(d, 1), array(d, (cols,), 0)])
    d.emit(f"np.put_along_axis({entry.name}, np.array([[{at}]]), {value}, axis=0)", "a place in each row")


def renumbered(d: Draft, entry: Entry) -> None:
    """What is no number, replaced in place."""
    d.emit(f"{element(d, entry.name, entry.type.shape)} = np.nan", "no number replaced")
    d.emit(f"np.nan_to_num({entry.name}, copy=False, nan={d.const()})")


def other_shape(d: Draft, entry: Entry) -> None:
    """A second array object on the memory of the first, or on a copy, given another shape."""
    n, name = entry.type.shape[0], d.fresh("arr")
    view = d.chance(20)  # refused where the array itself, which then has two shapes, may be meant
    d.emit(f"{name} = {entry.name}{d.pick(['[...]', '[:]', '.view()']) if view else '.copy()'}", "shape set")
    shape = d.pick([(n, 1), (1, n), (2, n // 2) if n % 2 == 0 else (1, n)])
    d.emit(f"{name}.shape = {shape}")
    d.share(entry.name) if view else None
    d.bind(name, arr(*shape), shared=view)
    write_to(d, d.names[name])


def diagonal(d: Draft, entry: Entry) -> None:
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


def late(d: Draft) -> None:
    """A view that cannot be written into, read after its base may have been written."""
    if not d.entries("arr") or d.whole:
        return new_array(d)
    entry = d.pick(d.entries("arr"))
    name, shape, view = entry.name, entry.type.shape, f"view{len(d.used)}"
    d.used.add(view)
    whole = name if d.chance(8) else f"{name}.copy()"  # what may repeat elements is refused where its base is written
    forms = [(f"np.broadcast_to({whole}, {(2, *shape)})", f"np.sum({view}[0] * {view}[-1])")]
    if len(shape) == 1:
        cut = d.pick([f"{view}[:, 0]", f"{view}[0]", f"{view}[-1, ::-1]"])
        forms += [(f"sliding_window_view({whole}, 2)", f"np.sum({cut} * {d.const()})")] * 2 * (shape[0] > 1)
    else:
        forms[1:] = 3 * [
            (f"{name}.diagonal()", f"np.dot({view}, {view})"),
            (f"np.diagonal({name})", f"np.sum(np.sin({view}))"),
        ]
    text, read = d.pick(forms)
    d.emit(f"{view} = {text}", "view read later")
    if d.chance(80):
        write_to(d, entry)
    if "diagonal" in text:
        at = d.rng.randrange(min(shape))
        d.emit(f"{name}[{at}, {at}] {d.pick(['=', '+='])} {tame(d, num(d, 1))}")
    d.emit(f"{d.bind(d.fresh('num'), NUM)} = {tame(d, read)}")
