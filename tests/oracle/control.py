"""Compound statements of drawn programs: branches, loops, exits."""

from __future__ import annotations

from . import closures, pythonic
from .expressions import array, num, num_leaf, test
from .model import INT, NUM, Draft, arr, list_of
from .places import index, wrap
from .simple import CALM, SIMPLE
from .statements import rebind_number, shape_by_branch, tame, write

COMPOUND = (34, 28, 12, 0, 0, 0, 0)
"""Percentage of compound statements by depth."""


LONG = 24
"""Lines after which all statements are simple ones: a longer program shows little more, and takes much longer."""


def statements(d: Draft, count: int) -> None:
    for _ in range(count):
        statement(d)


def simple(d: Draft) -> None:
    d.pick(CALM if d.calm else SIMPLE)(d)


def statement(d: Draft) -> None:
    form = d.rng.randrange(100)
    if form >= COMPOUND[d.depth] or len(d.lines) > LONG:
        return simple(d)
    calm = [branch, branch, loop_range, loop_range, loop_over, loop_while, leave]
    compound = d.pick(
        calm
        if d.calm
        else [branch] * 4
        + [loop_range] * 4
        + [sweep] * 2
        + [loop_over] * 3
        + [loop_while] * 2
        + [one_branch, grow, leave]
        + [else_of_loop, carried, manager, cases, function, function, buffered]
    )
    compound(d) if d.loops < 2 or compound in (branch, leave, one_branch, manager, cases, function) else simple(d)


def body(d: Draft, *, loop: bool = False) -> None:
    """Statements of a block, perhaps an exit among them."""
    mark = len(d.lines)
    statements(d, d.pick([1, 1, 2, 2, 3]))
    if loop and d.chance(40):
        leave(d)
        statement(d)
    if len(d.lines) == mark:
        d.emit("pass")


def else_of_loop(d: Draft) -> None:
    pythonic.loop_else(d, body)


def carried(d: Draft) -> None:
    pythonic.carried(d, body)


def manager(d: Draft) -> None:
    pythonic.managed(d, body)


def cases(d: Draft) -> None:
    pythonic.matched(d, body)


def function(d: Draft) -> None:
    d.pick(closures.FORMS)(d, statements)


# ---- branches ----
def branch(d: Draft) -> None:
    d.emit(f"if {test(d)}:", "if")
    with d.block():
        body(d)
    if d.chance(25):
        d.emit(f"elif {test(d)}:", "elif")
        with d.block():
            body(d)
    if d.chance(55):
        d.emit("else:")
        with d.block():
            body(d)


def one_branch(d: Draft) -> None:
    """A name bound in one branch only, and read where the same branch was taken."""
    name, flag, held = d.fresh("num"), d.fresh("int"), d.fresh("num")
    text = num(d)
    d.emit(f"{flag} = 0", "name bound in one branch")
    d.emit(f"{held} = {num(d, 1)}")
    d.bind(held, NUM)
    d.emit(f"if {test(d)}:")
    with d.block():
        d.emit(f"{name} = {text}")
        d.emit(f"{flag} = 1")
        d.bind(name, NUM, fixed=True)
        body(d)
    d.bind(flag, INT, limit=2)
    statement(d)
    d.emit(f"if {flag} == 1:")
    with d.block():
        d.emit(f"{held} = {held} + {name}")


def leave(d: Draft) -> None:
    """``break``, ``continue`` or ``return`` under a condition."""
    exits = ["break", "continue"] if d.loops else []
    if d.give is not None and d.chance(40 if exits else 100):
        exits = ["return"]
    if not exits:
        return rebind_number(d)
    word = d.pick(exits)
    d.emit(f"if {test(d)}:")
    with d.block():
        if d.chance(40):
            simple(d)
        if word == "return" and d.give is not None:
            d.emit(f"return {d.give()}".rstrip(), "early return")
        else:
            d.emit(word, word)


