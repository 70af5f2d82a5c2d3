"""Rules of the support functions in which derivatives are written, so that derivatives have derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    alike,
    brought,
    clone,
    copied_tangent,
    count_reduced,
    entry_copies,
    entry_copy,
    fields,
    finish,
    guarded,
    has_derivative,
    inverse_axes,
    lead,
    length_of,
    log_or_zero,
    on_tensors,
    once,
    outcome,
    over_root,
    own_parts,
    part,
    power_slope,
    pull,
    pulled,
    push,
    pushed,
    quiet_difference,
    quiet_sum,
    quotient,
    ratio,
    ratio_or_zero,
    share,
    shares,
    silent_power,
    spread,
    ties,
    to_host,
    to_library,
    top_of,
    unbroadcast,
    uniform_like,
    unreduce,
    writable,
    zero,
    zeros_as,
)
from tangentx.templates.registry import adjoint, constant, elementwise, linear

constant(count_reduced, fields, has_derivative, inverse_axes, share, shares, ties, top_of, uniform_like, zero, zeros_as)


@linear(unbroadcast, domain=("A(2,3), A(3)", "A(3), A(2,3)", "A(2), x", "C(2), A(2)", "A(2), C(2)", "x, A(3)"))
def unbroadcast_(t: Any, like: Any, *, ans_bar: Any) -> Any:
    """Sums where `like` was repeated, repeats where it is larger: its own adjoint."""
    t_bar = unbroadcast(ans_bar, t)
    return t_bar


@linear(alike, domain=("A(3), A(3)", "x, y", "C(2,3), C(2,3)"))
def alike_(t: Any, like: Any, *, ans_bar: Any) -> Any:
    """The identity."""
    t_bar = ans_bar
    return t_bar


@linear(spread, domain=("A(3), A(2,3)", "A(2,3), A(3)", "C(2), A(2)"))
def spread_(t: Any, like: Any, *, ans_bar: Any) -> Any:
    """As `unbroadcast`."""
    t_bar = unbroadcast(ans_bar, t)
    return t_bar


@linear(unreduce, domain=("x, (2,3)", "A(3), (2,3), 0", "A(2,1), (2,3), -1, True", "x, ()", "A(3), (2,3,2), (0,2)"))
def unreduce_(t: Any, shape: Any, axis: Any = None, keepdims: Any = False, *, ans_bar: Any) -> Any:
    """Repeats along the reduced axes."""
    t_bar = np.sum(ans_bar, axis=axis, keepdims=keepdims)
    return t_bar


@elementwise(guarded, singular=True)
def guarded_(p: Any, t: Any) -> Any:
    """Product that is 0 where `t` is."""
    return t, p


@elementwise(ratio, quotient, domain="real positive", singular=True)
def ratio_(a: Any, b: Any, *, ans: Any) -> Any:
    """Silent quotient."""
    return ratio(1.0, b), ratio(-ans, b)


@elementwise(over_root, domain="real positive", singular=True)
def over_root_(a: Any, b: Any, *, ans: Any) -> Any:
    """Silent quotient, 0 where `a` is."""
    return ratio(1.0, b), over_root(-ans, b)


@elementwise(ratio_or_zero, domain="real positive")
def ratio_or_zero_(a: Any, b: Any, *, ans: Any) -> Any:
    """Quotient, 0 where `b` is."""
    return ratio_or_zero(1.0, b), -ratio_or_zero(ans, b)


@elementwise(lead, analytic=False)
def lead_(x: Any, y: Any) -> Any:
    """Difference, also of infinities."""
    return 1.0, -1.0


@elementwise(quiet_sum)
def quiet_sum_(a: Any, b: Any) -> Any:
    """Silent sum."""
    return 1.0, 1.0


@elementwise(quiet_difference)
def quiet_difference_(a: Any, b: Any) -> Any:
    """Silent difference."""
    return 1.0, -1.0


@elementwise(length_of, domain="positive")
def length_of_(square: Any, *, ans: Any) -> Any:
    """Square root of a sum of squares: 0 at 0, as that of a length."""
    return ratio_or_zero(0.5, ans)


@elementwise(silent_power, domain="positive exponent", singular=True)
def silent_power_(x: Any, y: Any, *, ans: Any) -> Any:
    """Power without a warning."""
    return power_slope(x, y), guarded(ans, log_or_zero(x))


@elementwise(log_or_zero, domain="positive")
def log_or_zero_(x: Any) -> Any:
    """Logarithm, 0 at 0."""
    return ratio_or_zero(1.0, x)


@elementwise(power_slope, domain="positive exponent", singular=True)
def power_slope_(x: Any, y: Any, *, ans: Any) -> Any:
    """``y * x ** (y - 1)``, 0 where `y` is 0."""
    return guarded(power_slope(x, y - 1), y), silent_power(x, y - 1) + guarded(ans, log_or_zero(x))


@adjoint(entry_copy, domain=("A(3)", "x"))
def entry_copy_(x: Any, *, ans_bar: Any) -> Any:
    """A copy."""
    x_bar = ans_bar
    return x_bar


@entry_copy_.tangent
def entry_copy_dot(x: Any, *, x_dot: Any) -> Any:
    """A copy that is laid out and shares memory as that of `x`, with zeros where parts of `x` have no tangent."""
    ans_dot = copied_tangent(x_dot, x)
    return ans_dot


@linear(clone, domain=("A(3)", "x"))
def clone_(x: Any, *, ans_bar: Any) -> Any:
    """A copy."""
    x_bar = ans_bar
    return x_bar


@linear(writable, domain=("A(3)",))
def writable_(view: Any, *, ans_bar: Any) -> Any:
    """The same view."""
    view_bar = ans_bar
    return view_bar


@adjoint(entry_copies, domain=("A(3), A(2)", "x, A(2)"))
def entry_copies_(*xs: Any, ans_bar: Any) -> Any:
    """Copies: what is one in them is given back once."""
    xs_bar = once(ans_bar)
    return xs_bar


@entry_copies_.tangent
def entry_copies_dot(*xs: Any, xs_dot: Any) -> Any:
    """Copies that are laid out and share memory as those of `xs`."""
    ans_dot = copied_tangent(xs_dot, xs)
    return ans_dot


@adjoint(once, domain=(), drawn=False)
def once_(bar: Any, *, ans_bar: Any) -> Any:
    """Parts in memory of their own."""
    bar_bar = own_parts(ans_bar, bar)
    return bar_bar


@once_.tangent
def once_dot(bar: Any, *, bar_dot: Any) -> Any:
    """Parts in memory of their own."""
    ans_dot = own_parts(bar_dot, bar)
    return ans_dot


@adjoint(own_parts, domain=(), drawn=False)
def own_parts_(t: Any, bar: Any, *, ans_bar: Any) -> Any:
    """The same parts."""
    t_bar = own_parts(ans_bar, bar)
    return t_bar


@own_parts_.tangent
def own_parts_dot(t: Any, bar: Any, *, t_dot: Any) -> Any:
    """The same parts."""
    ans_dot = own_parts(t_dot, bar)
    return ans_dot


@adjoint(finish, domain=("A(3), A(3)", "x, x"))
def finish_(bar: Any, primal: Any, *, ans_bar: Any) -> Any:
    """The public form of a cotangent; its own cotangent and tangent keep the form of a shadow."""
    bar_bar = ans_bar
    return bar_bar


@finish_.tangent
def finish_dot(bar: Any, primal: Any, *, bar_dot: Any) -> Any:
    """The tangent itself."""
    ans_dot = entry_copy(bar_dot)
    return ans_dot


# Rules of transfers between devices: linear, with the opposite transfer as adjoint.


@linear(to_host, domain=("A(3)",))
def to_host_(x: Any, *, ans_bar: Any) -> Any:
    """A copy in the machine's memory."""
    x_bar = brought(ans_bar, x)
    return x_bar


@linear(to_library, domain=("A(3), 'numpy'",), stepwise=("module",))
def to_library_(x: Any, module: Any, *, ans_bar: Any) -> Any:
    """A copy on the device."""
    x_bar = brought(ans_bar, x)
    return x_bar


@linear(brought, domain=("A(3), A(3)",), stepwise=("like",))
def brought_(t: Any, like: Any, *, ans_bar: Any) -> Any:
    """A copy where `like` is."""
    t_bar = brought(ans_bar, t)
    return t_bar


# Rules of runs on Tensors inside compiled code.

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
