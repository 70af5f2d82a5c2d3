"""`tx.check`: whether a function compiles for given arguments, and everything that prevents it, with lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tangentx.dispatch.entries import Binder, positions, target_of
from tangentx.dispatch.nesting_depth import shallow
from tangentx.errors import NotDifferentiable, NoTemplate, TangentxError


@dataclass(frozen=True)
class Findings:
    """What `check` found: true where nothing keeps the function from being compiled, and readable text.

    `problems` are errors, with the lines where they belong, in the order of the files; `without_rule` are those that
    are calls of functions without a derivative rule.

    >>> import tangentx as tx
    >>> tx.check(lambda x: x * x, 1.0).problems
    ()
    """

    name: str
    problems: tuple[TangentxError, ...]

    @property
    def without_rule(self) -> tuple[TangentxError, ...]:
        """The calls that have no derivative rule."""
        return tuple(problem for problem in self.problems if isinstance(problem, NoTemplate))

    def __bool__(self) -> bool:
        return not self.problems

    def __iter__(self) -> Iterator[TangentxError]:
        return iter(self.problems)

    def __str__(self) -> str:
        if not self.problems:
            return f"`{self.name}` is compiled for these arguments."
        calls = len(self.without_rule)
        told = [f"{calls} calls without a derivative rule" if calls != 1 else "1 call without a derivative rule"]
        others = len(self.problems) - calls
        told = told[:calls] + ([f"{others} other reason{'s' if others > 1 else ''}"] if others else [])
        head = f"`{self.name}` is not compiled for these arguments: {' and '.join(told)}."
        return "\n\n".join([head, *(f"{type(problem).__name__}: {problem}" for problem in self.problems)])

    __repr__ = __str__


@shallow
def check(f: Any, *args: Any, wrt: Any = None, **kwargs: Any) -> Findings:
    """What keeps the derivatives of `f` at such arguments from being compiled: every call without a rule, and every
    other reason to fall back to Tensors, in `f` and in the functions that it calls.

    Nothing of the program is run. `wrt` is a position or a name, or a tuple of them; the default is all that holds a
    real or complex number. The findings are true where there is nothing to report.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> def f(x, mode):
    ...     return np.sum(np.sin(x)) * mode.scale()
    >>> found = tx.check(f, np.ones(2), "fast")
    >>> bool(found), len(found.problems)
    (False, 1)
    >>> "has no attribute" in str(found) or "scale" in str(found)
    True

    Raises NotDifferentiable where no argument that `wrt` names has a derivative, NoSource where there is no function to
    be read.
    """
    from tangentx.compile import refusal_search
    from tangentx.dispatch.validation import differentiable

    target = target_of(f)
    binder = Binder(target.function)
    values = binder((*target.owner, *args), kwargs)
    name = getattr(target.function, "__name__", type(f).__name__)
    places = range(len(values)) if wrt is None else positions(wrt, binder.names, len(target.owner), name)
    chosen = differentiable(values, places)
    if wrt is not None and len(chosen) < len(places):
        raise NotDifferentiable(f"an argument that wrt={wrt!r} names has no derivative", hint="name others")
    return Findings(name, tuple(refusal_search.of_program(target, values, chosen)))
