"""Functions of `scipy.integrate` that nothing can be differentiated through, with the reason."""

from __future__ import annotations

from scipy import integrate

from tangentx.templates.refusals import refused

refused(
    integrate.solve_bvp,
    reason="it refines a mesh of its own, and keeps its solution as a spline",
    hint="shoot: `scipy.optimize.root` of the boundary conditions at the end of `scipy.integrate.solve_ivp`",
)
refused(
    *(integrate.ode, integrate.complex_ode, integrate.OdeSolver, integrate.RK23, integrate.RK45, integrate.DOP853),
    *(integrate.Radau, integrate.BDF, integrate.LSODA),
    reason="its objects are stepped, and keep where they are",
    hint="use `scipy.integrate.solve_ivp` with `t_eval`",
)
