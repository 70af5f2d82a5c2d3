"""Bessel functions in all forms, by argument. By order there is no closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import quotient, ratio
from tangentx.templates.compositions import composition
from tangentx.templates.registry import elementwise

# Bessel functions by argument: their recurrences (DLMF 10.6, 10.29). By order there is no closed form.
#
# Also Airy functions, elliptic, exponential, trigonometric and hypergeometric integrals and series, and Lambert's W
# (DLMF, chapters 4, 6, 9, 13, 15 and 19).


@elementwise(special.j0, domain="positive", analytic=False)
def j0(x: Any) -> Any:
    """Bessel function of the first kind, of order 0."""
    return -special.j1(x)


@elementwise(special.j1, domain="positive", analytic=False)
def j1(x: Any) -> Any:
    """Bessel function of the first kind, of order 1."""
    return 0.5 * (special.j0(x) - special.jv(2, x))


@elementwise(special.y0, domain="positive", analytic=False)
def y0(x: Any) -> Any:
    """Bessel function of the second kind, of order 0."""
    return -special.y1(x)


@elementwise(special.y1, domain="positive", analytic=False)
def y1(x: Any) -> Any:
    """Bessel function of the second kind, of order 1."""
    return 0.5 * (special.y0(x) - special.yv(2, x))


@elementwise(special.jv, domain="positive", lacks=("v",), analytic=False)
def jv(v: Any, z: Any) -> Any:
    """Bessel function of the first kind."""
    return None, 0.5 * (special.jv(v - 1, z) - special.jv(v + 1, z))


@elementwise(special.yv, domain="positive", lacks=("v",), analytic=False)
def yv(v: Any, z: Any) -> Any:
    """Bessel function of the second kind."""
    return None, 0.5 * (special.yv(v - 1, z) - special.yv(v + 1, z))


@elementwise(special.yn, domain="whole positive", lacks=("n",), analytic=False)
def yn(n: Any, x: Any) -> Any:
    """Bessel function of the second kind, of whole order."""
    return None, 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x))


@elementwise(special.i0, domain="positive", analytic=False)
def i0(x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 0."""
    return special.i1(x)


