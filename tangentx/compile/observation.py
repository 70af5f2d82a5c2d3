"""Programs with calls on constants whose results are of kinds not known before: see `analysis.infer.constant_calls`.

The first call runs the program itself, compiled as far as is known, up to the first result of an unknown kind; with
the kind it is compiled again and goes on, its calls of unknown code not repeated: what they gave is kept. Of what is
then known the derivative is compiled, and its first run is given what was kept, too. So it is where a later call gives
something of another kind.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from tangentx.analysis.types.kinds import Bottom
from tangentx.analysis.types.samples import Valuer, fill
from tangentx.analysis.types.user_code import asks_frames
from tangentx.arrays import observed
from tangentx.arrays.copies import fresh_copies
from tangentx.arrays.observed_calls import Differs, Run, form_of, joined, repeated, running
from tangentx.arrays.signatures import storages
from tangentx.backend.module_text import load, write
from tangentx.common import free_variables
from tangentx.common.free_variables import current
from tangentx.common.generated_text import Text
from tangentx.common.options import OBSERVING, SHOWING, Observing
from tangentx.common.scoped_state import lasting
from tangentx.common.silenced_warnings import quietly
from tangentx.compile import pipeline
from tangentx.compile.dependencies import outside_data
from tangentx.dispatch.entries import Cache, Entry, StateOf, Target, place_of
from tangentx.errors import NO_PROGRAM, NoTemplate, NotResolved, TangentxError, is_library
from tangentx.ir.nodes import Param

_LIMIT_RUNS = 200


@dataclass(frozen=True)
class Pending:
    """A run that goes on with the next run of a compiled program, of the same arguments; the forms known by then.

    `inside`: the entry that it goes on with is asked for from within the run, and not by a call of its own.
    """

    function: Any
    values: tuple[Any, ...]
    run: Run
    forms: dict[str, str]
    inside: bool = False

    def belongs(self, function: Any, values: Sequence[Any]) -> bool:
        """Whether it is the run of a function of these arguments."""
        same = len(values) == len(self.values) and all(a is b for a, b in zip(self.values, values, strict=True))
        return same and primal_of(function) is self.function


_PENDING: ContextVar[Pending | None] = ContextVar("tangentx_pending", default=None)


@dataclass(frozen=True)
class Call:
    """A call of a derivative: its target, cache and arguments, and those that it is taken by.

    `find` gives the entry for arguments again; `repeats` says whether what cannot be compiled would be run in another
    way, from its beginning.
    """

    target: Target
    cache: Cache
    values: tuple[Any, ...]
    wrt: tuple[int, ...]
    find: Callable[[tuple[Any, ...]], Entry]
    repeats: bool

    def pending(self) -> Pending | None:
        """The run that goes on with it, if there is one."""
        found = _PENDING.get()
        return found if found is not None and found.belongs(self.target.function, self.values) else None

    def hold(self, run: Run, forms: dict[str, str], inside: bool = False) -> None:
        """Lets the run go on with the next run of what is compiled."""
        _PENDING.set(Pending(primal_of(self.target.function), self.values, run, dict(forms), inside))

    def taken(self) -> Run | None:
        """The run that goes on with it, once."""
        found = self.pending()
        _PENDING.set(None)
        return None if found is None else found.run

    def forms(self) -> dict[str, str]:
        """The forms that are known."""
        found, known = self.pending(), self.cache.observing
        return found.forms if found is not None else known.forms if known is not None else {}

    def key(self) -> tuple[tuple[str, str], ...]:
        """The part of the key of an entry that they are."""
        return tuple(self.forms().items())


def begin() -> None:
    """Forgets a run that was interrupted before it could go on: another call, of the same arguments even, is another
    run, in which unknown code is called again."""
    found = _PENDING.get()
    if found is not None:
        _PENDING.set(replace(found, inside=False) if found.inside else None)


def primal_of(function: Any) -> Any:
    """The function behind a derivative of any order."""
    while hasattr(function, "__tangentx_primal__") and function.__tangentx_primal__() is not function:
        function = function.__tangentx_primal__()
    return function


def observed_entry(call: Call, make: Callable[[], Entry], first: TangentxError | None) -> Entry:
    """The entry that `make` compiles, with calls on constants as they are.

    `first` says why it cannot be compiled without; it is raised where that is no better.
    """
    primal = primal_of(call.target.function)
    if not isinstance(primal, types.FunctionType):
        raise first or _unknown(primal)
    home = str(primal.__module__).partition(".")[0]
    # a copy: what another thread's run learns meanwhile is not what this text is written for
    state = replace(call.cache.observing or Observing(home), forms=dict(call.forms()))
    run = call.taken() or Run()
    try:
        run = _as_far_as_known(call, primal, state, run)
        if run.given:
            call.hold(run, state.forms)
        entry = _compiled(state, make)
    except NO_PROGRAM as error:
        call.taken()
        raise (error if first is None or _says_more(error, first, state) else first) from None
    except BaseException:  # an interrupt, or what the program raises: the next call is another run
        call.taken()
        raise
    call.cache.observing = state
    return _wrapped(entry, call, state)


def has_begun(call: Call) -> bool:
    """Whether the program runs already, so that it cannot be run in another way from its beginning."""
    found = call.pending()
    return found is not None and found.run.begun


def _says_more(error: TangentxError, first: TangentxError, state: Observing) -> bool:
    """Whether an error says more than the first one, of the program without calls on constants."""
    if first.span is None or is_library(first.span.file):
        return True
    known = bool(state.met) and error.span != first.span
    return known or (state.refused and not isinstance(error, NoTemplate))


def _unknown(function: Any) -> NotResolved:
    message = "what calls of code that is not read give is known only when they have been run"
    return NotResolved(message, place_of(function), "call the derivative once: its text is known then")


def _as_far_as_known(call: Call, primal: Any, state: Observing, run: Run) -> Run:
    """Runs the program until it is known of what kind its result is; gives what its calls gave."""
    for _ in range(_LIMIT_RUNS):
        found = _compiled(state, lambda: _primal(call, primal))
        if found is None:
            return run
        if SHOWING.get():
            raise _unknown(primal)
        if call.repeats and not all(state.met.values()):
            raise _unknown(primal)
        try:
            run = run.again()
            run.watched = not state.trusted
            function, data = found
            _lend(run, (*call.values, *data))
            running(run, function, fresh_copies(*call.values))
        except Differs as other:
            run = other.run
            state.forms = learned(state.forms, other)
        else:
            break
    raise _unknown(primal)


def _lend(run: Run, values: Sequence[Any]) -> None:
    """Notes what code that is not trusted must not change: the arguments, and data outside that was read before."""
    for value in storages(tuple(values)) if run.watched else ():
        run.lend(value, True)


def learned(forms: dict[str, str], other: Differs) -> dict[str, str]:
    """The forms with that of what a call gave. Within one run, it is joined with those that the call gave before."""
    before = [form_of(one.value) for one in other.run.given[: other.run.done - 1] if one.site == other.site]
    form = joined([*before, other.form]) if before else other.form
    if form == forms.get(other.site):
        raise NotResolved(f"{other.site}: what this call gave is of a form that cannot be told: {form}")
    return {**forms, other.site: form}


def _compiled(state: Observing, make: Callable[[], Any]) -> Any:
    """What `make` compiles; functions of the user's that cannot be compiled are called as they are where they can."""
    first: TangentxError | None = None
    while True:
        state.met, state.trusted, state.refused = {}, True, False
        try:
            return lasting(OBSERVING, state, make)
        except NO_PROGRAM as error:
            first = first or error
            more = next((f for f in error.through if f not in state.as_is and not asks_frames(f)), None)
            if more is None:
                raise first from None
            state.as_is = (*state.as_is, more)


