"""A function for a batch of arguments: one program with a batch axis, or a loop over the members."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from tangentx import compilation, pipeline
from tangentx.analysis.batches import Unbatchable
from tangentx.analysis.keys import key
from tangentx.analysis.kinds import Bottom, Num
from tangentx.analysis.program import Program
from tangentx.arrays import entry_copies
from tangentx.axes import axes_of
from tangentx.backend.text import Text
from tangentx.demands import writes_arguments
from tangentx.derivative import Binder, Cache, Entry, place_of, target_of
from tangentx.derive.batching import Batch
from tangentx.derive.entry import has_effects
from tangentx.errors import NotDifferentiable, TangentxError
from tangentx.guards import Guard
from tangentx.mapping import HINT, Arranged, arranged, axes_of_leaves, members, stacked
from tangentx.optimise import shorten
from tangentx.results import separate


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

    __tangentx_outside__ = HINT

    def __tangentx_target__(self) -> Any:
        name = getattr(self, "__name__", "f")
        raise NotDifferentiable(f"the derivative of tx.vmap of `{name}`", place_of(self._target.function), HINT)

    def __repr__(self) -> str:
        return f"<batch of {getattr(self, '__qualname__', self._f)}>"

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._f)

    @property
    def source(self) -> str:
        """The text with the batch axis that was compiled last; empty where none was."""
        return "" if self._cache.last is None else compilation.text_of(self._cache.last)

    def explain(self) -> str:
        """How the last call was done: at once, or one member after the other, and why."""
        return f"{self!r}\n  {self._said}"

    def __call__(self, *args: Any) -> Any:
        given = arranged(args, axes_of_leaves(self._axes[0], args))
        values = self._values(given.args)
        entry = self._entry(given, values)
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
        return stacked([self._f(*entry_copies(*one)) for one in members(given)], self._axes[1])

    def _values(self, args: Any) -> tuple[Any, ...]:
        if not self._binder.holds():
            self._binder = Binder(self._target.function)
        return self._binder((*self._target.owner, *args), {})

    def _entry(self, given: Arranged, values: tuple[Any, ...]) -> Entry:
        """The compiled batch, or an entry without functions where the members need a loop."""
        if not self._binder.plain:
            return _loop("a parameter gathers arguments", ())
        if given.mixed:
            return _loop("an argument has parts that are batches and parts that are none", ())
        one = self._values(next(members(given)))
        whole = (given.count, *values)
        owned = len(self._target.owner)
        batched = tuple(owned + i for i in given.batched)
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
        second = pipeline.new_program(axes_of(whole))
        root = compilation.analysed(self._target, program, compilation.kinds_of(program.world, one), ())
        if isinstance(root.result, Bottom) or has_effects(root) or len(root.params) != len(one):
            raise Unbatchable("it acts on something outside, or never returns", root.source.span)
        if writes_arguments(program):
            raise Unbatchable("it writes into its arguments", root.source.span)
        header = compilation.header_of(self._target, root, batched, "vmap")
        shorten(program, root, pipeline.switched_off())
        function = Batch(program, root, batched).function()
        again = [Num(int), *compilation.kinds_of(second.world, whole[1:])]
        functions, text, filename = pipeline.compile_functions(function, again, second, header)
        notes = compilation.noted(header, program, second) | {"said": "all members at once, along a batch axis"}
        return Entry(functions, text, filename, Guard((program, second)), False, notes)


def _loop(reason: str, programs: tuple[Program, ...]) -> Entry:
    said = f"one member after the other: {reason}"
    return Entry((), Text(f"# {said}\n"), "<tangentx loop>", Guard(programs), False, {"said": said})
