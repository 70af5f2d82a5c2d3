"""Library functions that call the user's: run once as they are written, and differentiated by what they mean.

What such a call gives is a constant of the run (`ir.library_call_op`), handed with the arguments to the body that stands
for the call (`templates.solvers`). There an answer is *settled* at a step, a function of the program that is called
like others, but that each derivative calls again at the answer (`derive.checkpoint.calls`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentx import arrays, templates
from tangentx.analysis.infer import calls
from tangentx.analysis.infer.arguments import Named, bind
from tangentx.analysis.infer.constant_calls import kind_of
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external, items, value_class
from tangentx.analysis.infer.inlining import standin
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Box, Kind, Obj, Region, describe
from tangentx.common.naming import public_name
from tangentx.errors import NoTemplate, UnsupportedSyntax
from tangentx.ir.functions import BoundMethod, Closure, Partial, derived, function_of
from tangentx.ir.library_call_op import Callback, Given, LibraryCall, Part
from tangentx.ir.nodes import Apply, Assign, Atom, Block, Expr, Lit, Make, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.walker import Walker

SETTLED = "settled"
"""The note of a step, at which the first argument of a call is settled."""
MAKERS: dict[str, Any] = {}
"""What makes derivatives, by name: it lies above, and is handed down."""


def taken(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call of a library's function that has a body for it, or of what such a body is written in; else None."""
    if fn is arrays.settle:
        return _settled(w, args)
    if fn is arrays.slope_of:
        return _slope(w, args)
    if fn is arrays.gradient_of:
        return w.walk(Make(derived(MAKERS["grad"], (), ()), args))
    solver = templates.solver(fn)
    if solver is None:
        return None
    if any(isinstance(w.read(a)[1], Bottom) for a in (*args, *(a for _, a in kwargs))):
        return Lit(None), BOTTOM
    known = {name: kind.value for name, atom in kwargs if isinstance(kind := w.read(atom)[1], Obj)}
    if not solver.takes(len(args), [name for name, _ in kwargs]):
        name = public_name(fn)
        raise NoTemplate(f"`{name}` has no derivative for this call", w.span, f"give it {solver.parameters()}")
    form = solver.form if isinstance(solver.form, str) else solver.form(known)

    def build() -> Block:
        run = Op(arrays.as_written, (external(w, fn, fn.__name__), Lit(form), *args), kwargs)
        return (Assign(w.temporary(), run, w.span),)

    expanded(w, ("solver", fn, form), build)
    (run,) = w.instance.expansions[id(w.statement), ("solver", fn, form)]
    assert isinstance(run, Assign)
    return standin(w, solver.body, bind(w, w.program.library(solver.body), (Var(run.target), *args), kwargs))


def _settled(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """A call of a step, which is a function apart from itself."""
    step, x, *functions = args
    kind = w.read(step)[1]
    assert isinstance(kind, Obj)
    plain = w.program.library(kind.value)
    marked = w.program.locals.setdefault((SETTLED, id(plain)), replace(plain, notes={**plain.notes, SETTLED: True}))
    return calls.call(w, marked, None, (x, *functions))


def _slope(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """The derivative of a function by its first argument."""
    function, x, *given = args
    kind = w.read(x)[1]
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    maker = MAKERS["jacfwd" if hasattr(kind, "rank") else "grad"]

    def build() -> Block:
        made = w.temporary()
        return (
            Assign(made, Apply(external(w, maker, maker.__name__), (function,)), w.span),
            Assign(w.temporary(), Apply(Var(made), (x, *given)), w.span),
        )

    return expanded(w, ("slope", maker.__name__), build)


def as_written(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """The call of the library's function, closed: all that its functions have captured is among its atoms."""
    assert isinstance(args[1], Lit)
    form = str(args[1].value)
    atoms: list[Atom] = []
    given = tuple(_given(w, atom, atoms, args[0]) for atom in args[2:])
    named = tuple((name, _given(w, atom, atoms, args[0])) for name, atom in kwargs)
    callee = w.read(args[0])[1]
    assert isinstance(callee, Obj)
    key = (id(w.statement), "library call", given, named)
    call = w.instance.backs.setdefault(key, LibraryCall(callee.value, form, given, named))
    return Op(call, tuple(w.read(a)[0] for a in atoms)), kind_of(w, form, ("found", form))


def _given(w: Walker, atom: Atom, atoms: list[Atom], callee: Atom) -> Given:
    """An argument as the library is given it; its atoms are added to the others."""
    kind = w.read(atom)[1]
    cls = value_class(kind)
    if cls is None:
        _demand_plain(w, kind, callee, set())
        atoms.append(atom)
        return len(atoms) - 1
    count = len(kind.region.root().fields) if isinstance(kind, Box) else 0
    held = tuple(_given(w, each, atoms, callee) for each in items(w, atom, count))
    if issubclass(cls, Closure):
        return Callback(held, function=function_of(cls))
    if issubclass(cls, BoundMethod):
        return Callback(held, name=cls.name)
    if issubclass(cls, Partial):
        return Callback(held, names=cls.names)
    raise _refused(w, kind, callee)


def _demand_plain(w: Walker, kind: Kind, callee: Atom, seen: set[Region]) -> None:
    """Refuses a container with functions in it that were made in the program."""
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return
    if value_class(kind) is not None:
        raise _refused(w, kind, callee)
    seen.add(node)
    for item in (*node.fields.values(), node.elt):
        _demand_plain(w, item, callee, seen)


def _refused(w: Walker, kind: Kind, callee: Atom) -> UnsupportedSyntax:
    known = w.read(callee)[1]
    name = public_name(known.value) if isinstance(known, Obj) else "a solver"
    hint = "give it functions one by one, each written with `def` or `lambda`"
    return UnsupportedSyntax(f"`{name}` is given {describe(kind)}", w.span, hint)


def again(w: Walker, fn: LibraryCall | Part, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """The operation in a program that was analysed before."""
    read = [w.read(a) for a in args]
    if any(isinstance(k, Bottom) for _, k in read):
        return Lit(None), BOTTOM
    return Op(fn, tuple(a for a, _ in read)), kind_of(w, fn.form, ("found", fn.form))


def part(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """An attribute of what a library has found."""
    found, name, form = args
    assert isinstance(name, Lit) and isinstance(form, Lit)
    return again(w, Part(str(name.value), str(form.value)), (found,))


Written = Callable[["Walker", tuple[Atom, ...], Named], tuple[Expr, Kind]]
OPERATIONS: dict[Any, Written] = {arrays.as_written: as_written, arrays.part: part}
"""What bodies are written in, and gets a form of its own."""
