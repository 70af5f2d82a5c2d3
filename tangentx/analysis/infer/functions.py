"""Functions as values: called, passed along, chosen among, and lowered to plain tuples at the end."""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentx import templates
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.program import Definition
from tangentx.analysis.types.kinds import BOTTOM, FUNCTIONS, Bottom, Box, Kind, Num, Obj, Region, Top, describe
from tangentx.common.naming import Names
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.functions import (
    BoundMethod,
    Chosen,
    Closure,
    Derived,
    Frozen,
    FunctionValue,
    Partial,
    chosen,
    function_of,
)
from tangentx.ir.nodes import Apply, Assign, Atom, Block, Expr, Ext, Function, If, Index, Key, Lit, Make, Op, Param, Var
from tangentx.ir.walk import bound, used

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker
    from tangentx.analysis.infer.program import Instance, Program


# Functions as values: called, passed along, and lowered to plain tuples once the analysis is done.


def external(w: Walker, value: Any, tag: str) -> Ext:
    """An object that the program has come upon, as an outside object."""
    key = (id(value), "object", tag)
    backs = w.program.__dict__.setdefault("objects", {})
    if key not in backs:
        backs[key] = Ext(tag, value, ("object",), value)
    result: Ext = backs[key]
    return result


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
    if issubclass(cls, BoundMethod):
        return ["owner"]
    if issubclass(cls, Chosen):
        return ["which", *(f"option{i + 1}" for i in range(cls.options))]
    if issubclass(cls, Derived):
        return ["function"]
    assert issubclass(cls, Partial)
    if issubclass(cls, Frozen):
        return [*(f"parameter{i + 1}" for i in range(cls.positional)), *cls.names]
    return ["fn", *(f"arg{i + 1}" for i in range(cls.positional)), *cls.names]


def same_memory(w: Walker, instance: Instance, source: Function, kinds: dict[int, Kind]) -> None:
    """The functions that a callee makes again are those that it was given: who holds one holds the other."""
    for made, kind in zip(source.body, kinds.values(), strict=False):
        region: Region = instance.regions.setdefault((id(made), "make", ()), w.program.world.region())
        assert isinstance(kind, Box)
        region.unite(kind.region)


def as_operand(w: Walker, fn: Any, kinds: list[Kind]) -> tuple[Expr, Kind]:
    """What an operation gives for functions, where that is known. Raises UnsupportedSyntax where it is not."""
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    answer: bool | None = None
    if fn in (builtins.callable, builtins.bool, operator.truth, operator.not_):
        answer = fn is not operator.not_
    elif fn in (operator.is_, operator.eq, operator.is_not, operator.ne) and not _may_be_one(*kinds):
        answer = fn in (operator.is_not, operator.ne)
    elif fn is builtins.isinstance and isinstance(kinds[1], Obj) and isinstance(kinds[1].value, type):
        cls = value_class(kinds[0])
        if not issubclass(cls or tuple, Chosen):
            answer = cls is not None and issubclass(cls.python, kinds[1].value)
    if answer is not None:
        return Lit(answer), Num(bool, value=answer)
    found = next(kind for kind in kinds if value_class(kind))
    if templates.is_own(fn):
        raise UnsupportedSyntax(
            f"{describe(found)} is made while the program runs, and is passed to the primitive `{fn.__name__}`",
            w.span,
            "pass a function that is defined at the top of the module, and captures nothing",
        )
    raise UnsupportedSyntax(
        f"{describe(found)} is an operand of `{getattr(fn, '__name__', fn)}`",
        w.span,
        "call it, pass it to a function of yours, or keep it in a tuple, a list or a dict",
    )


def _may_be_one(a: Kind, b: Kind) -> bool:
    """Whether the two may be one object."""
    classes = (value_class(a), value_class(b))
    return classes[0] is classes[1] or any(
        isinstance(kind, Top) or issubclass(cls or tuple, Chosen) for kind, cls in zip((a, b), classes, strict=True)
    )