@elementwise(special.i1, domain="positive", analytic=False)
def i1(x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 1."""
    return 0.5 * (special.i0(x) + special.iv(2, x))


@elementwise(special.i0e, domain="positive", analytic=False)
def i0e(x: Any, *, ans: Any) -> Any:
    """``exp(-|x|) * i0(x)``."""
    return special.i1e(x) - np.sign(x) * ans


@elementwise(special.i1e, domain="positive", analytic=False)
def i1e(x: Any, *, ans: Any) -> Any:
    """``exp(-|x|) * i1(x)``."""
    return 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * ans


@elementwise(special.iv, domain="positive", lacks=("v",), analytic=False)
def iv(v: Any, z: Any) -> Any:
    """Modified Bessel function of the first kind."""
    return None, 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z))


@elementwise(special.ive, domain="positive", lacks=("v",), analytic=False)
def ive(v: Any, z: Any, *, ans: Any) -> Any:
    """``exp(-|z|) * iv(v, z)`` of real numbers; of complex ones it is not analytic, and `cbrt` refuses them."""
    return None, 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(special.cbrt(z)) * ans


@elementwise(special.k0, domain="positive", analytic=False)
def k0(x: Any) -> Any:
    """Modified Bessel function of the second kind, of order 0."""
    return -special.k1(x)


@elementwise(special.k1, domain="positive", analytic=False)
def k1(x: Any) -> Any:
    """Modified Bessel function of the second kind, of order 1."""
    return -0.5 * (special.k0(x) + special.kv(2, x))


@elementwise(special.k0e, domain="positive", analytic=False)
def k0e(x: Any, *, ans: Any) -> Any:
    """``exp(x) * k0(x)``."""
    return ans - special.k1e(x)


@elementwise(special.k1e, domain="positive", analytic=False)
def k1e(x: Any, *, ans: Any) -> Any:
    """``exp(x) * k1(x)``."""
    return ans - 0.5 * (special.k0e(x) + special.kve(2, x))


@elementwise(special.kv, domain="positive", lacks=("v",), analytic=False)
def kv(v: Any, z: Any) -> Any:
    """Modified Bessel function of the second kind."""
    return None, -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z))


@elementwise(special.kve, domain="positive", lacks=("v",), analytic=False)
def kve(v: Any, z: Any, *, ans: Any) -> Any:
    """``exp(z) * kv(v, z)``."""
    return None, ans - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z))


@elementwise(special.kn, domain="whole positive", lacks=("n",), analytic=False)
def kn(n: Any, x: Any) -> Any:
    """Modified Bessel function of the second kind, of whole order."""
    return None, -0.5 * (special.kv(n - 1, x) + special.kv(n + 1, x))


@elementwise(special.expi, domain="positive", singular=True, analytic=False)
def expi(x: Any) -> Any:
    """Exponential integral Ei."""
    return ratio(np.exp(x), x)


@elementwise(special.exp1, domain="positive", singular=True)
def exp1(z: Any) -> Any:
    """Exponential integral E1."""
    return -ratio(np.exp(-z), z)


@elementwise(special.expn, domain="whole positive", lacks=("n",), singular=True, analytic=False)
def expn(n: Any, x: Any, *, ans: Any) -> Any:
    """Generalised exponential integral; that of order 0 has an end of its own."""
    return None, -np.where(np.greater(n, 0), special.expn(np.maximum(n, 1) - 1, x), ratio(np.exp(-x) + ans, x))


@elementwise(special.spence, domain="positive", analytic=False)
def spence(z: Any) -> Any:
    """Dilogarithm of ``1 - z``; its slope, ``log(z) / (1 - z)``, without a gap at 1."""
    return ratio(-1.0, special.exprel(special.xlogy(1.0, z)))


@elementwise(special.lambertw, domain="positive", singular=True, lacks=("k", "tol"))
def lambertw(z: Any, k: Any = 0, tol: Any = 1e-8, *, ans: Any) -> Any:
    """Lambert's W, a branch of the inverse of ``w * exp(w)``; keeps the result, not the argument."""
    return ratio(np.exp(-ans), 1.0 + ans), None, None


@elementwise(special.wrightomega, domain="real")
def wrightomega(z: Any, *, ans: Any) -> Any:
    """Wright's omega, the inverse of ``w + log(w)``; keeps the result, not the argument."""
    return ratio(ans, 1.0 + ans)


@elementwise(special.ellipk, domain="unit", singular=True, analytic=False)
def ellipk(m: Any) -> Any:
    """Complete elliptic integral of the first kind, ``pi / 2 * hyp2f1(0.5, 0.5, 1, m)``."""
    return 0.39269908169872414 * special.hyp2f1(1.5, 1.5, 2.0, m)


@elementwise(special.ellipkm1, domain="probability", singular=True, analytic=False)
def ellipkm1(p: Any) -> Any:
    """Complete elliptic integral of the first kind, of ``1 - p``."""
    return quotient(special.ellipkm1(p) * p - special.ellipe(1.0 - p), 2.0 * p * (1.0 - p))


@elementwise(special.ellipe, domain="unit", singular=True, analytic=False)
def ellipe(m: Any) -> Any:
    """Complete elliptic integral of the second kind, ``pi / 2 * hyp2f1(-0.5, 0.5, 1, m)``."""
    return -0.39269908169872414 * special.hyp2f1(0.5, 1.5, 2.0, m)


@elementwise(special.ellipkinc, domain="unit", lacks=("m",), singular=True, analytic=False)
def ellipkinc(phi: Any, m: Any) -> Any:
    """Incomplete elliptic integral of the first kind."""
    return ratio(1.0, np.sqrt(1.0 - m * np.sin(phi) ** 2)), None


@elementwise(special.ellipeinc, domain="unit", lacks=("m",), analytic=False)
def ellipeinc(phi: Any, m: Any) -> Any:
    """Incomplete elliptic integral of the second kind."""
    return np.sqrt(1.0 - m * np.sin(phi) ** 2), None


@elementwise(special.hyp0f1, domain="positive unit", lacks=("v",), analytic=False)
def hyp0f1(v: Any, z: Any) -> Any:
    """Confluent hypergeometric limit function."""
    return None, ratio(special.hyp0f1(v + 1.0, z), v)


@elementwise(special.hyp1f1, domain="positive positive unit", lacks=("a", "b"), analytic=False)
def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """Kummer's confluent hypergeometric function."""
    return None, None, ratio(a, b) * special.hyp1f1(a + 1.0, b + 1.0, x)


@elementwise(special.hyperu, domain="positive", lacks=("a", "b"), analytic=False)
def hyperu(a: Any, b: Any, x: Any) -> Any:
    """Tricomi's confluent hypergeometric function."""
    return None, None, -a * special.hyperu(a + 1.0, b + 1.0, x)


@elementwise(special.hyp2f1, domain="positive positive positive unit", lacks=("a", "b", "c"), analytic=False)
def hyp2f1(a: Any, b: Any, c: Any, z: Any) -> Any:
    """Gauss' hypergeometric function."""
    return None, None, None, ratio(a * b, c) * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


# Bessel functions in other forms: of the third kind, spherical ones, and derivatives of whole order.
#
# By argument they have the recurrences of DLMF 10.6, 10.29 and 10.51; by order there is no closed form.


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
