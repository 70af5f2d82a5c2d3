"""Operations that run code which the compiler does not look into."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from tangentx.errors import Span
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.ir.nodes import Assign, Function, Op
from tangentx.ir.rewrite import rename

# The operation that runs unknown code, whose result has the form that was observed.
#
# It stands as the function of an `Op`: ``fn(*atoms)``, or ``getattr`` of an atom and `name`. The text that is printed
# checks the result (see `arrays.observed_calls`). `form` is `arrays.observed_calls.UNSEEN` where nothing was observed
# so far: control does not come further.


@dataclass(frozen=True, eq=False)
class Observed:
    """What is run, the form of its result, and the site in the user's program; `own`: the program writes into it."""

    fn: Callable[..., Any]
    name: str
    form: str
    site: str
    own: bool = False

    __name__ = "observed"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("code that is not tried")


_MADE: weakref.WeakValueDictionary[tuple[Any, ...], Observed] = weakref.WeakValueDictionary()


def observed(fn: Callable[..., Any], name: str, form: str, site: str, own: bool = False) -> Observed:
    """The one such operation, as long as a program has it."""
    return _MADE.setdefault((fn, name, form, site, own), Observed(fn, name, form, site, own))


# The operation that calls a library function with functions of the program as arguments.
#
# It stands as the function of an `Op` of all the atoms that it reads, those that the functions have captured among
# them. The functions stay in the open form in which they were lifted, and are printed so: the library calls them as
# Python would. Nothing of it is differentiated.


@dataclass(frozen=True)
class Callback:
    """A function that the library may call: with `given` as its first arguments, and those of `names` by name.

    It is the `function` of the language, the method `name` of the one that is given, or the first of what is given.
    """

    given: tuple[Given, ...]
    function: Function | None = None
    name: str = ""
    names: tuple[str, ...] = ()


Given: TypeAlias = "int | Callback | tuple[Given, ...]"
"""An argument: the place of its atom, a function, or a tuple of such."""


@dataclass(frozen=True, eq=False)
class LibraryCall:
    """The function that is called, its arguments, and the form of what it gives (see `arrays.form_of`)."""

    fn: Any
    form: str
    args: tuple[Given, ...]
    kwargs: tuple[tuple[str, Given], ...]

    __name__ = "library_call"

    def __call__(self, *args: Any) -> Any:
        raise AssertionError("code that is not tried")

    def functions(self) -> Iterator[Function]:
        """The functions that are handed over."""
        todo: list[Given] = [*self.args, *(given for _, given in self.kwargs)]
        while todo:
            given = todo.pop(0)
            if isinstance(given, tuple):
                todo += given
            elif isinstance(given, Callback):
                todo += given.given
                if given.function is not None:
                    yield given.function


@dataclass(frozen=True)
class Part:
    """An attribute of what a library has found, as the function of an `Op`: its name, and the form of its value."""

    name: str
    form: str

    __name__ = "part"

    def __call__(self, found: Any) -> Any:
        raise AssertionError("code that is not tried")


def handed_over(functions: Sequence[Function]) -> tuple[Function, ...]:
    """The functions that these hand over to a library, and what is made in them, each once."""
    found: dict[Function, None] = {}
    for function in functions:
        for stmt in walk.statements(function.body):
            op = stmt.value if isinstance(stmt, Assign) else None
            for each in op.fn.functions() if isinstance(op, Op) and isinstance(op.fn, LibraryCall) else ():
                found.update(dict.fromkeys(walk.with_inner(each)))
    return tuple(found)


# ``try`` as one opaque operation that takes no part in the derivative.
#
# Where it has one, the operation is a trial: it runs the body to tell which handler, if any, would be entered, and
# what the statement does follows as branches.
#
# The statements stay in the open form in which they were lifted, and are printed so. For its kinds the operation is
# taken for the functions that `paths` gives, one for each way on which it may be left.

NOTE, TRIAL = "attempt", "trial"
FLAG, ERROR = "%flag", "%error"
_ENDS = (ir.Raise,)


@dataclass(frozen=True, eq=False)
class Handler:
    """``except classes as name:`` and its block; no classes stand for all."""

    classes: tuple[ir.Atom, ...]
    name: str
    block: ir.Block
    span: Span


