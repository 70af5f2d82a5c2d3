"""From arguments to compiled entries: keys, kinds, checks of what was asked, guards, nesting."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tangentx import pipeline
from tangentx.analysis.keys import key, overlaps, storages
from tangentx.analysis.kinds import Arr, Bottom, Box, Kind, Num, Region, World, describe, is_inexact, signature
from tangentx.analysis.program import Instance, Program
from tangentx.analysis.values import Valuer, fill
from tangentx.backend.load import register
from tangentx.derivative import Cache, Entry, Target, refuse_overlap
from tangentx.derive.pairs import Request
from tangentx.errors import NotDifferentiable, NotResolved
from tangentx.frontend import resolve
from tangentx.ir.nodes import Assign, Ext, Function, Lit
from tangentx.ir.walk import exts


def entry(target: Target, cache: Cache, values: tuple[Any, ...], wrt: tuple[int, ...], spec: Any) -> Entry:
    """The compiled derivative for these arguments; how they share memory counts only where the program writes."""
    main = (key(values), pipeline.switched_off())
    found = cache.find(main, lambda: compile_gradient(target, values, wrt, spec, ()))
    if found.writes:
        pairs = overlaps(values)
        if pairs:
            refuse_overlap(pairs, storages(values), [s for i in wrt for s in storages(values[i])])
            found = cache.find((main, pairs), lambda: compile_gradient(target, values, wrt, spec, pairs))
    return found


def compile_gradient(
    target: Target, values: Sequence[Any], wrt: tuple[int, ...], spec: Any, pairs: tuple[tuple[int, int], ...]
) -> Entry:
    """Compiles the gradient for the kinds of `values`, of which `pairs` of storages share memory."""
    program = pipeline.new_program()
    kinds = kinds_of(program.world, values, pairs)
    root = analysed(target, program, kinds, wrt)
    many = isinstance(spec.wrt, tuple)
    demand_real_scalar(root, spec.has_aux)
    request = Request(wrt, many, spec.value, spec.has_aux)
    derived = pipeline.derive_gradient(program, root, request)
    second = pipeline.new_program()
    again = [*kinds_of(second.world, values, pairs), Num(float)]
    header = header_of(target, root, wrt)
    functions, text, filename = pipeline.compile_functions(derived, again, second, header)
    writes = any(_written(kind) for kind in root.params)
    return Entry(functions, text, filename, (*guards(program), *guards(second)), writes, {"signature": header})


def analysed(target: Target, program: Program, kinds: Sequence[Kind], wrt: tuple[int, ...]) -> Instance:
    """The function for these kinds, differentiated with respect to `wrt`."""
    function = order(target, program)
    varied = [fill(kind) if i in wrt else kind for i, kind in enumerate(kinds)]
    for i in wrt:
        _demand_leaf(varied[i], function.params[i].name)
    if not isinstance(target.function, types.FunctionType):
        function = target.function.__tangentx_function__(program, varied)
    return pipeline.analyse(function, varied, program)


def order(target: Target, program: Program) -> Function:
    """The function of the language whose parameters the arguments fill."""
    if isinstance(target.function, types.FunctionType):
        return program.lift(target.function)
    function, _ = target.function.__tangentx_order__(program)
    result: Function = function
    return result


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


def _demand_leaf(kind: Kind, name: str) -> None:
    if not _has_leaf(kind, ()):
        raise NotDifferentiable(
            f"`{name}` is {describe(kind)}: it has no real or complex number in it, so there is no derivative",
            hint=f"pass a float (`float({name})`), or choose another parameter with wrt",
        )


def _has_leaf(kind: Kind, seen: tuple[Region, ...]) -> bool:
    if isinstance(kind, Box):
        node = kind.region.root()
        empty = kind.cls is list and not node.fields and isinstance(node.elt, Bottom)
        inside = (*node.fields.values(), node.elt)
        return empty or (node not in seen and any(_has_leaf(k, (*seen, node)) for k in inside))
    return is_inexact(kind)


def demand_real_scalar(root: Instance, has_aux: bool) -> None:
    """Refuses a result that has no gradient."""
    kind = root.result
    span = root.source.span
    if has_aux:
        pair = isinstance(kind, Box) and kind.cls is tuple and len(kind.region.root().fields) == 2
        if not pair:
            raise NotDifferentiable(f"has_aux wants (value, extras), but the result is {describe(kind)}", span, "return both")
        assert isinstance(kind, Box)
        kind = kind.region.get(0)
    if isinstance(kind, Bottom):
        raise NotDifferentiable("this function never returns a value", span, "return a real number")
    if isinstance(kind, Arr) and kind.rank not in (0, None):
        raise NotDifferentiable(
            f"the gradient is of a real number, but the result is {describe(kind)}",
            span,
            "return a sum of it, one of its elements (`result[0]`), or take tx.vjp",
        )
    if isinstance(kind, Num | Arr) and is_inexact(kind) and not _is_complex(kind):
        return
    if isinstance(kind, Num | Arr) and _is_complex(kind):
        raise NotDifferentiable("the result is complex, and only a real one has a gradient", span, "return abs(z)**2")
    hint = "return a real number, such as a float" if not isinstance(kind, Box) else "return one number, or use has_aux"
    raise NotDifferentiable(f"the gradient is of a real number, but the result is {describe(kind)}", span, hint)


def _is_complex(kind: Num | Arr) -> bool:
    return kind.dtype.kind == "c" if isinstance(kind, Arr) else issubclass(kind.type, complex) or "complex" in kind.type.__name__


def _written(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    if not isinstance(kind, Arr | Box) or kind.region.root() in seen:
        return False
    node = kind.region.root()
    inside = (*node.fields.values(), node.elt) if isinstance(kind, Box) else ()
    return node.written or any(_written(k, (*seen, node)) for k in inside)


def guards(program: Program) -> tuple[Callable[[], bool], ...]:
    """Whether the functions and outside objects that were read are still the same."""
    found: list[Callable[[], bool]] = []
    for function, code, lifted in program.lifted.values():
        found.append(lambda f=function, c=code, d=function.__defaults__: f.__code__ is c and f.__defaults__ is d)
        if not function.__module__.startswith("tangentx."):
            found.extend(_guard(ext) for ext in exts(lifted))
    for _, inner in program.nested.values():
        found.extend(guards(inner))
    return tuple(found)


def _guard(ext: Ext) -> Callable[[], bool]:
    whole = callable(ext.value) or isinstance(ext.value, types.ModuleType)
    wanted = None if whole else key(ext.value)

    def same() -> bool:
        try:
            now = resolve.current(ext)
        except NotResolved:
            return False
        return now is ext.value or (not whole and key(now) == wanted)

    return same


def copy_kind(kind: Kind, world: World, memo: dict[Region, Region]) -> Kind:
    """The kind in another world: same structure and aliases, nothing varied, nothing written yet."""
    if isinstance(kind, Num):
        return Num(kind.type, False, kind.value)
    if not isinstance(kind, Arr | Box):
        return kind
    node = kind.region.root()
    known = node in memo
    if not known:
        memo[node] = world.region()
    if isinstance(kind, Arr):
        return Arr(kind.dtype, kind.rank, memo[node], kind.loose)
    if not known:
        memo[node].open = node.open
        for name, item in node.fields.items():
            memo[node].fields[name] = copy_kind(item, world, memo)
        memo[node].elt = copy_kind(node.elt, world, memo)
    return Box(kind.cls, memo[node])


def nested(derivative: Any, target: Target, program: Program, kinds: Sequence[Kind], wrt: tuple[int, ...], spec: Any) -> Function:
    """The derived function for these kinds, in closed form, as a callee of `program`."""
    memo_key = (derivative, tuple(_plain(signature(k)) for k in kinds))
    if memo_key not in program.nested:
        inner, again = pipeline.new_program(), pipeline.new_program()
        memo: dict[Region, Region] = {}
        root = analysed(target, inner, [copy_kind(k, inner.world, memo) for k in kinds], wrt)
        demand_real_scalar(root, spec.has_aux)
        request = Request(wrt, isinstance(spec.wrt, tuple), spec.value, spec.has_aux)
        derived = pipeline.derive_gradient(inner, root, request)
        memo = {}
        closed = pipeline.close(_seeded(derived), [copy_kind(k, again.world, memo) for k in kinds], again)
        again.nested.update({("inner", memo_key): (closed, inner)})
        program.nested[memo_key] = (closed, again)
    return program.nested[memo_key][0]


def _seeded(derived: Function) -> Function:
    """The gradient function with its seed fixed at one."""
    seed = Assign(derived.params[-1].name, Lit(1.0), derived.span)
    return replace(derived, params=derived.params[:-1], body=(seed, *derived.body))


def _plain(found: Any) -> Any:
    """A signature without what varies."""
    if isinstance(found, tuple):
        if found and found[0] == "num":
            return ("num", found[1], found[3])
        if found and found[0] == "arr":
            return found[:4]
        return tuple(_plain(item) for item in found)
    return found


def predicted(target: Target, cache: Cache, binder: Any, wrt: tuple[int, ...], spec: Any) -> Entry:
    """The entry for the kinds that annotations and defaults predict; a bare parameter counts as a float."""
    values = tuple(_predict(p) for p in binder.signature.parameters.values())
    return entry(target, cache, values, wrt, spec)


def _predict(param: inspect.Parameter) -> Any:
    import numpy as np

    if param.default is not inspect.Parameter.empty:
        return param.default
    samples = {"int": 1, "float": 1.0, "complex": 1j, "bool": True, "str": "", "ndarray": np.ones(1)}
    annotation = param.annotation
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return samples.get(name.rpartition(".")[2], 1.0)


def header_of(target: Target, root: Instance, wrt: tuple[int, ...]) -> str:
    """What the text is, and the kinds that it was made for."""
    params = root.source.params
    kinds = [f"{p.name}: {describe(k)}" for p, k in zip(params, root.params, strict=True)]
    span = root.source.span
    file = span.file.rpartition("/")[2]
    names = ", ".join(f"`{params[i].name}`" for i in wrt)
    return f"Gradient of `{root.source.name}` ({file}:{span.line}) with respect to {names}, written by tangentx\nfor {'; '.join(kinds)}."


def text_of(entry: Entry) -> str:
    """The text, entered in linecache again."""
    register(entry.text, entry.filename)
    source: str = entry.text.source
    return source


def explain(derivative: Any, cache: Cache) -> str:
    """What was compiled, for which kinds."""
    lines = [f"{derivative!r}: {len(cache.entries)} compiled"]
    for found in cache.entries.values():
        lines += ["", found.notes["signature"], f"  file {found.filename}, {found.text.source.count(chr(10))} lines"]
        lines += [f"  {line}" for line in found.notes.get("records", [])]
    if cache.dropped:
        lines.append(f"{cache.dropped} dropped: only the kinds used last are kept")
    return "\n".join(lines)


def differentiable(values: Sequence[Any], places: Sequence[int]) -> tuple[int, ...]:
    """Those of the places whose values have a real or complex leaf. Raises NotDifferentiable where there is none."""
    world = World()
    found = tuple(i for i in places if _has_leaf(Valuer(world).kind(values[i]), ()))
    if not found:
        raise NotDifferentiable("none of the primals has a real or complex number in it", hint="pass a float or an array")
    return found


def entry_jvp(target: Target, cache: Cache, values: tuple[Any, ...], active: tuple[int, ...]) -> Entry:
    """The compiled forward mode for these arguments, of which those at `active` have tangents."""
    main = (key(values), active, pipeline.switched_off())
    found = cache.find(main, lambda: compile_jvp(target, values, active, ()))
    pairs = overlaps(values) if found.writes else ()
    if pairs:
        refuse_overlap(pairs, storages(values), [s for i in active for s in storages(values[i])])
        found = cache.find((main, pairs), lambda: compile_jvp(target, values, active, pairs))
    return found


def compile_jvp(
    target: Target, values: Sequence[Any], active: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> Entry:
    """Compiles forward mode."""
    from tangentx.arrays import tangent_as

    program, second = pipeline.new_program(), pipeline.new_program()
    root = analysed(target, program, kinds_of(program.world, values, pairs), active)
    derived = pipeline.derive_tangent(program, root, active)
    dots = kinds_of(second.world, [tangent_as(None, values[i]) for i in active])
    again = [*kinds_of(second.world, values, pairs), *dots]
    header = header_of(target, root, active).replace("Gradient", "Tangent", 1)
    functions, text, filename = pipeline.compile_functions(derived, again, second, header)
    writes = any(_written(kind) for kind in root.params)
    return Entry(functions, text, filename, (*guards(program), *guards(second)), writes, {"signature": header})


def entry_vjp(target: Target, cache: Cache, values: tuple[Any, ...], wrt: tuple[int, ...]) -> Entry:
    """The compiled forward and reverse sweep for these arguments as two functions."""
    main = (key(values), wrt, pipeline.switched_off())
    found = cache.find(main, lambda: compile_vjp(target, values, wrt, ()))
    pairs = overlaps(values) if found.writes else ()
    if pairs:
        refuse_overlap(pairs, storages(values), [s for i in wrt for s in storages(values[i])])
        found = cache.find((main, pairs), lambda: compile_vjp(target, values, wrt, pairs))
    return found


def compile_vjp(
    target: Target, values: Sequence[Any], wrt: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> Entry:
    """Compiles the two sweeps."""
    program, second = pipeline.new_program(), pipeline.new_program()
    root = analysed(target, program, kinds_of(program.world, values, pairs), wrt)
    if isinstance(root.result, Bottom) or not _has_leaf(root.result, ()):
        raise NotDifferentiable(
            f"the result is {describe(root.result)}: no cotangent fits it", root.source.span, "return a real number or array"
        )
    both = pipeline.derive_pullback(program, root, wrt)
    seed = copy_kind(root.result, second.world, {})
    again = [*kinds_of(second.world, values, pairs), seed]
    header = header_of(target, root, wrt).replace("Gradient", "Pullback", 1)
    functions, text, filename = pipeline.compile_functions(both, again, second, header, skip=1, count=2)
    writes = any(_written(kind) for kind in root.params)
    return Entry(functions, text, filename, (*guards(program), *guards(second)), writes, {"signature": header})
