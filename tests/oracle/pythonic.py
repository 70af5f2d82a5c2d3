"""Statements that are Python's own rather than NumPy's: comprehensions, else of loops, match, with, methods."""

from __future__ import annotations

from collections.abc import Callable

from .expressions import num, num_leaf, test
from .model import INT, NUM, Draft, list_of
from .places import index, wrap
from .statements import tame

Body = Callable[[Draft], None]


# ---- simple statements ----
def comprehension(d: Draft) -> None:
    """A reduction of a generator, or a list or a dict made by a comprehension."""
    lists = [entry for entry in d.entries("list") if entry.type.item == NUM]
    sources = [entry.name for entry in (*lists, *d.rank(1))]
    name, v = d.fresh("num"), d.fresh("num")
    source = d.pick(sources) if sources else f"({num_leaf(d)}, {num_leaf(d)})"
    element = d.pick([f"{v} * {v}", f"np.sin({v}) * {num_leaf(d)}", f"{d.const()} * {v} - {num_leaf(d)}"])
    only = f" if {v} > -{d.const()}" if d.chance(30) else ""
    clause = f"for {v} in {source}{only}"
    form = d.rng.randrange(5)
    if form == 0:
        made = d.fresh("list")
        d.emit(f"{made} = [{element} {clause}] + [{num_leaf(d)}]", "list comprehension")
        d.bind(made, list_of(NUM))
        return
    text, tag = [
        (f"sum({element} {clause})", "generator"),
        (f"sum({element} * {v}_{v} {clause} for {v}_{v} in ({d.const()}, {num_leaf(d)}))", "nested generator"),
        (f"max([{element} {clause}] + [{num_leaf(d)}])", "list comprehension"),
        (f"sum({{k: {element} for k, {v} in enumerate({source})}}.values())", "dict comprehension"),
    ][form - 1]
    d.emit(f"{name} = {tame(d, text)}", tag)
    d.bind(name, NUM)


def entries(d: Draft) -> None:
    """A dict of numbers, asked and changed by its methods, then read as a whole in its order."""
    name, total = d.fresh("dict"), d.fresh("num")
    d.emit(f'{name} = {{"a": {num_leaf(d)}, "b": {num(d, 1)}}}', "dict of numbers")
    for _ in range(d.rng.randrange(0, 3)):
        key = d.pick(["a", "b", "c"])
        d.emit(
            d.pick([
                f'{name}["{key}"] = {name}.get("{key}", {num_leaf(d)}) * {d.const()}',
                f'{name}.setdefault("{key}", {num_leaf(d)})',
                f'{name}.update({key}={num_leaf(d)} * {name}["a"])',
                f'{name}["a"] = {name}["a"] + {name}.pop("{d.pick(["b", "c"])}", {num_leaf(d)})',
            ]),
            "method of a dict",
        )  # fmt: skip
    d.emit(f"{total} = {num_leaf(d)}")
    key, value = f"key{len(d.used)}", d.fresh("num")
    form = d.rng.randrange(3)
    if form == 0:
        d.emit(f"for {key}, {value} in {name}.items():", "loop over items")
        d.emit(f'    {total} = {d.const()} * {total} + {value} * (2.0 if {key} == "a" else {num_leaf(d)})')
    elif form == 1:
        d.emit(f"for {key} in {name}:", "loop over keys")
        d.emit(f"    {name}[{key}] = np.sin({name}[{key}] * {num_leaf(d)})")
        d.emit(f"    {total} = {total} + {name}[{key}]")
    else:
        d.emit(f"{total} = {total} + sum({name}.values()) * len({name})", "values")
    d.bind(total, NUM)