@dataclass(frozen=True, eq=False)
class Attempt:
    """A ``try`` statement. `results` are the user's names that it binds, `given` those whose values it is given.

    A `trial` binds a number: 0 where the body raises nothing that is caught, else that of the handler, from 1 on.
    `otherwise` does the same as the statement, by a trial and branches; it is empty where that cannot be.
    """

    body: ir.Block
    handlers: tuple[Handler, ...]
    orelse: ir.Block
    final: ir.Block
    results: tuple[str, ...]
    span: Span
    trial: bool = False
    otherwise: ir.Block = ()
    given: tuple[str, ...] | None = None
    closed: dict[tuple[str, ...], Attempt] = field(default_factory=dict)

    __name__ = "attempt"

    def __call__(self, *args: Any) -> Any:
        raise AssertionError("a statement, never run")

    def blocks(self) -> tuple[ir.Block, ...]:
        """All that stands in it."""
        return (self.body, *(handler.block for handler in self.handlers), self.orelse, self.final)

    def names(self) -> tuple[str, ...]:
        """The names whose values from before it may be asked for in it or after it, in a fixed order."""
        after = live(self.final, set(self.results))
        found = live(self.body, live(self.orelse, after))
        for handler in self.handlers:
            found |= live(handler.block, after) - {handler.name}
        return tuple(sorted(found))

    def renamed(self, mapping: Mapping[str, str]) -> Attempt:
        """The statement with other names for variables; `otherwise` keeps its own."""
        body, *caught, orelse, final = (rename(block, mapping) for block in self.blocks())
        handlers = tuple(
            replace(handler, name=mapping.get(handler.name, handler.name), block=block)
            for handler, block in zip(self.handlers, caught, strict=True)
        )
        results = tuple(mapping.get(name, name) for name in self.results)
        return replace(
            self, body=body, handlers=handlers, orelse=orelse, final=final, results=results, given=None, closed={}
        )

    def with_given(self, names: tuple[str, ...]) -> Attempt:
        """The statement where the names `names` have values; one for each choice of them."""
        if names not in self.closed:
            self.closed[names] = replace(self, given=names)
        return self.closed[names]

    def paths(self) -> tuple[ir.Function, ...]:
        """A function of the given names (and of a flag and an exception) for each way out of it that goes on."""
        assert self.given is not None
        found = [(*self.body, *self.orelse)] if not _ends(self.body) and not _ends(self.orelse) else []
        for handler in self.handlers:
            if not _ends(handler.block):
                tried = ir.If(ir.Var(FLAG), self.body, (), self.span)
                caught = ir.Assign(handler.name or "%caught", ir.Var(ERROR), handler.span)
                found.append((tried, caught, *handler.block))
        params = tuple(ir.Param(name) for name in (*self.given, FLAG, ERROR))
        notes = {NOTE: self.span, TRIAL: self.trial}
        return tuple(
            ir.Function("attempt", params, (*block, *self._returned()), self.span, notes=dict(notes))
            for block in found
            if not _ends(self.final)
        )

    def _returned(self) -> ir.Block:
        if len(self.results) == 1:
            return (*self.final, ir.Return(ir.Var(self.results[0]), self.span))
        made = ir.Make(tuple, tuple(ir.Var(name) for name in self.results))
        return (*self.final, ir.Assign("%results", made, self.span), ir.Return(ir.Var("%results"), self.span))


def live(block: ir.Block, after: set[str]) -> set[str]:
    """The names that are asked for from the start of the block on, where `after` are at its end."""
    found = set(after)
    for stmt in reversed(block):
        match stmt:
            case ir.Raise():
                found = set(walk.reads(stmt))
            case ir.If():
                found = live(stmt.body, found) | live(stmt.orelse, found) | walk.reads(stmt)
            case ir.For() | ir.Loop():
                found |= walk.reads(stmt) | walk.used(stmt.body)
            case _:
                found = (found - walk.writes(stmt)) | walk.reads(stmt)
    return found


def _ends(block: ir.Block) -> bool:
    """Whether control never comes past the block: nothing but a raise leaves it."""
    return bool(block) and isinstance(block[-1], _ENDS)
