"""Formatted values: texts that contain a value under differentiation, and numbers parsed from them.

A text has no derivative, and a number that is read from one would count as a constant: `float(str(x))` is `x`. So the
kind of a text says whether it contains such a value, and parsing a real or complex number from one is refused. What is
counted or compared (a length, a digit, a key) does not move with the value, and may be read as from any text.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentx.analysis.types.kinds import Box, Kind, Region, Some, is_inexact, varied
from tangentx.common.naming import public_name
from tangentx.errors import OF_TEXTS, NotDifferentiable, UnsupportedSyntax
from tangentx.ir import markers
from tangentx.ir.nodes import Atom, Expr

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker
    from tangentx.analysis.infer.program import Texts

_TEXTS = (str, bytes, bytearray)


def followed(
    w: Walker,
    fn: Any,
    args: tuple[Atom, ...],
    kwargs: tuple[tuple[str, Atom], ...],
    found: tuple[Expr, Kind],
    unknown: bool = False,
    told: bool = False,
) -> tuple[Expr, Kind]:
    """What an operation gives, marked where it is a text, or an object made of one, that tells of what varies; unknown
    code may put the numbers that it reads into containers, and its function itself may have been `told`. Raises
    NotDifferentiable for numbers read from such a text, and UnsupportedSyntax where nobody knows which text it is.
    """
    expr, kind = found
    if unknown:
        note_given(w, [w.read(a)[1] for a in args])
    if w.program.derived or (not isinstance(kind, Some | Box) and not is_inexact(kind)):
        return found
    if fn is markers.entry_key or fn is markers.entry_value:  # what they stand for was asked
        return found
    given = [w.read(a)[1] for a in (*args, *(a for _, a in kwargs))]
    told = told or any(map(tells, given))
    if is_inexact(kind) and any(map(_may_tell, given)):
        _note_read(w, fn)
    if told and (is_inexact(kind) or (unknown and _holds_numbers(kind))) and fn is not operator.getitem:
        raise read_from_text(w, public_name(fn))
    if isinstance(kind, Some) and (told or (kind.cls in _TEXTS and any(map(varied, given)))):
        return expr, replace(kind, tells=True)
    if told and isinstance(kind, Box):
        _mark(kind)
    return found


def note_given(w: Walker, given: Sequence[Kind]) -> None:
    """Notes that unknown code has been given a text that tells, which an object may hold from then on."""
    if not w.program.derived and any(tells(kind) or varied(kind) for kind in given):
        w.program.texts.given = True
        _demand_known(w, w.program.texts)


def _note_read(w: Walker, fn: Any) -> None:
    """Notes that a number is read from a text of which nobody knows where it is from."""
    w.program.texts.read = w.program.texts.read or (public_name(fn), w.span)
    _demand_known(w, w.program.texts)


def _demand_known(w: Walker, texts: Texts) -> None:
    if texts.given and texts.read is not None:
        name, span = texts.read
        message = f"cannot tell whether `{name}` reads a number from the text of a value that is differentiated"
        raise UnsupportedSyntax(message, span, OF_TEXTS)


def read_from_text(w: Walker, name: str) -> NotDifferentiable:
    """The error where a function reads a number from a text of what varies."""
    message = f"`{name}` reads a number from the text of a value that is differentiated: its derivative would be lost"
    return NotDifferentiable(message, w.span, OF_TEXTS)


def tells(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    """Whether a value is, or holds, a text that tells of what varies."""
    if isinstance(kind, Some):
        return kind.tells
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return False
    return any(tells(item, (*seen, node)) for item in (*node.fields.values(), node.elt))


def _may_tell(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    """Whether a value may be, or hold, a text of which nobody knows whether it tells."""
    if isinstance(kind, Some):
        return not kind.tells and (kind.cls is object or issubclass(kind.cls, _TEXTS))
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return False
    return any(_may_tell(item, (*seen, node)) for item in (*node.fields.values(), node.elt))


def _holds_numbers(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return is_inexact(kind)
    return any(_holds_numbers(item, (*seen, node)) for item in (*node.fields.values(), node.elt))


def _mark(kind: Box) -> None:
    """Marks the texts that stand in a container."""
    node = kind.region.root()
    for key, item in list(node.fields.items()):
        if isinstance(item, Some) and item.cls in _TEXTS:
            node.put(key, replace(item, tells=True))
    if isinstance(node.elt, Some) and node.elt.cls in _TEXTS:
        node.put_any(replace(node.elt, tells=True))
