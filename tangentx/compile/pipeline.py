"""The stages in order: from a function and the kinds of its arguments to a derivative that runs.

A gradient is what most programs ask for, and loading the compiler takes most of the time of a process's first one: what
only other transforms and checked mode need is loaded when they ask for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer import constant_calls
from tangentx.analysis.infer.inference import Inference
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.infer.try_statements import demand_apart, demand_unread
from tangentx.analysis.memory import global_writes
from tangentx.analysis.types.kinds import Kind
from tangentx.backend.module_text import load, write
from tangentx.common import progress
from tangentx.common.axes import Axes, axes_of, shapes_of
from tangentx.common.generated_text import Text, filename_of
from tangentx.common.options import OFF, SETTINGS, is_checked
from tangentx.common.scoped_state import Lasting
from tangentx.derive.reverse.callee_pairs import Derivation
from tangentx.derive.reverse.gradient import Request, gradient, pullback
from tangentx.dispatch.tracebacks import told_where
from tangentx.frontend.approximate_lift import loosely
from tangentx.frontend.lift import lift
from tangentx.ir.check import check
from tangentx.ir.nodes import Assign, Call, Function
from tangentx.optimise.facts import dtype_exactness
from tangentx.optimise.facts.checked_facts import told
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.pipeline import PASSES, fits, optimise, optimised, prepare, shorten, straighten
from tangentx.optimise.privatise import private

PROOFS = (
    "trips",
    "again",
    "sparing",
    "present",
    "first",
    "inline",
    "results",
    "operands",
    "stacks",
    "apart",
    "lengths",
    "slices",
    "contents",
    "split",
    "continues",
    "unpacked",
    "shifts",
    "given",
    "repeats",
    *PASSES,
)

if TYPE_CHECKING:
    from tangentx.compile.device_kernels import Kernels
    from tangentx.compile.jitted import Jit
UNGUARDED = (
    "Products have no guards here: where a result is not finite, or NumPy would warn, the gradient is found again\n"
    "by the text that has them, that of `guarded=True`."
)


def proofs(off: str | Sequence[str] = ()) -> Lasting:
    """Switches proofs off while it lasts: names of passes, or "all"."""
    names = frozenset(PROOFS) if off == "all" else frozenset((off,) if isinstance(off, str) else off)
    unknown = names - frozenset(PROOFS)
    if unknown:
        raise ValueError(f"no such proof: {', '.join(sorted(unknown))}; there are {', '.join(PROOFS)}")
    return Lasting(OFF, lambda before: names | (before & SETTINGS))


def switched_off() -> frozenset[str]:
    """The proofs that are off here."""
    return OFF.get()


def analyse(function: Function, kinds: Sequence[Kind], program: Program, *, keeps: bool = False) -> Instance:
    """Kinds, memory, closed form. Raises located errors.

    `keeps`: a part of what is derived runs later, when what the program has read outside may be another.
    """
    if not program.derived:
        progress.at("reading", 0.02, f"`{function.name}`")
    instance = program.analyse(function, kinds)
    objects = global_writes.read(program) if keeps else global_writes.written(program)
    observing = None if program.derived else program.observing
    if observing is not None:
        constant_calls.demand_still(program)
        if observing.met and (written := global_writes.written(program)):
            constant_calls.refuse_outside(function, written)
    if objects and not program.derived:
        if (
            global_writes.written(program) and program.read_on_tensors
        ):  # a function on Tensors has no part in such writes
            raise program.read_on_tensors[0]
        global_writes.demand_as_derived(program, objects)
        function = global_writes.as_parameters(program, instance, objects)
        program.closed_to_outside = True
        instance = program.analyse(function, [*kinds, *global_writes.kinds_of(program, function)])
        global_writes.demand_alike(program, instance)
    demand_apart(program)
    demand_unread(program)
    assert instance.link.function is not None
    check(instance.link.function, closed=True)
    return instance


def again(derived: Function, kinds: Sequence[Kind], program: Program) -> Instance:
    """As `analyse`, for a program that we wrote."""
    progress.at("typing the derivative", 0.2)
    program.derived = True
    instance = analyse(derived, kinds, program)
    function = private(program, instance)
    return instance if function is None else analyse(function, kinds, program)


def derive_gradient(program: Program, instance: Instance, request: Request) -> Function:
    """Reverse mode; the result is a program of the same language."""
    progress.at("deriving", 0.15)
    prepare(program, instance, switched_off())
    straighten(program, switched_off())
    return gradient(_derivation(program, instance), instance, request)


def _derivation(program: Program, instance: Instance) -> Derivation:
    off = switched_off()
    told = (lambda: fits(program, instance, off)) if off.isdisjoint(("fits", "lengths")) else frozenset[tuple[int, str]]
    return Derivation(program, off, dtype_exactness.dtypes(program), told)


def derive_tangent(program: Program, instance: Instance, active: Sequence[int]) -> Function:
    """Forward mode."""
    progress.at("deriving", 0.15)
    prepare(program, instance, switched_off())
    from tangentx.derive.forward import tangent

    return tangent(program, instance, active)


def derive_pullback(program: Program, instance: Instance, wrt: tuple[int, ...]) -> Function:
    """Reverse mode in two functions, joined by one that calls both."""
    return derive_sweeps(program, instance, wrt)[2]


def derive_sweeps(program: Program, instance: Instance, wrt: tuple[int, ...]) -> tuple[Function, Function, Function]:
    """The two functions of reverse mode, and the one that calls both."""
    prepare(program, instance, switched_off())
    straighten(program, switched_off())
    return pullback(_derivation(program, instance), instance, wrt)


def derive_cut(program: Program, instance: Instance, wrt: tuple[int, ...]) -> Function:
    """Reverse mode as one function of the arguments and a cotangent, which `optimise` cuts in two."""
    return derive_gradient(program, instance, Request(wrt, many=True, value=True, seeded=True, cut=True))


def derive_seeded(program: Program, instance: Instance, wrt: tuple[int, ...]) -> Function:
    """Reverse mode of any result; the last parameter is its cotangent."""
    return derive_gradient(program, instance, Request(wrt, many=True, seeded=True))


def split_tangent(
    tangent: Function, kinds: Sequence[Kind], program: Program, moving: Sequence[int], names: tuple[str, str]
) -> Function:
    """What `split` makes of forward mode, tied together. Raises Unbatchable where it cannot, or is switched off."""
    from tangentx.analysis.batch.varying import Unbatchable
    from tangentx.derive.linearize.split import split, tied

    if "split" in switched_off():
        raise Unbatchable("it is switched off", tangent.span)
    root = shortened(tangent, kinds, program)
    return tied(*split(program, root, moving, names), root)


def compile_functions(
    derived: Function,
    kinds: Sequence[Kind],
    program: Program,
    header: str,
    skip: int = 0,
    count: int = 1,
    jit: Jit | Kernels | None = None,
) -> tuple[tuple[Any, ...], Text, str]:
    """Types the derived program again, shortens it, prints it and loads the text.

    The first `count` functions after those to `skip` are given back; what is skipped only ties the others together,
    which come in the order in which it calls them. With `jit` the first is compiled further.
    """
    root = again(derived, kinds, program)
    take, loops = (None, False) if jit is None else (jit.take, jit.loops)
    units = optimised(program, root, switched_off(), ties=skip > 0, whole=True, take=take, loops=loops)
    functions = [unit.function for unit in units]
    if skip:
        calls = [
            s.value.link.function for s in functions[0].body if isinstance(s, Assign) and isinstance(s.value, Call)
        ]
        functions[skip:] = sorted(functions[skip:], key=lambda f: calls.index(f) if f in calls else len(calls))
    taken = [program.axes.sentence([p.name for p in derived.params])] if program.axes.relied else []
    taken += [UNGUARDED] if program.unguarded else []
    shown = _with_claims(program, units, functions[skip:]) if is_checked() else functions[skip:]
    progress.at("writing", 0.9)
    text = write(shown, "\n".join((header, *taken)))
    filename = filename_of(derived.name)
    loaded = load(text, filename)
    found = tuple(loaded[name] for name in text.functions[:count])
    if jit is not None:
        found = (jit.entry(found[0]), *found[1:])
    if is_checked():
        from tangentx.arrays.claims import watched

        found = tuple(map(watched, found))
    return found, text, filename


def _with_claims(program: Program, units: Sequence[Unit], functions: Sequence[Function]) -> list[Function]:
    """The functions with assertions; where no pass has changed them, of all that the passes would go by."""
    from tangentx.analysis.infer.assertions import asserted

    untouched = switched_off().issuperset(PASSES)
    return asserted(functions, units, told(program, units) if untouched else None)


def understood(program: Program, root: Instance) -> Callable[..., Any]:
    """The program as the analysis understood it, as a function that asserts what is claimed."""
    from tangentx.analysis.infer.assertions import asserted
    from tangentx.arrays.claims import watched

    parts = program.reached()
    functions = [function for part in parts if (function := part.link.function) is not None]
    text = write(asserted(functions, parts), f"`{root.source.name}` as it was understood.")
    filename = filename_of(root.source.name)
    return told_where(watched(load(text, filename)[text.functions[0]]), text, filename)


def close(derived: Function, kinds: Sequence[Kind], program: Program) -> Function:
    """The derived program typed again and shortened, for a derivative of it."""
    root = again(derived, kinds, program)
    optimise(program, root, switched_off())
    assert root.link.function is not None
    return root.link.function


def shortened(derived: Function, kinds: Sequence[Kind], program: Program) -> Instance:
    """The derived program typed again and shortened as far as the kinds of its variables still hold."""
    root = again(derived, kinds, program)
    shorten(program, root, switched_off())
    return root


def new_program(axes: Axes | None = None) -> Program:
    """An empty program whose functions come from Python source; `axes` are those of its arguments."""
    return Inference(lift, axes, loosely)


def new_pair(values: Sequence[Any]) -> tuple[Program, Program]:
    """Two of them, for what is derived and for the derivative: both are for arguments with the lengths of `values`."""
    axes = Axes(axes_of(values), () if "slices" in switched_off() else shapes_of(values))
    return new_program(axes), new_program(axes)
