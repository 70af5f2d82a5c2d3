"""The simple statements to choose from, and calls of helpers."""

from __future__ import annotations

import ast

from .buffers import buffer, late
from .containers import use_dict, use_list, use_tuple
from .expressions import call, element
from .model import NUM, Draft, Routine
from .pythonic import SIMPLE as PYTHONIC
from .statements import (
    copy_kept,
    new_array,
    new_number,
    rebind_array,
    rebind_number,
    selected_away,
    shift,
    swap,
    write,
    write_alias,
    write_through,
    write_to,
)


def run_helper(d: Draft) -> None:
    """A helper called for what it writes or gives back."""
    if not (d.routines and d.calls):
        return write_alias(d)
    routine = d.pick(d.routines)
    text = call(d, routine)
    if not text:
        return write(d)
    if routine.result is None or d.chance(10):
        return d.emit(text, "procedure")
    if routine.result == NUM and routine.writes and d.chance(50):
        text = beside_a_read(d, routine, text)
    known = [e for e in d.of(routine.result) if not e.fixed and d.chance(40)]
    name = d.pick(known).name if known else d.fresh(routine.result.kind)
    d.emit(f"{name} = {text}", "rebound by a call" if known else "bound by a call")
    d.bind(name, routine.result, shared=routine.view)
    if routine.view and routine.result.kind == "arr" and d.chance(50):
        write_to(d, d.names[name])


def beside_a_read(d: Draft, routine: Routine, call: str) -> str:
    """The call of a writer together with an element, read before it or after it, of what it writes into."""
    tree, shape = ast.parse(call, mode="eval").body, routine.params[0].type.shape
    first = tree.args[0] if isinstance(tree, ast.Call) and tree.args else None
    if not shape or first is None or isinstance(first, ast.Starred):
        return call
    d.tag("call beside a read")
    called, read = f"np.sin({call})", f"{d.const()} * {element(d, ast.unparse(first), shape)}"
    return d.pick([f"{read} {d.pick(['+', '-', '*'])} {called}", f"{called} + {read}"])


CALM = [new_number, new_number, rebind_number, rebind_number, rebind_number, new_array, rebind_array, selected_away]
"""Statements that write into nothing."""
SIMPLE = (
    [new_number] * 2 + [rebind_number] * 4 + [new_array] * 2 + [rebind_array] * 2 + [swap, selected_away, copy_kept]
    + [write_alias] * 3 + [write_through] + [write] * 6 + [buffer] * 4 + [late] + [shift] + [use_list] * 3 + [use_dict] * 2 + [use_tuple]
    + [run_helper] * 5 + PYTHONIC
)  # fmt: skip
