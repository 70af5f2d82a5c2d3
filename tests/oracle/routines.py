"""Helpers of drawn programs: procedures, writers, givers of views and numbers, recursive ones."""

from __future__ import annotations

from .control import statement, statements
from .expressions import element, num, num_leaf, test
from .model import INT, NUM, Draft, Param, Routine, Type, arr, list_of
from .places import place
from .statements import tame, write_to

BOXED = 'box["b"]'
NAMES = ("relax", "mix", "push", "step", "shift", "blend", "scale", "fold")


def inner(d: Draft, params: tuple[Param, ...]) -> Draft:
    """A draft of a helper's body, with its parameters in scope."""
    sub = Draft(d.rng, d.width, tags=d.tags, routines=list(d.routines), calls=d.chance(50), calm=d.calm, whole=d.whole)
    for param in params:
        sub.bind(param.name, param.type, shared=param.type.kind == "arr", fixed=param.type == INT)
    return sub


def routine(d: Draft) -> tuple[list[str], Routine]:
    """The lines of a new helper, and what callers must know of it."""
    name = d.pick([n for n in NAMES if all(r.name != n for r in d.routines)])
    form = (
        measure
        if d.calm
        else d.pick([writer, writer, writer, viewer, measure, measure, recursive, on_list, on_dict, keeper])
    )
    return form(d, name)


def head(name: str, params: tuple[Param, ...]) -> str:
    given = (p.name if p.default is None else f"{p.name}={p.default}" for p in params)
    return f"def {name}({', '.join(given)}):"


def signature(d: Draft) -> tuple[Param, ...]:
    shape = d.pick([(d.width,), (d.width,), (2, d.width), (d.width - 1,)])
    params = [Param("a", arr(*shape))]
    if d.chance(40):
        params.append(Param("b", arr(d.width)))
    if d.chance(30):
        params.append(Param("h", NUM))
    params.append(Param("f", NUM, 0.5 if d.chance(25) else None))
    return tuple(params)


def writer(d: Draft, name: str) -> tuple[list[str], Routine]:
    """Writes into its first argument; gives nothing, a number, or the argument back."""
    params = signature(d)
    sub = inner(d, params)
    result: Type | None = d.pick([None, NUM, params[0].type])
    sub.give = lambda: "" if result is None else tame(sub, num(sub, 1)) if result == NUM else "a"
    write_to(sub, sub.names["a"])
    statements(sub, d.rng.randrange(0, 3))
    sub.emit(f"return {sub.give()}") if result is not None else None
    known = Routine(name, params, result, writes=True, view=result == params[0].type)
    return [head(name, params), *sub.lines], known


def viewer(d: Draft, name: str) -> tuple[list[str], Routine]:
    """Gives a view of its argument, which its caller may write into."""
    params = (Param("a", arr(2, d.width)), Param("k", INT))
    sub = inner(d, params)
    if d.chance(40):
        write_to(sub, sub.names["a"])
    text, shape = d.pick([
        ("a[k % 2]", (d.width,)), ("a[k % 2, 1:]", (d.width - 1,)), ("a.T", (d.width, 2)), ("a[:, 0]", (2,)),
        ("a[::-1]", (2, d.width)), ("a.reshape(-1)", (2 * d.width,)),
    ])  # fmt: skip
    sub.emit(f"return {text}", "view returned")
    return [head(name, params), *sub.lines], Routine(name, params, arr(*shape), writes=len(sub.lines) > 1, view=True)


def measure(d: Draft, name: str) -> tuple[list[str], Routine]:
    """Gives a number, perhaps early; may write on the way."""
    params = signature(d)
    sub = inner(d, params)
    sub.give = lambda: tame(sub, num(sub, 1))
    before = d.tags["element write"] + d.tags["slice write"]
    statements(sub, d.rng.randrange(1, 4))
    sub.emit(f"return {sub.give()}", "number returned")
    writes = d.tags["element write"] + d.tags["slice write"] > before and "a[" in "".join(sub.lines)
    return [head(name, params), *sub.lines], Routine(name, params, NUM, writes=writes)


