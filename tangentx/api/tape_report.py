"""`explain()`: what a derivative records, for which line, with how many bytes, and what reads it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from tangentx.arrays.structures import fields
from tangentx.common.float_events import under_events

# How many bytes a derivative records, and holds from its forward to its reverse sweep, in one call: found by a run.
#
# The text is loaded once more, with what it appends to tapes weighed on the way, and at the head of each reverse sweep
# the arrays under names that it reads. Ordinary calls run the text as it is printed, and pay nothing for this.

REVERSE = re.compile(r" *# ---- reverse sweep ----")
_TAPES = re.compile(r"(\w+_)?tape(_\d*)*")
_RECORD, _HOLD = "record__", "hold__"


@dataclass
class Sizes:
    """Bytes by the function of the text and the name: of each part of what is put on a tape, and of arrays held."""

    taped: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    held: dict[tuple[str, str], int] = field(default_factory=dict)

    def of_tape(self, functions: list[str], tape: str, part: int | None) -> int | None:
        """What is on a tape, or in one part of all that is on it; None where nothing was put there."""
        found = [self.taped[name, tape] for name in functions if (name, tape) in self.taped]
        if not found:
            return None
        return sum(sum(parts.values()) if part is None else parts.get(part, 0) for parts in found)


def sizes_of(function: Any, source: str, values: tuple[Any, ...]) -> Sizes | None:
    """What the derivative records of these values; None where something else than its text runs."""
    plain = getattr(function, "plain", function)
    if not isinstance(plain, FunctionType):
        return None
    found = Sizes()
    given = {id(_owner(array)) for array in _leaves(values) if isinstance(array, np.ndarray)}

    def record(name: str, tape: str, value: Any) -> Any:
        sizes = found.taped.setdefault((name, tape), {})
        for part, each in enumerate(value if type(value) is tuple else (value,)):
            sizes[part] = sizes.get(part, 0) + _bytes(each)
        return value

    def hold(name: str, names: tuple[str, ...], local: dict[str, Any]) -> None:
        seen = set(given)
        for each in names:
            array = local.get(each)
            if isinstance(array, np.ndarray) and id(_owner(array)) not in seen:
                seen.add(id(_owner(array)))
                found.held[name, each] = found.held.get((name, each), 0) + array.nbytes

    space = {**plain.__globals__, _RECORD: record, _HOLD: hold}
    exec(compile(_weighing(source), plain.__code__.co_filename, "exec", dont_inherit=True), space)
    weighed = space[plain.__name__]
    under_events(lambda: weighed(*values), all="ignore")
    return found


def _weighing(source: str) -> ast.Module:
    """The text with calls in it that tell what is recorded, and what is held."""
    tree = ast.parse(source)
    lines = [number for number, line in enumerate(source.splitlines(), 1) if REVERSE.fullmatch(line)]
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and _is_record(node):
                    tape = ast.Constant(node.func.value.id)  # type: ignore[attr-defined]
                    told = [ast.Constant(function.name), tape, *node.args]
                    node.args = [ast.Call(ast.Name(_RECORD, ast.Load()), told, [])]
            for start in lines:
                _tell_held(function, start)
    return ast.fix_missing_locations(tree)


def _is_record(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=tape), attr="append"):
            return bool(_TAPES.fullmatch(tape)) and len(call.args) == 1
    return False


def _tell_held(function: ast.FunctionDef, start: int) -> None:
    """Has the arrays told that the reverse sweep behind a line reads under names of the forward sweep."""
    place = next((k for k, s in enumerate(function.body) if s.lineno > start), 0)
    if not place or function.lineno > start:
        return
    names = _held_names(function, place)
    call = ast.Call(ast.Name("locals", ast.Load()), [], [])
    listed = ast.Tuple([ast.Constant(name) for name in names], ast.Load())
    told = ast.Call(ast.Name(_HOLD, ast.Load()), [ast.Constant(function.name), listed, call], [])
    function.body.insert(place, ast.Expr(told))


def _held_names(function: ast.FunctionDef, place: int) -> list[str]:
    """The names that are bound before a place of a function, and read after it before they are bound anew."""
    before = {
        node.id
        for s in function.body[:place]
        for node in ast.walk(s)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    found: dict[str, None] = {}
    _read_first(function.body[place:], before, found)
    return list(found)


def _read_first(body: list[ast.stmt], old: set[str], found: dict[str, None]) -> None:
    """Adds those of `old` that a block reads before it binds them anew; takes from `old` what it certainly binds."""
    for s in body:
        blocks = [getattr(s, name) for name in ("body", "orelse") if hasattr(s, name)]
        own = [n for part in ast.iter_child_nodes(s) if not isinstance(part, ast.stmt) for n in ast.walk(part)]
        names = [node for node in own if isinstance(node, ast.Name)]
        again = s.target if isinstance(s, ast.AugAssign) else None
        found.update({n.id: None for n in names if n.id in old and (isinstance(n.ctx, ast.Load) or n is again)})
        if isinstance(s, ast.For):
            _read_first(s.body, old - {n.id for n in names if isinstance(n.ctx, ast.Store)}, found)
        elif blocks:
            for block in blocks:
                _read_first(block, set(old), found)
        else:
            old -= {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _owner(array: Any) -> Any:
    """What has the memory of an array."""
    while isinstance(base := getattr(array, "base", None), np.ndarray):
        array = base
    return array


def _leaves(value: Any) -> Iterator[Any]:
    """What is in a structure, once."""
    todo, seen = [value], set[int]()
    while todo:
        each = todo.pop()
        if each is None or isinstance(each, bool | int | float | complex | str | np.ndarray | np.generic):
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            inside = each.values() if isinstance(each, dict) else each if isinstance(each, tuple | list) else None
            todo += (fields(each) or {}).values() if inside is None else inside


def _bytes(value: Any) -> int:
    """Those of numbers, and of arrays whoever has their memory; in structures those of what is in them."""
    found = 0
    for each in _leaves(value):
        if isinstance(each, np.ndarray | np.generic):
            found += each.nbytes
        elif isinstance(each, int | float | complex) and not isinstance(each, bool):
            found += sys.getsizeof(each)
    return found


# `explain()`: what a derivative records, for which line of the user's program, and what reads it.

_GROUP = re.compile(r"\s*# line (\d+): (.*)")
_TAPE = re.compile(r"(\w+_)?tape(_\d*)*")
_SNAPSHOTS = re.compile(r"kept(_\d*)*")
_OURS = ("_bar", "_forward")
_OWN_NAME = re.compile(r"tape(_\d*)*|saved(_\w+)?|before(_\d*)*")
_VARIANT = re.compile(r"_\d*$")


@dataclass
class Function:
    """A function of the text: its tapes' contents by name, its temporaries, and what it takes from tapes.

    `words` are those of the user's lines that the text quotes: a name that is none of them is ours.
    """

    name: str
    words: frozenset[str] = frozenset()
    appended: dict[str, list[ast.expr]] = field(default_factory=dict)
    made: dict[str, list[ast.expr]] = field(default_factory=dict)
    popped: list[tuple[ast.stmt, ast.Call]] = field(default_factory=list)
    reads: dict[str, list[int]] = field(default_factory=dict)
    snapshots: list[tuple[ast.stmt, str]] = field(default_factory=list)

    def is_own(self, name: str) -> bool:
        """Whether a name is no variable of the user's."""
        return bool(_OWN_NAME.fullmatch(name)) or not {name, _VARIANT.sub("", name)} & self.words

    def is_made(self, name: str) -> bool:
        """Whether a name is a temporary, and none that comes from outside: a module's, or a function's."""
        return bool(_OWN_NAME.fullmatch(name)) or (name in self.made and self.is_own(name))

    def made_before(self, name: ast.Name) -> ast.expr:
        """What a name was bound to last, above the place where it stands; the name itself if it was to nothing."""
        above = (value for value in self.made.get(name.id, ()) if value.lineno < name.lineno)
        return next(reversed(list(above)), name)


