"""The disk cache: compiled texts of other processes, found by everything that they were made from.

A file is named by a digest of the request: the function's code and source, the kinds of the arguments, the derivative
wanted, the versions of Python, NumPy and tangentx. Beside its text a file lists what else the compiler had read, as
paths from the function to other functions, names and members (`object_paths`), with digests of what was found there
(`object_digests`). Where any of these differs the file is ignored and the function compiled anew. Neither the check nor
a hit imports the compiler.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any, TypeAlias

import numpy as np

from tangentx.arrays.signatures import key, overlaps
from tangentx.backend.spelling import Cells, Globals, is_of
from tangentx.common import cache_files, package_digest
from tangentx.common.axes import Taken, axes_of, shapes_of
from tangentx.common.free_variables import Name, static
from tangentx.common.free_variables import found as found_name
from tangentx.common.generated_text import Copied, LateMarks, Text, filename_of, run
from tangentx.common.options import OFF, is_checked
from tangentx.common.pytrees import sample
from tangentx.common.recursion import compiled
from tangentx.common.silenced_warnings import quietly
from tangentx.dispatch.entries import Cache, Entry, Target
from tangentx.dispatch.guards import Guard, Reads, whole
from tangentx.dispatch.object_digests import Descriptions, Found, Unkept, Ways, same
from tangentx.dispatch.plain_sweeps import PlainSweep
from tangentx.errors import ChangedMeanwhile, Span

FORMAT = 2
LIMIT_VARIANTS = 8
"""How many texts are kept for one question, which other functions and objects of the program answer."""
LIMIT_ASKED = 256
LIMIT_BYTES = 2**28
"""How many bytes of texts a directory holds; each process that keeps texts there may add a part of it (`PARTS`)."""
PARTS = 32
_TRANSFORMS = ("grad", "elementwise", "jacobian")
_PRODUCTS = ("jvp", "vjp", "linear")
_OF_PRODUCTS = ("own", "given", "repeats")
_NOTES = frozenset("signature outside axes taken undecided jit value samples number kept unkept seeded several".split())
_NOTES |= {*_OF_PRODUCTS, "sizes"}
_FILE = "<tangentx kept>"
Find: TypeAlias = Callable[[tuple[Any, ...]], Entry]
Make: TypeAlias = Callable[[tuple[Any, ...], Any], Entry]
_own_rules: list[str] = []
_grown: dict[str, int] = {}
"""By directories, the bytes that this process has kept there since it bounded them: to do so takes a walk of it."""


def forbid(rule: str) -> None:
    """Notes that a rule of the user's has been declared: what is made from then on is for this process alone."""
    _own_rules.append(rule)


class Question:
    """What a derivative is asked for: the function, the arguments, what is wanted; with the file for the answers."""

    def __init__(self, target: Target, values: Sequence[Any], wrt: tuple[int, ...], spec: Any, transform: str) -> None:
        self.root = target.function
        self.values = values
        self.given: list[Any] = []
        self.descriptions = Descriptions()
        wanted = (transform, spec.value, spec.has_aux, spec.mode, spec.precision, spec.guarded)
        versions = (
            FORMAT,
            package_digest.digest(),
            sys.version,
            sys.flags.optimize,
            platform.machine(),
            np.__version__,
        )
        scipy = str(getattr(sys.modules.get("scipy"), "__version__", None))
        kinds = self._key(key(tuple(values)))
        asked = (*versions, scipy, sorted(OFF.get()), wanted, wrt, type(spec.wrt) is tuple, len(target.owner), kinds)
        self.name = hashlib.sha256(repr((asked, self.descriptions.of(self.root))).encode()).hexdigest()[:40]

    def _key(self, found: Any) -> Any:
        """The description of the key of arguments, whose functions and classes are noted."""
        if isinstance(found, tuple):
            return tuple(map(self._key, found))
        if isinstance(found, type) or callable(found):
            self.given.append(found)
        return self.descriptions.of(found)