def as_tuples(program: Program, root: Instance) -> None:
    """Function values are plain tuples from here on: their classes have done their work.

    Raises UnsupportedSyntax where one would leave the program.
    """
    outside = [root.result, *(kind for _, kind in program.externals.values())]
    for kind in outside:
        found = _held(kind, set())
        if found is not None:
            raise UnsupportedSyntax(
                f"{describe(found)} leaves the program: it is in the result, or in an object from outside",
                root.source.span,
                "call it inside, and return what it gives",
            )
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


def _held(kind: Kind, seen: set[Region]) -> Kind | None:
    """The first function value that a value of the kind is or holds."""
    if not isinstance(kind, Box) or kind.region.root() in seen:
        return None
    if value_class(kind) is not None:
        return kind
    node = kind.region.root()
    seen.add(node)
    inside = (_held(item, seen) for item in (*node.fields.values(), node.elt))
    return next((found for found in inside if found is not None), None)


# Choices among functions without a common kind, by defunctionalisation: a number selects, and calls branch on it.


def _option(kind: Kind) -> Any:
    """What tells functions of a kind from others; None for what is no function."""
    known = isinstance(kind, Obj) and isinstance(kind.value, FUNCTIONS)
    return kind.value if isinstance(kind, Obj) and known else value_class(kind)


def choose(w: Walker, definitions: list[Definition]) -> bool:
    """Whether a name may mean one of several functions of which one captures something; from the next round on its
    definitions bind a choice. A parameter cannot."""
    if len(definitions) < 2 or _option(definitions[0].kind) is None:
        return False
    options = [_option(d.kind) for d in definitions]
    different = [o for i, o in enumerate(options) if o not in options[:i]]
    if len(different) < 2 or None in options or not any(value_class(d.kind) for d in definitions):
        return False
    if any(issubclass(value_class(d.kind) or tuple, Chosen) for d in definitions):
        return False  # a choice among choices may go on for ever
    places = [key for d in definitions for key, known in w.instance.definitions.items() if known is d]
    if any(isinstance(tag, tuple) for _, tag in places):
        return False
    cls = chosen(tuple(different))
    for definition, option in zip(definitions, options, strict=True):
        definition.choice = (cls, different.index(option))
    w.program.world.changed = True
    return True


def as_chosen(w: Walker, s: Assign, cls: type[Chosen], place: int) -> None:
    """The assignment, of the function in its place among the others."""

    def build() -> Block:
        value = w.temporary()
        held = [w.temporary() for _ in range(cls.options)]
        lists = [Assign(t, Make(list, (Var(value),) if i == place else ()), s.span) for i, t in enumerate(held)]
        made = Make(cls, (Lit(place), *map(Var, held)))
        return (Assign(value, s.value, s.span), *lists, Assign(s.target, made, s.span))

    w.expand(("chosen", cls, place), build)


def call_chosen(w: Walker, cls: type[Chosen], expr: Apply) -> tuple[Expr, Kind]:
    """A call of a choice."""

    def build() -> Block:
        result, number = w.temporary(), w.temporary()
        block: Block = ()
        for place in reversed(range(cls.options)):
            held, fn, test = w.temporary(), w.temporary(), w.temporary()
            called: Block = (
                Assign(held, Index(expr.fn, Key((Lit(place + 1),))), w.span),
                Assign(fn, Index(Var(held), Key((Lit(0),))), w.span),
                Assign(result, replace(expr, fn=Var(fn)), w.span),
            )
            asked = Assign(test, Op(operator.eq, (Var(number), Lit(place))), w.span)
            block = (asked, If(Var(test), called, block, w.span)) if block else called
        first = Assign(number, Index(expr.fn, Key((Lit(0),))), w.span)
        return (first, *block, Assign(w.temporary(), Var(result), w.span))

    return expanded(w, ("chosen", cls), build)
