"""What drawn programs hold besides plain numerics: whole numbers among floats, kinks, iterators, names without a value,
classes that are asked for, memory outside that others write.

A few blocks at the head of a program and a few at its end, drawn by the text so far: the rest of a program is what the
seed gives.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from .expressions import num, num_leaf
from .model import NUM, Draft
from .statements import tame

Block = Callable[[Draft], None]

STILL, STILLS = "x0", "a0"
"""Parameters that have the values of the first two, `x` and `a`, and no derivative: where they meet is a kink."""
TABLE = ["TABLE = np.array([0.4, 0.9, 1.3])", "PART = TABLE[1:]"]
"""Memory outside that two names share."""


def drawn(d: Draft, blocks: list[Block], most: int) -> None:
    """Some of the blocks, by the lines so far."""
    before, d.rng = d.rng, Random(f"{len(d.used)}, {d.tags!r}, {d.lines!r}")
    for _ in range(d.rng.randrange(most + 1)):
        d.pick(blocks)(d)
    d.rng = before


def _number(d: Draft, text: str, tag: str) -> None:
    name = d.fresh("num")
    d.emit(f"{name} = {text}", tag)
    d.bind(name, NUM)


# ---- whole numbers among floats ----
def largest(d: Draft) -> None:
    n, x, y = d.rng.randrange(-2, 3), num_leaf(d), num(d, 1)
    forms = [f"max({n}, {x})", f"min({x}, {n}, {y})", f"max([{n}, {x}, {y}])", f"sorted([{y}, {n}, {x}])[1]"]
    forms += [f"({x} or {n})", f"({n} or {y})", f"({x} and {n + 5} and {y})", f"max({x}, {n}, key=lambda v: -v)"]
    _number(d, f"{d.const()} * {tame(d, d.pick(forms))}", "whole number among floats")


def reduced(d: Draft) -> None:
    n, x, y = d.rng.randrange(-1, 3), num_leaf(d), num(d, 1)
    fn = d.pick(["max", "min", "lambda p, q: p * q", "lambda p, q: p if p > q else q"])
    _number(d, tame(d, f"functools.reduce({fn}, [{n}, {x}, {y}])"), "whole number reduced")


def picked(d: Draft) -> None:
    v, n = d.fresh("num"), d.rng.randrange(3)
    values = f"[{num_leaf(d)}, {n}, {num(d, 1)}]"
    forms = [
        f"sum({v} * {v} if {v} > {d.const()} else {n} for {v} in {values})",
        f"sum([{v} * {num_leaf(d)} for {v} in {values} if {v}])",
        f"sum({{'p': {n}, 'q': {num_leaf(d)}}}.values())",
        f"sum([[{n}], [{num_leaf(d)}]], [])[1]",
        f"({num_leaf(d)} * 2 ** {-n} + {n})",
    ]
    _number(d, tame(d, d.pick(forms)), "whole number among items")


# ---- kinks ----
def kink(d: Draft) -> None:
    """Where `x` and `a` are what their still copies are; judged by differences, which share ties equally."""
    c, sign = d.const(), d.pick(["", "-"])
    forms = [
        f"max(x, {STILL})", f"min({STILL}, x)", f"abs(x - {STILL})", f"np.maximum(x, {STILL})",
        f"np.sum(np.maximum(a, {STILLS}))", f"np.sum(np.minimum(a, {STILLS}) * {c})",
        f"np.sum(np.abs(a - {STILLS}))", f"np.sum(np.clip(a, {STILLS}, 9.0))", f"np.max(np.array([{STILL}, x]))",
        f"np.sum(np.clip(a, -9.0, {STILLS}))", f"np.linalg.norm(a - {STILLS})", f"np.hypot(x - {STILL}, 0.0)",
    ]  # fmt: skip
    _number(d, f"{sign}{c} * {d.pick(forms)}", "kink")


def selected_away(d: Draft) -> None:
    """An element whose own slope is not finite."""
    forms = [
        f"np.where(a < {STILLS} + 1.0, a * {d.const()}, np.sqrt(a - {STILLS}))",
        f"np.where(a > {STILLS} + 1.0, np.sqrt(np.abs(a - {STILLS})), {d.const()} + a)",
    ]
    _number(d, f"np.sum({d.pick(forms)})", "infinity selected away")


# ---- iterators ----
def _list(d: Draft) -> str:
    name = d.fresh("list")
    d.emit(f"{name} = [{num_leaf(d)}, {num(d, 1)}, {num_leaf(d)}, {num(d, 1)}]")
    return name


def _loop(d: Draft, head: str, target: str, items: str, tag: str) -> None:
    """A loop that adds up, and may write what is iterated, bind it anew, or stop early."""
    total = d.fresh("num")
    d.emit(f"{total} = {num_leaf(d)}")
    d.emit(f"for {target} in {head}:", tag)
    first = target.replace("(", "").split(",")[0]
    form = d.rng.randrange(6)
    if form == 0:
        d.emit(
            f"    {items}[{d.rng.randrange(1, 4)}] = {tame(d, f'{first} * {num_leaf(d)}')}", "items written meanwhile"
        )
    if form == 1:
        d.emit(f"    {items} = [{num_leaf(d)}] * 4", "items bound anew meanwhile")
    d.emit(f"    {total} = {d.const()} * {total} + np.sin({target.replace(',', ' *')})")
    if form == 2:
        d.emit(f"    if {total} > {d.const()}:", "iterator left")
        d.emit("        break")
    d.bind(total, NUM)


def iterated(d: Draft) -> None:
    items = _list(d)
    other = _list(d)
    p, q = d.fresh("num"), d.fresh("num")
    square = d.pick([f"lambda v: v * {num_leaf(d)}", f"lambda v: v * {items}[0]"])
    one = [
        f"itertools.chain({items}, {other})", f"itertools.islice({items}, {d.rng.randrange(5)})",
        f"map({square}, {items})",
        f"itertools.islice({items}, 1, 3)", f"itertools.accumulate({items})", f"reversed({items})",
        f"itertools.accumulate({items}, lambda s, v: 0.5 * s * v)", f"filter(lambda v: v > 0.3, {items})",
        f"itertools.starmap(lambda s, v: s * v, zip({items}, {other}))", f"itertools.chain(reversed({items}), {other})",
    ]  # fmt: skip
    two = [
        f"itertools.pairwise({items})", f"zip({items}, {other})", f"zip(map({square}, {items}), {other})",
        f"itertools.combinations({items}, 2)", f"zip({items}, itertools.islice({other}, 2))",
        f"itertools.product({items}, {other})", f"zip({items}, {items}[1:])",
        f"itertools.pairwise(map({square}, {other}))",
    ]  # fmt: skip
    if d.chance(50):
        _loop(d, d.pick(one), p, items, "iterator in a loop")
    else:
        _loop(d, d.pick(two), f"{p}, {q}", items, "iterator of pairs in a loop")


def told(d: Draft) -> None:
    """Functions that write while an iterator asks them."""
    note, fn, items = d.fresh("list"), f"fn{len(d.used)}", _list(d)
    d.used.add(fn)
    d.emit(f"{note} = [{num_leaf(d)}]")
    d.emit(f"def {fn}(v):", "iterator calls a function that writes")
    d.emit(f"    {note}[0] = np.sin({note}[0] + v)")
    d.emit(f"    return v * {note}[0]")
    forms = [
        f"sum(map({fn}, {items}))", f"sum(p * q for p, q in zip(map({fn}, {items}), [0.5, 0.7]))",
        f"sum(({fn}(v) for v in {items}), {note}[0])", f"max(map({fn}, {items}))",
        f"sum([p * {note}[0] for p in itertools.islice(map({fn}, {items}), 2)])",
        f"sum(p * q * {note}[0] for p, q in itertools.pairwise(map({fn}, {items})))",
        f"any(v > 0.4 for v in map({fn}, {items})) * {note}[0]",
        f"functools.reduce(lambda p, q: p * q + {note}[0], map({fn}, {items}))",
    ]  # fmt: skip
    _number(d, f"{d.const()} * {tame(d, d.pick(forms))} + {note}[0]", "")


def kept(d: Draft) -> None:
    """An iterator made here and read later, or in parts."""
    items, name, total = _list(d), d.fresh("list"), d.fresh("num")
    makers = [
        f"map(lambda v: v * {num_leaf(d)}, {items})", f"(v * {num_leaf(d)} for v in {items})", f"iter({items})",
        f"itertools.islice({items}, 3)", f"filter(lambda v: v > -0.2, {items})", f"reversed({items})",
        f"itertools.takewhile(lambda v: v < 1.2, {items})",
    ]  # fmt: skip
    d.emit(f"{name} = {d.pick(makers)}", "iterator kept")
    if d.chance(50):
        d.emit(f"{items}[{d.rng.randrange(4)}] = {num(d, 1)}")
    if d.chance(40):
        d.emit(f"{items}.append({num_leaf(d)})")
    d.emit(f"{total} = sum(itertools.islice({name}, 2))" if d.chance(50) else f"{total} = next({name}, 0.5)")
    if d.chance(50):
        d.emit(f"{items}[2] = {num_leaf(d)} * {total}")
    d.emit(f"{total} = {total} + {d.const()} * sum({name})")
    d.bind(total, NUM)


# ---- names that may have no value ----
def unbound(d: Draft) -> None:
    name, k, result = d.fresh("num"), d.fresh("loop"), d.fresh("num")
    form = d.rng.randrange(5)
    if form == 0:
        d.emit(f"for {k} in range({d.rng.randrange(1, 4)}):", "name of the last trip")
        d.emit(f"    {name} = {num(d, 1)} * {k}")
        d.emit(f"{result} = {name} + {k} * {num_leaf(d)}")
    elif form == 1:
        d.emit(f"if {num_leaf(d)} > -9.0:", "name of a branch")
        d.emit(f"    {name} = {num(d, 1)}")
        d.emit(f"{result} = {name} * {num_leaf(d)}")
    elif form == 2:
        error = d.pick(["NameError", "UnboundLocalError"])
        d.emit(f"if {num_leaf(d)} > {d.pick(['-9.0', '9.0'])}:", "name without a value, caught")
        d.emit(f"    {name} = {num(d, 1)}")
        d.emit("try:")
        d.emit(f"    {result} = {name} * {num_leaf(d)}")
        d.emit(f"except {error}:")
        d.emit(f"    {result} = {num(d, 1)}")
    elif form == 3:
        d.emit(f"{name} = {num(d, 1)}", "name deleted")
        d.emit(f"if {num_leaf(d)} > 9.0:")
        d.emit(f"    del {name}")
        d.emit(f"{result} = {name} * {num_leaf(d)}")
    else:
        d.emit(f"for {k} in range({d.rng.randrange(2, 4)}):", "name of the trip before, perhaps unbound")
        d.emit(f"    {result} = {name} * {num_leaf(d)} if {k} > 0 else {num_leaf(d)}")
        d.emit(f"    {name} = {tame(d, f'{result} + {num(d, 1)}')}")
    d.bind(result, NUM)


# ---- classes ----
def asked(d: Draft) -> None:
    """Classes of values, as the plain program finds them."""
    x, y = num_leaf(d), num_leaf(d)
    tests = [
        f"isinstance({x}, float)", f"isinstance({x}, int)", f"type({x}) is float", f"isinstance({x}, (int, float))",
        "isinstance(a, np.ndarray)", "hasattr(a, 'shape')", f"hasattr({x}, 'shape')", f"isinstance({x}, np.floating)",
        "type(a) is np.ndarray", f"np.isscalar({x})",
        "getattr(a, 'ndim', 0) == 1", f"isinstance(max(1, {x}), int)",
    ]  # fmt: skip
    _number(d, f"{d.const()} * {x} if {d.pick(tests)} else {y} * {num(d, 1)}", "class asked for")


# ---- memory outside ----
def outside(d: Draft) -> None:
    """The table is filled first where it is written, so that what it held before does not count."""
    result = d.fresh("num")
    if d.chance(40):
        d.emit(
            f"{result} = np.sum(TABLE * np.array([{num_leaf(d)}, {num(d, 1)}, 0.3])) + PART[0] * {num_leaf(d)}",
            "table outside read",
        )
    else:
        d.emit(f"TABLE[:] = [{d.const()}, {num(d, 1)}, {d.const()}]", "table outside written")
        d.emit(f"PART[0] = {tame(d, f'PART[0] * {num_leaf(d)}')}")
        d.emit(f"{result} = TABLE[1] * {num_leaf(d)} + TABLE[{d.rng.randrange(3)}] * PART[1]")
        d.tag("memory outside under two names")
    d.bind(result, NUM)


FIRST: list[Block] = [kink, kink, selected_away]
LAST: list[Block] = [
    largest, reduced, picked, iterated, iterated, iterated, told, told, kept, unbound, unbound, asked, asked, outside,
]  # fmt: skip
MIXED = [block for block in LAST if block is not kept]
"""Those of which most programs are compiled: they stand beside others."""
