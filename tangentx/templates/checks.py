"""Rules of the run-time checks and the domain checks."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import (
    apart,
    as_seen,
    copied_tangent,
    counted,
    demand_bound,
    demand_copied,
    demand_own,
    demand_same,
    demand_unshared,
    enough_snapshots,
    equal_lengths,
    filled,
    fitting,
    generator_states,
    has_memory,
    moving,
    next_snapshot,
    of_rule,
    once,
    positive,
    positive_with,
    real_zero,
    same_length,
    seed_of_scalar,
    set_generators,
    tangent_as,
    there,
    to_rule,
    within,
)
from tangentx.templates.registry import constant, elementwise, linear

# Rules of the run-time checks.

constant(
    apart,
    as_seen,
    counted,
    demand_bound,
    demand_copied,
    demand_own,
    demand_same,
    demand_unshared,
    real_zero,
    same_length,
)
constant(enough_snapshots, equal_lengths, generator_states, has_memory, next_snapshot, set_generators, there)


@linear(fitting, domain=("A(3), 3",))
def fitting_(x: Any, count: Any, *, ans_bar: Any) -> Any:
    """The identity."""
    x_bar = ans_bar
    return x_bar


@linear(moving, domain=("A(3), A(3)", "x, y"))
def moving_(given: Any, primal: Any, *, ans_bar: Any) -> Any:
    """The tangent or cotangent itself."""
    given_bar = ans_bar
    return given_bar


@linear(
    of_rule,
    domain=(
        "A(3), A(3), x, 'f', 'x_bar'",
        "A(2,3), A(3), A(2,3), 'f', 'x_bar'",
        "[x, A(2)], [y, A(2)], x, 'f', 'x_bar'",
        "x, y, x, 'f', 'x_bar'",
    ),
    broadcasts=True,
)
def of_rule_(given: Any, like: Any, result: Any, rule: Any, name: Any, *, ans_bar: Any) -> Any:
    """What the rule gives, in the form of a cotangent."""
    given_bar = to_rule(ans_bar, given)
    return given_bar


@linear(to_rule, domain=("A(3), A(3)", "A(3), A(2,3)", "[x, A(2)], [y, A(2)]"), broadcasts=True)
def to_rule_(t: Any, given: Any, *, ans_bar: Any) -> Any:
    """Its own adjoint, as `unbroadcast` is."""
    t_bar = to_rule(ans_bar, t)
    return t_bar


@linear(seed_of_scalar, domain=("x, y",))
def seed_of_scalar_(ans: Any, seed: Any, *, ans_bar: Any) -> Any:
    """The seed."""
    seed_bar = ans_bar
    return seed_bar


@linear(tangent_as, domain=("A(3), A(3)",))
def tangent_as_(dot: Any, primal: Any, *, ans_bar: Any) -> Any:
    """A copy in another layout."""
    dot_bar = ans_bar
    return dot_bar


@linear(copied_tangent, domain=("A(3), A(3)",))
def copied_tangent_(dot: Any, primal: Any, *, ans_bar: Any) -> Any:
    """A copy in another layout."""
    dot_bar = once(ans_bar)
    return dot_bar


@linear(filled, domain=("A(3), A(3)",))
def filled_(dot: Any, primal: Any, *, ans_bar: Any) -> Any:
    """The structure itself."""
    dot_bar = ans_bar
    return dot_bar


# Rules of the domain checks.


@elementwise(positive, domain="positive", analytic=False)
def positive_(x: Any) -> Any:
    """The identity."""
    return 1.0


@elementwise(positive_with, domain="positive", analytic=False)
def positive_with_(x: Any, shape: Any) -> Any:
    """The identity in its first argument."""
    return 1.0, None


@elementwise(within, domain="probability negative above", analytic=False)
def within_(x: Any, low: Any, high: Any) -> Any:
    """The identity in its first argument."""
    return 1.0, None, None
