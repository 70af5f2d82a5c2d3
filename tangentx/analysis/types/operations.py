"""Operation typing: the kind of a primitive's result, found by running the primitive on small samples."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.types import operation_cache, structure_results
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Region,
    Some,
    World,
    describe,
    holds_itself,
    join,
    varied,
    vary,
)
from tangentx.analysis.types.number_joins import each_type, is_mixed, nested_types, with_start
from tangentx.analysis.types.optional_values import may_be_none, with_and_without, without_none
from tangentx.analysis.types.primitives import DIAGONALS, gives_constants, hashable, is_arithmetic
from tangentx.analysis.types.samples import COUNTING, ENOUGH, NoSample, Sampler, has_counts, settings, still_empty
from tangentx.analysis.types.user_code import hands_on, makes_exception
from tangentx.arrays.device_double import DeviceArray, computed, transfers
from tangentx.arrays.libraries import numpy_function
from tangentx.arrays.memory import is_writable
from tangentx.common.naming import public_name
from tangentx.common.silenced_warnings import quietly
from tangentx.errors import NoTemplate, NotResolved, Span, TangentxError


def constant(kinds: Sequence[Kind]) -> bool:
    """Whether every argument is known whole."""
    return all(isinstance(k, Obj) or (isinstance(k, Num) and k.value is not MISSING) for k in kinds)


_ATTEMPTS = (
    (1, False, 1),
    (0, False, 1),
    (2, False, 1),
    (1, True, 1),
    (0, True, 1),
    (1, False, 3),
    (1, False, 2),
    (COUNTING, False, 1),
)
"""Values of unknown whole numbers, whether known ones are forgotten, and lengths of axes, one after the other."""
_BY_VALUE = frozenset((
    arrays.eigen_parts, np.linalg.eig, np.linalg.eigvals, np.roots, np.poly, np.real_if_close,
    *(getattr(np.emath, name) for name in np.lib.scimath.__all__),
))  # fmt: skip
"""NumPy's functions that give real or complex numbers as the values have it."""
_OF_SPACE = frozenset((np.cross, arrays.cross3, arrays.cross_of_space))
"""Functions of vectors with three components, which are tried on no others."""
_RULED = frozenset(structure_results.RULES)
_COPIES = frozenset(structure_results.COPIES)
_ARRAYS_FOR_NONE = frozenset((arrays.unbroadcast, arrays.share))  # or numbers that nobody writes into


_NUMBERS: frozenset[type] = frozenset((Num, Arr))


def _has_operators(kind: Kind) -> bool:
    """Whether a value is an object whose class takes NumPy's operators over: no rule for arrays and numbers is one
    for it."""
    return isinstance(kind, Obj) and any(hasattr(type(kind.value), name) for name in ("__array_ufunc__", "__matmul__"))


