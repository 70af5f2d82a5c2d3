"""The fallback: entries that run a program on Tensors, and the warning that says so once."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import finish
from tangentx.arrays.copies import fresh_copies
from tangentx.arrays.libraries import is_array
from tangentx.arrays.signatures import storages
from tangentx.common.axes import Taken
from tangentx.common.generated_text import Text
from tangentx.common.naming import with_article
from tangentx.common.options import ON_TENSORS, Helper
from tangentx.common.scoped_state import lasting
from tangentx.dispatch.entries import Entry, Target, place_of
from tangentx.errors import NO_PROGRAM, FallbackWarning, JitWarning, NotDifferentiable, TangentxError, frames_to_user

# Warns once, per function and reason, that a slower path is taken.

_TOLD: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def warn_once(function: Any, reason: str, warning: Warning) -> None:
    """Gives the warning unless `function` and `reason` had theirs; where it is made an error it is not told yet."""
    told = _TOLD.setdefault(function, set())
    if reason not in told:
        warnings.warn(warning, stacklevel=frames_to_user())
        told.add(reason)


def not_compiled(spec: Any, target: Any, what: str) -> None:
    """Says once that `what` runs as Python, where `spec` asks for more."""
    if spec.jit not in (None, False):
        warn_of_jit(target.function, f"{what} are not compiled yet")


_AS_PYTHON = "is not compiled by jit and runs as Python, which is slower"


def warn_of_jit(function: Any, reason: str, *, itself: bool = False, way: str = _AS_PYTHON) -> None:
    """Says in which `way` a derivative of `function`, or `itself`, runs though ``jit=`` asks for more."""
    subject = f"{'' if itself else 'a derivative of '}`{getattr(function, '__name__', 'the function')}`"
    text = f"{subject} {way}: {reason}"
    warn_once(function, text, JitWarning(text))


# The fallback: entries that run a program on Tensors where it cannot be compiled.

Otherwise = Callable[[TangentxError], Entry] | None


def otherwise(target: Target, values: Sequence[Any], wrt: Sequence[int], spec: Any, how: str) -> Otherwise:
    """What to do where compiling fails: None where that is an error; else an entry that runs on Tensors.

    `how` is "grad", "jacobian", "vjp" or "jvp".
    """
    inner = getattr(target.function, "_spec", spec)  # of a derivative that is differentiated
    if "error" in (spec.fallback, inner.fallback):
        return None

    def make(error: TangentxError) -> Entry:
        if not _runs(target.function) or not all(map(_exact, storages(tuple(values)))):
            raise error  # on Tensors, which are NumPy's
        importlib.import_module("tangentx.tensor")  # the whole of it, which another thread may be loading
        function = target.function
        code = getattr(function, "__code__", None)
        if code is not None and _warnings_are_errors():
            raise error

        def holds() -> bool:
            return getattr(function, "__code__", None) is code

        makers: dict[str, Any] = {"grad": _gradient, "jacobian": _jacobian, "vjp": _pullback, "jvp": _tangent}
        run, *others = makers[how](target, tuple(wrt), spec)
        if code is not None:  # a derivative warns itself, when it is run
            run = _telling(run, function, error)
        reason = f"{type(error).__name__}: {error}"
        comment = "".join(f"# {line}\n" for line in reason.splitlines())
        text = Text(f"# `{function.__name__}` runs on Tensors, for it cannot be compiled.\n{comment}")
        notes = {
            "signature": f"`{function.__name__}` runs on Tensors: {reason}",
            "outside": (),
            "axes": None,
            "taken": Taken(),
            "fallback": True,
        }
        return Entry((run, *others), text, "<tangentx nothing>", holds, False, notes)

    return make


def _telling(run: Callable[..., Any], function: Any, error: TangentxError) -> Callable[..., Any]:
    """`run`, which warns when it has given its first result: what is refused on Tensors too is not said to be slow."""
    told = False

    def running(*values: Any) -> Any:
        nonlocal told
        try:
            result: Any = run(*values)
        except Captured as captured:
            result = captured
        except TangentxError as refused:
            if not told and (refused.message, refused.span) != (error.message, error.span):
                refused.add_note(
                    f"Compiling `{function.__name__}` was given up before: {type(error).__name__}: {error}"
                )
            raise
        if not told:
            warn(function, error)
            told = True
        if isinstance(result, Captured):
            raise result
        return result

    return running


def helped(make: Callable[[], Entry], instead: Callable[[TangentxError], Entry]) -> Entry:
    """The entry that `make` compiles. Functions in it that cannot be compiled run on Tensors, each call for itself;
    where that cannot be, the whole does, which `instead` gives."""
    helpers: dict[Any, Helper] = {}
    first: TangentxError | None = None
    while True:
        try:
            entry = lasting(ON_TENSORS, helpers, make)
        except TangentxError as error:
            if first is None and not isinstance(error, NO_PROGRAM):
                raise
            first = first or error
            more = next((f for f in error.through if f not in helpers and _is_helper(f)), None)
            if more is None or not isinstance(error, NO_PROGRAM):
                return instead(first)
            helpers = {f: Helper(helper.error) for f, helper in helpers.items()} | {more: Helper(error)}
        else:
            for function, helper in helpers.items():
                if helper.met:
                    warn(function, helper.error)
            return entry


def _is_helper(function: Any) -> bool:
    """Whether a function is one of the user's, that can be run on Tensors."""
    theirs = isinstance(function, types.FunctionType) and not str(function.__module__).startswith("tangentx.")
    return theirs and _runs(function) and not _has_captured(function)


