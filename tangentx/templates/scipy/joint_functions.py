"""Functions of SciPy's that give several results, each of which is an operation of its own with a rule.

Airy functions (DLMF 9.2), sine, cosine and Fresnel integrals (6.2, 7.2), integrals of Bessel functions, and Jacobi's
elliptic functions (22.13), which have no closed form by their parameter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import ratio
from tangentx.templates.compositions import composition
from tangentx.templates.registry import elementwise


def airy_ai(z: Any) -> Any:
    """Airy's function Ai."""
    return special.airy(z)[0]


def airy_ai_slope(z: Any) -> Any:
    """Derivative of Airy's function Ai."""
    return special.airy(z)[1]


def airy_bi(z: Any) -> Any:
    """Airy's function Bi."""
    return special.airy(z)[2]


def airy_bi_slope(z: Any) -> Any:
    """Derivative of Airy's function Bi."""
    return special.airy(z)[3]


@elementwise(airy_ai, analytic=False)
def airy_ai_(z: Any) -> Any:
    """Its derivative."""
    return airy_ai_slope(z)


@elementwise(airy_ai_slope, analytic=False)
def airy_ai_slope_(z: Any) -> Any:
    """By Airy's equation."""
    return z * airy_ai(z)


@elementwise(airy_bi, analytic=False)
def airy_bi_(z: Any) -> Any:
    """Its derivative."""
    return airy_bi_slope(z)


@elementwise(airy_bi_slope, analytic=False)
def airy_bi_slope_(z: Any) -> Any:
    """By Airy's equation."""
    return z * airy_bi(z)


@composition(special.airy, domain=("A(3)", "x"))
def airy(z: Any) -> Any:
    """Airy's functions and their derivatives."""
    return airy_ai(z), airy_ai_slope(z), airy_bi(z), airy_bi_slope(z)


def sine_integral(x: Any) -> Any:
    """Sine integral."""
    return special.sici(x)[0]


def cosine_integral(x: Any) -> Any:
    """Cosine integral."""
    return special.sici(x)[1]


def hyperbolic_sine_integral(x: Any) -> Any:
    """Hyperbolic sine integral."""
    return special.shichi(x)[0]


def hyperbolic_cosine_integral(x: Any) -> Any:
    """Hyperbolic cosine integral."""
    return special.shichi(x)[1]


@elementwise(sine_integral, analytic=False)
def sine_integral_(x: Any) -> Any:
    """``sin(x) / x``, 1 at 0."""
    return np.sinc(0.3183098861837907 * x)


@elementwise(cosine_integral, domain="positive", singular=True, analytic=False)
def cosine_integral_(x: Any) -> Any:
    """``cos(x) / x``."""
    return ratio(np.cos(x), x)


@elementwise(hyperbolic_sine_integral, analytic=False)
def hyperbolic_sine_integral_(x: Any) -> Any:
    """``sinh(x) / x``, 1 at 0."""
    return np.exp(-x) * special.exprel(2.0 * x)


@elementwise(hyperbolic_cosine_integral, domain="positive", singular=True, analytic=False)
def hyperbolic_cosine_integral_(x: Any) -> Any:
    """``cosh(x) / x``."""
    return ratio(np.cosh(x), x)


@composition(special.sici, domain=("P(3)", "x"))
def sici(x: Any) -> Any:
    """Sine and cosine integrals."""
    return sine_integral(x), cosine_integral(x)


@composition(special.shichi, domain=("P(3)", "x"))
def shichi(x: Any) -> Any:
    """Hyperbolic sine and cosine integrals."""
    return hyperbolic_sine_integral(x), hyperbolic_cosine_integral(x)


def fresnel_sine(z: Any) -> Any:
    """Fresnel's integral of a sine."""
    return special.fresnel(z)[0]


def fresnel_cosine(z: Any) -> Any:
    """Fresnel's integral of a cosine."""
    return special.fresnel(z)[1]


@elementwise(fresnel_sine, analytic=False)
def fresnel_sine_(z: Any) -> Any:
    """What is integrated."""
    return np.sin(1.5707963267948966 * z * z)


@elementwise(fresnel_cosine, analytic=False)
def fresnel_cosine_(z: Any) -> Any:
    """What is integrated."""
    return np.cos(1.5707963267948966 * z * z)


@composition(special.fresnel, domain=("A(3)", "x"))
def fresnel(z: Any) -> Any:
    """Fresnel's integrals."""
    return fresnel_sine(z), fresnel_cosine(z)


