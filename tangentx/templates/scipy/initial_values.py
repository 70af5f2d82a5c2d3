"""Initial value problems: derivatives go through the steps that the solver took.

The explicit Runge-Kutta methods (RK23, RK45, DOP853) are differentiated as they are, step by step, in their accepted
steps; the adjoint of that is the discrete one, exact for what was computed. A moment inside a step is reached by a
shorter step of the same method. For the others (LSODA, Radau, BDF, and `odeint`), whose steps depend on a history, the
same steps are taken by DOP853; where that does not come to what was found, as for stiff systems, they are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from tangentx.arrays import agreed, as_written, constant_option, found_part, settle, valued
from tangentx.errors import NotDifferentiable
from tangentx.templates.solver_table import Trajectory, solver_of


def tableau(method: Any) -> tuple[Any, Any, Any]:
    """The coefficients of an explicit Runge-Kutta method, those of DOP853 for any other: of the stages, of the step,
    and the moments of the stages."""
    chosen = getattr(integrate, method) if isinstance(method, str) else method
    if not issubclass(chosen, integrate.RK23 | integrate.RK45):
        chosen = integrate.DOP853
    return np.array(chosen.A), np.array(chosen.B), np.array(chosen.C)


def taken_steps(found: Any, span: Any, t_eval: Any) -> tuple[Any, Any]:
    """Where the steps began and ended, as shares of the span, and for each moment that was asked for its step."""
    moments = np.asarray(found.sol.ts, float)
    shares = (moments - span[0]) / (span[1] - span[0])
    asked = np.zeros(0) if t_eval is None else np.asarray(t_eval, float)
    order = np.sign(span[1] - span[0])
    places = np.searchsorted(order * moments, order * asked, side="right") - 1
    return shares, np.clip(places, 0, len(moments) - 2).astype(np.int64)


def one_step(fun: Any, args: Any, t: Any, y: Any, h: Any, rule: Any) -> Any:
    """One step of an explicit Runge-Kutta method."""
    stages, weights, moments = rule
    slopes = np.zeros((len(weights), len(y)))
    for i in range(len(weights)):
        slopes[i] = np.asarray(fun(t + moments[i] * h, y + h * (stages[i, :i] @ slopes[:i]), *args))
    return y + h * (weights @ slopes)


def trajectory(
    value: Any, fun: Any, args: Any, span: Any, y0: Any, t_eval: Any, shares: Any, places: Any, rule: Any, error: Any
) -> Any:
    """The states that the steps come to, or those at the moments that are asked for."""
    start, length = span[0], span[1] - span[0]
    y = np.asarray(y0) * 1.0
    states = [y]
    for k in range(len(shares) - 1):
        y = one_step(fun, args, start + shares[k] * length, y, (shares[k + 1] - shares[k]) * length, rule)
        states.append(y)
    if t_eval is not None:
        asked = []
        for j in range(len(places)):
            t = start + shares[places[j]] * length
            asked.append(one_step(fun, args, t, states[places[j]], t_eval[j] - t, rule))
        states = asked
    return valued(value, agreed(np.stack(states, axis=1), value, error, "trajectory"))


def moments(value: Any, span: Any, shares: Any) -> Any:
    """The moments of the steps, which move with the ends of the span."""
    return valued(value, span[0] + shares * (span[1] - span[0]))


@solver_of(integrate.solve_ivp, form="object", dense_output=True)
def solve_ivp(
    found: Any,
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: Any = False,
    events: Any = None,
    vectorized: Any = False,
    args: Any = None,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    **options: Any,
) -> Any:
    """Trajectory from an initial state, by that, by the span and by the moments too."""
    if np.iscomplexobj(y0):
        raise NotDifferentiable(
            "scipy.integrate.solve_ivp has no derivative in the complex plane",
            hint="let the state have the real and the imaginary parts, one behind the other",
        )
    if events is not None:
        raise NotDifferentiable(
            "scipy.integrate.solve_ivp with `events` has no derivative",
            hint="find the moment of an event with scipy.optimize.brentq, of a function that integrates up to it",
        )
    given = () if args is None else args
    known = constant_option(rtol, "`rtol`"), constant_option(atol, "`atol`")
    rule = as_written(tableau, "(float64[2], float64[1], float64[1])", method)
    shares, places = as_written(taken_steps, "(float64[1], int64[1])", found, t_span, t_eval)
    states = found_part(found, "y", "float64[2]")
    error = as_written(tolerance, "float", states, known[0], known[1])
    times = found_part(found, "t", "float64[1]")
    return Trajectory(
        settle(moments, times, t_span, shares) if t_eval is None else np.asarray(t_eval) * 1.0,
        settle(trajectory, states, fun, given, t_span, y0, t_eval, shares, places, rule, error),
        found_part(found, "success", "bool"),
        found_part(found, "status", "int"),
        found_part(found, "message", "str"),
        found_part(found, "nfev", "int"),
    )


def tolerance(states: Any, rtol: Any, atol: Any) -> float:
    """How far two trajectories of these tolerances may be apart."""
    return float(10.0 * (np.max(atol) + np.max(rtol) * np.max(np.abs(states))))


def steps_between(found: Any) -> tuple[Any, float]:
    """How many steps `odeint` took from each moment to the next."""
    taken = np.maximum(np.diff(found[1]["nst"], prepend=0), 1).astype(np.int64)
    return taken, tolerance(found[0], 1.5e-8, 1.5e-8)


def states_at(
    value: Any, func: Any, args: Any, tfirst: Any, y0: Any, t: Any, counts: Any, rule: Any, error: Any
) -> Any:
    """The states at the moments, by as many steps as were taken."""

    def fun(moment: Any, state: Any, *more: Any) -> Any:
        return np.atleast_1d(func(moment, state, *more) if tfirst else func(state, moment, *more))

    y = np.atleast_1d(y0) * 1.0
    states = [y]
    for k in range(len(counts)):
        h = (t[k + 1] - t[k]) / counts[k]
        for i in range(counts[k]):
            y = one_step(fun, args, t[k] + i * h, y, h, rule)
        states.append(y)
    return valued(value, agreed(np.stack(states, axis=0), value, error, "trajectory"))


@solver_of(integrate.odeint, form="(float64[2], object)", full_output=1)
def odeint(
    found: Any,
    func: Any,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: Any = 0,
    full_output: Any = 0,
    *,
    tfirst: Any = False,
    **options: Any,
) -> Any:
    """States at moments, by the initial state and by the moments too."""
    given = args if isinstance(args, tuple) else (args,)
    rule = as_written(tableau, "(float64[2], float64[1], float64[1])", "DOP853")
    counts, error = as_written(steps_between, "(int64[1], float)", found)
    states = settle(states_at, found[0], func, given, tfirst, y0, t, counts, rule, error)
    return (states, found[1]) if full_output else states