# ---- loops ----
def loop_range(d: Draft) -> None:
    name = d.fresh("loop")
    trips = d.rng.randrange(2, 5)
    ints = [entry for entry in d.entries("int") if entry.fixed and entry.limit is None]
    text, limit = d.pick([
        (f"range({trips})", trips),
        (f"range(1, {trips})", trips),
        (f"range({trips} - 1, -1, -1)", trips),
        (f"range(0, {trips}, 2)", trips),
        (f"reversed(range({trips}))", trips),
        (f"range({d.width})", d.width),
        (f"range({ints[0].name})" if ints else f"range({trips})", 4),
    ])  # fmt: skip
    rows = d.entries("arr")
    if rows and d.chance(30):
        entry = d.pick(rows)
        text, limit = f"range(len({entry.name}))", entry.type.shape[0]
    d.emit(f"for {name} in {text}:", "for over a range")
    with d.block(loop=True):
        d.bind(name, INT, limit=limit, fixed=True)
        body(d, loop=True)
    d.bind(name, INT, limit=limit, fixed=False)
    if d.chance(40 if d.loops else 15):
        d.tag("loop variable after its loop")
        d.tag("loop variable after its loop, in a loop" if d.loops else "")
        text, held = f"{num_leaf(d)} * {name}", [entry for entry in d.entries("num") if not entry.fixed]
        if held and d.loops:
            return d.emit(f"{d.pick(held).name} += {d.const()} * {text}")
        d.emit(f"{d.bind(d.fresh('num'), NUM)} = {text}")


def sweep(d: Draft) -> None:
    """The loop over elements that people write: each from its neighbours."""
    wide = [entry for entry in d.rank(1) if entry.type.shape[0] > 2]
    if not wide:
        return loop_range(d)
    entry, i = d.pick(wide), d.fresh("loop")
    a, b = entry.name, d.pick(d.of(entry.type)).name
    bounds = d.pick([f"1, len({a})", f"1, {a}.size - 1", f"len({a}) - 2, 0, -1", f"{a}.shape[0] - 1"])
    after = "i" if bounds == f"1, len({a})" else "i + 1"
    d.emit(f"for {i} in range({bounds}):", "loop over elements")
    d.tag("write through an alias" if entry.shared else "")
    with d.block(loop=True):
        d.bind(i, INT, limit=entry.type.shape[0], fixed=True)
        terms = f"{a}[{i}] + {d.const()} * ({b}[{i} - 1] - {a}[{after.replace('i', i)}] * {num_leaf(d)})"
        d.emit(f"{a}[{i}] = {d.pick([tame(d, terms), f'np.cos({terms})'])}")
        if d.chance(40):
            simple(d)


def loop_over(d: Draft) -> None:
    """A loop over rows, elements, a list, or several together."""
    sources = [*([] if d.whole else d.entries("arr")), *d.entries("list")]
    if not sources:
        return loop_range(d)
    entry = d.pick(sources)
    shape = entry.type.shape
    item = entry.type.item or (NUM if len(shape) == 1 else arr(*shape[1:]))
    name, count = d.fresh(item.kind), d.fresh("loop")
    partners = d.rank(1) + (d.rank(2) if d.chance(50) else [])
    partner = d.pick(partners) if partners else entry
    fellow = partner.type.item or (NUM if len(partner.type.shape) == 1 else arr(*partner.type.shape[1:]))
    mate = d.fresh(fellow.kind)
    form = d.rng.randrange(4)
    head, tag = (
        (f"{name} in {entry.name}", "for over a container"),
        (f"{count}, {name} in enumerate({entry.name})", "for with enumerate"),
        (f"{name}, {mate} in zip({entry.name}, {partner.name})", "for with zip"),
        (f"{name} in reversed({entry.name})", "for over a container in reverse"),
    )[form]
    d.emit(f"for {head}:", tag)
    growing, d.growing = d.growing, False
    with d.block(loop=True):
        d.bind(name, item, shared=True, fixed=True)
        if form == 1:
            d.bind(count, INT, limit=9 if entry.type.kind == "list" else shape[0], fixed=True)
        if form == 2:
            d.bind(mate, fellow, shared=True, fixed=True)
            d.tag("zip over rows" if fellow.kind == item.kind == "arr" else "")
        body(d, loop=True)
    d.growing = growing