def _primal(call: Call, primal: Any) -> Any:
    """The program itself, up to where nothing is known any more, and the data from outside that it reads; None if it is
    known to its end."""
    program = pipeline.new_program()
    source = program.lift(primal)
    if len(source.params) != len(call.values):
        raise _unknown(primal)
    source = replace(source, params=tuple(Param(p.name) for p in source.params))
    valuer = Valuer(program.world)
    kinds = [valuer.kind(value) for value in call.values]
    active = _active(call.target.function, call.wrt)
    root = pipeline.analyse(source, [fill(k) if i in active else k for i, k in enumerate(kinds)], program)
    if not isinstance(root.result, Bottom):
        return None
    functions = [i.link.function for i in program.reached() if i.link.function is not None]
    text = write(functions, f"# `{primal.__name__}`, as far as it is known")
    return _repeating(text, f"<tangentx {primal.__name__}>")[0], [current(ext) for ext in outside_data(program)]


def _active(function: Any, wrt: tuple[int, ...]) -> set[int]:
    """The places of the parameters by which a derivative is taken, at any order."""
    found = set(wrt)
    while hasattr(function, "__tangentx_primal__") and function.__tangentx_primal__() is not function:
        found |= set(function._wrt()) if hasattr(function, "_wrt") else set()
        function = function.__tangentx_primal__()
    return found


