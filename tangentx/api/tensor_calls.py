"""Compiled functions and derivatives called with Tensors: one graph node, differentiable to any order."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import numpy as np

from tangentx.arrays.copies import fresh_copies, fresh_copy
from tangentx.backend.module_text import load
from tangentx.common import source
from tangentx.common.generated_text import Text
from tangentx.common.pytrees import is_differentiable, leaves, rebuild
from tangentx.compile import products
from tangentx.compile.fallback import demand_real, split
from tangentx.dispatch.entries import place_of
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.results import publish
from tangentx.dispatch.structure_check import fitted
from tangentx.dispatch.tracebacks import traced
from tangentx.errors import place

_COUNT = itertools.count(1)


@dataclass(frozen=True)
class Calls:
    """Calls of a compiled `function` with Tensors. `derivative` is that of its pullbacks, `make` gives gradients.

    `as_written`: it is the user's own function, whose writes reach its arguments, and not a derivative.
    """

    function: Any
    derivative: Any
    make: Callable[[Any, tuple[int, ...]], Any]
    as_written: bool = False

    @shallow
    def run(self, args: Any, kwargs: Any, plain: Callable[[], Any]) -> Any:
        """The results as Tensors of one node; what `plain` gives, for a function that cannot be compiled, and for one
        that writes into its arguments or gives parts of them: on Tensors they are written, and the parts are views.

        Results that share memory with each other are read-only: a write into one would not be seen in the other.
        """
        from tangentx.tensor.calls.unrecorded import made_of, wrapped
        from tangentx.tensor.core.containers import raw, tensors_in
        from tangentx.tensor.core.modes import STATE
        from tangentx.tensor.graph.compiled import Compiled, apart
        from tangentx.tensor.writes.writing import lent

        derivative = self.derivative
        values = derivative._bind()((*derivative._target.owner, *args), kwargs)
        wrt = tuple(i for i, v in enumerate(values) if any(t.requires_grad for t in tensors_in(v)))
        if not wrt or not STATE.grad:
            with lent(list(tensors_in([values]))):
                result = self.function(*raw(tuple(args)), **raw(dict(kwargs)))
            return wrapped(apart(result, raw(list(values))), place() if wrt else made_of(list(values)))
        data = fresh_copies(*(raw(v) for v in values))
        entry = products.entry_vjp(derivative._target, derivative._cache, data, wrt, derivative._spec)
        if entry.notes.get("fallback") or (self.as_written and (entry.writes or entry.notes.get("given"))):
            return plain()
        value, state = traced(entry, 0, *data)
        inner = derivative._target.function
        value = inner._public(value, data) if hasattr(inner, "_public") else fresh_copy(apart(value, list(data)))
        shape = fresh_copy(value)

        def reverse(bars: Sequence[Any]) -> Any:
            given = iter(bars)
            seed = rebuild(shape, lambda leaf: next(given) if is_differentiable(leaf) else None)
            found = dict(zip(wrt, traced(entry, 1, state, fitted(seed, shape)), strict=True))
            return [publish(found[i], data[i], set()) if i in found else None for i in range(len(data))]

        def again(tensors: Sequence[Any], bars: Sequence[Any]) -> Any:
            slopes = self.make(self.weighed(shape), wrt)(*tensors, *bars)
            found = dict(zip(wrt, slopes, strict=True))
            return [found.get(i) for i in range(len(tensors))]

        name = getattr(self.function, "__name__", "Compiled")
        return Compiled(name, values, reverse, again, at_once(entry, data, wrt, shape)).results(value)

    def weighed(self, shape: Any) -> Any:
        """See `weighed_sum`."""
        paths = tuple((path, bool(np.iscomplexobj(x))) for path, x in leaves("", shape) if is_differentiable(x))
        parameters = tuple((p.name, p.kind) for p in self.derivative._bind().signature.parameters.values())
        known: dict[Any, Any] = self.function._weighed  # goes with the function
        key = parameters, paths
        if key not in known:
            known[key] = weighed_sum(self.function, parameters, len(self.derivative._target.owner), paths)
        return known[key]


def at_once(entry: Any, data: Sequence[Any], wrt: Sequence[int], shape: Any) -> Callable[..., Any]:
    """A function of a batch of cotangents of the results, and of its length: those of all parameters.

    It gives None where there is no program for all members. The forward sweep has no effects, or there is none.
    """
    states: dict[int, Any] = {}

    def run(bars: Sequence[Any], count: int) -> Any:
        doubles = [data[i] for i in wrt] + [leaf for _, leaf in leaves("", shape) if is_differentiable(leaf)]
        if entry.writes or not all(type(x) is float or getattr(x, "dtype", None) == np.float64 for x in doubles):
            return None
        functions = entry.notes.get("several", lambda _: None)(data)
        if functions is None:
            return None
        if count not in states:
            states.clear()
            states[count] = functions[0](count, *fresh_copies(*data))[1]
        given = iter(bars)
        seed = rebuild(shape, lambda leaf: np.copy(next(given)) if is_differentiable(leaf) else None)
        moved = functions[1](count, states[count], seed)
        found = dict(zip(wrt, moved if isinstance(moved, tuple) else (moved,), strict=True))
        return [np.array(found[i]) if i in found else None for i in range(len(data))]

    return run


def weighed_sum(
    function: Any, parameters: tuple[tuple[str, Any], ...], owned: int, paths: tuple[tuple[str, bool], ...]
) -> Any:
    """A function of the same parameters and one weight for each number or array of the result: their weighed sum.

    Its gradient is the pullback as a function of primals and cotangents, which can be differentiated again. The
    first `owned` parameters are bound already.
    """
    names = [f"p{i}" for i in range(len(parameters))]
    given = []
    for own, (name, kind) in list(zip(names, parameters, strict=True))[owned:]:
        star = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(kind, "")
        given.append(f"{name}={own}" if kind is Parameter.KEYWORD_ONLY else f"{star}{own}")
    terms = [
        f"np.sum(np.real(w{k} * result{path}))" if imaginary else f"np.sum(w{k} * result{path})"
        for k, (path, imaginary) in enumerate(paths)
    ]
    weights = [f"w{k}" for k in range(len(paths))]
    text = f"def weighed({', '.join([*names, *weights])}):\n"
    text += f"    result = function({', '.join(given)})\n    return {' + '.join(terms)}\n"
    made = Text(text, {"np": np, "function": function}, functions=("weighed",))
    file = f"<tangentx weighed {next(_COUNT)}>"
    found = load(made, file)["weighed"]
    weakref.finalize(found, source.forget, file).atexit = False
    return found


def run_on_tensors(function: Any, args: Any, kwargs: Any) -> Any:
    """What cannot be compiled, called with Tensors: they record, and no value that is differentiated leaves them."""
    from tangentx.tensor.fallback.escaped_values import honestly
    from tangentx.tensor.fallback.function_rewriting import on_tensors

    return honestly(lambda: on_tensors(function)(*args, **kwargs))


def product_by_what_is_captured(name: str, derivative: Any, *args: Any) -> Any:
    """The product of a function that has captured Tensors which are differentiated, with tangents or cotangents:
    Tensors that depend on them. NotImplemented where nothing is captured. Raises NotDifferentiable where it is lost."""
    from tangentx.tensor.fallback.function_rewriting import on_tensors
    from tangentx.tensor.fallback.inner_derivatives import captured, product_of

    return NotImplemented if captured(derivative) is None else product_of(name, on_tensors, derivative, *args)


def derivative_on_tensors(derivative: Any, args: Any, kwargs: Any, trace: Any = None) -> Any:
    """The gradient, or the Jacobian, of what cannot be compiled, by operations on Tensors that are recorded
    themselves; `trace` is its run, where it has run."""
    from tangentx.tensor.fallback.jacobians import jacobian

    run = _Run(derivative, args, kwargs, trace)
    spec, function = derivative._spec, derivative._target.function
    many = isinstance(spec.wrt, tuple)
    if spec.transform == "jacobian":
        primals = [run.values[i] for i in run.wrt]
        shown = jacobian(run.value, primals, run.pulled, many, place_of(function))
    else:
        demand_real(run.value, function)
        found = run.pulled(run.value, 1.0)
        shown = found if many else found[0]
    if spec.value:
        return (run.value, run.aux) if spec.has_aux else run.value, shown
    return (shown, run.aux) if spec.has_aux else shown


class _Run:
    """One run on Tensors of the function that a derivative is of: its `value`, what it gives besides, and pullbacks."""

    def __init__(self, derivative: Any, args: Any, kwargs: Any, trace: Any) -> None:
        from tangentx.tensor.fallback.function_rewriting import called
        from tangentx.tensor.fallback.tracing import Trace

        target = derivative._target
        self.wrt = derivative._wrt()
        self.values = derivative._bind()((*target.owner, *args), kwargs)
        self.trace = trace or Trace(called(target.function), self.values, self.wrt)
        self.value, self.aux = split(self.trace.result, derivative._spec, target.function)

    def pulled(self, output: Any, seed: Any) -> tuple[Any, ...]:
        """The cotangents of the arguments, Tensors where they have derivatives, for one of a part of the value."""
        from tangentx.tensor.core.forms import fit, like_of
        from tangentx.tensor.core.modes import STATE
        from tangentx.tensor.core.tensor import Tensor, wrap

        create = STATE.grad
        if type(output) is Tensor and output.requires_grad and seed is not None:
            like = like_of(output.current)
            given = fit(np.asarray(seed) if type(like) is tuple else np.asarray(seed)[()], like)
            bars = self.trace.gradients([output], [wrap(given) if create else given], True, create)
        else:
            bars = [None] * len(self.wrt)
        return tuple(_in_form(self.values[i], bar) for i, bar in zip(self.wrt, bars, strict=True))


def _in_form(primal: Any, bar: Any) -> Any:
    """A cotangent in the form of what it belongs to, its numbers and arrays as Tensors."""
    from tangentx.tensor.calls.operation import fit_tensor
    from tangentx.tensor.core.containers import parts_of, with_parts
    from tangentx.tensor.core.forms import like_of, zeros
    from tangentx.tensor.core.tensor import Tensor, wrap

    data = primal.current if type(primal) is Tensor else primal
    if type(bar) is Tensor or isinstance(bar, np.ndarray | np.generic | float | complex):
        return fit_tensor(bar, like_of(data))
    if (parts := parts_of(data)) is not None:
        found = parts_of(bar) or {}
        return with_parts(data, {key: _in_form(p, found.get(key)) for key, p in parts.items()})
    return wrap(zeros(like_of(data))) if is_differentiable(data) else None
