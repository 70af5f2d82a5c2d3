"""Directional products: `jvp` and `vjp` at given primals, and the linear maps that they give."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tangentx.common import cache_files
from tangentx.common.options import checking, in_precision
from tangentx.common.pytrees import children, has_empty_list, is_differentiable, leaves, rebuild
from tangentx.dispatch.batch_axes import Arranged, Place, arranged, axes_of_leaves, members, stacked
from tangentx.dispatch.entries import Entry, place_of
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.results import fresh, publish, separate, with_settings
from tangentx.dispatch.structure_check import fitted, is_alike, match, shown
from tangentx.dispatch.tensor_arguments import with_arrays
from tangentx.dispatch.tracebacks import traced
from tangentx.errors import NotDifferentiable

# Linear maps at a point, tangents and pullbacks: applied to one direction or to a batch of them.


@dataclass(frozen=True)
class Form:
    """The places of the arguments that are not None, and of the results that are not, in their order.

    `many`: there are several results, in a tuple; else there is one, whatever its structure.
    """

    taken: tuple[int, ...]
    given: tuple[int, ...]
    many: bool


class Linear:
    """A linear function, to be called any number of times; `source` is the text that runs.

    `tx.vmap` of it takes a batch of tangents, or of cotangents, in one sweep where the program can be batched. `entry`
    is what was compiled, `state` what the first of its two functions kept at this point.
    """

    __tangentx_outside__ = "call tx.jvp or tx.vjp of its function there, or pass its result as an argument"

    def __init__(
        self, run: Callable[..., Any], entry: Entry, values: Sequence[Any] | None, state: Any, form: Form
    ) -> None:
        self._run = run
        self.entry = entry
        self.state = state
        self._values = values
        self._form = form
        self._states: dict[int, Any] = {}
        self.__doc__ = run.__doc__
        self.__name__ = run.__name__

    @shallow
    def __call__(self, *args: Any) -> Any:
        return self._run(*args)

    def __repr__(self) -> str:
        return f"<{self.__name__} at a point>"

    @property
    def source(self) -> str:
        """The text that runs."""
        from tangentx.compile.gradients import text_of

        return text_of(self.entry)

    def __tangentx_batched__(self, in_axes: Any, out_axes: Any) -> Callable[..., Any]:
        """This function of a batch of its arguments."""

        def batch(*args: Any) -> Any:
            places = tuple(Place(i, f"argument {i}") for i in range(len(args)))
            given = arranged(args, axes_of_leaves(in_axes, args, places), places)
            first = self._run(*next(members(given)))  # which says what is wrong, and what the results are like
            found = self._at_once(given, first)
            if found is None:
                return stacked([first, *(self._run(*one) for one in list(members(given))[1:])], out_axes)
            return stacked(found, out_axes, whole=True)

        return batch

    def _at_once(self, given: Arranged, first: Any) -> Any:
        """The results of all members, or None where there is no program for all at once."""
        args = [given.args[i] for i in self._form.taken]
        found = [leaf for arg in args for _, leaf in leaves("", arg)]
        results = [first[i] for i in self._form.given] if self._form.many else [first]
        parts = [leaf for result in results for _, leaf in leaves("", result)]
        whole = all(all(given.axes[i]) for i in self._form.taken) and len(given.batched) == len(args)
        doubles = all(type(leaf) is np.ndarray and leaf.dtype == np.float64 for leaf in found)
        if not (whole and doubles and all(type(part) in (float, np.float64, np.ndarray) for part in parts)):
            return None
        functions = self.entry.notes.get("several", lambda _: None)(self._values) if self._values is not None else None
        if functions is None or self._values is None:
            return None
        if given.count not in self._states:
            self._states = {given.count: functions[0](given.count, *self._values)[1]}
        moved = functions[1](given.count, self._states[given.count], *(rebuild(arg, np.copy) for arg in args))
        if not self._form.many:
            return separate(_formed(moved[0] if isinstance(moved, tuple) else moved, first, given.count), args)
        bars = dict(zip(self._form.given, separate(moved, args), strict=True))
        return tuple(bars.get(i) for i in range(len(first)))


def _formed(batch: Any, like: Any, count: int) -> Any:
    """A batch in the structure of the result of one member; tangents have lists for tuples, dicts for objects, and None
    for what does not move."""
    found = iter(list(_leaves_like(batch, like, count)))
    return rebuild(like, lambda _: next(found))


def _leaves_like(batch: Any, like: Any, count: int) -> Iterator[Any]:
    """The leaves of a batch in the order of those of `like`."""
    parts = children(like)
    if parts is None:
        yield np.zeros((count, *np.shape(like))) if batch is None else batch
        return
    by_place = isinstance(like, tuple | list)
    keys = list(range(len(parts))) if by_place else list(like) if isinstance(like, dict) else [p[1:] for p, _ in parts]
    for key, (_, part) in zip(keys, parts, strict=True):
        yield from _leaves_like(None if batch is None else batch[key], part, count)


# Directional products: `jvp` and `vjp` at given primals.

P = ParamSpec("P")
T = TypeVar("T")


def _in_precision(product: Callable[P, T]) -> Callable[P, T]:
    """A product of a derivative, under the policy that the derivative was asked for with."""

    @functools.wraps(product)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        derivative: Any = args[0]
        return in_precision(derivative._spec.precision, lambda: product(*args, **kwargs))

    return run


@_in_precision
def jvp_of(derivative: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``(value, tangent)``. Raises NotDifferentiable where primals and tangents do not match."""
    entry, values, active = _moving(derivative, primals, tangents)
    found = _by_captured("jvp", entry, derivative, tuple(primals), tuple(tangents))
    if found is not NotImplemented:
        return found[0], found[1]
    value, dot = traced(entry, 0, *values, *active)
    inner = derivative._target.function
    if not entry.notes.get("own") or hasattr(inner, "_public"):
        shown = inner._public(value, values) if hasattr(inner, "_public") else fresh(value)
        return shown, public_tangent(dot, shown)
    taken = {id(each) for each in (*values, *active)}
    shown = publish(value, value, taken)
    return shown, publish(dot, shown, taken | {id(shown)})


