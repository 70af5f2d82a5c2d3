"""Find three kinds of flowers in the lengths of their petals: a mixture of normal distributions.

The likelihood is a `scipy.special.logsumexp` over the kinds. Run ``python examples/mixture.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import norm

import tangentx as tx

KINDS = {"small": (0.5, 1.5, 0.2), "middle": (0.3, 4.2, 0.5), "large": (0.2, 5.8, 0.4)}


def measured():
    """Lengths of 2000 petals, from kinds of known shares, means and spreads."""
    rng = np.random.default_rng(1)
    shares, means, spreads = np.array(list(KINDS.values())).T
    kind = rng.choice(3, size=2000, p=shares)
    return rng.normal(means[kind], spreads[kind])


LENGTHS = measured()


def surprise(p):
    """The negative mean logarithm of the likelihood, by logits of the shares, means, and logarithms of the spreads."""
    parts = norm.logpdf(LENGTHS[:, None], loc=p["means"], scale=np.exp(p["log_spreads"]))
    return -np.mean(logsumexp(parts + log_softmax(p["logits"]), axis=1))


def packed(p):
    return np.concatenate([p["logits"], p["means"], p["log_spreads"]])


def unpacked(row):
    logits, means, log_spreads = row.reshape(3, 3)
    return {"logits": logits, "means": means, "log_spreads": log_spreads}


START = {"logits": np.zeros(3), "means": np.array([1.0, 3.0, 6.0]), "log_spreads": np.zeros(3)}


def main() -> int:
    gradient = tx.value_and_grad(surprise)

    def step(row):
        value, slopes = gradient(unpacked(row))
        return value, packed(slopes)

    found = minimize(step, packed(START), jac=True, method="BFGS")
    best = unpacked(found.x)
    print(f"surprise {surprise(START):.4f} at the start, {found.fun:.4f} after {found.nfev} gradients\n")
    print("kind      share         mean          spread")
    shares, spreads = softmax(best["logits"]), np.exp(best["log_spreads"])
    worst = 0.0
    for k, (name, true) in enumerate(KINDS.items()):
        row = shares[k], best["means"][k], spreads[k]
        print(f"{name:8}" + "".join(f"{a:6.3f} ({b:.1f})  " for a, b in zip(row, true, strict=True)))
        worst = max(worst, *(abs(a - b) for a, b in zip(row, true, strict=True)))
    print(f"\n{gradient.source}")
    return 0 if worst < 0.1 else 1


if __name__ == "__main__":
    sys.exit(main())
