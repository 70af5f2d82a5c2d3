"""Library functions that call the user's: run once as written, differentiated by the implicit function theorem.

What such a call gives is a constant of the run (`ir.opaque_ops`), handed with the arguments to the body that
stands for the call (`templates.solver_table`). There an answer is *settled* at a step, a function of the program
that is called like others, but that each derivative calls again at the answer (`derive.checkpoint.calls`).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer import constant_calls
from tangentx.analysis.infer.arguments import Named, bind
from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.infer.constant_calls import kind_of
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external, items, value_class
from tangentx.analysis.infer.inlining import at_the_call, standin
from tangentx.analysis.infer.inner_derivatives import known_value, stand_in
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Bottom,
    Box,
    Either,
    Kind,
    Obj,
    Region,
    Some,
    describe,
    varied,
)
from tangentx.common.naming import public_name
from tangentx.common.options import MAKERS
from tangentx.errors import NotDifferentiable, NoTemplate, TangentxError, UnsupportedSyntax, is_library
from tangentx.ir import markers, nodes
from tangentx.ir.functions import BoundMethod, Closure, Derived, Partial, function_of
from tangentx.ir.nodes import Apply, Assign, Atom, Block, Expr, Function, Lit, Make, Op, Param, Var
from tangentx.ir.opaque_ops import Attempt, Callback, Given, LibraryCall, Part
from tangentx.ir.walk import statements, with_inner

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def taken(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call of a library's function that has a body for it, or of what such a body is written in; else None."""
    if fn is arrays.settle:
        return _settled(w, args)
    if fn is arrays.slope_of:
        return _slope(w, args)
    if fn is arrays.gradient_of:
        return _gradient(w, args[0])
    if fn is arrays.constant_option:
        return _demand_constant(w, args)
    solver = templates.solver(fn)
    if solver is None:
        return None
    kinds = [w.read(a)[1] for a in (*args, *(a for _, a in kwargs))]
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    if constant_calls.applies(w, fn, args, kwargs) and not any(_comes_to_data(kind, set()) for kind in kinds):
        return None  # what has no body may yet be called as it is
    if not solver.takes(len(args), [name for name, _ in kwargs]):
        name = public_name(fn)
        raise NoTemplate(f"`{name}` has no derivative for this call", w.span, f"give it {solver.parameters()}")
    source = w.program.library(solver.body)
    bound = dict(zip([p.name for p in source.params], bind(w, source, (Lit(None), *args), kwargs), strict=True))
    form = solver.form if isinstance(solver.form, str) else solver.form({n: _told(w, a) for n, a in bound.items()})
    kwargs = tuple({**dict(kwargs), **{name: Lit(value) for name, value in solver.also.items()}}.items())

    def build() -> Block:
        run = Op(arrays.as_written, (external(w, fn, fn.__name__), Lit(form), *args), kwargs)
        return (Assign(w.temporary(), run, w.span),)

    expanded(w, ("solver", fn, form), build)
    (run,) = w.instance.expansions[id(w.statement), ("solver", fn, form)]
    assert isinstance(run, Assign)
    bound[source.params[0].name] = Var(run.target)
    before = len(w.out)
    answer = standin(w, solver.body, tuple(bound.values()))
    if w.env is None and w.program.final:
        _demand_differentiable(w, before)
    return answer


def _comes_to_data(kind: Kind, seen: set[int]) -> bool:
    """Whether a value is a function that the program has made, or one that reads what a program may write into."""
    if not isinstance(kind, Obj):
        return isinstance(kind, Either | Some) or value_class(kind) is not None
    todo = [kind.value] if callable(kind.value) else []
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, types.ModuleType | types.BuiltinFunctionType | np.ufunc):
            continue
        seen.add(id(value))
        if not isinstance(value, types.FunctionType):
            return not isinstance(value, type | bool | int | float | str | None)
        if not is_library(value.__code__.co_filename):
            read = inspect.getclosurevars(value)
            todo += (*read.nonlocals.values(), *read.globals.values(), *(value.__defaults__ or ()))
    return False


