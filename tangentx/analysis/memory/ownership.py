"""Ownership: who else may hold a reference to an array, and which arguments a library may overwrite."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentx import templates
from tangentx.analysis.types.kinds import Arr, Box, Kind
from tangentx.common.naming import public_name
from tangentx.errors import NotDifferentiable, Span, TangentxError
from tangentx.ir.nodes import Atom, Lit

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker
    from tangentx.analysis.types.kinds import Region


# Ownership: who else may hold a reference to an array.


def other_holder(w: Walker, target: str, kind: Arr, *, caller: bool = True) -> str:
    """Another name, or the caller, that may hold the array that `target` holds; empty where there is none."""
    node = kind.region.root()
    for (_, tag), definition in w.instance.definitions.items():
        if definition.round < w.program.round - 1 or definition.name.startswith("%"):
            continue
        passed = definition.name == target and tag == ("param", target)
        if (definition.name != target or (passed and caller)) and holds(definition.kind, node):
            return "the caller" if passed else f"`{definition.name}`"
    return ""


def holds(kind: Kind, region: Region, seen: tuple[Region, ...] = ()) -> bool:
    """Whether a value of the kind may be, or hold, memory of the region."""
    if not isinstance(kind, Arr | Box):
        return False
    node = kind.region.root()
    if node is region:
        return True
    if isinstance(kind, Arr) or node in seen:
        return False
    return any(holds(item, region, (*seen, node)) for item in (*node.fields.values(), node.elt))


# Arguments that a library's function may use as its own memory: ``solve(a, b, overwrite_b=True)``.
#
# What it leaves there is not defined. Derivatives give it a copy, which is another program where the argument is read
# afterwards, by any name: then it is refused. What holds such memory has no value from the call on, in the function
# that calls and in those that called it, until its name is bound again.

_HINT = "leave out `{option}`, or give a copy: `np.copy(...)`"


def overwritten(fn: Any, args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...]) -> list[tuple[str, Atom]]:
    """The options of a call that allow to overwrite, each with the argument that it speaks of."""
    named = dict(kwargs)
    found = []
    for option, place in templates.overwriting(fn).items():
        value = named.get(option, args[place] if place < len(args) else Lit(False))
        name, at = templates.spoken_of(fn, option)
        given = named.get(name, args[at] if at < len(args) else None)
        if not (isinstance(value, Lit) and not value.value) and given is not None:
            found.append((option, given))
    return found


def forget(w: Walker, fn: Any, given: list[tuple[str, Atom]]) -> None:
    """Takes their values from all names that may hold an argument which the call may have overwritten."""
    for option, atom in given:
        kind = w.read(atom)[1]
        if isinstance(kind, Arr | Box):
            what = f"`{public_name(fn)}` with `{option}`"
            forget_memory(w, kind.region.root(), what, option, w.span)


def forget_memory(w: Walker, node: Region, what: str, option: str, span: Span) -> None:
    """The same of memory that this function, or one that it calls, may have overwritten. Raises NotDifferentiable where
    it lies outside."""
    if node.external:
        message = f"{what} may overwrite an array from outside of the differentiated function"
        raise NotDifferentiable(message, span, _HINT.format(option=option))
    if node not in w.instance.overwritten:
        w.instance.overwritten[node] = (what, option, span)
        w.program.world.changed = True
    for name, definitions in (w.env or {}).items():
        if any(d is not None and holds(d.kind, node) for d in definitions):
            w.lose(name, _refusal(what, option, span))


def forget_of_callee(w: Walker, callee: Any) -> None:
    """The same of what a function that was called may have overwritten."""
    for node, (what, option, span) in list(callee.overwritten.items()):
        forget_memory(w, node.root(), what, option, span)


def _refusal(what: str, option: str, at: Span) -> Callable[[str, Span], TangentxError]:
    """The error of what is read after it may have been overwritten."""

    def refusal(name: str, span: Span) -> TangentxError:
        subject = "what is read here" if name.startswith("%") else f"`{name}`"
        message = f"{subject} may have been overwritten in line {at.line}, by {what}"
        return NotDifferentiable(message, span, _HINT.format(option=option))

    return refusal
