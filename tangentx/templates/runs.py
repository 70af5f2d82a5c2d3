"""Rules of runs on Tensors inside compiled code."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import on_tensors, outcome, part, pull, pulled, push, pushed
from tangentx.templates.registry import adjoint, constant

constant(on_tensors, part, pulled, pushed)


@adjoint(outcome, domain=(), drawn=False)
def outcome_(run: Any, form: Any, *given: Any, ans_bar: Any) -> Any:
    """What the pullback of the run gives."""
    given_bar = pull(run, ans_bar, *given)
    return given_bar


@outcome_.tangent
def outcome_dot(run: Any, form: Any, *given: Any, ans: Any, given_dot: Any) -> Any:
    """What the forward mode of the run gives."""
    ans_dot = push(run, ans, given_dot, *given)
    return ans_dot


@adjoint(pull, domain=(), drawn=False)
def pull_(run: Any, bars: Any, *given: Any, ans_bar: Any) -> Any:
    """The pullback is a run as well, of the cotangents and of what the run was given."""
    both = pull(pulled(run, bars), ans_bar, bars, *given)
    bars_bar = both[0]
    given_bar = both[1:]
    return bars_bar, given_bar


@pull_.tangent
def pull_dot(run: Any, bars: Any, *given: Any, ans: Any, bars_dot: Any, given_dot: Any) -> Any:
    """The forward mode of the pullback."""
    ans_dot = push(pulled(run, bars), ans, (bars_dot, *given_dot), bars, *given)
    return ans_dot


@adjoint(push, domain=(), drawn=False)
def push_(run: Any, like: Any, dots: Any, *given: Any, ans_bar: Any) -> Any:
    """The forward mode is a run as well, of the tangents and of what the run was given."""
    both = pull(pushed(run, dots), ans_bar, dots, *given)
    dots_bar = both[0]
    given_bar = both[1:]
    return dots_bar, given_bar


@push_.tangent
def push_dot(run: Any, like: Any, dots: Any, *given: Any, ans: Any, dots_dot: Any, given_dot: Any) -> Any:
    """The forward mode of the forward mode."""
    ans_dot = push(pushed(run, dots), ans, (dots_dot, *given_dot), dots, *given)
    return ans_dot
