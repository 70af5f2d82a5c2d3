"""From arguments to a compiled entry: keys, kinds, guards, retries, and the plain text that runs first."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tangentx import arrays, templates
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.memory import global_writes
from tangentx.analysis.types.kind_copies import copy_kind
from tangentx.analysis.types.kinds import Bottom, Box, Kind, Num, Region, World, describe, holds_itself, is_elsewhere
from tangentx.analysis.types.samples import Valuer, fill
from tangentx.arrays.copies import fresh_copies
from tangentx.arrays.signatures import key, overlaps, storages
from tangentx.common.axes import Taken, axes_of, shapes_of
from tangentx.common.generated_text import Text, register
from tangentx.common.options import SETTINGS, is_checked, low_precision
from tangentx.common.pytrees import sample
from tangentx.compile import pipeline, transforms
from tangentx.compile.dependencies import guard_of, outside_data
from tangentx.compile.fallback import Otherwise, helped, on_tensors, otherwise
from tangentx.compile.observation import Call, begin, has_begun, observed_entry
from tangentx.derive.prologue import has_effects
from tangentx.dispatch.entries import Cache, Entry, Target, place_of, refuse_overlap
from tangentx.dispatch.guards import refuse_outside
from tangentx.dispatch.plain_sweeps import PlainSweep
from tangentx.dispatch.validation import demand_leaf, demand_real_scalar, writes_arguments
from tangentx.errors import NO_PROGRAM, NotDifferentiable, NotResolved, TangentxError
from tangentx.ir.nodes import Assign, Function, Op, Statement
from tangentx.ir.opaque_ops import LibraryCall
from tangentx.ir.walk import statements
from tangentx.optimise.facts.finite_values import among

if TYPE_CHECKING:
    from tangentx.compile.device_kernels import Kernels
    from tangentx.compile.jitted import Jit


# Gradients without guards, run first; what is not finite, or raises, is computed again with them.
#
# A product of a cotangent that is 0 with a slope that is infinite has to be 0, so it is guarded, which costs several
# times the product. Nearly no call meets such a slope. So the text that runs is the plain one (`unguarded_products`
# has the proof), in which NumPy raises where it would warn, and its results are looked at; only where something is
# amiss the program is run once more, by the text with guards, under the caller's own settings: its warnings and
# errors are those of the program. An entry that is amiss again and again begins with the guards.
#
# The program must be one that nobody can see run twice, in which nothing but our own rules is applied to cotangents:
#
# * no effects, draws, ``try`` or ``with np.errstate``, no calls of libraries that call back;
# * no rules of the user's, which need not be linear; no derivative inside, whose cotangents become values.

_OF_PYTHON = frozenset(("import math", "import cmath", "import operator"))
_GUARDS: frozenset[Any] = frozenset((
    arrays.guarded, arrays.over_root, arrays.careful_matmul, arrays.columns_outer, arrays.dot_left, arrays.dot_right,
    arrays.matmul_left, arrays.matmul_right, arrays.outer_left, arrays.outer_right,
))  # fmt: skip
"""In a program they are those of a derivative inside. Adjoints of products are among them: passes write them as
products, which have guards or none."""


def allowed(program: Program, root: Instance, spec: Any) -> bool:
    """Whether a gradient may do without guards first."""
    if spec.transform != "grad" or spec.guarded or spec.has_aux or spec.jit or low_precision() is not None:
        return False
    if has_effects(root) or program.on_tensors or any(map(is_elsewhere, root.params)):
        return False  # whether a result on a device is finite cannot be asked without a transfer
    return not any(s.span.around or _forbids(s) for s in _statements(program))


def is_linear(program: Program) -> bool:
    """Whether nothing but our own rules is applied to the cotangents of a program."""
    return not program.on_tensors and not any(map(_is_of_others, _statements(program)))


def _statements(program: Program) -> Iterator[Statement]:
    for instance in program.reached():
        yield from statements(instance.link.function.body) if instance.link.function is not None else ()


def _forbids(s: Statement) -> bool:
    return _is_of_others(s) or (isinstance(s, Assign) and isinstance(s.value, Op) and among(s.value.fn, _GUARDS))


def _is_of_others(s: Statement) -> bool:
    """Whether a statement calls what has a rule of the user's, or what calls back."""
    if not (isinstance(s, Assign) and isinstance(s.value, Op)):
        return False
    fn = s.value.fn
    template = templates.find(fn)
    return (
        isinstance(fn, LibraryCall) or templates.is_own(fn) or (template is not None and template.signature is not None)
    )


