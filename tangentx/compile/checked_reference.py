"""Checked mode: runs the original function beside its derivative, and compares their local variables."""

from __future__ import annotations

import dis
import functools
import linecache
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from tangentx.analysis.infer.program import Instance
from tangentx.arrays.claims import contents, is_gap, shown, untrue
from tangentx.arrays.copies import fresh_copies
from tangentx.arrays.sweep_checks import ANYTHING, MOST, History, Place, going_on, remembering
from tangentx.common.float_events import under_events
from tangentx.common.free_variables import current
from tangentx.common.pytrees import is_differentiable, rebuild
from tangentx.derive.prologue import outside_of
from tangentx.dispatch.entries import Entry, States, Target
from tangentx.dispatch.plain_sweeps import LIMIT_MISSES, PlainSweep
from tangentx.errors import InternalError, Span, TangentxError
from tangentx.ir.nodes import Param

# Records the values of local variables while the user's functions run, for checked mode.
#
# Python tells of each instruction, before it is run, in the frames that are asked for: after one that binds a local
# name, or stores into what one holds, the value is noted.

T = TypeVar("T")
_BINDING = {"STORE_FAST": (0,), "STORE_FAST_LOAD_FAST": (0,), "STORE_FAST_STORE_FAST": (0, 1)}
_STORED = re.compile(r"([^\W\d]\w*)\s*\[")


def codes_of(functions: Iterable[Any]) -> frozenset[types.CodeType]:
    """The code of the functions, and of those that are made inside."""
    found: set[types.CodeType] = set()
    todo = [f.__code__ for f in functions if isinstance(f, types.FunctionType)]
    while todo:
        code = todo.pop()
        if code not in found:
            found.add(code)
            todo += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return frozenset(found)


def traced(codes: frozenset[types.CodeType], run: Callable[[], T]) -> tuple[T, History]:
    """What `run` gives, and what code of these binds meanwhile: nothing where something else traces already."""
    history = History()
    if sys.gettrace() is not None:
        return run(), history
    try:
        sys.settrace(_tracer(codes, history))
        return run(), history
    finally:
        sys.settrace(None)


