"""Bessel functions in other forms: of the third kind, spherical ones, and derivatives of whole order.

By argument they have the recurrences of DLMF 10.6, 10.29 and 10.51; by order there is no closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.templates.compositions import composition
from tangentx.templates.registry import elementwise


@elementwise(special.hankel1, domain="positive", lacks=("v",), analytic=False)
def hankel1(v: Any, z: Any) -> Any:
    """Hankel's function of the first kind."""
    return None, 0.5 * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z))


@elementwise(special.hankel2, domain="positive", lacks=("v",), analytic=False)
def hankel2(v: Any, z: Any) -> Any:
    """Hankel's function of the second kind."""
    return None, 0.5 * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z))


@elementwise(special.hankel1e, domain="positive", lacks=("v",), analytic=False)
def hankel1e(v: Any, z: Any, *, ans: Any) -> Any:
    """``exp(-1j * z) * hankel1(v, z)``."""
    return None, 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * ans


@elementwise(special.hankel2e, domain="positive", lacks=("v",), analytic=False)
def hankel2e(v: Any, z: Any, *, ans: Any) -> Any:
    """``exp(1j * z) * hankel2(v, z)``."""
    return None, 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * ans


def _difference(function: Any, v: Any, z: Any, n: Any, sign: Any) -> Any:
    """The derivative of order `n` by neighbours in the order of the function."""
    total, weight = function(v - n, z), 1.0
    for k in range(1, n + 1):
        weight = weight * sign * (n - k + 1) / k
        total = total + weight * function(v - n + 2 * k, z)
    return total / 2.0**n


@composition(special.jvp, double=True, domain=("2, P(3)", "1, P(3), 2", "1, x, 0"))
def jvp(v: Any, z: Any, n: Any = 1) -> Any:
    """Derivative of order `n` of `jv`."""
    return _difference(special.jv, v, z, n, -1.0)


@composition(special.yvp, double=True, domain=("2, P(3)", "1, P(3), 2"))
def yvp(v: Any, z: Any, n: Any = 1) -> Any:
    """Derivative of order `n` of `yv`."""
    return _difference(special.yv, v, z, n, -1.0)


@composition(special.ivp, double=True, domain=("2, P(3)", "1, P(3), 2"))
def ivp(v: Any, z: Any, n: Any = 1) -> Any:
    """Derivative of order `n` of `iv`."""
    return _difference(special.iv, v, z, n, 1.0)


@composition(special.kvp, double=True, domain=("2, P(3)", "1, P(3), 2"))
def kvp(v: Any, z: Any, n: Any = 1) -> Any:
    """Derivative of order `n` of `kv`."""
    return (-1.0) ** n * _difference(special.kv, v, z, n, 1.0)


@composition(special.h1vp, double=True, domain=("2, P(3)", "1, P(3), 2"))
def h1vp(v: Any, z: Any, n: Any = 1) -> Any:
    """Derivative of order `n` of `hankel1`."""
    return _difference(special.hankel1, v, z, n, -1.0)


@composition(special.h2vp, double=True, domain=("2, P(3)", "1, P(3), 2"))
def h2vp(v: Any, z: Any, n: Any = 1) -> Any:
    """Derivative of order `n` of `hankel2`."""
    return _difference(special.hankel2, v, z, n, -1.0)


@elementwise(special.spherical_jn, domain="whole positive", lacks=("n",), analytic=False)
def spherical_jn(n: Any, z: Any, derivative: Any = False) -> Any:
    """Spherical Bessel function of the first kind, or its derivative, by the recurrence of both."""
    above = (n + 1.0) * special.spherical_jn(n + 1, z, True)
    second = (n * special.spherical_jn(np.maximum(n - 1, 0), z, True) - above) / (2.0 * n + 1.0)
    return None, np.where(derivative, second, special.spherical_jn(n, z, True)), None


@elementwise(special.spherical_yn, domain="whole positive", lacks=("n",), analytic=False)
def spherical_yn(n: Any, z: Any, derivative: Any = False) -> Any:
    """Spherical Bessel function of the second kind, or its derivative, by the recurrence of both."""
    above = (n + 1.0) * special.spherical_yn(n + 1, z, True)
    second = (n * special.spherical_yn(np.maximum(n - 1, 0), z, True) - above) / (2.0 * n + 1.0)
    return None, np.where(derivative, second, special.spherical_yn(n, z, True)), None


@elementwise(special.spherical_in, domain="whole positive", lacks=("n",), analytic=False)
def spherical_in(n: Any, z: Any, derivative: Any = False) -> Any:
    """Modified spherical Bessel function of the first kind, or its derivative, by the recurrence of both."""
    above = (n + 1.0) * special.spherical_in(n + 1, z, True)
    second = (n * special.spherical_in(np.maximum(n - 1, 0), z, True) + above) / (2.0 * n + 1.0)
    return None, np.where(derivative, second, special.spherical_in(n, z, True)), None


@elementwise(special.spherical_kn, domain="whole positive", lacks=("n",), analytic=False)
def spherical_kn(n: Any, z: Any, derivative: Any = False) -> Any:
    """Modified spherical Bessel function of the second kind, or its derivative, by the recurrence of both."""
    above = (n + 1.0) * special.spherical_kn(n + 1, z, True)
    second = (n * special.spherical_kn(np.maximum(n - 1, 0), z, True) + above) / (2.0 * n + 1.0)
    return None, np.where(derivative, -second, special.spherical_kn(n, z, True)), None