def _repeating(text: Text, filename: str) -> list[Any]:
    """The functions of a text, in which a call of unknown code is left out where the run has its result already."""
    functions = load(text, filename)
    if not functions:
        return []
    space: dict[str, Any] = next(iter(functions.values())).__globals__
    names = {name for name, value in space.items() if value is observed}
    tree = ast.fix_missing_locations(_Late(names).visit(ast.parse(text.source)))
    exec(quietly(lambda: compile(tree, filename, "exec", dont_inherit=True)), space)  # as `load` compiles it
    space |= dict.fromkeys(names, repeated)
    return [space[name] for name in text.functions]


class _Late(ast.NodeTransformer):
    """Makes the first argument of calls of some functions a function that gives it."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """A call; those inside of its first argument come before it, in either case."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.names:
            inner = _Taken(self.names)
            body = inner.visit(node.args[0])
            params = [ast.arg(name) for name in inner.found]
            both = ast.arguments(posonlyargs=[], args=params, kwonlyargs=[], kw_defaults=[], defaults=[])
            node.args[0] = ast.copy_location(ast.Lambda(both, body), body)
            node.keywords.append(ast.keyword("given", ast.Tuple(list(inner.found.values()), ast.Load())))
        return node


class _Taken(ast.NodeTransformer):
    """Takes calls of some functions out of an expression, for names."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.found: dict[str, ast.expr] = {}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call."""
        if isinstance(node.func, ast.Name) and node.func.id in self.names:
            name = f"_given{len(self.found)}"
            self.found[name] = node
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        self.generic_visit(node)
        return node


def _wrapped(entry: Entry, call: Call, state: Observing) -> Entry:
    """The entry whose first function runs what unknown code did not give yet, and starts anew with what it gave."""
    count, call = len(call.values), replace(call, values=())
    trusted, forms = state.trusted, dict(state.forms)

    def first(*args: Any) -> Any:
        given = replace(call, values=args[:count])
        pending = given.taken()
        again = pending is not None
        run = Run() if pending is None else pending.again()
        run.watched = not trusted
        _lend(run, (*given.values, *(free_variables.current(ext) for ext in entry.notes["outside"])))
        functions = _repeating(entry.text, entry.filename)[: len(entry.functions)] if again else entry.functions
        try:
            out = running(run, functions[0], args)
        except Differs as other:
            other.run.begun = True
            known = learned(forms, other)
            call.cache.observing = replace(call.cache.observing or state, forms=known)
            given.hold(other.run, known, inside=True)
            return given.find(given.values).functions[0](*args)
        return out if len(functions) == 1 else (out[0], StateOf(tuple(functions), out[1]))

    def second(state: StateOf, *args: Any) -> Any:
        return state.functions[1](state.own, *args)

    functions = (first, second)[: len(entry.functions)]
    return replace(entry, functions=functions, notes=entry.notes | {"forms": tuple(forms.items())})