@dataclass(frozen=True)
class Taken:
    """What a statement takes from a tape: of a tuple the part at a place, under a name or into an array."""

    statement: ast.stmt
    pop: ast.Call
    part: int | None
    target: ast.expr | None

    @property
    def tape(self) -> str:
        """The tape's name."""
        assert isinstance(self.pop.func, ast.Attribute) and isinstance(self.pop.func.value, ast.Name)
        return self.pop.func.value.id


def kept(source: str, sizes: Sizes | None = None) -> list[str]:
    """What the forward sweep records, by the user's lines whose reverse asks for it: each line, and below it its tapes.

    `source` is the text of a derivative; what nothing takes from its tape again is not there. `sizes` are the bytes.
    """
    lines = source.splitlines()
    quoted = " ".join(group[2] for group in map(_GROUP.match, lines) if group is not None)
    words = frozenset(re.findall(r"\w+", quoted))
    functions = [_function(node, words) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    found: dict[tuple[int, str], dict[str, None]] = {}
    for function in functions:
        for statement, snapshot in function.snapshots:
            group = _group(lines, statement) or (0, "")
            found.setdefault(group, {})[f"snapshots of {_parts_of(function, snapshot)}"] = None
        for statement, pop in function.popped:
            for part, target in _targets(statement, pop):
                taken = Taken(statement, pop, part, target)
                place, said = _told(functions, function, taken, lines)
                size = (
                    None
                    if sizes is None
                    else sizes.of_tape([f.name for f in _both(functions, function)], taken.tape, part)
                )
                found.setdefault(place, {})[said if size is None else f"{said}: {size:,} bytes"] = None
    told: list[str] = []
    for (number, text), tapes in sorted(found.items()):
        told.append(f"line {number}: {text}" if number else "between the lines")
        told += [f"    {said}" for said in tapes]
    return told


def held(sizes: Sizes) -> list[str]:
    """The arrays that are neither recorded nor given, but live from the forward to the reverse sweep."""
    return [f"`{name}`: {size:,} bytes" for (_, name), size in sizes.held.items() if size]


def _is_tape(name: str) -> bool:
    return bool(_TAPE.fullmatch(name))


def _is_kept(name: str, statement: ast.stmt) -> bool:
    """Whether the list that a statement pops from holds the snapshots of a checkpointed loop."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    step = target.elts[0] if isinstance(target, ast.Tuple) else None
    return bool(_SNAPSHOTS.fullmatch(name)) and isinstance(step, ast.Name) and step.id.startswith("first")


def _parts_of(function: Function, snapshots: str) -> str:
    """What a snapshot holds beside the number of its step."""
    for whole in function.appended.get(snapshots, ()):
        if isinstance(whole, ast.Tuple):
            return ", ".join(f"`{ast.unparse(part)}`" for part in whole.elts[1:])
    return "what the steps change"


def _function(node: ast.FunctionDef, words: frozenset[str]) -> Function:
    given = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
    found = Function(node.name, words | given)
    for statement in _statements(node.body):
        for part in _own_parts(statement):
            for inner in ast.walk(part):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                    found.reads.setdefault(inner.id, []).append(statement.lineno)
                match inner:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=tape), attr="append"), args=[value]):
                        found.appended.setdefault(tape, []).append(value)
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=tape), attr="pop"), args=[]) if _is_tape(tape):
                        found.popped.append((statement, inner))
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop"), args=[]) if _is_kept(
                        name, statement
                    ):
                        found.snapshots.append((statement, name))
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found.made.setdefault(statement.targets[0].id, []).append(statement.value)
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))


def _own_parts(statement: ast.stmt) -> list[ast.AST]:
    """What a statement evaluates itself; not the statements inside."""
    return [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt)]


def _targets(statement: ast.stmt, pop: ast.Call) -> list[tuple[int | None, ast.expr | None]]:
    """What a statement binds to what it takes from a tape, or to the parts of it."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is pop else None
    return list(enumerate(target.elts)) if isinstance(target, ast.Tuple) else [(None, target)]


def _told(functions: list[Function], function: Function, taken: Taken, lines: list[str]) -> tuple[tuple[int, str], str]:
    """One tape: the user's line, and in words what is on it."""
    target, statement = taken.target, taken.statement
    reading = _lines_that_read(function, target, statement, lines)
    group = _group(lines, statement) or (reading[0] if reading else None)
    what = _content(_both(functions, function), taken)
    if isinstance(target, ast.Subscript):
        said = f"`{ast.unparse(target)}`, before it is overwritten"
    elif isinstance(target, ast.Name) and not function.is_own(target.id):
        said = f"`{target.id}`"
    else:
        said = f"`{what}`" if what else "what a call or a trip saved"
    place = group or (0, "")
    own = isinstance(target, ast.Name) and target.id.endswith("_bar")
    later = sorted({number for number, _ in reading} - {place[0]}) if not own else []
    others = f"line{'s' if len(later) > 1 else ''} {', '.join(map(str, later))}"
    return place, f"{said}, which {others} read{'' if len(later) > 1 else 's'} too" if later else said


def _both(functions: list[Function], function: Function) -> list[Function]:
    """The functions that have the sweeps of which the second takes what is recorded."""
    partner = function.name.replace("_backward", "_forward")
    return [f for f in functions if f is function or f.name == partner]


def _content(functions: list[Function], taken: Taken) -> str:
    """The expression of the user's whose value is put on a tape; empty where it has no such."""
    for function in functions:
        for whole in function.appended.get(taken.tape, ()):
            value = whole.elts[taken.part] if isinstance(whole, ast.Tuple) and taken.part is not None else whole
            for _ in range(10):
                if isinstance(value, ast.Name) and function.is_own(value.id):
                    value = function.made_before(value)
            names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
            if names and not any(function.is_made(name) or name.endswith(_OURS) for name in names):
                return ast.unparse(value)
    return ""


def _lines_that_read(
    function: Function, target: ast.expr | None, statement: ast.stmt, lines: list[str]
) -> list[tuple[int, str]]:
    """The groups of the reverse sweep below a pop that read what it gives back, by the user's line."""
    base = target
    while isinstance(base, ast.Subscript):
        base = base.value
    if not isinstance(base, ast.Name):
        return []
    found: dict[tuple[int, str], None] = {}
    again = min((v.lineno for v in function.made.get(base.id, ()) if v.lineno > statement.lineno), default=len(lines))
    for number in function.reads.get(base.id, ()):
        if number > again:
            break  # another value has the name by then
        above = _above(lines, number) if number != statement.lineno else None
        if above is not None and number > _sweep(lines, statement.lineno):
            found[above] = None
    return list(found)


def _sweep(lines: list[str], number: int) -> int:
    """The line at which the sweep around a line begins."""
    for above in range(number - 1, 0, -1):
        if lines[above - 1].lstrip().startswith(("# ----", "def ")):
            return above
    return 0


def _group(lines: list[str], statement: ast.stmt) -> tuple[int, str] | None:
    """The user's line that a statement is derived from, if its block says so above it."""
    indent = statement.col_offset
    for line in reversed(lines[: statement.lineno - 1]):
        match = _GROUP.fullmatch(line)
        if match is not None and len(line) - len(line.lstrip()) <= indent:
            return int(match[1]), match[2]
        if len(line) - len(line.lstrip()) < indent and line.strip():
            return None
    return None


def _above(lines: list[str], number: int) -> tuple[int, str] | None:
    """The user's line of the nearest comment above a line, within its sweep."""
    for line in reversed(lines[_sweep(lines, number) : number]):
        match = _GROUP.fullmatch(line)
        if match is not None:
            return int(match[1]), match[2]
    return None
