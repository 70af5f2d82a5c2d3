"""Values, gradients and Jacobians over shards of data, reduced as a tree in a fixed order."""

from __future__ import annotations

import math
import operator
import random
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import Parameter
from typing import Any

import numpy as np

from tangentx.api.derivative import Derivative, derivative_of
from tangentx.common.naming import with_article
from tangentx.common.progress import reporting
from tangentx.common.pytrees import children, is_differentiable, leaves, rebuild
from tangentx.dispatch.request import Spec
from tangentx.dispatch.tensor_arguments import refuse_tensors, with_arrays
from tangentx.errors import NotDifferentiable, frames_to_user
from tangentx.parallel.engines import Local, Tasks, end, engine_for, is_executor
from tangentx.parallel.worker import Program

# Tree reduction over shards, in a fixed order.
#
# Results are added as a tree: shard 0 to shard 1, 2 to 3, and so on, then those sums in the same way. Which shards are
# added when depends on their number alone, so the rounding does too, whoever has computed them and in whichever order
# they come. A sum is made as soon as its two parts are there, so few results wait.


class Tree:
    """``combine(left, right)`` over `count` parts, as they come.

    >>> tree = Tree(3, lambda left, right: f"({left} {right})")
    >>> for number in (2, 0, 1):
    ...     tree.put(number, str(number))
    >>> tree.result
    '((0 1) 2)'
    """

    def __init__(self, count: int, combine: Callable[[Any, Any], Any]) -> None:
        self._combine = combine
        self._waiting: dict[tuple[int, int], Any] = {}
        self._widths = [count]
        while self._widths[-1] > 1:
            self._widths.append((self._widths[-1] + 1) // 2)

    def put(self, number: int, part: Any) -> None:
        """Takes the part of this number, and adds up what can be."""
        level, place = 0, number
        while level < len(self._widths) - 1:
            other = place ^ 1
            if other < self._widths[level]:
                if (level, other) not in self._waiting:
                    break
                beside = self._waiting.pop((level, other))
                part = self._combine(part, beside) if place < other else self._combine(beside, part)
            level, place = level + 1, place // 2
        self._waiting[level, place] = part

    @property
    def result(self) -> Any:
        """The whole, when all parts have come."""
        return self._waiting[len(self._widths) - 1, 0]


def added(left: Any, right: Any) -> Any:
    """The sum of two structures, leaf by leaf; what has no derivative is that of the left one.

    The arrays of `left`, which belong to nobody else, are written where they can hold the sum.
    """
    others = (other for _, _, other in leaves("", left, right))

    def total(leaf: Any) -> Any:
        other = next(others)
        if not is_differentiable(leaf) or other is None:
            return leaf
        if type(leaf) is not np.ndarray:
            return leaf + other
        keeps = np.can_cast(np.asarray(other).dtype, leaf.dtype)
        return np.add(leaf, other, out=leaf) if keeps else np.asarray(leaf + other)

    return rebuild(left, total)


def scaled(structure: Any, factor: float) -> Any:
    """Each number and array of a structure times `factor`, in its own dtype."""
    return rebuild(structure, lambda leaf: _of_its_dtype(leaf, leaf * factor) if is_differentiable(leaf) else leaf)


def divided(structure: Any, number: float) -> Any:
    """Each number and array of a structure by `number`, in its own dtype."""
    return rebuild(structure, lambda leaf: _of_its_dtype(leaf, leaf / number) if is_differentiable(leaf) else leaf)


def _of_its_dtype(leaf: Any, value: Any) -> Any:
    """NumPy makes a scalar of an array without axes."""
    return np.asarray(value, leaf.dtype) if type(leaf) is np.ndarray else value


def concatenated(jacobians: Sequence[Any], parameters: Any) -> Any:
    """Jacobians of the shards' results, which are arrays, one below the other along the first axis.

    Raises NotDifferentiable where the results have no axis, or are structures.
    """
    hint = 'return one array of at least one axis, or use reduce="sum"'
    columns = []
    for number, jacobian in enumerate(jacobians):
        try:
            pairs = [(leaf, parameter) for _, parameter, leaf in leaves("", parameters, jacobian)]
        except ValueError:
            pairs = []
        if not pairs or any(children(leaf) is not None for leaf, _ in pairs):
            raise NotDifferentiable("the rows of a structure of results cannot be put below each other", hint=hint)
        if any(np.ndim(leaf) <= np.ndim(parameter) for leaf, parameter in pairs if leaf is not None):
            raise NotDifferentiable(f"the result of shard {number} has no axis along which rows could lie", hint=hint)
        columns.append([leaf for leaf, _ in pairs])
    rows = iter([None if column[0] is None else np.concatenate(column) for column in zip(*columns, strict=True)])
    return rebuild(jacobians[0], lambda _: next(rows))


# Values, gradients and Jacobians over shards of data, on the workers of an executor.

_ENGINES = (
    "pass an executor (concurrent.futures.ProcessPoolExecutor()), or a function without arguments that makes one: "
    "functools.partial(concurrent.futures.ProcessPoolExecutor, 4)"
)
TRIES = 3
"""How often shards are given to workers that die, before they are run in the calling process."""


def value_and_grad(
    f: Any,
    wrt: Any = 0,
    *,
    executor: Any,
    shards: Iterable[tuple[Any, ...]],
    reduce: str = "mean",
    weights: Iterable[float] | None = None,
    fallback: str = "tensor",
    jit: str | None = None,
    check: bool = False,
) -> Sharded:
    """The mean, or the sum, of ``tx.value_and_grad(f, wrt)`` over shards of the data, which workers share.

    A shard is the tuple of `f`'s other arguments, in their order. What comes back is a function of the parameters that
    `wrt` names; its result is ``(value, gradient)``, of the shapes and dtypes that `tx.value_and_grad` gives. `reduce`
    is "mean" or "sum"; `weights`, one number for each shard (the number of its rows, say), make a weighed mean or sum.
    Results are added as a tree in a fixed order, so that the outcome is the same to the last bit whatever the number of
    workers.

    `executor` is anything with ``submit``, as ``concurrent.futures`` has it (a pool of threads or processes, loky's,
    mpi4py's ``MPIPoolExecutor``, ``client.get_executor()`` of Dask), a pool with ``apply_async`` (multiprocessing's,
    Ray's), a client of Dask's, or a function without arguments that makes an executor: that is made at the first call,
    kept, and shut down by ``close()``, by leaving ``with`` or when the function goes. A shard is sent to a worker
    when it first meets it, so it must not be changed afterwards.

    Where a worker dies its shards are run again by an engine that goes on (Dask, multiprocessing's pools) or can be
    made anew (a function that makes it), three times at most; else in the calling process, which a RuntimeWarning says.
    (Where a process of MPI dies, MPI ends all of them.) An exception of `f` comes as it is, with a note of the shard
    and the line. An interrupt (Ctrl-C) cancels what has not begun.

    Raises NotDifferentiable for shards that do not fit `f`, that hold a random generator or an iterator (its state
    would depend on who runs what: pass a seed), and for functions that cannot be sent to another process.
    """
    spec = Spec("grad", wrt, True, False, fallback, jit, check=check)
    return Sharded(derivative_of(f, spec), executor, shards, reduce, weights)


def jacobian(
    f: Any,
    wrt: Any = 0,
    mode: str = "auto",
    *,
    executor: Any,
    shards: Iterable[tuple[Any, ...]],
    reduce: str = "mean",
    weights: Iterable[float] | None = None,
    fallback: str = "tensor",
    jit: str | None = None,
    check: bool = False,
) -> Sharded:
    """The mean, or the sum, of ``tx.jacobian(f, wrt, mode)`` over shards of the data: see `value_and_grad`.

    ``reduce="concatenate"`` puts the rows of all shards below each other along the first axis of `f`'s result, which
    is one array then: the Jacobian of the residuals of all shards.

    >>> import numpy as np, tangentx as tx
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def residual(p, t):
    ...     return p[0] * np.exp(p[1] * t)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     rows = tx.parallel.jacobian(
    ...         residual, executor=pool, shards=[(np.zeros(2),), (np.ones(3),)], reduce="concatenate"
    ...     )
    ...     rows(np.array([2.0, 0.0])).shape
    (5, 2)
    """
    spec = Spec("jacobian", wrt, False, False, fallback, jit, mode, check)
    return Sharded(derivative_of(f, spec), executor, shards, reduce, weights)


class Sharded:
    """A derivative over shards: a function of the parameters. `value_and_grad` says what holds."""

    def __init__(
        self, derivative: Derivative, executor: Any, shards: Iterable[Any], reduce: str, weights: Iterable[float] | None
    ) -> None:
        self._derivative = derivative
        self._shards = with_arrays(tuple(shards))
        refuse_tensors(self._shards)
        self._reduce, self._weights = _reduction(derivative, reduce, weights, len(self._shards))
        self._program = Program(derivative, _places(derivative))
        for number, shard in enumerate(self._shards):
            _demand_shard(self._program, number, shard)
        if not callable(executor):
            _demand_executor(executor)
        self._given = executor
        self._engine: Local | None = None
        self._end: Any = None

    def __repr__(self) -> str:
        count = len(self._shards)
        return f"<{self._reduce} of {self._derivative!r} over {count} shard{'' if count == 1 else 's'}>"

    def __call__(self, *parameters: Any) -> Any:
        count = len(self._program.places)
        if len(parameters) != count:
            raise TypeError(f"{self!r} takes {count} parameter{'' if count == 1 else 's'}, not {len(parameters)}")
        plain = with_arrays(parameters)
        refuse_tensors(plain)
        tree = Tree(len(self._shards), operator.add if self._reduce == "concatenate" else added)
        reporting(lambda: self._gather(plain, tree), "computing")
        return self._finished(tree.result, plain)

    def source_for(self, *parameters: Any) -> str:
        """The text that the workers run, for the kinds of these parameters and of the first shard."""
        return self._derivative.source_for(*self._program.arguments(parameters, self._shards[0]))

    @property
    def source(self) -> str:
        """The text that was compiled last in this process; see `source_for`."""
        return self._derivative.source

    # ---- the engine

    def close(self) -> None:
        """Shuts down the executor, if it was made here; the next call makes another."""
        self._engine = None
        if self._end is not None:
            self._end()
            self._end = None

    def __enter__(self) -> Sharded:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _made(self) -> Local:
        """The engine, which is made now if there is none."""
        if self._engine is None:
            executor = self._given
            if not is_executor(executor):
                executor = executor()
                _demand_executor(executor)
                self._end = weakref.finalize(self, end, executor)
            self._engine = engine_for(executor, self._program, self._shards)
        return self._engine

    def _renewed(self) -> bool:
        """Whether there is an engine for another try: one made anew, or one that goes on by itself."""
        if self._end is not None:
            self.close()
            return True
        return self._engine is not None and self._engine.lasts

    # ---- one call

    def _gather(self, parameters: tuple[Any, ...], tree: Tree) -> None:
        """Runs all shards, those of workers that die again, and gives the results to the tree."""
        todo, count = list(range(len(self._shards))), len(self._shards)

        def take(number: int, result: Any) -> None:
            tree.put(number, self._weighed(number, result))

        for _ in range(TRIES):
            tasks = Tasks(self._made(), take, f"shards of {self._program.name}", count)
            try:
                tasks.run(todo, parameters)
            except KeyboardInterrupt:
                self.close()
                raise
            todo = tasks.lost
            if not todo or not self._renewed():
                break
        if todo:
            _warn_of_death(tasks.reason, todo)
            here = Local(self._program, self._shards)
            for number in todo:
                take(number, here.received(here.run(number, parameters)))

    def _weighed(self, number: int, result: Any) -> Any:
        if self._reduce == "concatenate":
            return [result]
        return result if self._weights is None else scaled(result, self._weights[number])

    def _finished(self, total: Any, parameters: tuple[Any, ...]) -> Any:
        if self._reduce == "concatenate":
            several = isinstance(self._derivative._spec.wrt, tuple)
            return concatenated(total, parameters if several else parameters[0])
        if self._reduce == "sum":
            return total
        return divided(total, len(self._shards) if self._weights is None else math.fsum(self._weights))


def _places(derivative: Derivative) -> tuple[int, ...]:
    """Where the parameters stand among the arguments. Raises NotDifferentiable for those that have no place."""
    owned = len(derivative._target.owner)
    places = tuple(i - owned for i in derivative._wrt())
    known = list(derivative.__signature__.parameters.values())
    for i in places:
        if known[i].kind not in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            raise NotDifferentiable(
                f"`{known[i].name}` of this function has no position among its arguments",
                hint="put what is differentiated before `*` and `**`",
            )
    return places


def _reduction(
    derivative: Derivative, reduce: str, weights: Iterable[float] | None, count: int
) -> tuple[str, tuple[float, ...] | None]:
    """The options of a reduction. Raises NotDifferentiable for those that have no meaning."""
    rows = derivative._spec.transform == "jacobian"
    known = ("mean", "sum", "concatenate") if rows else ("mean", "sum")
    if reduce not in known:
        listed = ", ".join(f'"{name}"' for name in known)
        raise NotDifferentiable(f"reduce={reduce!r} is not an option", hint=f"use one of {listed}")
    if count == 0:
        raise NotDifferentiable("there are no shards", hint="pass shards=[(x, y), ...], one tuple for each")
    if weights is None:
        return reduce, None
    found = tuple(float(weight) for weight in weights)
    if reduce == "concatenate":
        raise NotDifferentiable("rows are not weighed", hint='leave `weights` out, or use reduce="sum"')
    if len(found) != count:
        raise NotDifferentiable(f"there are {len(found)} weights for {count} shards", hint="pass one for each shard")
    if not all(math.isfinite(weight) for weight in found) or (reduce == "mean" and math.fsum(found) == 0.0):
        raise NotDifferentiable(f"weights={found!r} have no mean", hint="pass finite numbers whose sum is not 0")
    return reduce, found


def _demand_shard(program: Program, number: int, shard: Any) -> None:
    """Raises NotDifferentiable for what cannot be a shard of these."""
    name = program.name
    if type(shard) is not tuple:
        raise NotDifferentiable(
            f"shard {number} is {with_article(type(shard).__name__)}, and no tuple of the other arguments of `{name}`",
            hint="pass shards=[(x, y), ...]; a single argument is (x,)",
        )
    try:
        program.derivative.__signature__.bind(*program.arguments((None,) * len(program.places), shard))
    except TypeError as error:
        raise NotDifferentiable(
            f"shard {number} does not fit `{name}`: {error}",
            hint="a shard has the arguments that `wrt` does not name, in their order",
        ) from None
    for what in _stateful(shard):
        raise NotDifferentiable(
            f"shard {number} holds a {what}, whose state would depend on which worker runs what",
            hint="pass a seed and make it in the function: np.random.default_rng(seed)",
        )


def _demand_executor(executor: Any) -> None:
    if not is_executor(executor):
        raise NotDifferentiable(f"executor={executor!r} has no `submit`", hint=_ENGINES)


def _stateful(value: Any) -> Iterator[str]:
    """The classes of random generators and iterators in a structure."""
    if isinstance(value, np.random.Generator | np.random.RandomState | random.Random | Iterator):
        yield type(value).__name__
    for _, part in children(value) or ():
        yield from _stateful(part)


def _warn_of_death(reason: BaseException | None, todo: list[int]) -> None:
    """Says that shards are run in the calling process."""
    what = f"shard {todo[0]} is" if len(todo) == 1 else f"shards {', '.join(map(str, todo))} are"
    text = (
        f"a worker died ({type(reason).__name__}: {reason}), and the executor takes no more: {what} run in this process"
    )
    warnings.warn(text, RuntimeWarning, stacklevel=frames_to_user())