def entry_for(
    target: Target,
    cache: Cache,
    values: tuple[Any, ...],
    wrt: tuple[int, ...],
    spec: Any,
    make: Make,
    product: str = "",
) -> Entry:
    """The entry for these arguments: one that was kept by a process before, else what `make` compiles, which is kept
    for others. Without a directory for them it is what `make` gives. A `product` with tangents of the arguments at
    `wrt`, or that gives their cotangents, is "jvp", "vjp" or "linear"."""
    place, transform = cache_files.chosen(), product or spec.transform
    if place is None or transform not in (_PRODUCTS if product else _TRANSFORMS) or spec.jit or is_checked():
        return make(values, spec)
    name = ("kept", transform, wrt, spec, key(values), axes_of(values), OFF.get())
    entry = cache.entries.get(name)
    if entry is not None and entry.holds() and _fits(entry.notes, entry.writes, values):
        cache.last = entry
        return entry
    question: Question | str | None = None
    asked = (name, None if entry is None else shapes_of(values))  # one that is there is for others, or out of date
    if asked not in cache.asked:
        if len(cache.asked) > LIMIT_ASKED:
            cache.asked.clear()
        cache.asked.add(asked)
        question = _question(target, values, wrt, spec, transform)
        if isinstance(question, Question):
            guarded = _guarded(target, cache, wrt, spec, make)
            entry = _looked_up(place, question, guarded, lambda values: make(values, spec))
            if entry is not None:
                cache.put(name, entry)
                return entry
    entry = make(values, spec)
    if "kept" not in entry.notes:
        question = _question(target, values, wrt, spec, transform) if question is None else question
        entry.notes["kept"] = question if isinstance(question, str) else _keep(place, question, entry)
    return entry


def _question(target: Target, values: Sequence[Any], wrt: tuple[int, ...], spec: Any, transform: str) -> Question | str:
    """The question; or why there is none."""
    if _own_rules:
        return f"not kept: rules are declared in this process, for {_own_rules[0]} first"
    try:
        return Question(target, values, wrt, spec, transform)
    except Unkept as error:
        return f"not kept: {error}"
    except RecursionError:
        return "not kept: the arguments hold themselves"


def _guarded(target: Target, cache: Cache, wrt: tuple[int, ...], spec: Any, make: Make) -> Find:
    """Finds the entry whose products have guards."""
    return lambda values: entry_for(target, cache, values, wrt, replace(spec, guarded=True), make)


def _fits(notes: dict[str, Any], writes: bool, values: Sequence[Any]) -> bool:
    """Whether a text is for arguments with these axes of length one, and with parts as long as these have, that share
    no memory where it writes."""
    axes, taken = notes["axes"], notes["taken"]
    same_axes = axes is None or tuple(axes) == axes_of(values)
    return same_axes and taken.fits(shapes_of(values)) and not (writes and overlaps(values))


def _folder(place: str, question: Question) -> str:
    return os.path.join(place, "texts", question.name[:2], question.name[2:])


def _looked_up(place: str, question: Question, guarded: Find, make: Find) -> Entry | None:
    """The entry of a text that was kept, where there is one that is for this process."""
    folder = _folder(place, question)
    try:
        names = sorted(os.listdir(folder)) if cache_files.is_own(place) else []
    except OSError:
        return None
    for name in names:
        content = None if name.startswith(".") else cache_files.read(os.path.join(folder, name))
        if content is None:
            continue
        try:
            record = marshal.loads(content)
            record["taken"] = Taken(*record["taken"])
            if _fits(record, record["writes"], question.values):
                return _entry(record, question, guarded, make)
        except (Unkept, ChangedMeanwhile, LookupError, AttributeError, TypeError, ValueError, ImportError):
            continue  # for another process
    return None


def _entry(record: dict[str, Any], question: Question, guarded: Find, make: Find) -> Entry:
    """The entry of a record. Raises an error, of one of several classes, where anything is not as it was."""
    found = Found(question.root, question.given)
    reads = _verified(record, question.descriptions, found)
    held = {name: _held(way, found) for name, way in record["held"].items()}
    text = Text(
        *(record["source"], held, record["imports"], record["functions"], record["files"]),
        tuple(Copied(*parts) for parts in record["copied"]),
        LateMarks(record["marks"]),
        None if record["place"] is None else Span(*record["place"]),
    )
    filename = filename_of(record["name"])
    loaded = run(_renamed(record["code"], filename), text, filename)
    functions: tuple[Any, ...] = tuple(loaded[name] for name in text.functions[: record["count"]])
    if record["loud"] is not None:
        functions = (PlainSweep(functions[0], record["loud"], guarded),)
    notes = {
        "signature": record["signature"],
        "outside": (),
        "axes": record["axes"],
        "taken": record["taken"],
        "jit": None,
    }
    notes |= {"value": record["value"], "number": 0, "kept": "read from the directory of kept texts"}
    if record["decided"]:
        notes["undecided"] = False
    notes["samples"] = tuple(sample(value) for value in question.values)
    entry = Entry(functions, text, filename, Guard(reads), record["writes"], notes | record["product"])
    if record["several"]:
        entry.notes["several"] = _several(entry, make)
    return entry


