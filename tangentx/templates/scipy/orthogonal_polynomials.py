"""Orthogonal polynomials, and functions of Kelvin and Struve: derivatives by their argument.

A derivative by the degree or the order has no closed form, and is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import ratio
from tangentx.templates.registry import elementwise


@elementwise(special.eval_legendre, domain="whole unit", analytic=False, lacks=("n",))
def eval_legendre(n: Any, x: Any) -> Any:
    """Legendre's polynomials."""
    return None, np.sign(n) * special.eval_gegenbauer(np.maximum(n - 1, 0), 1.5, x)


@elementwise(special.eval_chebyt, domain="whole unit", analytic=False, lacks=("n",))
def eval_chebyt(n: Any, x: Any) -> Any:
    """Chebyshev's polynomials of the first kind."""
    return None, n * special.eval_chebyu(np.maximum(n - 1, 0), x)


@elementwise(special.eval_chebyu, domain="whole unit", analytic=False, lacks=("n",))
def eval_chebyu(n: Any, x: Any) -> Any:
    """Chebyshev's polynomials of the second kind."""
    return None, 2.0 * np.sign(n) * special.eval_gegenbauer(np.maximum(n - 1, 0), 2.0, x)


@elementwise(special.eval_gegenbauer, domain="whole positive unit", analytic=False, lacks=("n", "alpha"))
def eval_gegenbauer(n: Any, alpha: Any, x: Any) -> Any:
    """Gegenbauer's polynomials."""
    return None, None, 2.0 * np.sign(n) * alpha * special.eval_gegenbauer(np.maximum(n - 1, 0), alpha + 1.0, x)


@elementwise(special.eval_jacobi, domain="whole positive positive unit", analytic=False, lacks=("n", "alpha", "beta"))
def eval_jacobi(n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    """Jacobi's polynomials."""
    lower = special.eval_jacobi(np.maximum(n - 1, 0), alpha + 1.0, beta + 1.0, x)
    return None, None, None, 0.5 * np.sign(n) * (n + alpha + beta + 1.0) * lower


@elementwise(special.eval_hermite, domain="whole real", analytic=False, lacks=("n",))
def eval_hermite(n: Any, x: Any) -> Any:
    """Hermite's polynomials, as in physics."""
    return None, 2.0 * n * special.eval_hermite(np.maximum(n - 1, 0), x)


@elementwise(special.eval_hermitenorm, domain="whole real", analytic=False, lacks=("n",))
def eval_hermitenorm(n: Any, x: Any) -> Any:
    """Hermite's polynomials, as in statistics."""
    return None, n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)


@elementwise(special.eval_laguerre, domain="whole positive", analytic=False, lacks=("n",))
def eval_laguerre(n: Any, x: Any) -> Any:
    """Laguerre's polynomials."""
    return None, -np.sign(n) * special.eval_genlaguerre(np.maximum(n - 1, 0), 1.0, x)


@elementwise(special.eval_genlaguerre, domain="whole positive positive", analytic=False, lacks=("n", "alpha"))
def eval_genlaguerre(n: Any, alpha: Any, x: Any) -> Any:
    """Laguerre's associated polynomials."""
    return None, None, -np.sign(n) * special.eval_genlaguerre(np.maximum(n - 1, 0), alpha + 1.0, x)


@elementwise(special.struve, domain="whole positive", analytic=False, lacks=("v",))
def struve(v: Any, x: Any, *, ans: Any) -> Any:
    """Struve's functions."""
    return None, special.struve(v - 1.0, x) - ratio(v * ans, x)


@elementwise(special.modstruve, domain="whole positive", analytic=False, lacks=("v",))
def modstruve(v: Any, x: Any, *, ans: Any) -> Any:
    """Struve's modified functions."""
    return None, special.modstruve(v - 1.0, x) - ratio(v * ans, x)


@elementwise(special.ber, domain="positive", analytic=False)
def ber(x: Any) -> Any:
    """Kelvin's function."""
    return special.berp(x)


@elementwise(special.bei, domain="positive", analytic=False)
def bei(x: Any) -> Any:
    """Kelvin's function."""
    return special.beip(x)


@elementwise(special.ker, domain="positive", analytic=False)
def ker(x: Any) -> Any:
    """Kelvin's function."""
    return special.kerp(x)


@elementwise(special.kei, domain="positive", analytic=False)
def kei(x: Any) -> Any:
    """Kelvin's function."""
    return special.keip(x)


@elementwise(special.berp, domain="positive", analytic=False)
def berp(x: Any, *, ans: Any) -> Any:
    """Derivative of Kelvin's function, by the equation that it solves."""
    return -special.bei(x) - ratio(ans, x)


@elementwise(special.beip, domain="positive", analytic=False)
def beip(x: Any, *, ans: Any) -> Any:
    """Derivative of Kelvin's function, by the equation that it solves."""
    return special.ber(x) - ratio(ans, x)


@elementwise(special.kerp, domain="positive", analytic=False)
def kerp(x: Any, *, ans: Any) -> Any:
    """Derivative of Kelvin's function, by the equation that it solves."""
    return -special.kei(x) - ratio(ans, x)


@elementwise(special.keip, domain="positive", analytic=False)
def keip(x: Any, *, ans: Any) -> Any:
    """Derivative of Kelvin's function, by the equation that it solves."""
    return special.ker(x) - ratio(ans, x)


@elementwise(special.sindg, domain="real", analytic=False)
def sindg(x: Any) -> Any:
    """Sine of an angle in degrees."""
    return 0.017453292519943295 * special.cosdg(x)


@elementwise(special.cosdg, domain="real", analytic=False)
def cosdg(x: Any) -> Any:
    """Cosine of an angle in degrees."""
    return -0.017453292519943295 * special.sindg(x)


@elementwise(special.tandg, domain="real", analytic=False)
def tandg(x: Any, *, ans: Any) -> Any:
    """Tangent of an angle in degrees."""
    return 0.017453292519943295 * (1.0 + ans * ans)
