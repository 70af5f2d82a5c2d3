"""`tx.vmap`: one program with a batch axis, or a loop over the members."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tangentx.analysis.batch.varying import Unbatchable
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Bottom, Num
from tangentx.api.pickling import found_function, reduced
from tangentx.arrays.copies import fresh_copies
from tangentx.arrays.signatures import key
from tangentx.common.axes import Axes, axes_of
from tangentx.common.generated_text import Text
from tangentx.compile import gradients, nested, pipeline
from tangentx.compile.dependencies import guard_of
from tangentx.derive.batch.members import Wanted
from tangentx.derive.batch.walker import Batch
from tangentx.derive.prologue import has_effects
from tangentx.dispatch.batch_axes import Arranged, Place, arranged, axes_of_leaves, members, one_axis_each, stacked
from tangentx.dispatch.entries import Binder, Cache, Entry, place_of, target_of
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.request import held
from tangentx.dispatch.results import separate
from tangentx.dispatch.tensor_arguments import holds_tensors, with_arrays
from tangentx.dispatch.validation import writes_arguments
from tangentx.errors import NotDifferentiable, TangentxError
from tangentx.optimise.pipeline import shorten


class Vectorised:
    """A function of batches, made by `vmap`. `source` is the text of the batch that was compiled last."""

    def __init__(self, f: Any, in_axes: Any, out_axes: Any) -> None:
        self._target = target_of(f)
        self._axes = (in_axes, out_axes)
        self._cache = Cache()
        self._binder = Binder(self._target.function)
        self._f = f
        self._said = "nothing has been called yet"
        functools.update_wrapper(self, f, updated=())

    def __reduce__(self) -> Any:
        return reduced(self._target, _remade, *self._axes)

    def __copy__(self) -> Vectorised:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: Any) -> Vectorised:
        return self._bound_to(copy.deepcopy(self._target.owner, memo))

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        return self, self._target.owner

    def __tangentx_primal__(self) -> Any:
        return self._target.function

    def __tangentx_order__(self, program: Any) -> Any:
        """The function whose parameters a call of this fills, and the objects that come first."""
        return gradients.order(self._target, program), self._target.owner

    def __tangentx_function__(self, program: Any, kinds: Sequence[Any]) -> Any:
        """This batch as a function of the language, for a derivative that is taken of it or around it."""
        owned = len(self._target.owner)
        params = gradients.order(self._target, program).params[owned:]
        given = [p.default is None or isinstance(k, Arr) for p, k in zip(params, kinds[owned:], strict=True)]
        axes = one_axis_each(self._axes[0], given, place_of(self._target.function))
        if not isinstance(self._axes[1], int):
            message = f"out_axes={self._axes[1]!r} inside a differentiated function"
            raise NotDifferentiable(message, place_of(self._target.function), "give one axis for all results")
        wanted = Wanted((*(None,) * owned, *axes), self._axes[1])
        return nested.nested_batch(self, self._target, program, kinds, wanted)

    def _bound_to(self, owner: tuple[Any, ...]) -> Vectorised:
        if all(a is b for a, b in zip(owner, self._target.owner, strict=True)):
            return self
        other = self.__copy__()
        other._target = replace(self._target, owner=owner)
        other._f = functools.partial(self._target.function, *owner)
        return other

    def __repr__(self) -> str:
        return f"<batch of {getattr(self, '__qualname__', self._f)}>"

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._f)

    @property
    def source(self) -> str:
        """The text with the batch axis that was compiled last; empty where none was."""
        return "" if self._cache.last is None else gradients.text_of(self._cache.last)

    def explain(self) -> str:
        """How the last call was done: at once, or one member after the other, and why."""
        return f"{self!r}\n  {self._said}"

    @shallow
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_arrays(args), with_arrays(kwargs)
        flat, names = (*args, *kwargs.values()), self._places(args, kwargs)
        given = arranged(flat, axes_of_leaves(self._axes[0], flat, names), names)

        def split(values: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
            return values[: len(args)], dict(zip(kwargs, values[len(args) :], strict=True))

        if holds_tensors(flat):
            self._said = _loop("Tensors are recorded", ()).notes["said"]
            return stacked([_called(self._f, *split(one)) for one in members(given)], self._axes[1])
        values = self._values(*split(given.args))
        entry = self._entry(given, split, values)
        self._said = entry.notes["said"]
        if entry.functions:
            try:
                result = entry.functions[0](given.count, *values)
            except Exception as error:
                # What a member raises is its own to tell; and shapes that differ inside do no harm in a loop.
                reason = f"the program for all raised {type(error).__name__}"
                self._said = _loop(reason, ()).notes["said"]
            else:
                return stacked(separate(result, values), self._axes[1], whole=True)
        return stacked([_called(self._f, *split(fresh_copies(*one))) for one in members(given)], self._axes[1])

    def _places(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Place, ...]:
        """Which parameter each argument is given for, and what it is called. Raises TypeError as a call would."""
        placed = tuple(Place(i, f"argument {i}") for i in range(len(args)))
        if not kwargs:
            return placed
        signature = inspect.signature(self._f)
        signature.bind(*args, **kwargs)
        order = list(signature.parameters)
        return (*placed, *(Place(order.index(n) if n in order else len(order), f"`{n}`") for n in kwargs))

    def _values(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        if not self._binder.holds():
            self._binder = Binder(self._target.function)
        return self._binder((*self._target.owner, *args), kwargs)

    def _entry(self, given: Arranged, split: Any, values: tuple[Any, ...]) -> Entry:
        """The compiled batch, or an entry without functions where the members need a loop."""
        if not self._binder.plain:
            return _loop("a parameter gathers arguments", ())
        if given.mixed:
            return _loop("an argument has parts that are batches and parts that are none", ())
        one = self._values(*split(next(members(given))))
        whole = (given.count, *values)
        moved = {id(given.args[i]) for i in given.batched}
        batched = tuple(i for i, value in enumerate(values) if id(value) in moved)
        main = (key(one), batched, axes_of(whole), pipeline.switched_off())

        def made() -> Entry:
            program = pipeline.new_program()
            try:
                return self._compiled(program, one, whole, batched)
            except Unbatchable as error:
                return _loop(f"{error.reason} ({error.span.file.rpartition('/')[2]}:{error.span.line})", (program,))
            except TangentxError as error:
                return _loop(error.message, (program,))

        return self._cache.find(main, made)

    def _compiled(
        self, program: Program, one: tuple[Any, ...], whole: tuple[Any, ...], batched: tuple[int, ...]
    ) -> Entry:
        """Raises TangentxError, or Unbatchable, where there is no program for all members at once."""
        second = pipeline.new_program(Axes(axes_of(whole)))
        root = gradients.analysed(self._target, program, gradients.kinds_of(program.world, one), ())
        if isinstance(root.result, Bottom) or has_effects(root) or len(root.params) != len(one):
            raise Unbatchable("it acts on something outside, or never returns", root.source.span)
        if writes_arguments(program):
            raise Unbatchable("it writes into its arguments", root.source.span)
        header = gradients.header_of(self._target, root, batched, "vmap")
        shorten(program, root, pipeline.switched_off())
        function = Batch(program, root, batched).function()
        again = [Num(int), *gradients.kinds_of(second.world, whole[1:])]
        functions, text, filename = pipeline.compile_functions(function, again, second, header)
        notes = gradients.noted(header, program, second) | {"said": "all members at once, along a batch axis"}
        return Entry(functions, text, filename, guard_of((program, second), text), False, notes)


def _remade(where: tuple[Any, ...], owner: tuple[Any, ...], in_axes: Any, out_axes: Any) -> Vectorised:
    return Vectorised(found_function(where, owner), in_axes, out_axes)


def inside(f: Any, in_axes: Any = 0, out_axes: Any = 0) -> Vectorised:
    """The one batch of a function with these axes, for programs that take it themselves."""
    target = target_of(f)
    made = held(target.function).batches
    name = (repr((in_axes, out_axes)), len(target.owner))
    if name not in made:
        made[name] = Vectorised(f, in_axes, out_axes)
        if target.owner:  # keeps no object of the user's
            made[name]._target = replace(target, owner=(None,) * len(target.owner))
            made[name]._f = made[name].__wrapped__ = target.function
    found: Vectorised = made[name]._bound_to(target.owner)
    return found


def _called(f: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return f(*args, **kwargs)


def _loop(reason: str, programs: tuple[Program, ...]) -> Entry:
    said = f"one member after the other: {reason}"
    text = Text(f"# {said}\n")
    return Entry((), text, "<tangentx loop>", guard_of(programs, text), False, {"said": said})
