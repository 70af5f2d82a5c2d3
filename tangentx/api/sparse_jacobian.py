"""Sparse Jacobians: one sweep for each colour of their columns or rows."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.api.derivative import derivative_of
from tangentx.api.pickling import Owned, found_function, reduced
from tangentx.api.products import linearize_of, vjp_of
from tangentx.common.float_events import under_events
from tangentx.dispatch.entries import place_of, positions, target_of
from tangentx.dispatch.request import Spec
from tangentx.errors import NotDifferentiable
from tangentx.sparse.colouring import colours
from tangentx.sparse.index_sets import Indices, Unknown, on_sets, units

Places = tuple[Any, Any]  # the rows and the columns of entries that may differ from zero
_GIVE = "give sparsity=pattern, a matrix that is not zero where the Jacobian may not be"
_INSIDE = "take tx.jacobian(f) there, or tx.jvp along a direction"


class SparseJacobian:
    """The Jacobian of a function as a sparse matrix; see `tangentx.jacobian`.

    `source` is the text of the linear function that was compiled last, `explain` says how the last one was found.
    """

    __tangentx_outside__ = _INSIDE

    def __init__(self, f: Any, spec: Spec, sparsity: Any) -> None:
        self._f = f
        self._spec = spec
        self._sparsity = sparsity
        self._pattern = None if isinstance(sparsity, str) else sparsity
        self._target = target_of(f)
        self._linear = derivative_of(f, replace(spec, transform="linear", wrt=None, mode=""))
        self._said = "nothing has been called yet"
        if isinstance(sparsity, str) and sparsity != "auto":
            raise NotDifferentiable(f"sparsity={sparsity!r} is not an option", hint='use "auto", or a matrix')
        if isinstance(spec.wrt, tuple):
            raise self._refused("a sparse Jacobian is by one parameter", "give one position or name as wrt")
        functools.update_wrapper(self, f, updated=())

    def __reduce__(self) -> Any:
        return reduced(self._target, _remade, self._spec, self._sparsity)

    def __copy__(self) -> SparseJacobian:
        return self

    def __deepcopy__(self, memo: Any) -> SparseJacobian:
        if not self._target.owner:
            return self
        owner = copy.deepcopy(self._target.owner, memo)
        return SparseJacobian(Owned(self._target.function, owner), self._spec, self._sparsity)

    def __tangentx_target__(self) -> Any:
        raise self._refused("the derivative of a sparse Jacobian", _INSIDE)

    def __repr__(self) -> str:
        return f"<sparse jacobian of {getattr(self, '__qualname__', self._f)}>"

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._f)

    @property
    def source(self) -> str:
        """The text of the linear function, of the kinds compiled last."""
        return self._linear.source

    def explain(self) -> str:
        """How the last matrix was found: how many entries, and how many sweeps."""
        return f"{self!r}\n  {self._said}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        sparse = _scipy(place_of(self._target.function))
        owned, names = len(self._target.owner), self._linear._bind().names
        what = getattr(self._target.function, "__name__", "the function")
        (place,) = positions(self._spec.wrt, names, owned, what)
        given = self._linear._values(args, kwargs)
        x = given[place]
        self._demand_real(x, f"the parameter `{names[place]}`")
        value, linear = linearize_of(self._linear, args, kwargs, place)
        self._demand_real(value, "the result")
        shape = (int(np.size(value)), int(np.size(x)))
        entries = self._found(linear, x, value) if self._pattern is None else _given(sparse, self._pattern, shape)
        dtype = np.result_type(np.asarray(value).dtype, np.asarray(x).dtype)
        by_row, groups = self._groups(entries, shape, linear.entry.notes.get("repeats", False))
        if by_row:
            derivative = derivative_of(self._f, replace(self._spec, transform="vjp", mode=""))
            sweep, like, moving = vjp_of(derivative, args, kwargs)[1], value, entries[0]
        else:
            sweep, like, moving = linear, x, entries[1]
        moved = _swept(sweep, groups, like)
        numbers = moved[groups[moving], entries[1] if by_row else entries[0]].astype(dtype)
        self._said = f"{len(moved)} {'cotangent' if by_row else 'tangent'} sweeps for {len(numbers)} entries"
        result = sparse.csr_matrix((numbers, entries), shape)
        if self._pattern is not None:
            self._demand_whole(result, linear, x)
        return result

    def _refused(self, message: str, hint: str) -> NotDifferentiable:
        return NotDifferentiable(message, place_of(self._target.function), hint)

    def _demand_real(self, x: Any, what: str) -> None:
        real = isinstance(x, float | np.floating) or (type(x) is np.ndarray and x.dtype.kind == "f")
        if not real:
            shown = f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"of type {type(x).__name__}"
            message = f"{what} is {shown}: a sparse Jacobian is of one array of real numbers by another"
            raise self._refused(message, "put the numbers together: np.concatenate([a.ravel(), b.ravel()])")

    def _found(self, linear: Any, x: Any, value: Any) -> Places:
        """The entries that may differ from zero at this point, on the way that the program takes here."""
        if len(linear.entry.functions) < 2:
            raise self._refused("the pattern is not known: the program cannot be run on index sets", _GIVE)
        try:
            sets = on_sets(linear.entry.functions[1])(linear.state, units(np.shape(x)))
            if np.shape(sets) != np.shape(value):
                raise Unknown(f"sets of shape {np.shape(sets)}")
        except Exception as error:
            raise self._refused(f"the pattern is not known: {error}", _GIVE) from error
        each = [s if isinstance(s, Indices) else () for s in np.ravel(np.asarray(sets, dtype=object))]
        counts = np.fromiter(map(len, each), int, len(each))
        columns = np.fromiter(itertools.chain.from_iterable(map(sorted, each)), int, int(counts.sum()))
        return np.repeat(np.arange(len(each)), counts), columns

    def _groups(self, entries: Places, shape: tuple[int, int], repeats: bool) -> tuple[bool, Any]:
        """Whether rows move, and the colour of each row or column."""
        rows, columns = entries
        if self._spec.mode == "reverse" and not repeats:
            raise self._refused("the Jacobian would run the program twice, and it may act", 'use mode="forward"')
        by_column = colours(rows, columns, shape) if self._spec.mode != "reverse" else None
        if self._spec.mode == "forward" or not repeats:
            return False, by_column
        fewest = int(np.bincount(columns, minlength=1).max(initial=0))  # rows that meet in a column
        if by_column is not None and by_column.max(initial=-1) < fewest:
            return False, by_column
        by_row = colours(columns, rows, shape[::-1])
        better = by_column is None or by_row.max(initial=-1) < by_column.max(initial=-1)
        return (True, by_row) if better else (False, by_column)

    def _demand_whole(self, matrix: Any, linear: Any, x: Any) -> None:
        """Refuses a pattern that lacks entries: along a direction of random numbers the matrix gives something else."""
        v = np.random.default_rng(0).uniform(0.5, 1.0, np.shape(x)).astype(np.asarray(x).dtype)
        wanted, found = np.ravel(linear(v if np.ndim(x) else float(v))), matrix @ np.ravel(v)
        size = abs(matrix) @ np.ravel(v) + abs(wanted)
        precision = 1e4 * np.finfo(matrix.dtype).eps
        near = under_events(lambda: abs(found - wanted) <= precision * size, invalid="ignore")
        wrong = np.flatnonzero(np.isfinite(wanted) & ~near)
        if len(wrong):
            message = f"the given pattern misses entries: row {wrong[0]} of the Jacobian has nonzeros outside it"
            raise self._refused(message, 'give every entry that may be nonzero, or sparsity="auto"')


def _swept(sweep: Callable[[Any], Any], groups: Any, like: Any) -> Any:
    """What each group gives, as rows."""
    number = int(groups.max(initial=-1)) + 1
    found = []
    for colour in range(number):
        seed = np.reshape(groups == colour, np.shape(like)).astype(np.asarray(like).dtype)
        found.append(np.ravel(sweep(seed if np.ndim(like) else float(seed))))
    return np.array(found) if found else np.zeros((0, 1))


def _given(sparse: Any, pattern: Any, shape: tuple[int, int]) -> Places:
    made = sparse.csr_matrix(pattern)
    if made.shape != shape:
        raise NotDifferentiable(
            f"the pattern has shape {made.shape}, but the Jacobian has shape {shape}",
            hint="give one row for each number of the result, one column for each of the parameter",
        )
    made.sum_duplicates()
    entries = made.tocoo()
    return entries.row, entries.col


def _remade(where: tuple[Any, ...], owner: tuple[Any, ...], spec: Spec, sparsity: Any) -> SparseJacobian:
    return SparseJacobian(found_function(where, owner), spec, sparsity)


def _scipy(place: Any) -> Any:
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError:
        message, hint = "a sparse Jacobian needs SciPy", "install the extra: pip install 'tangentx[scipy]'"
        raise NotDifferentiable(message, place, hint) from None
