"""The Greeks of a book of options: one gradient with respect to every input, checked against the closed forms.

A book of European calls and puts is priced by Black and Scholes' formula in plain NumPy. One call of the gradient gives
all first-order Greeks of all options at once; a derivative of the derivative gives gamma and vanna. Run
``python examples/greeks.py``.
"""

from __future__ import annotations

import sys
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx

Array: TypeAlias = NDArray[np.float64]

OPTIONS = 600
NAMES = ("Amber", "Birch", "Cedar")
INPUTS = ("position", "spot", "strike", "years", "volatility", "rate", "dividend")


def normal(x):
    """The normal distribution function, by Marsaglia's series: terms are added until none counts."""
    term = x
    total = x
    n = 1
    while np.max(np.abs(term)) > 1e-16:
        n += 2
        term = term * x * x / n
        total = total + term
    return 0.5 + total * np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)


@tx.differentiate(wrt=INPUTS)
def value(position, spot, strike, years, volatility, rate, dividend, sign):
    """What the book is worth; `sign` is 1 for a call and -1 for a put, the others have a number for each option."""
    spread = volatility * np.sqrt(years)
    forward = spot * np.exp((rate - dividend) * years)
    upper = np.log(forward / strike) / spread + 0.5 * spread
    price = sign * (forward * normal(sign * upper) - strike * normal(sign * (upper - spread)))
    return np.sum(position * np.exp(-rate * years) * price)


def total_delta(spot, volatility, position, strike, years, rate, dividend, sign):
    """The sum of the deltas: its gradient has the gammas and vannas, for no option depends on another's inputs."""
    return np.sum(tx.grad(value, wrt="spot")(position, spot, strike, years, volatility, rate, dividend, sign))


def closed_forms(position, spot, strike, years, volatility, rate, dividend, sign) -> dict[str, Array]:
    """The same derivatives as the textbooks have them."""
    root = np.sqrt(years)
    upper = (np.log(spot / strike) + (rate - dividend + 0.5 * volatility**2) * years) / (volatility * root)
    lower = upper - volatility * root
    density = np.exp(-0.5 * upper**2) / np.sqrt(2.0 * np.pi)
    grown, paid = np.exp(-dividend * years), np.exp(-rate * years)
    up, down = normal(sign * upper), normal(sign * lower)
    decay = spot * grown * density * volatility / (2.0 * root)
    greeks = {
        "position": sign * (spot * grown * up - strike * paid * down),
        "spot": sign * grown * up,
        "strike": -sign * paid * down,
        "years": decay + sign * (rate * strike * paid * down - dividend * spot * grown * up),
        "volatility": spot * grown * density * root,
        "rate": sign * strike * years * paid * down,
        "dividend": -sign * spot * years * grown * up,
        "gamma": grown * density / (spot * volatility * root),
        "vanna": -grown * density * lower / volatility,
    }
    return {name: greek if name == "position" else position * greek for name, greek in greeks.items()}


def book() -> tuple[NDArray[np.int64], tuple[Array, ...]]:
    """Options on three shares, drawn with a fixed seed: the share of each, and the arguments of `value`."""
    draw = np.random.default_rng(20)
    share = draw.integers(0, len(NAMES), OPTIONS)
    spot = np.array([40.0, 100.0, 250.0])[share]
    strike = spot * draw.uniform(0.7, 1.3, OPTIONS)
    years = draw.uniform(0.1, 2.0, OPTIONS)
    volatility = np.array([0.35, 0.2, 0.25])[share] + draw.uniform(0.0, 0.1, OPTIONS)
    dividend = np.array([0.0, 0.02, 0.01])[share]
    position = draw.integers(-50, 50, OPTIONS).astype(float)
    sign = np.where(draw.uniform(size=OPTIONS) < 0.5, 1.0, -1.0)
    return share, (position, spot, strike, years, volatility, np.full(OPTIONS, 0.03), dividend, sign)


def all_greeks(arguments: tuple[Array, ...]) -> dict[str, Array]:
    """Every first derivative, and the second ones by spot, of each option."""
    greeks = dict(zip(INPUTS, value.grad(*arguments), strict=True))
    position, spot, strike, years, volatility, rate, dividend, sign = arguments
    second = tx.grad(total_delta, wrt=("spot", "volatility"))
    greeks["gamma"], greeks["vanna"] = second(spot, volatility, position, strike, years, rate, dividend, sign)
    return greeks


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def ladder(arguments: tuple[Array, ...], moves: tuple[int, ...]) -> None:
    """Prints the book's value and delta after all shares have moved by so many percent."""
    print("\nmove of all shares      value   delta, worth in shares")
    rows = []
    for done, percent in enumerate(moves, 1):
        moved = list(arguments)
        moved[1] = arguments[1] * (1.0 + percent / 100.0)
        worth, greeks = value.value_and_grad(*moved)
        rows.append(f"{percent:+17d} %  {worth:9.0f}   {np.sum(greeks[1] * moved[1]):22.0f}")
        show_progress(done, len(moves))
    print("\n".join(rows))


def main() -> int:
    share, arguments = book()
    greeks = all_greeks(arguments)
    print(f"A book of {OPTIONS} options, worth {value(*arguments):.0f}.\n")
    print("share     delta    gamma   vega, a point   theta, a day   rho, a basis point   dividend, a basis point")
    for number, name in enumerate(NAMES):
        mine = share == number
        total = {greek: np.sum(each[mine]) for greek, each in greeks.items()}
        print(
            f"{name}  {total['spot']:9.1f} {total['gamma']:8.2f} {total['volatility'] / 100.0:15.1f}"
            f" {-total['years'] / 365.0:14.2f} {total['rate'] / 1e4:20.3f} {total['dividend'] / 1e4:25.3f}"
        )
    ladder(arguments, (-20, -10, -5, 0, 5, 10, 20))

    worst = 0.0
    print("\nLargest difference from the closed form, of the largest of its kind:")
    for name, closed in closed_forms(*arguments).items():
        difference = float(np.max(np.abs(greeks[name] - closed)) / np.max(np.abs(closed)))
        worst = max(worst, difference)
        print(f"  {name:10s} {difference:.1e}")
    print(f"\n{value.grad.source_for(*arguments)}")
    return 0 if worst < 1e-10 else 1


if __name__ == "__main__":
    sys.exit(main())
