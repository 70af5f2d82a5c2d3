"""The table of operations as people read it: ``tx.ops()``, and ``python -m tangentx ops [NAME]``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.common.naming import public_name
from tangentx.templates.compositions import compositions
from tangentx.templates.libraries import import_all
from tangentx.templates.library_classes import path_of_member
from tangentx.templates.refusals import refusals
from tangentx.templates.registry import templates
from tangentx.templates.solver_table import solvers

# Functions without a rule that the compiler models itself, for the table of operations.
#
# Their models are in `analysis/library` and `tensor/fallback`; here is the line that the table of operations shows.

_MODELLED: dict[str, tuple[Callable[..., Any], ...]] = {
    "a write into an array, by index": (
        np.copyto,
        np.put,
        np.place,
        np.putmask,
        np.put_along_axis,
        np.fill_diagonal,
    ),
    "a container": (list, tuple, dict),
    "a loop over the items": (map, filter, zip, enumerate, reversed, np.ndenumerate),
    "an attribute": (getattr, setattr),
    "a part of an array or list": (slice,),
    "shown once, with plain values": (print,),
    "views of the parts of an array": (np.hsplit, np.vsplit, np.dsplit),
    "a loop over the places of an array": (np.ndindex,),
    "a function of each element, its results put into an array": (np.vectorize,),
    "a `with` around the statements of both sweeps": (np.errstate,),
}


def modelled() -> list[tuple[tuple[Callable[..., Any], ...], str]]:
    """The functions, by what the compiler makes of them."""
    return [(primals, says) for says, primals in _MODELLED.items()]


@dataclass(frozen=True)
class Entry:
    """Functions that share one rule: what they are called, the kind of the rule, and what it says."""

    names: tuple[str, ...]
    rule: str
    says: str


@dataclass(frozen=True)
class Operations:
    """The operations in three lists; as text they are tables in Markdown."""

    differentiable: tuple[Entry, ...]
    constant: tuple[Entry, ...]
    refused: tuple[Entry, ...]

    def __str__(self) -> str:
        titled = (
            ("Differentiable", ("rule", ""), self.differentiable),
            ("Constant: their derivative is zero, or they have none", ("", ""), self.constant),
            ("Refused", ("", "why, and what to write instead"), self.refused),
        )
        return "\n".join(_section(title, heads, found) for title, heads, found in titled if found)

    __repr__ = __str__

    def of(self, name: str) -> Operations:
        """Those of which a name holds the text."""
        kept = [tuple(e for e in found if any(name in n for n in e.names)) for found in self._lists()]
        return Operations(*kept)

    def _lists(self) -> tuple[tuple[Entry, ...], ...]:
        return self.differentiable, self.constant, self.refused

    def counts(self) -> tuple[int, int, int]:
        """How many functions are in each list."""
        first, second, third = (len({n for e in found for n in e.names}) for found in self._lists())
        return first, second, third


def ops(name: str = "") -> Operations:
    """The functions that have a derivative rule, those that count as constant, and those that are refused, with the
    reason: all, or those of which `name` is part. Those of a library that is not installed are left out.

    >>> import tangentx as tx
    >>> "numpy.arctan2" in str(tx.ops("arctan2"))
    True
    """
    import_all()
    rules: dict[str, Entry] = {}
    public = [t for t in templates() if not _is_support(t.primals[0])]
    for primals, rule, body in (
        *((t.primals, t.kind, t.body) for t in public if t.body is not None),
        *((c.primals, "composition", c.body) for c in compositions()),
        *((s.primals, "solver", s.body) for s in solvers()),
    ):
        _enter(rules, primals, rule, (inspect.getdoc(body) or "").partition("\n")[0])
    for primals, says in modelled():
        _enter(rules, primals, "model", says)
    zeros = {p: e for t in public if t.body is None for p, e in [_constant(t.primals)] if p not in rules}
    refused = [Entry(_names(r.primals), "refused", f"{r.reason}; {r.hint}") for r in refusals()]
    found = Operations(tuple(dict.fromkeys(rules.values())), tuple(zeros.values()), tuple(refused))
    return found.of(name) if name else found


def _enter(rules: dict[str, Entry], primals: Iterable[Callable[..., Any]], rule: str, says: str) -> None:
    """One line for the functions of a rule that have none before it: some calls of them may be written in others."""
    names = tuple(n for n in _names(primals) if n not in rules)
    rules.update(dict.fromkeys(names, Entry(names, rule, says)))


def _constant(primals: tuple[Callable[..., Any], ...]) -> tuple[str, Entry]:
    (name,) = _names(primals)
    text = (inspect.getdoc(primals[0]) or "").strip()
    lines = [line.strip() for line in text.splitlines() if line.strip() and f"{name.rpartition('.')[2]}(" not in line]
    return name, Entry((name,), "constant", lines[0] if lines else "")


def _section(title: str, heads: tuple[str, str], entries: Iterable[Entry]) -> str:
    rule, says = heads
    if rule:
        lines = [f"## {title}", "", f"| operation | {rule} | {says} |", "|---|---|---|"]
        lines += [f"| {_spelt(e.names)} | {e.rule} | {e.says} |" for e in entries]
    else:
        lines = [f"## {title}", "", f"| operation | {says} |", "|---|---|"]
        lines += [f"| {_spelt(e.names)} | {e.says} |" for e in entries]
    return "\n".join(line.replace("||", "| |") for line in lines) + "\n"


def _spelt(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _names(primals: Iterable[Callable[..., Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name_of(primal) for primal in primals if not _is_support(primal)))


def name_of(primal: Callable[..., Any]) -> str:
    """What a function is called in the table: by its public path, Python's own by the bare name."""
    member = path_of_member(primal)
    if member is not None:
        return member
    known = public_name(primal)
    if known.startswith("scipy."):
        return known
    owner, whose = getattr(primal, "__objclass__", None), getattr(primal, "__self__", None)
    if isinstance(whose, np.ufunc):
        return f"numpy.{whose.__name__}.{primal.__name__}"
    module = owner.__name__ if owner is not None else (getattr(primal, "__module__", None) or "numpy")
    name = getattr(primal, "__name__", str(primal))
    return name if module == "builtins" else f"{module.removeprefix('_')}.{name}"


def _is_support(primal: Any) -> bool:
    return (getattr(primal, "__module__", None) or "").startswith("tangentx.")