def is_loud(text: str, kinds: Sequence[Kind]) -> bool:
    """Whether NumPy has a part in a text, made for arguments of these kinds, so that it may warn: unless all is of
    Python, for libraries have NumPy's numbers too."""
    python = all(isinstance(kind, Num) and set(kind.exact) <= {float, int, bool} for kind in kinds)
    imports = {line for line in text.splitlines() if line.startswith(("import ", "from "))}
    return not python or not imports <= _OF_PYTHON


# From arguments to a compiled entry: keys, kinds, checks of the request, guards, retries.

Pairs: TypeAlias = tuple[tuple[int, int], ...]  # positions of storages that share memory


def entry(target: Target, cache: Cache, values: tuple[Any, ...], wrt: tuple[int, ...], spec: Any) -> Entry:
    """The compiled derivative for these arguments."""

    def again(values: tuple[Any, ...], spec: Any = spec) -> Entry:
        return entry(target, cache, values, wrt, spec)

    def make(pairs: Pairs) -> Entry:
        guarded = functools.partial(again, spec=replace(spec, guarded=True))
        return compile_gradient(target, values, wrt, spec, pairs, guarded)

    how, more = spec.transform, (spec.mode, spec.guarded)
    instead = otherwise(target, values, wrt, spec, how) if how in ("grad", "jacobian") else None
    return found_for(target, cache, values, wrt, more, make, instead, again)


def found_for(
    target: Target,
    cache: Cache,
    values: tuple[Any, ...],
    wrt: tuple[int, ...],
    more: Any,
    make: Callable[[Pairs], Entry],
    instead: Otherwise,
    again: Callable[[tuple[Any, ...]], Entry],
) -> Entry:
    """The entry for the kinds of `values` and what `more` says, made by `make` of the pairs of storages that share
    memory: they count only where the program writes. Where it cannot be compiled, `instead` makes another. `again` is
    to find the entry for other values later."""
    begin()
    call = Call(target, cache, values, wrt, again, instead is not None)

    def made(pairs: Pairs) -> Entry:
        entry = made_for(call, lambda: make(pairs), instead)
        entry.notes["samples"] = tuple(sample(value) for value in values)
        return _beside_reference(entry, lambda: make(pairs)) if is_checked() else entry

    plain: tuple[Any, ...] = (key(values), more, pipeline.switched_off())
    main = (*plain, *call.key())
    found = cache.find(main, lambda: made(()))
    if main != (observed := (*plain, *found.notes.get("forms", main[len(plain) :]))):
        main, cache.entries[observed] = observed, found
    main, remade, found = _for_lengths(cache, values, main, made, found)
    if found.writes and found.notes["outside"]:
        refuse_outside(found.notes["outside"], values, place_of(target.function))
    pairs = overlaps(values) if found.writes else ()
    if pairs:
        owners = [i for i, value in enumerate(values) for _ in storages(value)]
        names = [param.name for param in order(target, pipeline.new_program()).params]
        refuse_overlap(target, names, [(owners[i], owners[j]) for i, j in pairs], wrt)
        found = cache.find((main, pairs), lambda: remade(pairs))
    return found


def _beside_reference(entry: Entry, make: Callable[[], Entry]) -> Entry:
    """The entry in checked mode, which runs what `make` makes without any proof, too."""
    from tangentx.compile.checked_reference import checked

    def without_proofs() -> Entry:
        kept = "lengths" if entry.notes["axes"] is not None else ""  # then there is an entry for each answer
        with pipeline.proofs(off=[name for name in pipeline.PROOFS if name != kept]):
            return make()

    return checked(entry, without_proofs)


def _for_lengths(
    cache: Cache, values: tuple[Any, ...], main: tuple[Any, ...], made: Callable[[Pairs], Entry], found: Entry
) -> tuple[tuple[Any, ...], Callable[[Pairs], Entry], Entry]:
    """The key, the maker and the entry for arguments with these axes of length one, and with parts as long as these
    have, if that mattered to the entry that was found: its own, or the one that takes nothing of parts for granted."""
    axes, shapes = axes_of(values), shapes_of(values)
    if found.notes["axes"] is not None and found.notes["axes"] != axes:
        main = (*main, axes)
        found = cache.find(main, lambda: made(()))
    if not found.notes["taken"].fits(shapes):
        main = (*main, "parts", axes)
        found = cache.find(main, lambda: made(()))
        if not found.notes["taken"].holds(shapes):
            main, made = (*main, "any"), functools.partial(_of_any_parts, made)
            found = cache.find(main, lambda: made(()))
    return main, made, found


def _of_any_parts(make: Callable[[Pairs], Entry], pairs: Pairs) -> Entry:
    with pipeline.proofs(off=[*(pipeline.switched_off() - SETTINGS), "slices"]):
        return make(pairs)