def _several(entry: Entry, make: Find) -> Callable[[Sequence[Any]], Any]:
    """The functions for a batch of tangents or cotangents: they are not kept, but compiled when one first asks."""
    made: list[Any] = []

    def found(values: Sequence[Any]) -> Any:
        if not made:
            notes = make(tuple(values)).notes if entry.holds() else {}
            made.append(notes.get("several", lambda _: None)(values))
        return made[0]

    return found


def _verified(record: dict[str, Any], descriptions: Descriptions, found: Found) -> Reads:
    """What the text was compiled of, as it is in this process. Raises Unkept where it is another."""
    functions, names, members = [], [], []
    for way, wanted in record["read"]:
        function = found.at(way)
        _demand(isinstance(function, FunctionType) and descriptions.of(function) == wanted)
        functions.append((function, function.__code__))
    for before, label, path, way, wanted in record["names"]:
        home = None if before is None else found.at(before)
        value = found_name(path, home, None)
        _demand(_is_as_wanted(value, way, wanted, descriptions, found))
        names.append((Name(label, value, path, home), None if way is not None else key(value)))
    for before, label, way, wanted in record["members"]:
        owner = found.at(before)
        value = static(owner, label)
        _demand(_is_as_wanted(value, way, wanted, descriptions, found))
        members.append((owner, label, value))
    return Reads(tuple(functions), tuple(names), tuple(members))


def _is_as_wanted(value: Any, way: Any, wanted: Any, descriptions: Descriptions, found: Found) -> bool:
    if way is None and wanted[0] == "key":
        return bool(descriptions.of(key(value)) == wanted[1])
    return (way is None or same(found.at(way), value)) and bool(descriptions.of(value) == wanted)


def _demand(true: bool) -> None:
    if not true:
        raise Unkept("it is not as it was")


def _renamed(code: CodeType, filename: str) -> CodeType:
    """The code as that of another file."""
    consts = tuple(_renamed(each, filename) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=filename, co_consts=consts)


def _held(way: Any, found: Found) -> Any:
    """What a text holds under a name."""
    kind, *rest = way
    if kind == "cells":
        return Cells(found.at(rest[0]))
    return Globals(found.at(rest[0]).__globals__) if kind == "globals" else found.at(rest[0])


def _keep(place: str, question: Question, entry: Entry) -> str:
    """Keeps the text of an entry; says what became of it."""
    if not cache_files.made(place):
        return f"not kept: {place} cannot be made, or is another user's, or others can write it"
    try:
        record = _record(question, entry)
        content = marshal.dumps(record)
        folder = _folder(place, question)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        names = sorted(os.listdir(folder), key=lambda name: os.lstat(os.path.join(folder, name)).st_mtime)
        for name in names[: -LIMIT_VARIANTS + 1]:
            os.unlink(os.path.join(folder, name))
        facts = repr([record[part] for part in ("read", "names", "members", "axes", "taken")])
        cache_files.write(os.path.join(folder, hashlib.sha256(facts.encode()).hexdigest()[:40]), content)
        _bound(place, len(content))
    except Unkept as error:
        return f"not kept: {error}"
    except (OSError, RecursionError, ValueError) as error:
        return f"not kept: {type(error).__name__}: {error}"
    return "compiled, and kept for other processes"


def _bound(place: str, size: int) -> None:
    """Bounds a directory when this process first keeps a text there, and where it has kept many bytes since."""
    grown = _grown.get(place, LIMIT_BYTES) + size
    if grown > LIMIT_BYTES // PARTS:
        cache_files.bound(os.path.join(place, "texts"), LIMIT_BYTES)
        grown = 0
    _grown[place] = grown