def loop_while(d: Draft) -> None:
    """A loop with a counter, on a condition of the data, or with its exit inside; or that empties a list."""
    lists = [entry for entry in d.entries("list") if d.growing]
    if lists and d.chance(25):
        return drain(d)
    n = d.fresh("int")
    trips = d.rng.randrange(2, 5)
    d.emit(f"{n} = 0")
    form = d.rng.randrange(3)
    heads = (f"while {n} < {trips}:", f"while {n} < {trips} and {num(d, 1)} < {d.const()} + 0.5:", "while True:")
    d.emit(heads[form], ("while", "while on data", "while True")[form])
    with d.block(loop=True):
        d.bind(n, INT, fixed=True)
        d.emit(f"{n} += 1")
        if form == 2:
            simple(d)
            d.emit(f"if {n} >= {trips} or {test(d)}:")
            d.emit("    break", "break")
        body(d, loop=True)
    d.bind(n, INT)


def buffered(d: Draft) -> None:
    """Two arrays that change their places at the end of each step: the new values are written over the oldest."""
    wide = [entry for entry in d.entries("arr") if entry.type.shape[0] > 2 and not entry.fixed]
    if not wide:
        return loop_range(d)
    entry, new, i = d.pick(wide), d.fresh("arr"), d.fresh("loop")
    u = entry.name
    d.emit(f"{new} = {d.pick([f'np.zeros_like({u})', f'{u}.copy()', f'np.sin({u})'])}", "two buffers in turn")
    d.bind(new, entry.type)
    d.emit(f"for {i} in range({d.rng.randrange(1, 4)}):")
    with d.block(loop=True):
        d.bind(i, INT, limit=3, fixed=True)
        inside = f"{u}[1:-1] + {d.const()} * ({u}[2:] - 2.0 * {u}[1:-1] + {u}[:-2])"
        d.emit(f"{new}[1:-1] = {tame(d, inside)}")
        d.emit(f"{new}[{d.pick(['0', '-1'])}] = {tame(d, num(d, 1))}") if len(entry.type.shape) == 1 else None
        statements(d, d.rng.randrange(0, 2))
        d.emit(d.pick([f"{u}, {new} = {new}, {u}"] * 3 + [f"{u}[:], {new}[:] = {new}, {u}.copy()"]))
    d.share(u, new)


def drain(d: Draft) -> None:
    entry = d.pick(d.entries("list"))
    item = entry.type.item or NUM
    d.emit(f"while len({entry.name}) > 1:", "while over a stack")
    growing, d.growing = d.growing, False
    with d.block(loop=True):
        name = d.bind(d.fresh(item.kind), item, shared=True)
        d.emit(f"{name} = {entry.name}.pop()", "pop")
        body(d, loop=True)
    d.growing = growing


def grow(d: Draft) -> None:
    """A total that starts as a number and becomes an array, or a list filled in a loop."""
    if not d.rank(1):
        return write(d)
    entry = d.pick(d.rank(1))
    i = d.fresh("loop")
    if d.chance(25):
        return shape_by_branch(d, entry)
    if d.chance(50):
        name = d.fresh("arr")
        start = d.pick(["0.0", "0.0", f"np.full(1, {num_leaf(d)})"])
        kind = "number that becomes an array" if start == "0.0" else "array that grows by broadcasting"
        d.emit(f"{name} = {start}", kind)
        d.emit(f"for {i} in range({d.rng.randrange(2, 4)}):")
        with d.block(loop=True):
            d.bind(i, INT, limit=3, fixed=True)
            op = d.pick([f"= {name} +", "+="]) if start == "0.0" else f"= {name} {d.pick(['+', '*'])}"
            d.emit(f"{name} {op} {d.const()} * {wrap(array(d, entry.type.shape, 1))}")
        d.bind(name, entry.type)
        return
    name = d.fresh("list")
    d.emit(f"{name} = [0.25]", "list filled in a loop")
    d.emit(f"for {i} in range({d.rng.randrange(2, 4)}):")
    with d.block(loop=True):
        d.bind(i, INT, limit=3, fixed=True)
        statements(d, d.rng.randrange(0, 2))
        d.emit(f"{name}.append({tame(d, num(d))})", "append")
    from_list(d, name)


def from_list(d: Draft, name: str) -> None:
    """A number from a list of numbers, and the list in scope."""
    d.bind(name, list_of(NUM))
    d.emit(f"{d.bind(d.fresh('num'), NUM)} = {name}[{wrap(index(d, 5))} % len({name})] * {name}[-1]", "list read")
