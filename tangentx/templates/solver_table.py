"""Library functions that call the user's: the model that replaces each, and what it gives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from tangentx.templates.libraries import arrived

# The table of library functions that call the user's, each with the model that replaces it in a derivative.

F = TypeVar("F", bound=Callable[..., Any])
Form = str | Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Solver:
    """A `body` for the calls of `primals`: it is given what the call as written has found, then the arguments.

    `form` is the kind of what is found (see `arrays.form_of`), or tells it from what is known of the arguments, by
    name: their values, or their kinds. `also` are options with which the call is made beside those of the user's.
    """

    primals: tuple[Callable[..., Any], ...]
    body: Callable[..., Any]
    form: Form
    also: Mapping[str, Any] = field(default_factory=dict)

    def takes(self, given: int, names: Sequence[str]) -> bool:
        """Whether the body knows a call with so many arguments by position, and others by these names."""
        try:
            inspect.signature(self.body).bind(*[None] * (given + 1), **dict.fromkeys(names))
        except TypeError:
            return False
        return True

    def parameters(self) -> str:
        """The parameters that it knows, for a message."""
        return ", ".join(f"`{name}`" for name in list(inspect.signature(self.body).parameters)[1:])


_SOLVERS: dict[Any, Solver] = {}


def solver_of(*primals: Callable[..., Any], form: Form, **also: Any) -> Callable[[F], F]:
    """Declares what stands for a call of `primals`, in the language of the user's own programs."""

    def declare(body: F) -> F:
        made = Solver(primals, body, form, also)
        _SOLVERS.update(dict.fromkeys(primals, made))
        return body

    return declare


def solver(fn: object) -> Solver | None:
    """What stands for the calls of `fn`; None where that is no such function."""
    try:
        return _SOLVERS.get(fn) or (_SOLVERS.get(fn) if arrived() else None)
    except TypeError:
        return None


def solvers() -> tuple[Solver, ...]:
    """All of them, each once, in order of declaration."""
    arrived()
    return tuple({id(s): s for s in _SOLVERS.values()}.values())


# Results of solvers: the solution, which depends on parameters, and the report on the search.


class Solution(NamedTuple):
    """What a solver has found: its answer `x`, and `fun`, which the user's function gives there."""

    x: Any
    fun: Any
    success: Any
    status: Any
    message: Any
    nfev: Any
    nit: Any


class Root(NamedTuple):
    """What `scipy.optimize.root_scalar` has found."""

    root: Any
    converged: Any
    flag: Any
    iterations: Any
    function_calls: Any


class Minimum(NamedTuple):
    """What `scipy.optimize.minimize_scalar` has found."""

    x: Any
    fun: Any
    success: Any
    message: Any
    nfev: Any
    nit: Any


class Fit(NamedTuple):
    """What `scipy.optimize.least_squares` has found."""

    x: Any
    cost: Any
    fun: Any
    success: Any
    status: Any
    message: Any
    nfev: Any


class Trajectory(NamedTuple):
    """What `scipy.integrate.solve_ivp` has found."""

    t: Any
    y: Any
    success: Any
    status: Any
    message: Any
    nfev: Any


RECORDS: frozenset[Any] = frozenset((Solution, Root, Minimum, Fit, Trajectory))
"""The classes here, whose fields are asked for by their names in brackets, too, as SciPy's results are."""