def made_for(call: Call, make: Callable[[], Entry], instead: Otherwise) -> Entry:
    """The entry that `make` compiles; with calls on constants as they are where it cannot be compiled without."""
    error: TangentxError | None = None
    begun = has_begun(call)
    try:
        if call.cache.observing is None:
            return make()
    except NO_PROGRAM as found:
        error = found
    try:
        return observed_entry(call, make, error)
    except NO_PROGRAM:
        if begun or (instead is None and error is not None):
            raise
        return make() if instead is None else helped(make, instead)


def compile_gradient(
    target: Target,
    values: Sequence[Any],
    wrt: tuple[int, ...],
    spec: Any,
    pairs: tuple[tuple[int, int], ...],
    guarded: Callable[[tuple[Any, ...]], Entry],
) -> Entry:
    """Compiles the gradient for the kinds of `values`, of which `pairs` of storages share memory. Where its products
    lose their guards, `guarded` is to find the entry for the same values that has them."""
    program, second = pipeline.new_pair(values)
    root = analysed(target, program, kinds_of_arguments(target, program, values, pairs), wrt)
    if never_returns(target, root):
        return always_raises(target, root)
    reruns = allowed(program, root, spec)
    function = transforms.derived(program, root, wrt, spec)
    second.reruns = reruns
    again = kinds_of(second.world, values, pairs)
    again += [Num(float)] * (len(function.params) - len(again))  # the seed
    header = header_of(target, root, wrt, spec.transform)
    if "alone" in function.notes:
        header += f"\n{function.notes['alone']}"
    jit = jit_of(spec, target)
    functions, text, filename = pipeline.compile_functions(function, again, second, header, jit=jit)
    if second.unguarded:
        functions = (PlainSweep(functions[0], is_loud(text.source, root.params), guarded),)
    writes = writes_arguments(program)
    notes = noted(header, program, second) | transforms.sizes_wanted(root, wrt, spec)
    notes["jit"] = jit
    notes["value"] = 0 if spec.transform == "grad" and spec.value else None
    notes["seeded"] = spec.transform == "grad" and not spec.has_aux
    return Entry(functions, text, filename, guard_of((program, second), text), writes, notes)


def noted(header: str, program: Program, derived: Program) -> dict[str, Any]:
    """What an entry remembers beside its code: its header, the data from outside that the program uses, which axes of
    arguments have length one, where that matters, and which lengths made of theirs it takes not to be one."""
    axes = derived.axes.single if derived.axes.relied else None
    taken = Taken(tuple(derived.axes.taken), tuple(derived.axes.missed))
    found = {"signature": header, "outside": outside_data(program), "axes": axes, "taken": taken}
    if program.on_tensors or program.read_on_tensors:
        found["unkept"] = "a part of it runs on Tensors"
    return found | ({"reference": program.reference} if program.reference is not None else {})


def never_returns(target: Target, root: Instance) -> bool:
    """Whether nothing comes back from the function, so that what it raises is all that there is to tell."""
    return isinstance(root.result, Bottom) and (isinstance(target.function, types.FunctionType) or not target.owner)


def always_raises(target: Target, root: Instance) -> Entry:
    """The entry for a function that never returns for these kinds: it is run, for what it raises."""

    def run(*values: Any) -> Any:
        from tangentx.compile.checked_reference import called

        params = root.source.params[: len(root.source.params) - len(root.source.notes.get(global_writes.NOTE, ()))]
        called(target.function, params, *fresh_copies(*values[: len(params)]))  # tangents may follow
        demand_real_scalar(root, False)

    text = Text(f"# `{root.source.name}` never returns a value for arguments of these kinds.\n")
    return Entry(
        (run,),
        text,
        "<tangentx nothing>",
        lambda: False,
        False,
        {"signature": text.source, "outside": (), "axes": None, "taken": Taken()},
    )


def analysed(
    target: Target, program: Program, kinds: Sequence[Kind], wrt: tuple[int, ...], *, keeps: bool = False
) -> Instance:
    """The function for these kinds, differentiated with respect to `wrt`; `keeps` as in `pipeline.analyse`."""
    function = order(target, program)
    for i, kind in enumerate(kinds):
        plain = isinstance(kind, Box) and issubclass(kind.cls, list | tuple | dict)
        if (i in wrt or plain) and holds_itself(kind):
            message = f"`{function.params[i].name}` holds itself"
            raise NotDifferentiable(message, function.span, "pass the parts that are needed")
    varied = [fill(kind) if i in wrt else kind for i, kind in enumerate(kinds)]
    for i in wrt:
        demand_leaf(varied[i], function.params[i].name, function.span)
    if not isinstance(target.function, types.FunctionType):
        function = target.function.__tangentx_function__(program, varied)
    world, memo = World(), dict[Region, Region]()
    given = [copy_kind(kind, world, memo) for kind in varied]
    instance = pipeline.analyse(function, varied, program, keeps=keeps)
    instance.given = [fill(kind) if i in wrt else kind for i, kind in enumerate(given)]
    if is_checked() and low_precision() is None and not has_effects(instance):
        from tangentx.compile.checked_reference import reference

        users = [function for function, _, _ in program.lifted.values()]
        understood, linear = pipeline.understood(program, instance), is_linear(program)
        program.reference = reference(target, instance, understood, users, linear)
    return instance