def integral_of_j0(x: Any) -> Any:
    """Integral of `j0` from 0."""
    return special.itj0y0(x)[0]


def integral_of_y0(x: Any) -> Any:
    """Integral of `y0` from 0."""
    return special.itj0y0(x)[1]


def integral_of_i0(x: Any) -> Any:
    """Integral of `i0` from 0."""
    return special.iti0k0(x)[0]


def integral_of_k0(x: Any) -> Any:
    """Integral of `k0` from 0."""
    return special.iti0k0(x)[1]


@elementwise(integral_of_j0, domain="positive", analytic=False)
def integral_of_j0_(x: Any) -> Any:
    """What is integrated."""
    return special.j0(x)


@elementwise(integral_of_y0, domain="positive", singular=True, analytic=False)
def integral_of_y0_(x: Any) -> Any:
    """What is integrated."""
    return special.y0(x)


@elementwise(integral_of_i0, domain="positive", analytic=False)
def integral_of_i0_(x: Any) -> Any:
    """What is integrated."""
    return special.i0(x)


@elementwise(integral_of_k0, domain="positive", singular=True, analytic=False)
def integral_of_k0_(x: Any) -> Any:
    """What is integrated."""
    return special.k0(x)


@composition(special.itj0y0, domain=("P(3)",))
def itj0y0(x: Any) -> Any:
    """Integrals of `j0` and `y0`."""
    return integral_of_j0(x), integral_of_y0(x)


@composition(special.iti0k0, domain=("P(3)",))
def iti0k0(x: Any) -> Any:
    """Integrals of `i0` and `k0`."""
    return integral_of_i0(x), integral_of_k0(x)


def elliptic_sn(u: Any, m: Any) -> Any:
    """Jacobi's function sn."""
    return special.ellipj(u, m)[0]


def elliptic_cn(u: Any, m: Any) -> Any:
    """Jacobi's function cn."""
    return special.ellipj(u, m)[1]


def elliptic_dn(u: Any, m: Any) -> Any:
    """Jacobi's function dn."""
    return special.ellipj(u, m)[2]


def elliptic_amplitude(u: Any, m: Any) -> Any:
    """The amplitude of Jacobi's functions."""
    return special.ellipj(u, m)[3]


@elementwise(elliptic_sn, domain="positive probability", lacks=("m",), analytic=False)
def elliptic_sn_(u: Any, m: Any) -> Any:
    """cn times dn."""
    return elliptic_cn(u, m) * elliptic_dn(u, m), None


@elementwise(elliptic_cn, domain="positive probability", lacks=("m",), analytic=False)
def elliptic_cn_(u: Any, m: Any) -> Any:
    """sn times dn, turned round."""
    return -elliptic_sn(u, m) * elliptic_dn(u, m), None


@elementwise(elliptic_dn, domain="positive probability", lacks=("m",), analytic=False)
def elliptic_dn_(u: Any, m: Any) -> Any:
    """sn times cn, turned round and times the parameter."""
    return -m * elliptic_sn(u, m) * elliptic_cn(u, m), None


@elementwise(elliptic_amplitude, domain="positive probability", lacks=("m",), analytic=False)
def elliptic_amplitude_(u: Any, m: Any) -> Any:
    """dn."""
    return elliptic_dn(u, m), None


@composition(special.ellipj, domain=())
def ellipj(u: Any, m: Any) -> Any:
    """Jacobi's elliptic functions and their amplitude."""
    return elliptic_sn(u, m), elliptic_cn(u, m), elliptic_dn(u, m), elliptic_amplitude(u, m)


@elementwise(special.wofz, analytic=False)
def wofz(z: Any, *, ans: Any) -> Any:
    """Faddeeva's function."""
    return 1.1283791670955126j - 2.0 * z * ans


@composition(special.voigt_profile, domain=("A(3), P(3), P(3)", "x, y, x"))
def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Any:
    """Density of the sum of a normal and of a Cauchy number."""
    alone = np.equal(sigma, 0.0)  # a Cauchy number
    width = np.where(alone, 1.0, sigma)
    found = np.real(special.wofz((x + 1j * gamma) / (1.4142135623730951 * width))) / (2.5066282746310002 * width)
    square = np.where(alone, x * x + gamma * gamma, 1.0)
    nowhere = square == 0.0  # a number that is always 0
    cauchy = np.where(nowhere, np.inf, gamma / (3.141592653589793 * np.where(nowhere, 1.0, square)))
    return np.where(alone, cauchy, found)[()]
