"""Expressions of drawn programs. Every one is in range and tame for arguments of ordinary size."""

from __future__ import annotations

from .model import INT, NUM, Draft, Entry, Param, Routine, Type, arr
from .places import index, place, wrap

UNARY = ("np.sin", "np.tanh", "np.cos")


# ---- numbers ----
def num_leaf(d: Draft) -> str:
    entry = d.pick([*d.entries("num"), *d.entries("arr"), *d.entries("list"), *d.entries("dict", "tuple")])
    if entry.name == "SCALE" and d.chance(80):
        entry = d.pick(d.entries("num", "arr"))
    found = read(d, entry)
    return found or d.const()


def read(d: Draft, entry: Entry) -> str:
    """A number found in what `entry` names, or nothing."""
    kind, name = entry.type.kind, entry.name
    if kind == "num":
        return name
    if kind == "arr":
        d.tag("" if d.whole else "element read")
        return element(d, name, entry.type.shape)
    if kind == "list" and entry.type.item is not None:
        at = d.pick(["-1", "0", f"{wrap(index(d, 5))} % len({name})"])
        d.tag("list read")
        return f"{name}[{at}]" if entry.type.item == NUM else element(d, f"{name}[{at}]", entry.type.item.shape)
    fields = entry.type.picks(name, NUM)
    if fields:
        d.tag(f"{kind} read")
    return d.pick(fields) if fields else ""


def element(d: Draft, base: str, shape: tuple[int, ...]) -> str:
    """An element of an array, or what it comes to as a whole."""
    if d.whole:
        return f"np.sum({base})"
    keys = [index(d, extent) for extent in shape]
    if len(keys) == 2 and d.chance(25):
        return f"{base}[{keys[0]}][{keys[1]}]"
    return f"{base}[{', '.join(keys)}]"


def num(d: Draft, depth: int = 2) -> str:
    if depth == 0 or d.chance(20):
        return num_leaf(d)
    form = d.rng.randrange(12)
    if form <= 1:
        return f"{wrap(num(d, depth - 1))} {d.pick(['+', '-', '*'])} {wrap(num(d, depth - 1))}"
    if form == 2:
        return f"{d.const()} * {wrap(num(d, depth - 1))}"
    if form == 3:
        return f"{d.pick(UNARY)}({num(d, depth - 1)})"
    if form == 4:
        return f"math.{d.pick(['sin', 'tanh', 'cos'])}({num(d, depth - 1)})"
    if form == 5:
        leaf = num_leaf(d)
        return f"{wrap(num(d, depth - 1))} / (1.5 + {leaf} * {leaf})"
    if form == 6:
        return d.pick([f"{wrap(num_leaf(d))} ** 2", f"np.sqrt(1.0 + {wrap(num_leaf(d))} ** 2)"])
    if form == 7:
        return f"{d.pick(['max', 'min'])}({num(d, depth - 1)}, {d.pick([d.const(), num_leaf(d)])})"
    if form == 8 and depth > 1:
        d.tag("conditional expression")
        return f"{num_leaf(d)} if {test(d)} else {num_leaf(d)}"
    if form == 9:
        return call_for(d, NUM) or f"abs({num(d, depth - 1)})"
    return reduction(d)


def reduction(d: Draft) -> str:
    shapes = [entry.type.shape for entry in d.entries("arr")] or [(d.width,)]
    shape = d.pick(shapes)
    a = array(d, shape, 1)
    form = d.pick(["sum", "mean", "dot", "method", "max"])
    d.tag("reduction")
    if form == "dot" and len(shape) == 1:
        return f"np.dot({a}, {array(d, shape, 0)})"
    if form == "max":
        return f"np.{d.pick(['max', 'min'])}({a})"
    if form == "method":
        return f"{wrap(a)}.{d.pick(['sum', 'mean'])}()"
    return f"np.{'sum' if form == 'dot' else form}({a})"


def test(d: Draft) -> str:
    """A condition on values or counters."""
    ints = d.entries("int")
    form = d.rng.randrange(7)
    if form <= 1 and ints:
        name = d.pick(ints).name
        return d.pick([f"{name} % 2 == 0", f"{name} > 1", f"{name} < 2", f"{name} != 1"])
    if form == 2:
        return f"-{d.const()} < {wrap(num_leaf(d))} < {d.const()}"
    if form == 3:
        return f"{num_leaf(d)} > {num_leaf(d)}"
    if form == 4 and d.depth < 2:
        return f"{num_leaf(d)} > {d.const()} {d.pick(['and', 'or'])} {num_leaf(d)} < {d.const()}"
    if form == 5:
        return f"not {num_leaf(d)} > {d.const()}"
    return f"{num(d, 1)} {d.pick(['<', '>'])} {d.pick(['', '-'])}{d.const()}"


