"""Global state: objects outside the arguments that the program writes to.

After a first analysis has shown which outside objects are written, every function that uses one of them, or calls
one that does, gets it as a further parameter. The derived root reads the objects at entry and works on them as the
program does; what its reverse sweep changes is its own (`optimise.privatise`). Where the reverse sweep may run later,
what it reads must be its own too: then all objects that the program reads become parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.address_map import Memory
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Region, World, covers, signature, varied, without_varied
from tangentx.analysis.types.samples import Valuer
from tangentx.arrays.memory import address, arrays_in
from tangentx.common.naming import Names
from tangentx.errors import NotResolved, SharedMemory
from tangentx.ir.functions import FunctionValue
from tangentx.ir.nodes import Atom, Block, Call, Ext, Function, Link, Param, Var
from tangentx.ir.rewrite import map_atoms, map_calls
from tangentx.ir.walk import statements

NOTE = "outside"


def written(program: Program) -> dict[int, Ext]:
    """The outside objects that the program writes, by identity."""
    found: dict[int, Ext] = {}
    for ext, kind in program.externals.values():
        if _is_written(kind, ()):
            found.setdefault(id(ext.value), ext)
    return found


def read(program: Program) -> dict[Any, Ext]:
    """The outside objects that the program reads or writes and that may change, or their names be bound anew."""
    found: dict[Any, Ext] = dict(written(program))
    for ext, kind in program.externals.values():
        number = isinstance(kind, Num) and kind.type is not bool
        box = isinstance(kind, Box) and not issubclass(kind.cls, FunctionValue)
        if number or box or isinstance(kind, Arr):
            found.setdefault(_key(ext, found), ext)
    return found


def _key(ext: Ext, objects: dict[Any, Ext]) -> Any:
    """What an object is known by: one that is written by itself, others by where they are found."""
    if id(ext.value) in objects:
        return id(ext.value)
    return (id(ext.home.__globals__), *ext.path) if ext.path[0] == "global" else ("at", id(ext))


def _is_written(kind: Kind, seen: tuple[Region, ...]) -> bool:
    if not isinstance(kind, Arr | Box) or kind.region.root() in seen:
        return False
    node = kind.region.root()
    inside = (*node.fields.values(), node.elt) if isinstance(kind, Box) else ()
    return node.written or any(_is_written(k, (*seen, node)) for k in inside)


def as_parameters(program: Program, root: Instance, objects: dict[Any, Ext]) -> Function:
    """The root with the objects as further parameters; its notes list them, in order."""
    instances = {i.link: i for i in program.reached()}
    needs = _needs(instances, objects)
    links = {link: Link(link.name) for link in instances}
    program.checkpoints.links.update((new, None) for old, new in links.items() if old in program.checkpoints.links)
    for link in instances:
        links[link].function = _rewritten(link, needs, links, objects)
    function = links[root.link].function
    assert function is not None
    return function


def kinds_of(program: Program, function: Function) -> list[Kind]:
    """The kinds of the objects that became parameters of the root."""
    valuer = Valuer(program.world, memory=Memory())
    return [valuer.kind(ext.value) for ext in function.notes[NOTE]]


def demand_as_derived(program: Program, objects: dict[Any, Ext]) -> None:
    """Refuses what a derivative inside reads of objects that the program writes, where they become of other kinds.

    The derivative was derived for what they hold before the program runs.
    """
    ours = {id(ext.value): (ext, kind) for ext, kind in program.externals.values() if id(ext.value) in objects}
    for inner in program.inside():
        for ext, kind in inner.externals.values():
            found, now = ours.get(id(ext.value), (ext, kind))
            if not covers(without_varied(signature(kind)), without_varied(signature(now))):
                message = f"a derivative is taken of a function that reads `{found.name}`, which then holds other kinds"
                hint = "pass it as an argument, or give it contents of these kinds before"
                known = (*inner.lifted.values(), *program.lifted.values())
                spans = (lifted.span for function, _, lifted in known if function is ext.home)
                raise NotResolved(message, next(spans, None), hint)


def demand_alike(program: Program, root: Instance) -> None:
    """Refuses memory that is written and varies, and that objects from outside show as elements of several kinds."""
    memory = Memory()
    valuer = Valuer(World(), memory=memory)
    written = list(root.link.function.notes[NOTE]) if root.link.function is not None else []
    for ext in written:
        valuer.kind(ext.value)
    varies = [kind for kind in root.params[len(root.params) - len(written) :] if varied(kind)]
    for _, arrays in memory.shared() if varies else ():
        first = arrays[0]
        if any(a.dtype != first.dtype or (address(a) - address(first)) % first.itemsize for a in arrays):
            names = " and ".join(f"`{ext.name}`" for ext in written if _holds(ext.value, arrays))
            raise SharedMemory(
                f"{names} share memory that the program writes, and show other elements in it",
                root.source.span,
                "give them one dtype, or copy one of them",
            )


def _holds(value: Any, arrays: Sequence[Any]) -> bool:
    return any(found is a for found in arrays_in(value) for a in arrays)


def _needs(instances: dict[Link, Instance], objects: dict[Any, Ext]) -> dict[Link, list[Any]]:
    """For each function the objects that it or a callee uses, to a fixed point."""
    needs: dict[Link, list[Any]] = {link: [] for link in instances}
    changed = True
    while changed:
        changed = False
        for link in instances:
            wanted = {key for key in objects if key in _used(link, needs, objects)}
            found = [key for key in objects if key in wanted]
            if found != needs[link]:
                needs[link] = found
                changed = True
    return needs


def _used(link: Link, needs: dict[Link, list[Any]], objects: dict[Any, Ext]) -> set[Any]:
    assert link.function is not None
    used: set[Any] = set()

    def note(atom: Atom) -> Atom:
        if isinstance(atom, Ext):
            used.add(_key(atom, objects))
        return atom

    for s in statements(link.function.body):
        call = getattr(s, "value", None)
        if isinstance(call, Call):
            used.update(needs.get(call.link, ()))
    map_atoms(link.function.body, note)
    return used


def _rewritten(link: Link, needs: dict[Link, list[Any]], links: dict[Link, Link], objects: dict[Any, Ext]) -> Function:
    function = link.function
    assert function is not None
    names = Names([*function.notes["kinds"], *(p.name for p in function.params)])
    here = {key: names.fresh(objects[key].name.rpartition(".")[2] or "state") for key in needs[link]}

    def atom(found: Atom) -> Atom:
        return Var(here[key]) if isinstance(found, Ext) and (key := _key(found, objects)) in here else found

    def call(found: Call) -> Call:
        return Call(links[found.link], (*found.args, *(Var(here[key]) for key in needs[found.link])))

    body: Block = map_calls(map_atoms(function.body, atom), call)
    notes: dict[str, Any] = {**function.notes, NOTE: tuple(objects[key] for key in needs[link])}
    return replace(function, params=(*function.params, *(Param(n) for n in here.values())), body=body, notes=notes)
