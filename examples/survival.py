"""How long remissions last, and how an epidemic grows: a survival model and a generalised linear model.

The first has `scipy.stats.weibull_min.logpdf` of what was seen to end and `.logsf` of what was not; the second has
`scipy.stats.poisson.logpmf`. Errors are those of the Hessian. Run ``python examples/survival.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm, poisson, weibull_min

import tangentx as tx

# Weeks of remission of children with leukaemia, a negative number where it lasted longer: Freireich et al. (1963).
TREATED = np.array([6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35.0])
PLACEBO = np.array([1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23.0])
WEEKS = np.abs(np.concatenate([TREATED, PLACEBO]))
ENDED = np.concatenate([TREATED, PLACEBO]) > 0.0
DRUG = np.repeat([1.0, 0.0], 21)

# Deaths from AIDS in Australia, by quarter from 1983: Whyte et al. (1987).
DEATHS = np.array([0, 1, 2, 3, 1, 4, 9, 18, 23, 31, 20, 25, 37, 45])
QUARTERS = np.arange(1.0, 15.0)


def remission(p):
    """The negative logarithm of the likelihood of the weeks: Weibull, each stretched by what the drug does."""
    law = weibull_min(np.exp(p[2]), scale=np.exp(p[0] + p[1] * DRUG))
    return -np.sum(np.where(ENDED, law.logpdf(WEEKS), law.logsf(WEEKS)))


def deaths(p):
    """The negative logarithm of the likelihood of the deaths: Poisson, with a power of the time as mean."""
    return -poisson.logpmf(DEATHS, np.exp(p[0] + p[1] * np.log(QUARTERS))).sum()


def fitted(loss, start):
    """The best parameters and their standard errors."""
    found = minimize(loss, start, jac=tx.grad(loss), hess=tx.hessian(loss), method="Newton-CG")
    return found.x, np.sqrt(np.diag(np.linalg.inv(tx.hessian(loss)(found.x))))


def main() -> int:
    best, errors = fitted(remission, np.array([2.0, 0.0, 0.0]))
    print("Logarithm of the weeks without the drug, what the drug adds to it, logarithm of the shape:")
    for value, error in zip(best, errors, strict=True):
        print(f"{value:8.4f} give or take {error:.4f}")
    print(f"So a remission lasts {np.exp(best[1]):.2f} times as long.")
    print(f"That there were no difference has a p-value of {2.0 * norm.sf(best[1] / errors[1]):.1e}.\n")
    powers, errors = fitted(deaths, np.array([0.0, 1.0]))
    print(f"The deaths grow with the power {powers[1]:.4f} of the time, give or take {errors[1]:.4f}.\n")
    gradient = tx.grad(remission)
    gradient(best)
    print(gradient.source)
    return 0 if abs(best[1] - 1.267) < 0.01 and abs(powers[1] - 2.175) < 0.01 else 1


if __name__ == "__main__":
    sys.exit(main())