# ---- arrays ----
def array(d: Draft, shape: tuple[int, ...], depth: int = 2) -> str:
    """An expression that gives an array of this shape."""
    known = place(d, shape)
    if known and (depth == 0 or d.chance(35)):
        return known
    if not known and depth == 0:
        size = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        return f"np.full(({size}), {num_leaf(d)})"
    a = array(d, shape, depth - 1) if depth else known
    form = d.rng.randrange(12)
    d.tag("array operation")
    if form == 0:
        return f"{wrap(a)}.copy()"
    if form <= 2:
        return f"{d.pick(UNARY)}({a})"
    if form <= 4:
        return f"{wrap(a)} {d.pick(['+', '-', '*'])} {wrap(array(d, shape, 0))}"
    if form == 5:
        return f"{wrap(num_leaf(d))} * {wrap(a)}"
    if form == 6:
        return f"np.where({a} > {d.const()}, {array(d, shape, 0)}, {d.pick([num_leaf(d), array(d, shape, 0)])})"
    if form == 7:
        return f"np.{d.pick(['maximum', 'minimum'])}({a}, {d.pick([d.const(), array(d, shape, 0)])})"
    if form == 8:
        return call_for(d, arr(*shape)) or f"{wrap(a)} / (1.5 + {wrap(a)} ** 2)"
    return joined(d, shape, a)


def joined(d: Draft, shape: tuple[int, ...], a: str) -> str:
    """Arrays put together from others."""
    if len(shape) == 1:
        tall = [e for e in d.rank(2) if shape[0] in e.type.shape]
        if tall and d.chance(40):
            return along(d, d.pick(tall), shape[0])
        square = [e.name for e in d.rank(2) if e.type.shape == shape * 2]
        if square and d.chance(60):
            return f"{d.pick(square)} @ {wrap(a)}"
        if d.whole:
            return f"{wrap(a)} * np.arange(1.0, {shape[0] + 1}.0)"
        if shape[0] > 1 and d.chance(50):
            name = wrap(a)
            return f"np.concatenate([{name}[1:], {name}[:1]])"
        if d.chance(40):
            return f"np.array([{', '.join(num_leaf(d) for _ in range(shape[0]))}])"
        d.tag("fancy read")
        return f"{wrap(a)}[[{', '.join(str(d.rng.randrange(shape[0])) for _ in range(shape[0]))}]]"
    form = d.rng.randrange(4)
    if form == 0:
        d.tag("broadcasting")
        row, column = array(d, shape[1:], 0), f"{wrap(array(d, shape[:1], 0))}[:, None]"
        return f"{wrap(a)} {d.pick(['+', '*'])} {d.pick([wrap(row), column])}"
    if form == 1:
        d.tag("keepdims")
        return f"{wrap(a)} - np.mean({a}, axis={d.pick([0, 1])}, keepdims=True)"
    if form == 2:
        return f"np.outer({array(d, shape[:1], 0)}, {array(d, shape[1:], 0)})"
    return f"np.stack([{', '.join(array(d, shape[1:], 0) for _ in range(shape[0]))}])"


def along(d: Draft, matrix: Entry, extent: int) -> str:
    """A reduction of a matrix along one axis that leaves `extent` elements."""
    axis = 1 if matrix.type.shape[0] == extent else 0
    d.tag("reduction along an axis")
    return d.pick([
        f"np.sum({matrix.name}, axis={axis})", f"{matrix.name}.mean(axis={axis})", f"np.max({matrix.name}, axis={axis})"
    ])  # fmt: skip


# ---- calls ----
def argument(d: Draft, type_: Type) -> str:
    """An argument of this type, memory of the scope where it is an array; nothing if there is none."""
    if type_ == NUM:
        return num(d, 1)
    if type_ == INT:
        return str(d.rng.randrange(1, 4))
    if type_.kind == "arr":
        return place(d, type_.shape)
    found = d.of(type_)
    return d.pick(found).name if found else ""


def call(d: Draft, routine: Routine) -> str:
    """A call of the helper, or nothing if the scope has no arguments for it."""
    if routine.grows and not d.growing:
        return ""
    given: list[tuple[Param, str]] = []
    met: dict[Type, str] = {}
    for param in routine.params:
        if param.default is not None and d.chance(40):
            continue
        text = argument(d, param.type)
        if not text:
            return ""
        if param.type == NUM and NUM not in met and d.entries("num"):
            text = d.pick([text, d.pick(d.entries("num")).name])
        if param.type in met and d.chance(40):
            text = met[param.type]
            d.tag("argument passed twice")
        if text.isidentifier():
            met[param.type] = text
        given.append((param, text))
    d.tag("call")
    if routine.writes:
        d.tag("write in a callee")
    return f"{routine.name}({', '.join(spelled(d, given))})"


def spelled(d: Draft, given: list[tuple[Param, str]]) -> list[str]:
    """The arguments by position and by name, or starred."""
    plain = [text for param, text in given if param.default is None]
    named = [(param.name, text) for param, text in given if param.default is not None]
    if plain and d.chance(10):
        cut = d.rng.randrange(len(plain))
        d.tag("call by name")
        named, plain = [(param.name, text) for param, text in given[cut:]], plain[:cut]
        d.rng.shuffle(named)
    if plain and d.chance(10):
        cut = d.rng.randrange(len(plain))
        d.tag("starred arguments")
        plain = [*plain[:cut], d.pick(["*({},)", "*[{}]"]).format(", ".join(plain[cut:]))]
    by_name = [f"{name}={text}" for name, text in named]
    if named and d.chance(15):
        d.tag("starred keywords")
        by_name = ["**{" + ", ".join(f'"{name}": {text}' for name, text in named) + "}"]
    return [*plain, *by_name]


def call_for(d: Draft, type_: Type) -> str:
    """A call of some helper with a result of this type, or nothing."""
    fit = [routine for routine in d.routines if routine.result == type_]
    return call(d, d.pick(fit)) if fit and d.calls else ""