def _tracer(codes: frozenset[types.CodeType], history: History) -> Callable[..., Any]:
    bound: dict[types.FrameType, tuple[Place, ...]] = {}

    def inside(frame: types.FrameType, event: str, arg: Any) -> Any:
        for place in bound.pop(frame, ()):
            if place[2] in frame.f_locals:
                history.told(place, frame.f_locals[place[2]])
        if event == "opcode" and history.notes <= MOST:
            found = _places(frame.f_code).get(frame.f_lasti)
            if found is not None:
                bound[frame] = found
        return inside

    def called(frame: types.FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in codes or history.notes > MOST:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return inside

    return called


@lru_cache(maxsize=1000)
def _places(code: types.CodeType) -> dict[int, tuple[Place, ...]]:
    """By the place of an instruction, where and what it binds: names that no other function shares, and of which the
    line binds no second one, for a place does not say which of the two it is."""
    shared = {*code.co_cellvars, *code.co_freevars}
    found: dict[int, tuple[Place, ...]] = {}
    columns: dict[Place, set[int | None]] = {}
    for instruction in dis.get_instructions(code):
        at = instruction.positions
        names = [name for name in _names(code, instruction) if name not in shared]
        if names and at is not None and at.lineno is not None:
            found[instruction.offset] = tuple((code.co_filename, at.lineno, name) for name in names)
            for place in found[instruction.offset]:
                columns.setdefault(place, set()).add(at.col_offset)
    return {at: tuple(place for place in places if len(columns[place]) == 1) for at, places in found.items()}


def _names(code: types.CodeType, instruction: dis.Instruction) -> list[str]:
    given = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
    if instruction.opname in _BINDING:
        return [given[k] for k in _BINDING[instruction.opname]]
    at = instruction.positions
    if instruction.opname != "STORE_SUBSCR" or at is None or at.lineno is None or at.lineno != at.end_lineno:
        return []
    text = linecache.getline(code.co_filename, at.lineno).encode()[at.col_offset : at.end_col_offset].decode()
    match = _STORED.match(text)
    return [match[1]] if match is not None and text.count("[") == 1 and match[1] in code.co_varnames else []


# Checked mode: runs the original function beside its derivative.

PRECISION = {2: 1e-2, 4: 1e-5, 8: 1e-12, 16: 1e-12}  # of the largest magnitude, by the bytes of a real number


@dataclass(frozen=True)
class Outcome:
    """What came of a call: its result and what is then in its arguments, or the error that it raised."""

    value: Any = None
    values: tuple[Any, ...] = ()
    error: BaseException | None = None


@dataclass(frozen=True)
class Reference:
    """A function without effects: as the user wrote it (None for a derivative), and as it was understood.

    It is `linear` where its cotangents pass through rules of ours alone.
    """

    plain: Callable[..., Any] | None
    understood: Callable[..., Any]
    params: tuple[Param, ...]
    span: Span
    codes: frozenset[types.CodeType] = frozenset()
    linear: bool = False

    def outcome(self, values: Sequence[Any]) -> Outcome:
        """What the function gives, once it is certain that it was understood. Raises InternalError."""
        values = values[: len(self.params)]
        met: list[History] = []
        found = remembering(met, lambda: outcome(self.understood, values))
        if self.plain is None:
            return found
        plain = functools.partial(called, self.plain, self.params)
        wanted, history = traced(self.codes, lambda: outcome(plain, values))
        compare_statements(history.values, met[0].values)
        if isinstance(found.error, TangentxError):  # a refusal at run time, which the derivative gives too
            raise found.error
        if type(wanted.error) is not type(found.error):
            was, is_ = (
                f"raises {type(e).__name__}" if e is not None else "returns" for e in (found.error, wanted.error)
            )
            raise untrue(f"`{self.name}`", f"understood as a function that {was}", f"it {is_}", self.span)
        if wanted.error is None:
            self.compare("the value", wanted.value, found.value)
        for param, a, b in zip(self.params, wanted.values, found.values, strict=True):
            self.compare(f"`{param.name}` after the call", a, b)
        return wanted

    @property
    def name(self) -> str:
        """What the function is called."""
        return getattr(self.plain, "__name__", "the function")

    def compare(self, what: str, wanted: Any, found: Any) -> None:
        """Raises InternalError where two structures are not alike, numbers up to their precision."""
        fault = difference(wanted, found)
        if fault is not None:
            raise untrue(f"{what} of `{self.name}`", "taken to be that of the plain function", fault, self.span)

    def both(
        self, function: Any, general: Any, values: Sequence[Any], like: Sequence[Any], place: int | None = None
    ) -> tuple[Any, Any]:
        """What a derivative and the general rule give (None where that raises), of which `place` alone is compared.

        Raises InternalError where the two are not the same.
        """
        wanted = outcome(general, values)
        claim = "taken to be the same with the proofs as by the general rule"
        try:
            out = function(*values)
        except TangentxError:
            raise
        except Exception as error:
            if wanted.error is not None:
                raise
            found = f"with them it raises {type(error).__name__}: {error}"
            raise untrue(f"the derivative of `{self.name}`", claim, found, self.span) from error
        if wanted.error is not None:
            return out, None
        one, other = (out, wanted.value) if place is None else (out[place], wanted.value[place])
        fault = agree(one, other, _bound((*like, other)))
        if fault is not None:
            raise untrue(f"the derivative of `{self.name}`", claim, f"they give {fault}", self.span)
        return out, wanted.value

    def demand_linear(self, bars: Any, twice: Any) -> None:
        """Raises InternalError where twice the seeds do not give twice the cotangents."""
        bound = _bound((bars,))
        pairs = [(a * 2, b) for a, b in zip(_leaves(bars), _leaves(twice), strict=False) if is_differentiable(a)]
        fault = next((found for one, other in pairs if (found := agree(one, other, bound))), None)
        if fault is not None:
            claim = "taken to be linear in its seeds"
            raise untrue(f"the derivative of `{self.name}`", claim, f"twice the seeds give {fault}", self.span)

    def beside(self, function: Callable[..., Any], place: int | None) -> Callable[..., Any]:
        """The compiled function, with the reference run before it; at `place` its result has the function's value."""

        @functools.wraps(function)
        def run(*values: Any) -> Any:
            wanted = self.outcome(values)
            before = fresh_copies(*values)
            try:
                out = function(*values)
            finally:
                for i, (a, b) in enumerate(zip(before, values, strict=True)):
                    if difference(a, b, exact=True) is not None:
                        name = f"`{self.params[i].name}`" if i < len(self.params) else "a direction"
                        raise untrue(name, "never written by a derivative", "is changed by it", self.span)
            if place is not None and wanted.error is None:
                value = out if place < 0 else out[place]
                self.compare("the value beside a derivative", wanted.value, value)
            return out

        return run


def outcome(function: Callable[..., Any], values: Sequence[Any]) -> Outcome:
    """What comes of a call with copies of the values. An error of the compiler itself passes."""
    copies = fresh_copies(*values)
    try:
        return Outcome(function(*copies), copies)
    except InternalError:
        raise
    except Exception as error:
        return Outcome(None, copies, error)


def compare_statements(wanted: Sequence[tuple[Place, Any]], found: Sequence[tuple[Place, Any]]) -> None:
    """Raises InternalError for the first statement of the user's that gave a name another value than it did when the
    function was understood. Statements that were not run as often in both, for they were written anew, say nothing."""
    runs, others = Counter(place for place, _ in wanted), Counter(place for place, _ in found)
    values: dict[Place, list[Any]] = {}
    for place, value in found:
        values.setdefault(place, []).append(value)
    for place, value in wanted:
        if runs[place] == others[place]:
            now = values[place].pop(0)
            fault = unlike(value, now)
            if fault is not None:
                file, line, name = place
                span = Span(file, line, 0, linecache.getline(file, line).rstrip())
                raise untrue(f"`{name}`", "taken to have the value that the plain function gives it here", fault, span)


def unlike(wanted: Any, found: Any) -> str | None:
    """In what two values differ, as far as they are looked at; what stands for a function or an object is not."""
    if wanted is ANYTHING or found is ANYTHING:
        return None
    if isinstance(wanted, list | tuple | dict):
        if type(wanted) is not type(found):
            return None
        ones, others = contents(wanted) or {}, contents(found) or {}
        faults = (unlike(one, others[key]) for key, one in ones.items() if key in others)
        short = f"it has {len(others)} items in place of {len(ones)}" if len(ones) != len(others) else None
        return short or next((fault for fault in faults if fault is not None), None)
    return difference(wanted, found)


def ending(found: Outcome) -> str:
    """How a call ends, in words."""
    return "returns" if found.error is None else f"raises {type(found.error).__name__}"


def called(function: Callable[..., Any], params: Sequence[Param], *values: Any) -> Any:
    """The result of a call, with each value handed over as its parameter asks for."""
    placed: list[Any] = []
    named: dict[str, Any] = {}
    for param, value in zip(params, values, strict=True):
        if param.kind in ("keyword", "kwargs"):
            named |= {param.name: value} if param.kind == "keyword" else value
        else:
            placed += value if param.kind == "args" else [value]
    return function(*placed, **named)


def difference(wanted: Any, found: Any, *, exact: bool = False, depth: int = 0) -> str | None:
    """In what two structures differ; None where they are alike."""
    numbers = (bool, int, float, complex, np.generic, np.ndarray)
    if isinstance(wanted, numbers) and isinstance(found, numbers):
        return _numbers(np.asarray(wanted), np.asarray(found), exact)
    if isinstance(wanted, str | bytes | types.NoneType):
        return None if wanted == found else f"it is {shown(found)} in place of {shown(wanted)}"
    if type(wanted) is not type(found):
        plain = isinstance(wanted, list | tuple | dict) or isinstance(found, list | tuple | dict)
        return f"it is {shown(found)} in place of {shown(wanted)}" if plain else None
    ones, others = contents(wanted), contents(found)
    if ones is None or others is None or depth > 8:
        return None
    if list(ones) != list(others):
        return f"it has {list(others)} in place of {list(ones)}"
    for key, one in ones.items():
        fault = difference(one, others[key], exact=exact, depth=depth + 1)
        if fault is not None:
            return f"at {key!r} {fault}"
    return None


def _alike(wanted: Any, found: Any, exact: bool) -> Any:
    """Which elements are equal, to rounding unless `exact`."""
    same = (wanted == found) | ((wanted != wanted) & (found != found))
    if exact or same.all() or wanted.dtype.kind not in "fc":
        return same
    if not (np.isfinite(wanted).all() and np.isfinite(found).all()):
        return same
    part = wanted.dtype.itemsize // (2 if wanted.dtype.kind == "c" else 1)
    bound = PRECISION.get(part, 1e-12) * max(np.max(np.abs(wanted)), np.max(np.abs(found)), 1.0)
    return np.abs(wanted - found) <= bound


def _numbers(wanted: Any, found: Any, exact: bool) -> str | None:
    if wanted.dtype.kind not in "biufc" or found.dtype.kind not in "biufc":
        return None
    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return f"it is {shown(found)} in place of {shown(wanted)}"
    same = under_events(lambda: _alike(wanted, found, exact), all="ignore")
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    where = f"at index {at} " if at else ""
    return f"{where}it is {found[at]!r} in place of {wanted[at]!r}"


def reference(
    target: Target,
    root: Instance,
    understood: Callable[..., Any],
    functions: Iterable[Any] = (),
    linear: bool = False,
) -> Reference:
    """The reference of a root, of which the `functions` are the user's own; `linear` as in `Reference`."""
    plain = target.function if isinstance(target.function, types.FunctionType) else None
    outside = tuple(outside_of(root).values())  # parameters of its own for what is read there

    def whole(*values: Any) -> Any:
        return understood(*values, *fresh_copies(*map(current, outside)))

    count = len(root.source.params) - len(outside)
    codes = codes_of(functions) if plain is not None else frozenset()
    run = whole if outside else understood
    return Reference(plain, run, root.source.params[:count], root.source.span, codes, linear)


def checked(entry: Entry, general: Callable[[], Entry]) -> Entry:
    """The entry that runs its reference, if it has one, and beside it what the `general` rule alone gives."""
    found: Reference | None = entry.notes.get("reference")
    if found is None:
        return entry
    try:
        other = general().functions
    except TangentxError:  # a proof may be what a program needs to be compiled at all
        other = ()
    functions = list(entry.functions)
    if len(other) == len(functions):
        functions = _together(functions, other, found, entry.notes)
    functions[0] = found.beside(functions[0], entry.notes.get("value"))
    notes = {key: value for key, value in entry.notes.items() if key != "several"}  # for one state, not for two
    return replace(entry, functions=tuple(functions), notes=notes)


def _together(
    functions: Sequence[Any], other: Sequence[Any], found: Reference, notes: Mapping[str, Any]
) -> list[Callable[..., Any]]:
    """The functions, each compared with the other one of the same place; what the first ones keep is kept together."""
    first, *rest = functions
    seeded, place = found.linear and notes.get("seeded"), notes.get("value")

    def alone(*values: Any) -> Any:
        missed = first.misses if type(first) is PlainSweep else LIMIT_MISSES
        out = found.both(first, other[0], values, values)[0]
        plain = type(first) is PlainSweep and missed < LIMIT_MISSES and first.misses == missed
        if seeded and (plain or type(first) is not PlainSweep):  # the text with guards has a check of its own
            twice = (first.plain if plain else first)(*values, 2.0)
            found.demand_linear(*(x if place is None else x[1 - place] for x in (out, twice)))
        return out

    def forward(*values: Any) -> tuple[Any, Any]:
        met: list[History] = []
        own, general = (_remembering(f, met) for f in (first, other[0]))
        (value, state), wanted = found.both(own, general, values, values, place=0)
        return value, States(state, (wanted[1],) if wanted is not None else None, (met[-1], met[0]))

    def after(states: States, *given: Any) -> Any:
        copies = fresh_copies(states.own, *given) if found.linear else ()
        pulled = _going_on(functools.partial(rest[0], states.own), states.histories[0])
        if states.general is None:
            return pulled(*given)
        general = _going_on(functools.partial(other[1], *states.general), states.histories[1])
        out = found.both(pulled, general, given, given)[0]
        if copies:
            found.demand_linear(out, rest[0](copies[0], *map(_doubled, copies[1:])))
        return out

    return [forward, after] if rest else [alone]


def _doubled(value: Any) -> Any:
    """The structure with twice its numbers."""
    return rebuild(value, lambda leaf: leaf * 2 if is_differentiable(leaf) else leaf)


def _remembering(function: Callable[..., Any], met: list[History]) -> Callable[..., Any]:
    """The function, of each run of which the history is kept."""

    def run(*values: Any) -> Any:
        return remembering(met, lambda: function(*values))

    return run


def _going_on(function: Callable[..., Any], history: Any) -> Callable[..., Any]:
    """The function, each run of which goes on with a history."""

    def run(*values: Any) -> Any:
        return going_on(history, lambda: function(*values))

    return run


def _bound(values: Any) -> float:
    """How far two numbers may be apart that are computed in two ways of these values."""
    found = [
        np.asarray(leaf) for leaf in _leaves(values) if isinstance(leaf, float | complex | np.inexact | np.ndarray)
    ]
    found = [leaf for leaf in found if leaf.dtype.kind in "fc"]
    size = max((float(np.max(np.abs(leaf[np.isfinite(leaf)]), initial=1.0)) for leaf in found), default=1.0)
    narrow = any(leaf.dtype.itemsize // (1 + (leaf.dtype.kind == "c")) < 8 for leaf in found)
    return (1e-3 if narrow else 1e-9) * size


def agree(one: Any, other: Any, bound: float) -> str | None:
    """In what two results differ of which a zero may stand for anything; None where they do not."""
    if is_gap(one) or is_gap(other):
        there = other if is_gap(one) else one
        whole = [leaf for leaf in _leaves(there) if isinstance(leaf, float | complex | np.inexact | np.ndarray)]
        large = any(np.max(np.abs(leaf), initial=0.0) > bound for leaf in whole)
        return f"{shown(one)} and {shown(other)}" if large else None
    numbers = (bool, int, float, complex, np.generic, np.ndarray)
    if isinstance(one, numbers) and isinstance(other, numbers):
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
            return None
        if a.shape != b.shape and 1 not in (a.size, b.size):
            return f"{shown(one)} and {shown(other)}"
        same = under_events(lambda: (a == b) | ((a != a) & (b != b)) | (np.abs(a - b) <= bound), all="ignore")
        at = tuple(int(i) for i in np.argwhere(~same)[0]) if not same.all() else None
        a, b = np.broadcast_arrays(a, b)
        return None if at is None else f"{a[at]!r} and {b[at]!r}" + (f" at index {at}" if at else "")
    ones, others = contents(one), contents(other)
    if ones is None or others is None:
        return None
    for key in ones.keys() & others.keys():
        if (fault := agree(ones[key], others[key], bound)) is not None:
            return f"{fault}, at {key!r}"
    return None


def _leaves(x: Any) -> list[Any]:
    inside = contents(x)
    return [x] if inside is None else [leaf for item in inside.values() for leaf in _leaves(item)]