def _has_captured(function: Any) -> bool:
    """Whether a function has captured a Tensor that is differentiated: compiled code around it would lose that."""
    if "tangentx.tensor" not in sys.modules:
        return False
    from tangentx.tensor.fallback.reachable import active_in

    return active_in(function) is not None


def on_tensors() -> tuple[str, ...]:
    """What is said of each function that runs on Tensors inside of the code in hand."""
    found = [(f, helper.error) for f, helper in ON_TENSORS.get().items() if helper.met]
    return tuple(
        f"`{f.__name__}` runs on Tensors, which needs the runtime of tangentx: {type(error).__name__}: {error}"
        for f, error in found
    )


def warn(function: Any, error: TangentxError) -> None:
    """Says once for each function and reason that it runs on Tensors.

    Raises the located error itself where the user makes errors of such warnings.
    """
    reason = f"{type(error).__name__}: {error}"
    text = f"`{function.__name__}` cannot be compiled and runs on Tensors, which is slower: {reason}"
    try:
        warn_once(function, reason, FallbackWarning(text))
    except FallbackWarning:
        raise error from None


def _warnings_are_errors() -> bool:
    """Whether the user makes errors of all warnings of this kind: then nothing is to be run before one is raised."""
    for action, message, category, module, line in warnings.filters:
        if issubclass(FallbackWarning, category) and not (message or module or line):
            return action == "error"
    return False


def _runs(function: Any) -> bool:
    """A generator or coroutine gives no value when it is called."""
    kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return not any(is_one(function) for is_one in kinds)


def _exact(value: Any) -> bool:
    return not is_array(value) or (type(value) is np.ndarray and value.dtype.kind != "O")


class Captured(Exception):
    """A run, `trace`, depends on Tensors of the user's that its function has captured: its derivative is recorded."""

    def __init__(self, trace: Any) -> None:
        super().__init__("a function that has captured Tensors is run on plain values")
        self.trace = trace


def _traced(target: Target, values: tuple[Any, ...], wrt: tuple[int, ...]) -> Any:
    """The run of a function on Tensors. Raises Captured."""
    from tangentx.tensor.core.containers import tensors_in
    from tangentx.tensor.core.modes import recording
    from tangentx.tensor.fallback.function_rewriting import called
    from tangentx.tensor.fallback.programs import meets_users
    from tangentx.tensor.fallback.tracing import Trace

    trace = Trace(called(target.function), values, wrt)
    if recording() and meets_users(tensors_in([trace.result])):
        raise Captured(trace)
    return trace


def _gradient(target: Target, wrt: tuple[int, ...], spec: Any) -> tuple[Any, ...]:
    from tangentx.tensor.core.tensor import Tensor
    from tangentx.tensor.fallback.reachable import plain

    def run(*values: Any) -> Any:
        trace = _traced(target, values, wrt)
        value, aux = split(trace.result, spec, target.function)
        demand_real(value, target.function)
        outputs = [value] if type(value) is Tensor else []
        found = trace.gradients(outputs, [1.0] * len(outputs), False)
        bars = [finish(bar, values[i]) for i, bar in zip(wrt, found, strict=True)]
        grads = tuple(bars) if isinstance(spec.wrt, tuple) else bars[0]
        shown = (plain(value), plain(aux)) if spec.has_aux else plain(value)
        if spec.value:
            return shown, grads
        return (grads, plain(aux)) if spec.has_aux else grads

    return (run,)


