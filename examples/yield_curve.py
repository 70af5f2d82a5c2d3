"""Strip a yield curve from the prices of bonds, and see what each price does to what a pension fund owes.

Every rate of the curve is a root that `scipy.optimize.brentq` finds, one maturity after the other. Nothing is prepared
for differentiation: the gradient goes through each root by the implicit function theorem.
Run ``python examples/yield_curve.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import brentq

import tangentx as tx

YEARS = np.array([1.0, 2.0, 3.0, 5.0, 7.0, 10.0])  # maturities of bonds that pay once a year
COUPONS = np.array([2.0, 2.25, 2.5, 3.0, 3.25, 3.5])
PRICES = np.array([99.02, 98.55, 98.32, 98.87, 98.60, 98.34])
OWED = {2: 30.0, 4: 45.0, 6: 40.0, 9: 60.0}  # millions, by year


def discount(rates, known, year):
    """What a payment of one is worth now; rates are on lines between the maturities that are known."""
    return np.exp(-year * np.interp(year, YEARS[:known], rates[:known]))


def strip(prices):
    """The rates at which each bond is worth its price."""
    rates = np.zeros(len(YEARS))
    for k in range(len(YEARS)):

        def mispriced(rate, k=k):
            curve = rates.copy()
            curve[k] = rate
            total = 100.0 * discount(curve, k + 1, YEARS[k])
            for year in range(1, int(YEARS[k]) + 1):
                total += COUPONS[k] * discount(curve, k + 1, year)
            return total - prices[k]

        rates[k] = brentq(mispriced, -0.5, 0.5, xtol=1e-14)
    return rates


def present_value(prices):
    """What is owed, at the rates of the market."""
    rates = strip(prices)
    total = 0.0
    for year, amount in OWED.items():
        total += amount * discount(rates, len(YEARS), year)
    return total


def main() -> int:
    gradient = tx.value_and_grad(present_value)
    value, hedge = gradient(PRICES)
    rates = strip(PRICES)
    print(f"What is owed, {sum(OWED.values()):.0f} millions, is worth {value:.3f} now.\n")
    print("maturity   rate     moves with the price by   hedge, millions of face value")
    for year, rate, slope in zip(YEARS, rates, hedge, strict=True):
        print(f"{year:5.0f}     {100.0 * rate:.3f} %        {slope:8.4f}             {100.0 * slope:8.2f}")

    step, worst = 1e-4, 0.0
    for k in range(len(PRICES)):
        moved = step * np.eye(len(PRICES))[k]
        difference = (present_value(PRICES + moved) - present_value(PRICES - moved)) / (2.0 * step)
        worst = max(worst, abs(difference - hedge[k]))
    print(f"\nThe gradient differs from central differences by {worst:.1e}.")
    convexity = tx.hvp(present_value, (PRICES,), (np.ones(len(PRICES)),))
    print(
        f"If all prices rise by one, the hedge of the longest bond changes by {100.0 * convexity[-1]:.3f} millions.\n"
    )
    print("\nThe way through the roots, and back:\n")
    parts = gradient.source.split("\n\n\n")
    print("\n\n\n".join(part for part in parts if part.startswith(("def present", "def strip", "def root"))))
    return 0 if worst < 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