@_in_precision
def compiled_jvp(derivative: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> Entry:
    """What `jvp_of` runs. Raises NotDifferentiable where primals and tangents do not match."""
    return _moving(derivative, primals, tangents)[0]


@_in_precision
def tangent_of_gradient(derivative: Any, gradient: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The tangent of a gradient, of which `derivative` is forward mode, in the form of what that is taken by."""
    entry, values, active = _moving(derivative, primals, tangents)
    _by_captured("hvp", entry, derivative)
    found = traced(entry, 0, *values, *active)
    dot = found[1] if entry.notes.get("fallback") else found
    places = gradient._wrt()
    likes = tuple(values[i] for i in places)
    return public_tangent(dot, likes if isinstance(gradient._spec.wrt, tuple) else likes[0])


def _by_captured(product: str, entry: Entry, derivative: Any, *args: Any) -> Any:
    """A product of what cannot be compiled, recorded where it has captured Tensors that are differentiated; else
    NotImplemented. Raises NotDifferentiable where their derivative would be lost."""
    if not entry.notes.get("fallback"):
        return NotImplemented
    from tangentx.api.tensor_calls import product_by_what_is_captured

    return product_by_what_is_captured(product, derivative, *args)


def _moving(
    derivative: Any, primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Entry, tuple[Any, ...], list[Any]]:
    """The compiled forward mode, all arguments, and the tangents that are not None. Raises NotDifferentiable."""
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise NotDifferentiable("primals and tangents must be tuples", hint="write jvp(f, (x,), (v,))")
    if len(primals) != len(tangents):
        raise NotDifferentiable(
            f"there are {len(primals)} primals, but the number of tangents is {len(tangents)}",
            hint="give one for each, None for a constant",
        )
    primals, tangents = with_arrays(primals), with_arrays(tangents)
    values = derivative._values(primals, {})
    owned = len(derivative._target.owner)
    given = [(owned + i, t) for i, t in enumerate(tangents) if t is not None]
    for i, t in given:
        # What a parameter such as *args gathers is one value of several primals.
        if i >= len(values) or values[i] is not primals[i - owned]:
            hint = "write a function in which each primal has a parameter of its own"
            raise NotDifferentiable(f"the tangent of primal {i - owned}: it is gathered by a * parameter", hint=hint)
        _match_primal(derivative, i, values[i], t)
    given = [(i, t) for i, t in given if _moves(values[i])]
    moving = tuple(i for i, _ in given)
    entry = _entry(derivative, values, moving, "jvp")
    return entry, values, [fitted(t, values[i]) for i, t in given]


def _match_primal(derivative: Any, place: int, primal: Any, tangent: Any) -> None:
    """Raises NotDifferentiable where a tangent does not fit its primal, or that has no derivative."""
    if tangent is None or is_alike(tangent, primal):
        return
    name = derivative._bind().names[place]
    if not _moves(primal) and not (has_empty_list(primal) and has_empty_list(tangent)):
        message = f"`{name}` is {shown(primal)}: it has no derivative, so it can have no tangent"
        raise NotDifferentiable(message, hint="give None as its tangent, or pass a float")
    match(tangent, primal, "tangent", f"`{name}`", "primal")


def _moves(primal: Any) -> bool:
    """Whether a primal can have a tangent; an empty list, which holds reals at other calls, has one of nothing."""
    return any(is_differentiable(leaf) for _, leaf in leaves("", primal))


def _differentiable(values: Sequence[Any], places: Sequence[int]) -> tuple[int, ...]:
    """Those of the places whose values have a real or complex leaf; the compiler is asked of structures alone."""
    if places and all(_is_inexact(values[i]) for i in places):
        return tuple(places)
    from tangentx.dispatch.validation import differentiable

    return differentiable(values, places)


def _is_inexact(value: Any) -> bool:
    """Whether a value is a real or complex number, or an array of them."""
    if type(value) is np.ndarray:
        return value.dtype in (np.float64, np.float32, np.complex128, np.complex64)
    return type(value) in (float, complex, np.float64, np.float32)


@_in_precision
def linearize_of(
    derivative: Any, primals: Sequence[Any], kwargs: Mapping[str, Any], only: int | None = None
) -> tuple[Any, Linear]:
    """``(value, linear function of tangents)``: one for each primal, or that of the parameter at `only` alone."""
    from tangentx.arrays.copies import entry_copies, fresh_copy

    own = derivative._values(primals, kwargs)
    values = entry_copies(*own)
    owned = len(derivative._target.owner)
    if only is None:
        _demand_primals(derivative, primals, values, owned)
    given = range(owned, owned + len(primals)) if only is None else (only,)
    places = tuple(i for i in _differentiable(values, given) if _moves(values[i]))
    entry = _entry(derivative, own, places, "linear")
    _by_captured("linearize", entry, derivative)
    split = len(entry.functions) > 1
    inner = derivative._target.function
    anew = None if split else _RunAnew(inner, values)
    value, state = traced(entry, 0, *values, *(() if split else (fitted(None, values[i]) for i in places)))
    if anew is not None:
        anew.was_run()
    value = inner._public(value, values) if hasattr(inner, "_public") else fresh_copy(value)
    shape = fresh_copy(value)

    def tangent(*tangents: Any) -> Any:
        """The tangent of the value for one tangent for each primal; None holds it constant. Raises NotDifferentiable
        where one does not fit its primal."""
        if len(tangents) != len(given):
            raise NotDifferentiable(
                f"there are {len(given)} primals, but the number of tangents is {len(tangents)}",
                hint="give one for each, None for a constant",
            )
        found = dict(zip(given, tangents, strict=True))
        for i, t in found.items():
            _match_primal(derivative, i, values[i], t)
        dots = [fitted(found[i], values[i]) for i in places]
        moved = traced(entry, 1, state, *dots) if anew is None else anew(lambda: traced(entry, 0, *values, *dots)[1])
        return public_tangent(moved, shape)

    return value, Linear(tangent, entry, values, state, Form(tuple(given.index(i) for i in places), (0,), False))


class _RunAnew:
    """A program that is run a second time for each tangent: it draws what it drew in the first run, and is refused
    where it acts on something outside, or where something that it reaches there is not as it was before that."""

    def __init__(self, function: Any, values: Sequence[Any]) -> None:
        from tangentx.tensor.graph.reruns import States, Surroundings

        self._function = function
        self._around, self._states = Surroundings(function, values), States(function, values)

    def was_run(self) -> None:
        """After the first run."""
        self._states.drawn()

    def __call__(self, run: Callable[[], T]) -> T:
        """What `run` gives. Raises NotDifferentiable."""
        if acts := self._around.acts():
            raise self._refused(f"which uses `{acts}`", "take `tx.jvp` for each tangent")
        if changed := self._around.changed():
            raise self._refused(f"and `{changed}` has changed since", "leave what the program reads as it was before")
        return self._states.again(run)

    def _refused(self, why: str, hint: str) -> NotDifferentiable:
        message = f"this linear function runs the program anew for each tangent, {why}"
        return NotDifferentiable(message, place_of(self._function), hint)


def public_tangent(dot: Any, value: Any) -> Any:
    from tangentx.arrays import finish

    if type(value) is float:
        return 0.0 if dot is None else float(np.real(dot))
    if type(value) is int and dot is not None:  # a whole number here, and a real elsewhere
        return float(np.real(dot))
    return with_settings(finish(dot, value), value)


def _demand_primals(derivative: Any, primals: Sequence[Any], values: Sequence[Any], owned: int) -> None:
    if owned + len(primals) > derivative._bind().single:
        hint = "write a function in which each primal has a parameter of its own"
        raise NotDifferentiable("one parameter is needed for each primal, and this function gathers some", hint=hint)


def _entry(derivative: Any, values: tuple[Any, ...], places: tuple[int, ...], product: str) -> Entry:
    """What is compiled for these arguments, of which those at `places` have tangents or cotangents: kept by another
    process, or compiled in this one."""

    def compiled(values: tuple[Any, ...], spec: Any) -> Entry:
        from tangentx.compile import products

        makers = {"jvp": products.entry_jvp, "vjp": products.entry_vjp, "linear": products.entry_linear}
        return makers[product](derivative._target, derivative._cache, values, places, spec)

    def found() -> Entry:
        if cache_files.chosen() is None:
            return compiled(values, derivative._spec)
        from tangentx.dispatch.disk_cache import entry_for

        target, cache, spec = derivative._target, derivative._cache, derivative._spec
        return entry_for(target, cache, values, places, spec, compiled, product)

    return checking(derivative._spec.check, found)


@_in_precision
def compiled_vjp(derivative: Any, primals: Sequence[Any], kwargs: Mapping[str, Any]) -> Entry:
    """What `vjp_of` runs."""
    return _pulling(derivative, primals, kwargs)[0]


def _pulling(
    derivative: Any, primals: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Entry, tuple[Any, ...], tuple[int, ...], tuple[int, ...], bool]:
    """The compiled sweeps, all arguments, the places of those with a cotangent and of those that are given one, and
    whether these come as a tuple."""

    values = derivative._values(primals, kwargs)
    owned = len(derivative._target.owner)
    if derivative._spec.wrt is None:
        _demand_primals(derivative, primals, values, owned)
        wrt = _differentiable(values, range(owned, owned + len(primals)))
        many, places = len(primals) > 1, tuple(range(owned, owned + len(primals)))
    else:
        wrt = derivative._wrt()
        many, places = isinstance(derivative._spec.wrt, tuple), wrt
    entry = _entry(derivative, values, wrt, "vjp")
    return entry, values, wrt, places, many


@_in_precision
def vjp_of(derivative: Any, primals: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Linear]:
    """``(value, pullback)``."""
    from tangentx.api.pullback_memory import owned
    from tangentx.arrays.copies import form_of, fresh_copy

    entry, values, wrt, places, many = _pulling(derivative, primals, kwargs)
    recorded = _by_captured("vjp", entry, derivative, *primals)
    if recorded is not NotImplemented:
        return recorded[0], recorded[1]
    value, state = traced(entry, 0, *values)
    held = owned(entry, state, values)
    kept = {i: form_of(values[i]) for i in wrt}
    inner = derivative._target.function
    value = inner._public(value, values) if hasattr(inner, "_public") else fresh_copy(value)

    shape = fresh_copy(value)  # the user may write into the value

    def pullback(cotangent: Any) -> Any:
        """Cotangents of the primals for a cotangent of the value. Raises NotDifferentiable where it does not fit."""
        seed = cotangent
        single = isinstance(cotangent, np.ndarray) and cotangent.shape == (1,)
        if single and children(shape) is None and np.ndim(shape) == 0:
            seed = np.reshape(cotangent, ())[()]
        match(seed, shape, "cotangent", "the value", "value")
        held.demand_still()
        bars = traced(entry, 1, state, fitted(seed, shape))
        found: dict[int, Any] = {}
        for i, bar in zip(wrt, bars, strict=True):
            found[i] = publish(bar, kept[i], set(map(id, found.values())))
        result = tuple(found.get(i) for i in places)
        return result if many else result[0]

    return value, Linear(pullback, entry, held.values, state, Form((0,), tuple(places.index(i) for i in wrt), many))
