"""Programs drawn at random: source text of `f` and its helpers, and the arguments to call it with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeAlias

import numpy as np

from .again import with_checkpoints
from .classes import new as new_object
from .classes import record
from .classes import use as use_object
from .control import statement
from .expressions import array, num_leaf
from .layout import overlapping, some_layout
from .model import BUFFER, INDICES, INT, NUM, Draft, Entry, Type, arr, list_of
from .oddities import FIRST, LAST, MIXED, STILL, STILLS, TABLE, drawn
from .routines import routine
from .simple import run_helper, use_helper
from .statements import tame, write_alias

Values: TypeAlias = list[Any]
HEADER = ["import math", "", "import numpy as np", "", "SCALE = 0.7", ""]
IMPORTS = {
    "deque(": "from collections import deque",
    "defaultdict(": "from collections import defaultdict",
    "@dataclass": "from dataclasses import dataclass",
    "functools.": "import functools",
    "itertools.": "import itertools",
    "sliding_window_view": "from numpy.lib.stride_tricks import sliding_window_view",
}
SHARING = ("write through an alias", "write in a callee")


@dataclass(frozen=True)
class Program:
    """`source` defines `f`; `points` are argument lists for it, the first the main one; `wrt` the float parameters."""

    source: str
    points: tuple[Values, ...]
    wrt: tuple[int, ...]
    tags: Counter[str]

    @property
    def shares(self) -> bool:
        """Whether it writes through an alias or in a callee."""
        return any(self.tags[tag] for tag in SHARING)


def draft(rng: Random) -> Program:
    """A program; the smaller the numbers drawn, the simpler. It may be one that fails when run: screen it."""
    d = Draft(rng, width=rng.randrange(3, 5), calm=rng.randrange(100) >= 82)
    d.whole = d.calm and d.chance(50)
    d.tag("arrays as wholes" if d.whole else "")
    d.names["SCALE"] = Entry("SCALE", NUM, fixed=True)
    text = list(HEADER)
    helpers: list[list[str]] = []
    for _ in range(d.pick([1, 1, 0, 2, 2, 3])):
        lines, known = routine(d)
        d.routines.append(known)
        d.used.add(known.name)
        helpers.append(["", *lines, ""])
    made = ["", *record(d), ""] if d.chance(12) and not d.calm else []
    params = parameters(d)
    for name, type_ in params:
        d.bind(name, type_, fixed=type_ in (INT, INDICES))
    d.give = lambda: result(d, short=True)
    if d.chance(12) and not d.calm:
        text.insert(len(HEADER), f"{BUFFER} = np.zeros({d.width})")
        d.emit(f"{BUFFER}[:] = {array(d, (d.width,), 1)}", "state outside the arguments")
        d.bind(BUFFER, arr(d.width), shared=True, fixed=True)
    body(d)
    for known in d.routines:
        if not any(f"{known.name}(" in line for line in (*called(d, helpers), *d.lines)):
            use_helper(d, known)
    kinks = odd(d)
    d.emit(f"return {result(d)}")
    text += [*called(d, helpers), *made]
    program = finished(d, text, params, kinks)
    return with_checkpoints(with_sum(overlaid(program, params), params))


def odd_draft(rng: Random) -> Program:
    """A short program of the blocks of `oddities` alone."""
    d = Draft(rng, width=3)
    d.names["SCALE"] = Entry("SCALE", NUM, fixed=True)
    params = [("x", NUM), ("a", arr(d.width))]
    for name, type_ in params:
        d.bind(name, type_)
    for _ in range(rng.randrange(1, 3)):
        d.pick(LAST)(d)
    kinks = odd(d, 0)
    d.emit(f"return {result(d)}")
    return finished(d, list(HEADER), params, kinks)


def finished(d: Draft, text: list[str], params: list[tuple[str, Type]], kinks: bool) -> Program:
    """The program of the lines drawn, at two points; where it has kinks the still copies are among its parameters."""
    if any("TABLE" in line for line in d.lines):
        text[len(HEADER) : len(HEADER)] = TABLE
    given = [STILL, STILLS] if kinks else []
    text += ["", f"def f({', '.join([name for name, _ in params] + given)}):", *d.lines]
    text[:0] = [line for name, line in IMPORTS.items() if any(name in used for used in text)]
    wrt = tuple(i for i, (_, type_) in enumerate(params) if type_ not in (INT, INDICES))
    points = tuple([value(d.rng, type_) for _, type_ in params] for _ in range(2))
    for point in points:
        point += [np.copy(p) if isinstance(p, np.ndarray) else p for p in point[: len(given)]]
    return Program("\n".join(text) + "\n", points, wrt, d.tags)


def odd(d: Draft, most: int = 2) -> bool:
    """Blocks of `oddities` at both ends; whether there are kinks among them."""
    drawn(d, MIXED, most)
    lines, d.lines = d.lines, []
    if not d.calm and Random("\n".join(lines)).randrange(4) == 0:
        drawn(d, FIRST, 2)
    kinks = any(name in line for line in d.lines for name in (STILL, STILLS))
    d.lines += lines
    return kinks


def called(d: Draft, helpers: list[list[str]]) -> list[str]:
    """The lines of those helpers that something calls."""
    kept: list[str] = []
    for known, lines in zip(reversed(d.routines), reversed(helpers), strict=True):
        if any(f"{known.name}(" in line for line in (*kept, *d.lines)):
            kept = [*lines, *kept]
    return kept


def overlaid(program: Program, params: list[tuple[str, Type]]) -> Program:
    """The program for arguments of which two share memory, where it has two vectors of one type; now and then.

    It is not differentiated by these. Drawn by the text, so that the programs of all seeds stay what they are.
    """
    rng, types = Random(program.source), [type_ for _, type_ in params]
    if len(types) < 3 or types[1] != types[2] or rng.randrange(3):
        return program
    points = tuple([x, *overlapping(rng, a), *rest] for x, a, _, *rest in program.points)
    wrt = tuple(i for i in program.wrt if i not in (1, 2))
    tags = program.tags + Counter(["arguments that share memory"])
    return Program(program.source, points, wrt, tags)


def with_sum(program: Program, params: list[tuple[str, Type]]) -> Program:
    """The program with a last term of the sum of two vectors of one type, which so are given one cotangent.

    Every other time, where it has such and is differentiated by them. Drawn by the text, as `overlaid` is.
    """
    rng, types = Random(program.source), [type_ for _, type_ in params]
    if len(types) < 3 or types[1] != types[2] or 1 not in program.wrt or rng.randrange(2):
        return program
    term = f"0.{rng.randrange(3, 9)} * np.sum(np.sin({params[1][0]} + {params[2][0]}))"
    return replace(
        program, source=f"{program.source[:-1]} + {term}\n", tags=program.tags + Counter(["arrays added up"])
    )


def parameters(d: Draft) -> list[tuple[str, Type]]:
    found = [("x", NUM), ("a", arr(d.width))]
    if d.chance(40):
        found.append(("b", d.pick([arr(d.width), arr(d.width - (not d.whole))])))
    if d.chance(50):
        found.append(("A", d.pick([arr(2, d.width), arr(d.width, d.width)])))
    if d.chance(30):
        found.append(("n", INT))
    if d.chance(15):
        found.append(("xs", d.pick([list_of(NUM), list_of(arr(d.width))])))
    if d.chance(12):
        found.append(("config", Type("dict", fields=(("a", NUM), ("b", arr(d.width))))))
    if d.chance(12):
        found.append(("pair", Type("tuple", fields=(("0", NUM), ("1", arr(d.width))))))
    if d.chance(15):
        found.append(("idx", INDICES))
    if d.chance(8):
        found.append(("psi", d.pick([Type("complex"), Type("complex", (d.width,))])))
        d.tag("complex parameter")
    return found


def body(d: Draft) -> None:
    """Some statements, a write through an alias or a call among them more often than not."""
    if d.records:
        new_object(d)
        use_object(d)
    for _ in range(d.rng.randrange(1, 3)):
        statement(d)
    if d.chance(75) and not d.calm:
        d.pick([run_helper, write_alias])(d)
    for _ in range(d.rng.randrange(1, 4)):
        statement(d)


def result(d: Draft, short: bool = False) -> str:
    """A number that depends on most of what is in scope."""
    alike = d.of(arr(d.width)) if d.chance(50 if d.whole else 12) else []
    terms = [added_up(d, [entry.name for entry in alike])] if len(alike) > 1 else []
    for entry in d.names.values():
        if not terms or entry not in alike:
            terms += [term for term in (summary(d, entry),) if term and not (short and d.chance(60))]
    return " + ".join(terms) or tame(d, num_leaf(d))


def added_up(d: Draft, names: list[str]) -> str:
    """A number that depends on the sum of the arrays alone: one cotangent is that of all."""
    d.tag("arrays added up")
    return f"{d.const()} * np.sum(np.{d.pick(['sin', 'tanh'])}({' + '.join(names)}))"


def summary(d: Draft, entry: Entry) -> str:
    """A number that depends on what `entry` names."""
    kind, name, c = entry.type.kind, entry.name, d.const()
    if name == "SCALE" or kind in ("int", "idx", "fn", "obj"):
        return ""
    if kind == "complex":
        whole = f"np.sum({name} * np.conj({name})).real" if entry.type.shape else f"({name} * {name}.conjugate()).real"
        return d.pick([f"{c} * {whole}", f"np.sum({name}).imag" if entry.type.shape else f"{c} * {name}.imag"])
    if kind == "num":
        return d.pick([f"{c} * {name}", f"np.sin({name})"])
    if kind == "list":
        last = f"{name}[-1]" if entry.type.item == NUM else f"np.sum({name}[-1])"
        return d.pick([f"{c} * {last}", f"{last} * len({name})"])
    if kind in ("dict", "tuple"):
        type_ = d.pick(entry.type.fields)[1]
        field = d.pick(entry.type.picks(name, type_))
        return f"{c} * {field}" if type_ == NUM else f"{c} * np.sum({field})"
    width = entry.type.shape[-1]
    ramp = f"np.sum({name} * np.arange(1.0, {width + 1}.0))"
    return d.pick([ramp, f"np.sum({name} * {name})", f"{c} * np.sum(np.sin({name}))", f"{c} * {name}.mean()"])


def value(rng: Random, type_: Type) -> Any:
    """An argument of this type, away from zero."""
    if type_ == INT:
        return rng.randrange(2, 5)
    if type_ == INDICES:
        return np.array([rng.randrange(3) for _ in range(3)])
    if type_ == NUM:
        return (rng.randrange(100, 1900) / 1000.0 + 0.000137) * (1 if rng.randrange(3) else -1)
    if type_.kind == "complex":
        return value(rng, replace(type_, kind="arr" if type_.shape else "num")) * (0.8 - 0.6j)
    if type_.kind == "list":
        return [value(rng, type_.item or NUM) for _ in range(rng.randrange(2, 4))]
    if type_.kind == "dict":
        return {key: value(rng, t) for key, t in type_.fields}
    if type_.kind == "tuple":
        return tuple(value(rng, t) for _, t in type_.fields)
    flat = [value(rng, NUM) for _ in range(int(np.prod(type_.shape)))]
    return some_layout(rng, np.array(flat).reshape(type_.shape))