class Operation:
    """Finds the kind of one application of a primitive; `fresh(path)` gives the region of a new array or container."""

    def __init__(self, world: World, fresh: Callable[[Any], Any], span: Span) -> None:
        self.world = world
        self.fresh = fresh
        self.span = span

    def kind(self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind]) -> Kind:
        """The kind of ``fn(*args, **kwargs)``. Raises NotResolved where no sample can be run."""
        kinds = [*args, *kwargs.values()]
        if any(type(k) is Bottom for k in kinds):
            return BOTTOM
        self._demand_one_library(fn, kinds)
        rule = structure_results.RULES.get(fn) if fn in hashable(_RULED, fn) else None
        result = rule(self.world, self.fresh, kinds) if rule is not None and not kwargs else None
        if result is None:
            self._demand_no_objects(fn, kinds)
            result = self._known(fn, kwargs, kinds) or self._with_none(fn, args, kwargs, kinds)
            if fn is builtins.sum:
                result = with_start(args, kwargs, result)
        template = templates.find(fn)
        if template is not None and gives_constants(template, kinds):
            return result
        if any(map(varied, kinds)) and fn not in hashable(_COPIES, fn):
            self._demand_no_objects(fn, kinds, result)
            result = self._vary(result)
        return result

    def _known(self, fn: Callable[..., Any], kwargs: dict[str, Kind], kinds: Sequence[Kind]) -> Kind | None:
        """What `_remembered` has found before of numbers and arrays; it is never asked of kinds that may be None, or
        of several types, so that there is nothing of those."""
        if not all(type(k) in _NUMBERS for k in kinds):
            return None
        key = operation_cache.key_of(fn, kinds, tuple(kwargs))
        found = None if key is None else operation_cache.find(key)
        return None if found is None else operation_cache.put_together(found, self.world, self.fresh, kinds, self.span)

    def _demand_no_objects(self, fn: Callable[..., Any], kinds: Sequence[Kind], result: Kind | None = None) -> None:
        """Raises NotResolved for an operation that calls methods of objects that vary, or gives one of them: all but
        exceptions, of which `analysis.infer.try_statements` sees that they are raised and not read."""
        if any(map(varied, kinds)) and hands_on(fn, kinds, result):
            if makes_exception(fn, kinds):
                self.world.exceptions = True
                return
            what = (
                f"`{public_name(fn)}` of objects calls methods of their classes, or gives one of them; it has no rule"
            )
            raise NotResolved(what, self.span, "write it as a loop")

    def _demand_one_library(self, fn: Callable[..., Any], kinds: Sequence[Kind]) -> None:
        """Raises NotResolved for an operation on arrays of two libraries."""
        met = {k.library: k for k in kinds if type(k) is Arr} if fn is not arrays.brought else {}
        elsewhere = numpy_function(fn) if "numpy" in met else None
        if len(met) < 2 and elsewhere is None:
            return
        if elsewhere is not None:
            what = f"`{elsewhere[1].alias}.{elsewhere[0].__name__}` is given {describe(met['numpy'])}, which is NumPy's"
        else:
            what = f"`{public_name(fn)}` is given {' and '.join(map(describe, list(met.values())[:2]))}"
        hint = "bring one to the memory of the other first: `cp.asarray(x)`, or `x.get()`"
        raise NotResolved(what, self.span, hint)

    def _with_none(
        self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind], kinds: Sequence[Kind]
    ) -> Kind:
        """As `_of_each_type`, also for None in the place of arguments that may be that, unless it raises."""
        if not any(map(may_be_none, kinds)):
            return self._of_each_type(fn, args, kwargs, kinds)
        if fn in hashable(_ARRAYS_FOR_NONE, fn):
            first, rest = (without_none(given) for given in (args, kwargs.values()))
            return self._of_each_type(fn, first, dict(zip(kwargs, rest, strict=True)), without_none(kinds))
        result: Kind = BOTTOM
        for given, absent in with_and_without(kinds):
            named = dict(zip(kwargs, given[len(args) :], strict=True))
            try:
                result = join(result, self._of_each_type(fn, given[: len(args)], named, given))
            except NotResolved:
                if not absent:
                    raise
        return result

    def _of_each_type(
        self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind], kinds: Sequence[Kind]
    ) -> Kind:
        """As `_remembered`, for each type that numbers of several types may have, unless it raises."""
        if not any(map(is_mixed, kinds)):
            return self._remembered(fn, args, kwargs, kinds)
        error: NotResolved | None = None
        result: Kind = BOTTOM
        for given in each_type(kinds):
            named = dict(zip(kwargs, given[len(args) :], strict=True))
            try:
                result = join(result, self._remembered(fn, given[: len(args)], named, given))
            except NotResolved as caught:
                error = caught
        if error is not None and isinstance(result, Bottom):
            raise error
        return result

    def _remembered(
        self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind], kinds: Sequence[Kind]
    ) -> Kind:
        """As `_sampled`, found once in a process where the kinds say all that counts."""
        key = operation_cache.key_of(fn, kinds, tuple(kwargs))
        if key is None:
            return self._sampled(fn, args, kwargs, kinds)
        found = operation_cache.find(key)
        if found is None:
            scratch = operation_cache.Scratch(kinds)
            there = Operation(scratch.world, scratch.fresh, self.span)
            first, rest = scratch.kinds[: len(args)], scratch.kinds[len(args) :]
            result = there._sampled(fn, first, dict(zip(kwargs, rest, strict=True)), scratch.kinds)
            found = scratch.outcome(result)
            if found is None or isinstance(result, Bottom):
                return self._sampled(fn, args, kwargs, kinds)
            operation_cache.keep(key, found)
        return operation_cache.put_together(found, self.world, self.fresh, kinds, self.span)

    def demand_template(self, fn: Callable[..., Any], kinds: Sequence[Kind], result: Kind) -> None:
        """Raises NoTemplate where a derivative would have to flow through `fn` and there is no rule for it."""
        template = templates.find(fn)
        if template is None and any(varied(k) for k in kinds) and varied(result):
            message, hint = templates.no_rule(fn)
            raise NoTemplate(message, self.span, hint)
        if template is None:
            return
        other = next((k for k in kinds if _has_operators(k)), None)
        if other is not None and any(map(varied, kinds)):
            message = (
                f"`{public_name(fn)}` of {describe(other)} is what its class makes of it, and has no derivative rule"
            )
            raise NoTemplate(message, self.span, "make an array of it first, outside of the differentiated function")
        for param, kind in zip(template.params, kinds):
            if param.name in template.lacks and varied(kind):
                error = templates.without_rule(template, param.name)
                raise NoTemplate(error.message, self.span, error.hint)

    def _vary(self, kind: Kind, around: frozenset[Region] = frozenset()) -> Kind:
        if isinstance(kind, Box):
            node = kind.region.root()
            if node not in around:  # a node may have nodes for children
                inner = around | {node}
                for key, item in list(node.fields.items()):
                    node.put(key, self._vary(item, inner))
                node.put_any(self._vary(node.elt, inner))
            return kind
        return vary(kind)

    def _sampled(
        self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind], kinds: Sequence[Kind]
    ) -> Kind:
        if any(map(holds_itself, kinds)):
            hint = "give each container a name of its own"
            raise NotResolved(f"`{public_name(fn)}` is given a container that may hold itself", self.span, hint)
        known = constant(kinds)
        result: Kind = BOTTOM
        error: Exception | None = None
        attempts = _ATTEMPTS if not any(map(has_counts, kinds)) else (_ATTEMPTS[-1], *_ATTEMPTS)
        empty: Kind = BOTTOM
        others = _others(fn, kinds)
        for rank, length in settings(kinds):
            if (length or 0) > ENOUGH and not isinstance(result, Bottom):
                continue
            hidden: Sampler | None = None
            told = False
            for number, forget, size in attempts:
                if told and (forget or size > 1 or number not in others):
                    continue
                sampler = Sampler(number, rank, forget, 3 if fn in hashable(_OF_SPACE, fn) else size, length)
                found, caught = self._tried(fn, args, kwargs, sampler, known and not forget)
                error = caught or error
                if found is not None and not still_empty(found):
                    result = join(result, self._of_any_shape(fn, args, kwargs, sampler, found))
                    result = self._of_other_turns(fn, args, kwargs, sampler, result)
                    hidden, told = sampler, told or not sampler.hidden
                    if told and not others:
                        break
                empty = found or empty  # a list without items does not tell of what kind they are
            if hidden is None:
                result = join(result, empty)
            elif not told:
                result = _shared_by_all(result, hidden)
        if isinstance(result, Bottom) and not any(still_empty(k) for k in kinds):
            return self._otherwise(fn, args, kwargs, kinds, error)
        return result

    def _otherwise(
        self,
        fn: Callable[..., Any],
        args: Sequence[Kind],
        kwargs: dict[str, Kind],
        kinds: Sequence[Kind],
        error: Exception | None,
    ) -> Kind:
        """The kind of what no plain sample could be run of. Raises NotResolved where there is none."""
        found = self._beside_lists(fn, args, kwargs, kinds)
        if not isinstance(found, Bottom):
            return found
        if fn is arrays.of_rule:  # which refuses what it is given, and says so while the program runs
            return structure_results.shadow_of(self.world, self.fresh, kinds[1])
        raise self._unknown(fn, kinds, error)

    def draw(self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind]) -> Kind | None:
        """The kind of what a random generator of our own, or a clock, gives; None where no sample can be run."""
        result: Kind = BOTTOM
        for rank, length in settings([*args, *kwargs.values()]):
            if (length or 0) > ENOUGH and not isinstance(result, Bottom):
                continue
            for number, forget in ((1, True), (2, True), (1, False), (0, True)):
                try:
                    found, _ = self._tried(fn, args, kwargs, Sampler(number, rank, forget, 1, length), False)
                except NotResolved:
                    return None
                if found is not None:
                    result = join(result, found)
                    break
        return None if isinstance(result, Bottom) else result

    def _tried(
        self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind], sampler: Sampler, known: bool
    ) -> tuple[Kind | None, Exception | None]:
        """The kind of what `fn` gives for one sample, or what it raises."""
        try:
            given = [sampler.make(kind) for kind in args]  # before those given by name: numbers are counted in order
            named = {name: sampler.make(kind) for name, kind in kwargs.items()}
            value = _run(fn, given, named, sampler)
        except NoSample:
            raise self._unknown(fn, [*args, *kwargs.values()], None) from None
        except MemoryError:  # which says nothing of the operation
            raise
        except Exception as error:
            return None, error
        if isinstance(value, np.ndarray) and fn in hashable(DIAGONALS, fn):
            value = arrays.writable(value)
        if fn is tuple and not known and type(value) is tuple and any(isinstance(k, Some | Arr) for k in args):
            return self._of_unknown_length(value, sampler), None
        return self._kind_of(value, sampler, known, ()), None

    def _of_unknown_length(self, value: tuple[Any, ...], sampler: Sampler) -> Kind:
        """The kind of a tuple that is made of a range or a string, of which the sample has not the length."""
        box = Box(tuple, self.fresh(()))
        box.region.mark("open")
        for item in value:
            box.region.put_any(self._kind_of(item, sampler, False, ("item",)))
        return box

    def _of_other_turns(
        self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind], sampler: Sampler, found: Kind
    ) -> Kind:
        """The kind, also where items of containers are of the other types that they may have."""
        turns = max(map(nested_types, (*args, *kwargs.values())), default=1)
        for turn in range(1, turns):
            other = Sampler(sampler.number, sampler.rank, sampler.forget, sampler.size, sampler.length, turn=turn)
            found = join(found, self._tried(fn, args, kwargs, other, False)[0] or BOTTOM)
        return found

    def _beside_lists(
        self, fn: Callable[..., Any], args: Sequence[Kind], kwargs: dict[str, Kind], kinds: Sequence[Kind]
    ) -> Kind:
        """The kind, where the arrays have to be as long as a list of numbers beside them."""
        lists = [k.region.root() for k in kinds if isinstance(k, Box) and k.cls is list]
        lengths = sorted({len(node.fields) for node in lists if len(node.fields) > 1})
        for sampler in (*(Sampler(size=n) for n in lengths), *((Sampler(shorten=True),) if lengths else ())):
            found, _ = self._tried(fn, args, kwargs, sampler, False)
            if found is not None:
                return found
        return BOTTOM

    def _of_any_shape(
        self,
        fn: Callable[..., Any],
        args: Sequence[Kind],
        kwargs: dict[str, Kind],
        sampler: Sampler,
        found: Kind,
    ) -> Kind:
        """The kind, of unknown rank if a sample with longer axes gives another one (as `squeeze` does)."""
        if fn in hashable(_BY_VALUE, fn):
            for size in (1, 2, 3):  # a polynomial needs three coefficients to have complex roots
                unlike = Sampler(sampler.number, sampler.rank, sampler.forget, size, sampler.length, unlike=True)
                found = join(found, self._tried(fn, args, kwargs, unlike, False)[0] or BOTTOM)
        if not isinstance(found, Num | Arr) or not any(isinstance(k, Arr) for k in (*args, *kwargs.values())):
            return found
        size = 3 if fn in hashable(_OF_SPACE, fn) else 2
        longer = Sampler(sampler.number, sampler.rank, sampler.forget, size, sampler.length)
        other, _ = self._tried(fn, args, kwargs, longer, False)
        if other is not None and not longer.hidden:
            sampler.hidden = False
        ranks = [k.rank if isinstance(k, Arr) else 0 for k in (found, other) if isinstance(k, Num | Arr)]
        if len(ranks) < 2 or ranks[0] == ranks[1] or other is None:
            return found
        joined = join(found, other)
        assert isinstance(joined, Arr)
        return replace(joined, rank=None)

    def _unknown(self, fn: Callable[..., Any], kinds: Sequence[Kind], error: Exception | None) -> NotResolved:
        if isinstance(error, TangentxError):  # one of our own functions says what is wrong
            return NotResolved(error.message, self.span, error.hint)
        why = f": {type(error).__name__}: {error}" if error is not None else ""
        hint = "make the types of its arguments definite, for example with a separate name for each"
        if Some(object) in kinds:
            hint = "convert it first, with `float(...)`, `int(...)` or `str(...)`"
        what = f"cannot tell what `{public_name(fn)}` gives for {', '.join(map(describe, kinds))}{why}"
        return NotResolved(what, self.span, hint)

    def _kind_of(self, value: Any, sampler: Sampler, known: bool, path: tuple[Any, ...]) -> Kind:
        if type(value) in (bool, int):
            return Num(type(value), value=value if known else MISSING)
        if type(value) in (float, complex) or (isinstance(value, np.generic) and value.dtype.kind in "biufc"):
            return Num(type(value))
        if type(value) is DeviceArray:
            return replace(self._array(value._data, sampler, path), library=sampler.library)
        if isinstance(value, np.ndarray):
            found = self._array(value, sampler, path)
            alone = sampler.library == "numpy" and sampler.instead != "numpy"
            return replace(found, library=sampler.instead) if alone else found
        if type(value) in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            return self._sequence(value, sampler, known, path)
        if type(value) is dict:
            box = Box(dict, self.fresh(path))
            box.region.born(())
            for key, item in value.items():
                box.region.put(key, self._kind_of(item, sampler, known, (*path, key)))
            return box
        if value is None or isinstance(value, type | np.dtype) or (known and isinstance(value, str | bytes)):
            return Obj(value)
        return Some(type(value))

    def _sequence(self, value: Any, sampler: Sampler, known: bool, path: tuple[Any, ...]) -> Kind:
        cls = tuple if isinstance(value, tuple) else list
        box = Box(cls, self.fresh(path))
        if cls is list or len(box.region.root().fields) not in (0, len(value)):  # shapes of samples of several ranks
            box.region.mark("open")
        for key, item in enumerate(value):
            kind = self._kind_of(item, sampler, known, (*path, key if cls is tuple else "item"))
            if cls is list:
                box.region.put_any(kind)
            else:
                box.region.put(key, kind)
        return box

    def _array(self, value: np.ndarray[Any, Any], sampler: Sampler, path: tuple[Any, ...]) -> Arr:
        if value.dtype.kind not in "biufc":
            raise NotResolved(f"an array of dtype {value.dtype} has no derivative rules", self.span, "use numbers")
        result = Arr(value.dtype, value.ndim, self.fresh(path))
        sampler.hidden = sampler.hidden or (value.size == 0 and any(array.size for array, _ in sampler.made))
        for array, region in sampler.made:
            if value is array or np.may_share_memory(value, array):
                if is_writable(value):
                    region.unite(result.region)
                else:
                    self.world.links.append((result.region, region, self.span))
        return Arr(value.dtype, value.ndim, result.region.root())