def recursive(d: Draft, name: str) -> tuple[list[str], Routine]:
    """Calls itself, a counter less at each call; writes into the array it passes on."""
    params = (Param("a", arr(d.width)), Param("f", NUM), Param("k", INT))
    sub = inner(d, params)
    sub.tag("recursion")
    sub.emit(f"if k <= 0{d.pick(['', f' or {test(sub)}'])}:")
    with sub.block():
        sub.emit(f"return {tame(sub, num(sub, 1))}")
    write_to(sub, sub.names["a"])
    if d.chance(50):
        statement(sub)
    again = f"{name}({d.pick(['a', 'a', place(sub, (d.width,))])}, {tame(sub, num(sub, 1))}, k - 1)"
    if d.chance(50):
        sub.emit(f"part = {again}")
        sub.bind("part", NUM)
        sub.emit(f"{element(sub, 'a', (d.width,))} += 0.3 * part")
        again = f"part * {num_leaf(sub)}"
    sub.emit(f"return {again}")
    lines = [head(name, params), *sub.lines]
    if d.chance(30):
        lines = in_turn(d, name, lines)
    return lines, Routine(name, params, NUM, writes=True)


def in_turn(d: Draft, name: str, lines: list[str]) -> list[str]:
    """The function calls another, which calls it."""
    other = f"{name}_back"
    d.tag("mutual recursion")
    lines = [lines[0], *(line.replace(f"{name}(", f"{other}(") for line in lines[1:])]
    at = d.pick(["a", "a[::-1]"])
    return [
        *lines,
        "",
        "",
        f"def {other}(a, f, k):",
        "    a[0] = np.sin(a[0] * f)",
        f"    return {name}({at}, f, k - 1)",
    ]


def keeper(d: Draft, name: str) -> tuple[list[str], Routine]:
    """Keeps its argument, or a view of it, in a list or a dict of arrays; its caller may then write into that."""
    held, shape = d.pick(["a", "a[::-1]", "a[...]"]), (d.width,)
    if d.chance(50):
        params = (Param("stock", list_of(arr(*shape))), Param("a", arr(*shape)))
        store = d.pick([f"stock.append({held})", f"stock[0] = {held}", f"stock.insert(0, {held})"])
    else:
        params = (Param("box", Type("dict", fields=(("a", NUM), ("b", arr(*shape))))), Param("a", arr(*shape)))
        store = f"{BOXED} = {held}"
    sub = inner(d, params)
    sub.emit(store, "argument kept by a callee")
    if d.chance(60):
        write_to(sub, sub.names["a"])
    return [head(name, params), *sub.lines], Routine(name, params, None, writes=True, grows="stock[" not in store)


def on_list(d: Draft, name: str) -> tuple[list[str], Routine]:
    """Appends to a list of numbers or overwrites in it."""
    params = (Param("stock", list_of(NUM)), Param("f", NUM))
    sub = inner(d, params)
    sub.tag("list written by a callee")
    grows = d.chance(60)
    if d.chance(50):
        statement(sub)
    grows = grows or any(".append(" in line for line in sub.lines)
    sub.emit(f"stock.append({tame(sub, num(sub))})" if grows else f"stock[0] = {tame(sub, num(sub))}")
    result = NUM if d.chance(50) else None
    sub.emit(f"return {num_leaf(sub)}") if result else None
    return [head(name, params), *sub.lines], Routine(name, params, result, writes=True, grows=True)


def on_dict(d: Draft, name: str) -> tuple[list[str], Routine]:
    """Overwrites an entry of a dict, and an element of an array in it."""
    params = (Param("box", Type("dict", fields=(("a", NUM), ("b", arr(d.width))))), Param("f", NUM))
    sub = inner(d, params)
    sub.tag("dict written by a callee")
    sub.emit(f'box["a"] = {tame(sub, num(sub))}')
    sub.emit(f"{element(sub, BOXED, (d.width,))} {d.pick(['', '+'])}= {tame(sub, num(sub, 1))}")
    if d.chance(50):
        statement(sub)
    result = NUM if d.chance(50) else None
    sub.emit(f"return {num_leaf(sub)}") if result else None
    return [head(name, params), *sub.lines], Routine(name, params, result, writes=True)
