"""What a ``for`` loop iterates over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tangentx.frontend.targets import Value
from tangentx.ir import nodes as ir


@dataclass(frozen=True)
class Range:
    """The loop runs over ``range(start, stop, step)``, or that backward."""

    start: ir.Atom
    stop: ir.Atom
    step: ir.Atom
    backward: bool = False
    snapshots: ir.Atom | None = None


@dataclass(frozen=True)
class Items:
    """The loop runs over `count` values, each read by its index; `counter` says that the index is the first of two.

    `over` are the user's variables that hold what is read. `lengths` has for each sequence its variable, the length
    that it keeps, and what to ask for it where the variable is bound anew. `entries` are an object, the name of its
    method that is called and what that gives, where its items are read. `told`: it shows when an item is read, as code
    of the user's runs. `first` is done where the loop begins, before an item is read; `last` where it ends because
    nothing is left: what Python has read by then without making a trip of it. `early` has been read before its time, so
    that nothing may write there; of `shallow` that is so for what it is itself, not for what is in it.
    """

    count: ir.Atom
    read: Callable[[ir.Atom], Value]
    over: frozenset[str]
    backward: bool = False
    counter: bool = False
    lengths: tuple[tuple[ir.Atom, ir.Atom, ir.Atom], ...] = ()
    entries: tuple[ir.Atom, ...] | None = None
    snapshots: ir.Atom | None = None
    told: bool = False
    early: tuple[ir.Atom, ...] = ()
    shallow: tuple[ir.Atom, ...] = ()
    first: Callable[[], None] | None = None
    last: Callable[[], None] | None = None