def _run(fn: Callable[..., Any], given: list[Any], named: dict[str, Any], sampler: Sampler) -> Any:
    """What `fn` gives for a sample: of arrays on a device by the double's rules, and without one."""
    found = numpy_function(fn)
    if found is not None:
        sampler.library = found[1].module
        return quietly(lambda: computed(found[0], given, named))
    if sampler.library == "numpy":
        return quietly(lambda: fn(*given, **named))
    method = isinstance(fn, types.MethodDescriptorType) and issubclass(fn.__objclass__, np.ndarray)
    with transfers.uncounted():
        if method and type(given[0]) is DeviceArray:
            return quietly(lambda: getattr(given[0], fn.__name__)(*given[1:], **named))
        return quietly(lambda: fn(*given, **named))


def _others(fn: Callable[..., Any], kinds: Sequence[Kind]) -> tuple[int, ...]:
    """Values of whole numbers that are tried although one has told: of them may depend what a result is, and which
    array it is a view of (``np.diff(x, 0)`` is `x` itself)."""
    unknown = {t for k in kinds if isinstance(k, Num) and k.value is MISSING for t in k.exact}
    if bool not in unknown and (int not in unknown or is_arithmetic(fn) or not any(isinstance(k, Arr) for k in kinds)):
        return ()
    return (0, 2)


def _shared_by_all(kind: Kind, sampler: Sampler) -> Kind:
    """The kind of an array that had no elements in any sample, so that none shows whose memory it is: anyone's."""
    if isinstance(kind, Arr):
        for array, region in sampler.made:
            if array.dtype == kind.dtype:
                region.unite(kind.region)
        return replace(kind, region=kind.region.root())
    return kind
