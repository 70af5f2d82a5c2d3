"""The simple statements to choose from, and calls of helpers."""

from __future__ import annotations

import ast

from . import classes, complexes, stores, whole
from .buffers import buffer, late
from .containers import use_dict, use_list, use_tuple
from .expressions import array, call, element, num_leaf
from .model import NUM, Draft, Param, Routine
from .places import place
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
    return use_helper(d, d.pick(d.routines))


def use_helper(d: Draft, routine: Routine) -> None:
    for param in routine.params:
        given(d, param)
    text = call(d, routine)
    if not text:
        return new_number(d) if d.calm else write(d)
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


def given(d: Draft, param: Param) -> None:
    """Something of a container's type, where the parameter is one and the scope has none."""
    if d.of(param.type) or param.type.kind not in ("list", "dict"):
        return
    name = d.fresh(param.type.kind)
    if param.type.kind == "list":
        item = param.type.item or NUM
        one = num_leaf(d) if item == NUM else d.pick([place(d, item.shape), array(d, item.shape, 1)])
        text = f"[{one}]"
    else:
        items = [(key, num_leaf(d) if type_ == NUM else array(d, type_.shape, 0)) for key, type_ in param.type.fields]
        text = "{" + ", ".join(f'"{key}": {item}' for key, item in items) + "}"
    d.share(*(entry.name for entry in d.entries("arr")))
    d.emit(f"{name} = {text}")
    d.bind(name, param.type)


def beside_a_read(d: Draft, routine: Routine, call: str) -> str:
    """The call of a writer together with an element, read before it or after it, of what it writes into."""
    tree, shape = ast.parse(call, mode="eval").body, routine.params[0].type.shape
    first = tree.args[0] if isinstance(tree, ast.Call) and tree.args else None
    if not shape or first is None or isinstance(first, ast.Starred):
        return call
    d.tag("call beside a read")
    called, read = f"np.sin({call})", f"{d.const()} * {element(d, ast.unparse(first), shape)}"
    return d.pick([f"{read} {d.pick(['+', '-', '*'])} {called}", f"{called} + {read}"])


def stored(d: Draft) -> None:
    d.pick(stores.FORMS)(d)


def counted(d: Draft) -> None:
    d.pick(whole.FORMS)(d)


def objects(d: Draft) -> None:
    """What a program with a class does, and one without it does otherwise."""
    if not d.records:
        return write_alias(d)
    d.pick(classes.FORMS)(d)


def waves(d: Draft) -> None:
    """Complex numbers and arrays, more where there are some."""
    if not d.entries("complex"):
        return complexes.story(d) if d.chance(40) else write_alias(d)
    d.pick(complexes.FORMS)(d)


CALM = [new_number, new_number, rebind_number, rebind_number, rebind_number, new_array, rebind_array, selected_away]
"""Statements that write into nothing."""
SIMPLE = (
    [new_number] * 2 + [rebind_number] * 4 + [new_array] * 2 + [rebind_array] * 2 + [swap, selected_away]
    + [copy_kept] + [write_alias] * 3 + [write_through] + [write] * 6 + [buffer] * 4 + [late] + [shift]
    + [use_list] * 3 + [use_dict] * 2 + [use_tuple]
    + [run_helper] * 5 + PYTHONIC + [stored] * 3 + [counted] + [objects] * 2 + [waves] * 2
)  # fmt: skip
