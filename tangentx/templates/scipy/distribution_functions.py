"""Distribution functions and their inverses: of an argument; by most parameters there is no closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import ratio
from tangentx.templates.compositions import composition
from tangentx.templates.registry import elementwise


@elementwise(special.ndtr)
def ndtr(x: Any) -> Any:
    """Distribution function of the standard normal distribution."""
    return 0.3989422804014327 * np.exp(-0.5 * x * x)


@elementwise(special.log_ndtr, analytic=False)
def log_ndtr(x: Any) -> Any:
    """Logarithm of `ndtr`; the slope, density over `ndtr`, without a quotient of two numbers that vanish."""
    return ratio(0.7978845608028654, special.erfcx(-0.7071067811865476 * x))


@elementwise(special.ndtri, domain="probability", singular=True, analytic=False)
def ndtri(y: Any, *, ans: Any) -> Any:
    """Inverse of `ndtr`; keeps the result, not the argument."""
    return 2.5066282746310002 * np.exp(0.5 * ans * ans)


@elementwise(special.ndtri_exp, domain="negative", singular=True, analytic=False)
def ndtri_exp(y: Any, *, ans: Any) -> Any:
    """Inverse of `log_ndtr`; keeps the result, not the argument."""
    return 1.2533141373155001 * special.erfcx(-0.7071067811865476 * ans)


@elementwise(special.stdtr, domain="positive real", lacks=("df",), analytic=False)
def stdtr(df: Any, t: Any) -> Any:
    """Distribution function of Student's t distribution."""
    norm = special.betaln(0.5 * df, 0.5) + special.xlogy(0.5, df)
    return None, np.exp(-special.xlog1py(0.5 * (df + 1.0), ratio(t * t, df)) - norm)


@elementwise(special.stdtrit, domain="positive probability", lacks=("df",), singular=True, analytic=False)
def stdtrit(df: Any, p: Any, *, ans: Any) -> Any:
    """Inverse of `stdtr` in its second argument; keeps the result, not the argument."""
    norm = special.betaln(0.5 * df, 0.5) + special.xlogy(0.5, df)
    return None, np.exp(special.xlog1py(0.5 * (df + 1.0), ratio(ans * ans, df)) + norm)


@elementwise(special.chdtr, domain="positive", lacks=("v",), singular=True, analytic=False)
def chdtr(v: Any, x: Any) -> Any:
    """Distribution function of the chi-square distribution."""
    return None, 0.5 * np.exp(special.xlogy(0.5 * v - 1.0, 0.5 * x) - 0.5 * x - special.gammaln(0.5 * v))


@elementwise(special.chdtrc, domain="positive", lacks=("v",), singular=True, analytic=False)
def chdtrc(v: Any, x: Any) -> Any:
    """Complement of the distribution function of the chi-square distribution."""
    return None, -0.5 * np.exp(special.xlogy(0.5 * v - 1.0, 0.5 * x) - 0.5 * x - special.gammaln(0.5 * v))


@elementwise(special.owens_t, domain="real", analytic=False)
def owens_t(h: Any, a: Any) -> Any:
    """Owen's T function."""
    bell = -0.19947114020071635 * np.exp(-0.5 * h * h)
    both = 1.0 + a * a
    return bell * special.erf(0.7071067811865476 * a * h), 0.15915494309189535 * np.exp(-0.5 * h * h * both) / both


@composition(special.pdtr, domain=("2, P(3)",))
def pdtr(k: Any, m: Any) -> Any:
    """Distribution function of Poisson's distribution, by its mean."""
    return special.gammaincc(np.floor(k) + 1.0, m)


@composition(special.pdtrc, domain=("2, P(3)",))
def pdtrc(k: Any, m: Any) -> Any:
    """Complement of the distribution function of Poisson's distribution, by its mean."""
    return special.gammainc(np.floor(k) + 1.0, m)


@composition(special.bdtr, domain=("2, 5, 0.1 + 0.4 * P(3)",))
def bdtr(k: Any, n: Any, p: Any) -> Any:
    """Distribution function of the binomial distribution, by the probability."""
    return special.betainc(n - np.floor(k), np.floor(k) + 1.0, 1.0 - p)


@composition(special.bdtrc, domain=("2, 5, 0.1 + 0.4 * P(3)",))
def bdtrc(k: Any, n: Any, p: Any) -> Any:
    """Complement of the distribution function of the binomial distribution, by the probability."""
    return special.betainc(np.floor(k) + 1.0, n - np.floor(k), p)


@composition(special.nbdtr, double=True, domain=("2, 5, 0.1 + 0.4 * P(3)",))
def nbdtr(k: Any, n: Any, p: Any) -> Any:
    """Distribution function of the negative binomial distribution, by the probability."""
    return special.betainc(n, k + 1.0, p)


@composition(special.nbdtrc, double=True, domain=("2, 5, 0.1 + 0.4 * P(3)",))
def nbdtrc(k: Any, n: Any, p: Any) -> Any:
    """Complement of the distribution function of the negative binomial distribution, by the probability."""
    return special.betainc(k + 1.0, n, 1.0 - p)


@composition(special.gdtr, domain=())
def gdtr(a: Any, b: Any, x: Any) -> Any:
    """Distribution function of the gamma distribution, by rate and argument."""
    return special.gammainc(b, a * x)


@composition(special.gdtrc, domain=())
def gdtrc(a: Any, b: Any, x: Any) -> Any:
    """Complement of the distribution function of the gamma distribution, by rate and argument."""
    return special.gammaincc(b, a * x)


@composition(special.fdtr, domain=())
def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    """Distribution function of the F distribution, by its argument."""
    return special.betainc(0.5 * dfn, 0.5 * dfd, dfn * x / (dfd + dfn * x))


@composition(special.fdtrc, domain=())
def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    """Complement of the distribution function of the F distribution, by its argument."""
    return special.betainc(0.5 * dfd, 0.5 * dfn, dfd / (dfd + dfn * x))


@composition(special.chdtri, domain=())
def chdtri(v: Any, p: Any) -> Any:
    """Inverse of `chdtrc` in its second argument."""
    return 2.0 * special.gammainccinv(0.5 * v, p)
