"""Gamma and beta functions, zeta functions and binomial coefficients (DLMF, chapters 5, 8 and 25)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.templates.compositions import composition
from tangentx.templates.registry import elementwise


@elementwise(special.gamma, domain="positive")
def gamma(z: Any, *, ans: Any) -> Any:
    """Gamma function."""
    return ans * special.digamma(z)


@elementwise(special.gammaln, domain="positive", analytic=False)
def gammaln(x: Any) -> Any:
    """Logarithm of the size of the gamma function."""
    return special.digamma(x)


@elementwise(special.loggamma, domain="positive")
def loggamma(z: Any) -> Any:
    """Principal branch of the logarithm of the gamma function."""
    return special.digamma(z)


@elementwise(special.rgamma, domain="positive")
def rgamma(z: Any, *, ans: Any) -> Any:
    """Reciprocal of the gamma function."""
    return -ans * special.digamma(z)


@elementwise(special.psi, domain="positive", analytic=False)
def digamma(z: Any) -> Any:
    """Slope of the logarithm of the gamma function."""
    return special.polygamma(1, z)


@elementwise(special.polygamma, domain="whole positive", lacks=("n",), analytic=False)
def polygamma(n: Any, x: Any) -> Any:
    """Derivative of order `n` of `digamma`."""
    return None, special.polygamma(n + 1, x)


@composition(special.multigammaln, double=True, domain=("3.0 + P(3), 2", "4.1, 3"))
def multigammaln(a: Any, d: Any) -> Any:
    """Logarithm of the multivariate gamma function."""
    total = 0.28618247146235004 * d * (d - 1) + special.gammaln(a)
    for j in range(1, d):
        total = total + special.gammaln(a - 0.5 * j)
    return total


@elementwise(special.beta, domain="positive", analytic=False)
def beta(a: Any, b: Any, *, ans: Any) -> Any:
    """Beta function."""
    both = special.digamma(a + b)
    return ans * (special.digamma(a) - both), ans * (special.digamma(b) - both)


@elementwise(special.betaln, domain="positive", analytic=False)
def betaln(a: Any, b: Any) -> Any:
    """Logarithm of the size of the beta function."""
    both = special.digamma(a + b)
    return special.digamma(a) - both, special.digamma(b) - both


@elementwise(special.binom, domain="above positive", analytic=False)
def binom(x: Any, y: Any, *, ans: Any) -> Any:
    """Binomial coefficient of real numbers."""
    rest = special.digamma(x - y + 1.0)
    return ans * (special.digamma(x + 1.0) - rest), ans * (rest - special.digamma(y + 1.0))


@elementwise(special.poch, domain="positive", analytic=False)
def poch(z: Any, m: Any, *, ans: Any) -> Any:
    """Rising factorial."""
    last = special.digamma(z + m)
    return ans * (last - special.digamma(z)), ans * last


@elementwise(special.zeta, domain="above positive", lacks=("x",), analytic=False)
def zeta(x: Any, q: Any = None) -> Any:
    """Hurwitz' zeta function."""
    return None, -x * special.zeta(x + 1.0, q)


@elementwise(special.betainc, domain="positive positive probability", lacks=("a", "b"), singular=True, analytic=False)
def betainc(a: Any, b: Any, x: Any) -> Any:
    """Regularised incomplete beta function."""
    return None, None, np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


@elementwise(special.betaincc, domain="positive positive probability", lacks=("a", "b"), singular=True, analytic=False)
def betaincc(a: Any, b: Any, x: Any) -> Any:
    """Complement of the regularised incomplete beta function."""
    return None, None, -np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


@elementwise(
    special.betaincinv, domain="positive positive probability", lacks=("a", "b"), singular=True, analytic=False
)
def betaincinv(a: Any, b: Any, y: Any, *, ans: Any) -> Any:
    """Inverse of the regularised incomplete beta function; keeps the result, not the argument."""
    return None, None, np.exp(special.betaln(a, b) - special.xlogy(a - 1.0, ans) - special.xlog1py(b - 1.0, -ans))


@elementwise(
    special.betainccinv, domain="positive positive probability", lacks=("a", "b"), singular=True, analytic=False
)
def betainccinv(a: Any, b: Any, y: Any, *, ans: Any) -> Any:
    """Inverse of the complement of the regularised incomplete beta function."""
    return None, None, -np.exp(special.betaln(a, b) - special.xlogy(a - 1.0, ans) - special.xlog1py(b - 1.0, -ans))


@elementwise(special.gammainc, domain="positive", lacks=("a",), singular=True, analytic=False)
def gammainc(a: Any, x: Any) -> Any:
    """Regularised lower incomplete gamma function."""
    return None, np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@elementwise(special.gammaincc, domain="positive", lacks=("a",), singular=True, analytic=False)
def gammaincc(a: Any, x: Any) -> Any:
    """Regularised upper incomplete gamma function."""
    return None, -np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@elementwise(special.gammaincinv, domain="positive probability", lacks=("a",), singular=True, analytic=False)
def gammaincinv(a: Any, y: Any, *, ans: Any) -> Any:
    """Inverse of the lower incomplete gamma function; keeps the result, not the argument."""
    return None, np.exp(ans + special.gammaln(a) - special.xlogy(a - 1.0, ans))


@elementwise(special.gammainccinv, domain="positive probability", lacks=("a",), singular=True, analytic=False)
def gammainccinv(a: Any, y: Any, *, ans: Any) -> Any:
    """Inverse of the upper incomplete gamma function; keeps the result, not the argument."""
    return None, -np.exp(ans + special.gammaln(a) - special.xlogy(a - 1.0, ans))


@composition(special.comb, double=True, domain=("x + 5.0, y", "6.0 + P(3), 2.0"))
def comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:
    """Number of choices of `k` out of `N`, 0 where there are fewer; of real numbers where not `exact`."""
    if exact:
        raise TypeError("special.comb with exact=True takes whole numbers")
    if repetition:
        return special.comb(N + k - 1, k)
    return np.where((k <= N) & (N >= 0) & (k >= 0), special.binom(N, k), 0.0)[()]