def _demand_differentiable(w: Walker, start: int) -> None:
    """Refuses, at the call, what a body refuses by raising, whatever the arguments' values."""
    made = [s.value for s in w.out[start:] if isinstance(s, Assign) and isinstance(s.value, Op)]
    op = next((op for op in reversed(made) if op.fn is NotDifferentiable), None)
    if op is None:
        return
    message, hint = (str(a.value) for a in (*op.args, *(a for _, a in op.kwargs)) if isinstance(a, Lit))
    raise NotDifferentiable(message, w.span, hint)


def _told(w: Walker, atom: Atom) -> Any:
    """The value of an argument where it is known, else its kind."""
    kind = w.read(atom)[1]
    value = known_value(kind)
    return kind if value is MISSING else value


def _settled(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """A call of a step, which is a function apart from itself."""
    step, x, *functions = args
    kind = w.read(step)[1]
    assert isinstance(kind, Obj)
    source, given = _flat(w, w.program.library(kind.value), (x, *functions))
    try:
        return w.call(source, None, given)
    except TangentxError as error:
        raise at_the_call(error, kind.value, w.span) from None


def _flat(w: Walker, step: Function, args: tuple[Atom, ...]) -> tuple[Function, tuple[Atom, ...]]:
    """The step with parameters for the items of the tuples that it is given, and the arguments."""
    sizes = {i: len(node.fields) for i, atom in enumerate(args) if (node := _tuple(w.read(atom)[1])) is not None}
    key = (SETTLED, id(step), tuple(sizes.items()))
    if key not in w.program.locals:
        params: list[Param] = []
        made: list[Assign] = []
        for i, param in enumerate(step.params):
            names = [f"{param.name}_{k}" for k in range(sizes.get(i, 0))]
            params += [Param(name) for name in names] if i in sizes else [param]
            if i in sizes:
                made.append(Assign(param.name, Make(tuple, tuple(map(Var, names))), step.span))
        notes = {**step.notes, SETTLED: True}
        marked = replace(step, params=tuple(params), body=(*made, *step.body), notes=notes)
        w.program.locals[key] = (step, marked)
    given: list[Atom] = []
    for i, atom in enumerate(args):
        given += items(w, atom, sizes[i]) if i in sizes else (atom,)
    return w.program.locals[key][1], tuple(given)


def _tuple(kind: Kind) -> Region | None:
    """The items of a plain tuple."""
    node = kind.region.root() if isinstance(kind, Box) and kind.cls is tuple else None
    return None if node is None or node.open else node


def _slope(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """The derivative of a function by its first argument."""
    function, x, *given = args
    kind = w.read(x)[1]
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    maker = MAKERS["jacfwd" if hasattr(kind, "rank") else "grad"]
    function = _quiet(w, function)

    def build() -> Block:
        made = w.temporary()
        return (
            Assign(made, Apply(external(w, maker, maker.__name__), (function,)), w.span),
            Assign(w.temporary(), Apply(Var(made), (x, *given)), w.span),
        )

    return expanded(w, ("slope", maker.__name__), build)


def _quiet(w: Walker, function: Atom) -> Atom:
    """A function of which a derivative is taken, for a run that shows nothing."""
    kind = w.read(function)[1]
    known = kind.value if isinstance(kind, Obj) else None
    if isinstance(known, types.FunctionType):
        return external(w, stand_in(w, w.program.quiet(w.program.lift(known)), 0), known.__name__)
    cls = value_class(kind)
    if cls is not None and issubclass(cls, Closure | BoundMethod | Derived):
        return function

    def build() -> Block:
        return (Assign(w.temporary(), Apply(external(w, in_a_lambda, "in_a_lambda"), (function,)), w.span),)

    expanded(w, ("in a lambda", function), build)
    (made,) = w.instance.expansions[id(w.statement), ("in a lambda", function)]
    assert isinstance(made, Assign)
    return Var(made.target)


def in_a_lambda(function: Any) -> Any:
    """A function of which derivatives are taken, for an object that is called as one."""
    return lambda x, *args: function(x, *args)


def _demand_constant(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """Refuses what varies at an option of a solver, by which it has no derivative."""
    value, name = args
    expr, kind = w.read(value)
    if _any_varied(kind, set()):
        message = (
            f"{name.value if isinstance(name, Lit) else 'this'} varies here, by which the answer has no derivative"
        )
        raise NotDifferentiable(message, w.span, "hold it constant with tx.stop_gradient")
    return expr, kind


def _any_varied(kind: Kind, seen: set[Region]) -> bool:
    """Whether a value, or what it holds, varies."""
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return varied(kind)
    seen.add(node)
    return any(_any_varied(item, seen) for item in (*node.fields.values(), node.elt))


def _gradient(w: Walker, function: Atom) -> tuple[Expr, Kind]:
    """The function that gives the gradient of another."""
    function = _quiet(w, function)
    return w.walk(Apply(external(w, MAKERS["grad"], "grad"), (function,)))


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
    node = _tuple(kind)
    if node is not None:
        return tuple(_given(w, each, atoms, callee) for each in items(w, atom, len(node.fields)))
    if cls is None:
        _demand_plain(w, kind, callee, set())
        atoms.append(atom)
        return len(atoms) - 1
    count = len(kind.region.root().fields) if isinstance(kind, Box) else 0
    held = tuple(_given(w, each, atoms, callee) for each in items(w, atom, count))
    if issubclass(cls, Closure):
        _demand_printed(w, function_of(cls))
        return _closure(function_of(cls), held)
    if issubclass(cls, BoundMethod):
        return Callback(held, name=cls.name)
    if issubclass(cls, Partial):
        return Callback(held, names=cls.names)
    raise _refused(w, kind, callee)


_UNPRINTED = (nodes.is_sequence, nodes.is_mapping, nodes.deleted, markers.column, markers.without)


def _demand_printed(w: Walker, function: Function) -> None:
    """Refuses a function whose text is not written as Python's own."""
    every = (s for each in with_inner(function) for s in statements(each.body))
    for s in every:
        op = s.value if isinstance(s, Assign) else None
        if isinstance(op, Op) and (isinstance(op.fn, Attempt) or any(op.fn is marker for marker in _UNPRINTED)):
            message = "this statement, in a function that captures something and is handed to a library,"
            hint = "define the function at the top of the module, and pass it what it needs"
            raise UnsupportedSyntax(f"{message} is not differentiated", s.span, hint)


def _closure(function: Function, held: tuple[Given, ...]) -> Callback:
    """A function with what it captured; defaults that were computed where it was defined are given by name."""
    captured = dict(zip((p.name for p in function.params), held, strict=False))
    own = {p.name: p.default for p in function.params[len(held) :]}
    named = {name: captured[d.name] for name, d in own.items() if isinstance(d, Var)}
    return Callback((*held, *named.values()), function, names=tuple(named))


def _demand_plain(w: Walker, kind: Kind, callee: Atom, seen: set[Region]) -> None:
    """Refuses a container with functions in it that were made in the program."""
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return
    if value_class(kind) is not None:
        raise _refused(w, kind, callee, " in a list or a dict" if seen else "")
    seen.add(node)
    for item in (*node.fields.values(), node.elt):
        _demand_plain(w, item, callee, seen)


def _refused(w: Walker, kind: Kind, callee: Atom, where: str = "") -> UnsupportedSyntax:
    known = w.read(callee)[1]
    name = public_name(known.value) if isinstance(known, Obj) else "a solver"
    hint = "give it one function, written with `def` or `lambda`, that calls what it has to"
    if issubclass(value_class(kind) or tuple, Derived):
        hint = "define the function of which it is at the top of the module, and pass that what it needs by `args=`"
    if where and name == "scipy.optimize.minimize":
        hint = "minima with `constraints` have no derivative: solve the conditions of Karush, Kuhn and Tucker with "
        hint += "scipy.optimize.root, or give `bounds` alone"
    return UnsupportedSyntax(f"`{name}` is given {describe(kind)}{where}", w.span, hint)


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
OPERATIONS: dict[Any, Written] = {arrays.as_written: as_written, arrays.found_part: part}
"""What bodies are written in, and gets a form of its own."""