def _record(question: Question, entry: Entry) -> dict[str, Any]:
    """All of an entry that another process needs. Raises Unkept where that is not enough to be sure of it."""
    guard = entry.holds
    if not isinstance(guard, Guard) or entry.notes.get("fallback"):
        raise Unkept("it does not run as compiled code alone")
    if entry.notes.get("unkept") or not _NOTES.issuperset(entry.notes) or entry.notes.get("undecided"):
        raise Unkept(entry.notes.get("unkept") or "it depends on more than the kinds of the arguments")
    reads, text = guard.reads, entry.text
    if reads.data or (entry.writes and (overlaps(question.values) or entry.notes["outside"])):
        raise Unkept("it writes into memory that others share")
    first = entry.functions[0]
    sweep = first if isinstance(first, PlainSweep) else None
    plain = (first.plain if sweep else first, *entry.functions[1:])
    if not all(isinstance(function, FunctionType) for function in plain):
        raise Unkept("it does not run as compiled code alone")
    ways = Ways(question.root, question.given, reads)
    facts = _facts(reads, ways, question.descriptions)
    held = {name: _held_by(value, reads, ways) for name, value in text.names.items()}
    if not guard():
        raise Unkept("what it reads has changed meanwhile")
    code = quietly(lambda: compiled(text.source, _FILE))
    parts = {name: getattr(text, name) for name in ("source", "imports", "functions", "files")}
    notes = {name: entry.notes.get(name) for name in ("axes", "value", "signature")}
    return (
        facts
        | parts
        | notes
        | {
            "taken": (entry.notes["taken"].lengths, entry.notes["taken"].missed),
            "held": held,
            "marks": _plain_marks(text),
            "place": _plain(text.place),
            "code": code,
            "name": entry.filename.removeprefix("<tangentx ").rpartition(" ")[0],
            "count": len(entry.functions),
            "writes": entry.writes,
            "loud": sweep.loud if sweep else None,
            "decided": "undecided" in entry.notes,
        }
        | _of_product(entry)
    )


def _of_product(entry: Entry) -> dict[str, Any]:
    """What products ask of an entry beside its functions."""
    return {
        "copied": [(one.place, one.what, one.source, one.parameter) for one in entry.text.copied],
        "product": {name: entry.notes[name] for name in _OF_PRODUCTS if name in entry.notes},
        "several": "several" in entry.notes,
    }


def _facts(reads: Reads, ways: Ways, descriptions: Descriptions) -> dict[str, Any]:
    read = [(ways.to(function), descriptions.function(function, code)) for function, code in reads.functions]
    names: list[tuple[Any, ...]] = []
    for name, wanted in reads.names:
        if name.path[0] == "object":
            continue  # found in a class or a module: that is among the members
        before = None if name.home is None else ways.to(name.home)
        if whole(name.value):
            names.append((before, name.name, name.path, ways.to(name.value), descriptions.of(name.value)))
        else:
            data = key(name.value) if wanted is None else wanted
            names.append((before, name.name, name.path, None, ("key", descriptions.of(data))))
    members = []
    for owner, label, value in reads.members:
        way = ways.to(value) if isinstance(value, FunctionType | type) else None
        members.append((ways.to(owner), label, way, descriptions.of(value)))
    return {"read": read, "names": names, "members": members}


def _held_by(value: Any, reads: Reads, ways: Ways) -> tuple[Any, ...]:
    """How another process comes to what a text holds under a name."""
    homes = [function for function, _ in reads.functions]
    if not isinstance(value, Cells | Globals):
        return ("object", ways.to(value))
    home = next((home for home in homes if is_of(value, home)), None)
    if home is None:
        raise Unkept("the text reads names of a function that the program does not call")
    return ("cells" if isinstance(value, Cells) else "globals", ways.to(home))


def _plain(span: Span | None) -> tuple[Any, ...] | None:
    return None if span is None else (span.file, span.line, span.column, span.text)


def _plain_marks(text: Text) -> dict[str, Any]:
    return {name: tuple((i, _plain(span)) for i, span in marks) for name, marks in text.marks.items()}