def split(result: Any, spec: Any, function: Any) -> tuple[Any, Any]:
    if not spec.has_aux:
        return result, None
    if not (type(result) is tuple and len(result) == 2):
        raise NotDifferentiable(
            "has_aux expects (value, extras), but the result is something else",
            place_of(function),
            "return a tuple of the value and whatever goes with it, or leave has_aux out",
        )
    return result[0], result[1]


def demand_real(value: Any, function: Any) -> None:
    """Refuses a result that has no gradient, as the compiler does."""
    from tangentx.tensor.core.tensor import Tensor

    data = value.current if type(value) is Tensor else value
    if not isinstance(data, np.ndarray | np.generic | int | float | complex) or isinstance(data, bool | np.bool_):
        what, hint = f"of type {type(data).__name__}", "return one number, or take tx.vjp"
    elif np.ndim(data) != 0:
        what, hint = f"an array of shape {np.shape(data)}", "return a sum of it, one of its elements, or take tx.vjp"
    elif np.iscomplexobj(data):
        what, hint = "complex", "return a real part, or abs(z)**2"
    elif np.asarray(data).dtype.kind != "f":
        what, hint = "a whole number", "return a real number that is computed from the parameters"
    else:
        return
    raise NotDifferentiable(
        f"a gradient needs a real scalar result, but the result is {what}", place_of(function), hint
    )


def _demand_open(trace: Any, value: Any, function: Any) -> None:
    """Refuses a result in which a derivative would be asked for where nobody looks."""
    from tangentx.tensor.fallback.reachable import copied

    def look(x: Any) -> Any:
        if any(x is hidden for hidden in trace.hidden):
            message = (
                f"the result holds {with_article(type(x).__name__)} with something in it that is being differentiated"
            )
            raise NotDifferentiable(message, place_of(function), "return a list, tuple, dict or dataclass instead")
        return x

    if trace.hidden:
        copied(value, look)


def _jacobian(target: Target, wrt: tuple[int, ...], spec: Any) -> tuple[Any, ...]:
    from tangentx.tensor.core.tensor import Tensor
    from tangentx.tensor.fallback.jacobians import jacobian
    from tangentx.tensor.fallback.reachable import plain

    def run(*values: Any) -> Any:
        trace = _traced(target, values, wrt)
        value, aux = split(trace.result, spec, target.function)
        _demand_open(trace, value, target.function)
        primals, many = [values[i] for i in wrt], isinstance(spec.wrt, tuple)

        def pull(output: Any, seed: Any) -> list[Any]:
            bars = trace.gradients([output], [seed], True) if type(output) is Tensor else [None] * len(primals)
            return [finish(bar, primal) for bar, primal in zip(bars, primals, strict=True)]

        found = jacobian(value, primals, pull, many, place_of(target.function))
        return (found, plain(aux)) if spec.has_aux else found

    return (run,)


def _pullback(target: Target, wrt: tuple[int, ...], spec: Any) -> tuple[Any, ...]:
    from tangentx.tensor.fallback.function_rewriting import called
    from tangentx.tensor.fallback.reachable import outputs_in, plain
    from tangentx.tensor.fallback.tracing import Trace

    def forward(*values: Any) -> Any:
        trace = Trace(called(target.function), values, wrt)
        _demand_open(trace, trace.result, target.function)
        return plain(trace.result), (trace, fresh_copies(*(values[i] for i in wrt)))

    def backward(state: Any, seed: Any) -> Any:
        trace, primals = state
        found: list[tuple[Any, Any]] = []
        outputs_in(trace.result, seed, found)
        bars = trace.gradients([t for t, _ in found], [s for _, s in found], True)
        return tuple(finish(bar, primal) for bar, primal in zip(bars, primals, strict=True))

    return forward, backward


def _tangent(target: Target, wrt: tuple[int, ...], spec: Any) -> tuple[Any, ...]:
    from tangentx.tensor.fallback.function_rewriting import called
    from tangentx.tensor.fallback.reachable import plain
    from tangentx.tensor.fallback.tracing import Trace, tangent

    def run(*values: Any) -> Any:
        primals, dots = values[: len(values) - len(wrt)], values[len(values) - len(wrt) :]
        trace = Trace(called(target.function), primals, wrt)
        _demand_open(trace, trace.result, target.function)
        return plain(trace.result), tangent(trace, dots)

    return (run,)