def order(target: Target, program: Program) -> Function:
    """The function of the language whose parameters the arguments fill."""
    if isinstance(target.function, types.FunctionType):
        return program.lift(target.function)
    function, _ = target.function.__tangentx_order__(program)
    result: Function = function
    return result


def kinds_of_arguments(
    target: Target, program: Program, values: Sequence[Any], pairs: Sequence[tuple[int, int]]
) -> list[Kind]:
    """As `kinds_of`; what has no kind is refused by the name of its parameter."""
    function = order(target, program)
    for param, value in zip(function.params, values, strict=True):
        try:
            Valuer(World()).kind(value)
        except NotResolved as error:
            raise NotResolved(f"the argument `{param.name}`: {error.message}", function.span, error.hint) from None
    program.apart = not pairs
    return kinds_of(program.world, values, pairs)


def kinds_of(world: World, values: Sequence[Any], pairs: Sequence[tuple[int, int]] = ()) -> list[Kind]:
    """Kinds of arguments; regions of storages that share memory are united."""
    valuer = Valuer(world)
    kinds = [valuer.kind(value) for value in values]
    found = storages(tuple(values)) if pairs else []
    for i, j in pairs:
        a, b = valuer.known.get(id(found[i])), valuer.known.get(id(found[j]))
        if a is not None and b is not None:
            a.unite(b)
    return kinds


SHOWN_KEYS = 8
_TITLES = {
    "jacobian": "Jacobian",
    "jvp": "Tangent",
    "vjp": "Pullback",
    "linear": "Linear function",
    "elementwise": "Elementwise gradient",
    "vmap": "Batch",
    "primal": "Value",
}


def header_of(target: Target, root: Instance, wrt: tuple[int, ...], what: str = "grad") -> str:
    """What the text is, and the kinds that it was made for."""
    params = root.source.params
    kinds = [f"{p.name}: {_given(k)}" for p, k in zip(params, root.params, strict=True)]
    span = root.source.span
    file = span.file.rpartition("/")[2]
    names = ", ".join(f"`{params[i].name}`" for i in wrt)
    title = _TITLES.get(what, "Gradient")
    by = f" with respect to {names}" if wrt else ""
    first = f"{title} of `{root.source.name}` ({file}:{span.line}){by}, written by tangentx"
    low = low_precision()
    policy = () if low is None else (f"Products run in {low}, sums, powers and exponentials in float32 at least.",)
    return "\n".join((f"{first}\nfor {'; '.join(kinds)}.", *policy, *on_tensors()))


def _given(kind: Kind) -> str:
    """The kind of an argument, with what of its form the text was made for: keys, the length of a tuple."""
    if not (isinstance(kind, Box) and kind.cls in (dict, tuple)):
        return describe(kind)
    node = kind.region.root()
    keys = [key for key in node.fields if key in (node.always or ())]
    if kind.cls is tuple:
        return f"{describe(kind)} of {len(keys)}" if keys else describe(kind)
    shown = ", ".join(map(repr, keys[:SHOWN_KEYS])) + (", ..." if len(keys) > SHOWN_KEYS else "")
    return f"{describe(kind)} with keys {shown}" if keys else describe(kind)


def jit_of(spec: Any, target: Target, plain: Callable[..., Any] | None = None) -> Jit | Kernels | None:
    """How a derivative, or with `plain` the function itself, is to be compiled further; checked mode checks the Python
    that is generated."""
    if spec.jit in (None, False) or is_checked():
        return None
    if spec.jit == "cuda":
        from tangentx.compile.device_kernels import Kernels

        return Kernels(target.function, plain)
    from tangentx.compile.jitted import Jit

    return Jit(spec.jit, target.function, plain, spec.parallel)


def text_of(entry: Entry) -> str:
    """The text, entered in linecache again; of a derivative that is compiled further what is compiled."""
    register(entry.text, entry.filename)
    jit: Jit | Kernels | None = entry.notes.get("jit")
    source: str = entry.text.source
    return source if jit is None or jit.text is None else jit.text