def edit(d: Draft) -> None:
    """A list of numbers, changed in the middle."""
    lists = [entry for entry in d.entries("list") if entry.type.item == NUM]
    if not d.growing or not lists:
        return comprehension(d)
    name, value = d.pick(lists).name, tame(d, num(d, 1))
    at = f"{wrap(index(d, 5))} % len({name})"
    d.emit(
        d.pick([
            f"{name}.insert({at}, {value})",
            f"{name}.insert(-1, {name}.pop(0))",
            f"{name}.extend([{value}, {num_leaf(d)}])",
            f"{name} += [{value}]",
            f"{name}.reverse()",
            f"{name}[{at}:] = [{value}]",
            f"{name}[:1] = [{num_leaf(d)}, {value}]",
            f"{name}[1:2] = {name}[:1]",
        ]),
        "list edited",
    )  # fmt: skip
    if d.chance(60):
        held = d.fresh("num")
        d.emit(f"{held} = 0.3 * sum([v * (k + 1.0) for k, v in enumerate({name})])")
        d.bind(held, NUM)
    return None


# ---- compound statements ----
def loop_else(d: Draft, body: Body) -> None:
    """A loop that may break, and what is done where it does not."""
    name, held = d.fresh("loop"), d.fresh("num")
    trips = d.rng.randrange(2, 5)
    d.emit(f"{held} = {num(d, 1)}")
    d.bind(held, NUM)
    if d.chance(60):
        d.emit(f"for {name} in range({trips}):", "else of a loop")
        first = ""
    else:
        d.emit(f"{name} = 0")
        d.emit(f"while {name} < {trips}:", "else of a loop")
        first = f"{name} += 1"
    with d.block(loop=True):
        if first:
            d.emit(first)
        d.bind(name, INT, limit=trips + 1, fixed=True)
        body(d)
        d.emit(f"if {test(d)}:")
        d.emit(f"    {held} = {tame(d, num(d, 1))}")
        d.emit("    break", "break")
    d.emit("else:")
    with d.block():
        d.emit(f"{held} = {held} * {num_leaf(d)}")
        body(d)


def carried(d: Draft, body: Body) -> None:
    """A name bound in the loop alone, which each trip but the first reads as the trip before has left it."""
    i, name, held = d.fresh("loop"), d.fresh("num"), d.fresh("num")
    d.emit(f"{held} = {num(d, 1)}", "name of the trip before")
    d.bind(held, NUM)
    trips = d.rng.randrange(2, 5)
    d.emit(f"for {i} in range({trips}):")
    with d.block(loop=True):
        d.bind(i, INT, limit=trips, fixed=True)
        d.emit(f"if {i} > 0:")
        text = d.pick([f"{held} + {name}", f"{held} + {name} * {num_leaf(d)}"])
        d.emit(f"    {held} = {tame(d, text)}")
        d.emit(f"{name} = {tame(d, num(d))}")
        d.bind(name, NUM, fixed=True)
        body(d)
    d.bind(name, NUM)


def managed(d: Draft, body: Body) -> None:
    d.emit(f"with np.errstate({d.pick(['all', 'over', 'divide'])}='ignore'):", "with")
    with d.block():
        body(d)


def matched(d: Draft, body: Body) -> None:
    """Cases on a counter, or on the parts of a tuple."""
    ints = d.entries("int")
    if ints and d.chance(50):
        name = d.pick(ints).name
        d.emit(f"match {name} % 4:", "match")
        heads = ["0 | 2", f"1 if {test(d)}", "_"]
    else:
        first, second = d.fresh("num"), d.fresh("num")
        d.emit(f"match ({num_leaf(d)}, {num(d, 1)}):", "match with captures")
        heads = [f"({first}, {second}) if {first} > {second}", f"({first}, _)"]
    d.indent += 1
    for head in heads:
        d.emit(f"case {head}:")
        with d.block():
            if head[0] == "(":
                d.bind(first, NUM)
                d.emit(f"{first} = {tame(d, f'{first} * {num_leaf(d)}')}")
            body(d)
    d.indent -= 1


SIMPLE = [comprehension, comprehension, entries, edit, edit]
"""Those that stand alone."""
