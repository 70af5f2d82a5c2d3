"""Functions as values: called, passed on, and taken for plain tuples when the analysis is done."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tangentx.analysis.kinds import Box, Kind
from tangentx.analysis.regions import Region
from tangentx.ir.functions import Closure, FunctionValue, Partial, function_of
from tangentx.ir.nodes import Assign, Atom, Block, Function, Index, Key, Lit, Make, Param, Var
from tangentx.ir.walk import bound, used
from tangentx.naming import Names

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker
    from tangentx.analysis.program import Instance, Program


def value_class(kind: Kind) -> type[FunctionValue] | None:
    """The class of a kind that is a function as a value."""
    return kind.cls if isinstance(kind, Box) and issubclass(kind.cls, FunctionValue) else None


def items(w: Walker, fn: Atom, count: int) -> tuple[Atom, ...]:
    """What a function value holds, each in a temporary."""
    tag = ("items", fn)

    def build() -> Block:
        return tuple(Assign(w.temporary(), Index(fn, Key((Lit(i),))), w.span) for i in range(count))

    w.expand(tag, build)
    taken = w.instance.expansions[id(w.statement), tag]
    return tuple(Var(s.target) for s in taken if isinstance(s, Assign))


def unfolded(w: Walker, source: Function, args: tuple[Atom, ...]) -> tuple[Function, tuple[Atom, ...], dict[int, Kind]]:
    """A call that is given functions: what they capture is passed in their place, one argument each.

    Gives the callee with parameters for that, the arguments, and the kinds of the functions by position.
    """
    kinds = {i: kind for i, arg in enumerate(args) if value_class(kind := w.read(arg)[1]) is not None}
    if not kinds:
        return source, args, {}
    given: list[Atom] = []
    for i, arg in enumerate(args):
        given.extend(items(w, arg, len(_fields(kinds[i]))) if i in kinds else (arg,))
    key = (id(source), tuple((i, value_class(kind)) for i, kind in kinds.items()))
    if key not in w.program.unfolded:
        w.program.unfolded[key] = (source, _unfolded(source, kinds))
    return w.program.unfolded[key][1], tuple(given), kinds


def _fields(kind: Kind) -> list[Kind]:
    assert isinstance(kind, Box)
    return list(kind.region.root().fields.values())


def _unfolded(source: Function, kinds: dict[int, Kind]) -> Function:
    """`source` with parameters for what its function parameters capture; it makes the functions again."""
    names = Names(bound(source.body) | used(source.body) | {param.name for param in source.params})
    params: list[Param] = []
    made: list[Assign] = []
    for i, param in enumerate(source.params):
        cls = value_class(kinds[i]) if i in kinds else None
        if cls is None:
            params.append(param)
            continue
        parts = [names.fresh(stem) for stem in _stems(cls, len(_fields(kinds[i])))]
        params.extend(Param(part) for part in parts)
        made.append(Assign(param.name, Make(cls, tuple(Var(part) for part in parts)), source.span))
    return replace(source, params=tuple(params), body=(*made, *source.body))


def _stems(cls: type[FunctionValue], count: int) -> list[str]:
    """Names for what a function value holds."""
    if issubclass(cls, Closure):
        return [param.name for param in function_of(cls).params[:count]]
    assert issubclass(cls, Partial)
    return ["fn", *(f"arg{i + 1}" for i in range(cls.positional)), *cls.names]


def same_memory(w: Walker, instance: Instance, source: Function, kinds: dict[int, Kind]) -> None:
    """The functions that a callee makes again are those that it was given: who holds one holds the other."""
    for made, kind in zip(source.body, kinds.values(), strict=False):
        region: Region = instance.regions.setdefault((id(made), "make", ()), w.program.world.region())
        assert isinstance(kind, Box)
        region.unite(kind.region)


def as_tuples(program: Program) -> None:
    """Function values are plain tuples from here on: their classes have done their work."""
    seen: set[Region] = set()

    def plain(kind: Kind) -> Kind:
        if not isinstance(kind, Box):
            return kind
        node = kind.region.root()
        if node not in seen:
            seen.add(node)
            node.fields = {key: plain(item) for key, item in node.fields.items()}
            node.elt = plain(node.elt)
        return Box(tuple, kind.region) if value_class(kind) is not None else kind

    for instance in program.reached():
        assert instance.link.function is not None
        kinds = {name: plain(kind) for name, kind in instance.kinds.items()}
        instance.kinds.update(kinds)
        instance.params = [plain(kind) for kind in instance.params]
        instance.result = plain(instance.result)
        instance.link.function.notes["kinds"].update(kinds)
