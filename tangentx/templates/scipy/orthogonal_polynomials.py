"""Orthogonal polynomials, and functions of Kelvin and Struve: derivatives by their argument.

A derivative by the degree or the order has no closed form, and is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import ratio
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
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


@composition(special.eval_sh_legendre, domain=("3, U(3)",))
def eval_sh_legendre(n: Any, x: Any) -> Any:
    """Legendre's polynomials on (0, 1)."""
    return special.eval_legendre(n, 2.0 * x - 1.0)


@composition(special.eval_sh_chebyt, domain=("3, U(3)",))
def eval_sh_chebyt(n: Any, x: Any) -> Any:
    """Chebyshev's polynomials of the first kind on (0, 1)."""
    return special.eval_chebyt(n, 2.0 * x - 1.0)


@composition(special.eval_sh_chebyu, domain=("3, U(3)",))
def eval_sh_chebyu(n: Any, x: Any) -> Any:
    """Chebyshev's polynomials of the second kind on (0, 1)."""
    return special.eval_chebyu(n, 2.0 * x - 1.0)


@composition(special.eval_chebyc, domain=("3, U(3)",))
def eval_chebyc(n: Any, x: Any) -> Any:
    """Chebyshev's polynomials of the first kind on (-2, 2)."""
    return 2.0 * special.eval_chebyt(n, 0.5 * x)


@composition(special.eval_chebys, domain=("3, U(3)",))
def eval_chebys(n: Any, x: Any) -> Any:
    """Chebyshev's polynomials of the second kind on (-2, 2)."""
    return special.eval_chebyu(n, 0.5 * x)


@composition(special.eval_sh_jacobi, domain=("3, 2, 1, U(3)",))
def eval_sh_jacobi(n: Any, p: Any, q: Any, x: Any) -> Any:
    """Jacobi's polynomials on (0, 1)."""
    return special.eval_jacobi(n, p - q, q - 1.0, 2.0 * x - 1.0) / special.binom(2.0 * n + p - 1.0, n)


@composition(special.assoc_laguerre, domain=("P(3), 3, 2", "x, 2"))
def assoc_laguerre(x: Any, n: Any, k: Any = 0.0) -> Any:
    """Laguerre's associated polynomials."""
    return special.eval_genlaguerre(n, k, x)


@elementwise(special.struve, domain="whole positive", analytic=False, lacks=("v",))
def struve(v: Any, x: Any) -> Any:
    """Struve's functions."""
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) * 0.5641895835477563
    return None, 0.5 * (special.struve(v - 1.0, x) - special.struve(v + 1.0, x) + power)


@elementwise(special.modstruve, domain="whole positive", analytic=False, lacks=("v",))
def modstruve(v: Any, x: Any) -> Any:
    """Struve's modified functions."""
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) * 0.5641895835477563
    return None, 0.5 * (special.modstruve(v - 1.0, x) + special.modstruve(v + 1.0, x) + power)


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
    at_zero = np.equal(x, 0.0)
    return -special.bei(x) - np.where(at_zero, 0.0, ratio(ans, np.where(at_zero, 1.0, x)))


@elementwise(special.beip, domain="positive", analytic=False)
def beip(x: Any, *, ans: Any) -> Any:
    """Derivative of Kelvin's function, by the equation that it solves."""
    at_zero = np.equal(x, 0.0)
    return special.ber(x) - np.where(at_zero, 0.5, ratio(ans, np.where(at_zero, 1.0, x)))


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


@elementwise(special.cotdg, domain="positive", singular=True, analytic=False)
def cotdg(x: Any, *, ans: Any) -> Any:
    """Cotangent of an angle in degrees."""
    return -0.017453292519943295 * (1.0 + ans * ans)


@elementwise(special.radian, domain="positive", analytic=False)
def radian(d: Any, m: Any, s: Any) -> Any:
    """An angle of degrees, minutes and seconds."""
    return 0.017453292519943295, 0.0002908882086657216, 4.84813681109536e-06


@composition(special.agm, domain=("P(3), 1.0 + P(3)", "x, y", "x, x"))
def agm(a: Any, b: Any) -> Any:
    """Arithmetic-geometric mean of positive numbers, by an elliptic integral."""
    if np.any(np.sign(a) * np.sign(b) <= 0.0):
        raise NotDifferentiable(
            "scipy.special.agm has a derivative for positive numbers: at 0 its slope is infinite",
            hint="keep its arguments above 0",
        )
    apart = (a - b) / (a + b)
    square = apart * apart
    far = square > 0.5  # where what is left to 1 is exact, the square is not
    rest = np.where(far, 4.0 * (a / (a + b)) * (b / (a + b)), 0.5)
    integral = np.where(far, special.ellipkm1(rest), special.ellipk(np.where(far, 0.25, square)))
    return (0.7853981633974483 * (a + b) / integral)[()]


@composition(special.diric, double=True, domain=("P(3), 3", "P(3), 4"))
def diric(x: Any, n: Any) -> Any:
    """Dirichlet's function, ``sin(n * x / 2) / (n * sin(x / 2))``."""
    half = 0.5 * np.asarray(x)
    whole = np.sin(half) == 0.0
    inside = np.where(whole, 1.0, half)
    limit = (-1.0) ** (np.round(half / np.pi) * (n - 1))
    return np.where(whole, limit, np.sin(n * inside) / (n * np.sin(inside)))
