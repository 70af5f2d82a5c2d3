"""Augmented assignments to what is no array: lists within lists and dicts, sets, objects that say what they mean."""

import numpy as np

from tests.programs.case import Program, draw


class Vector:
    """A vector that is scaled and moved in place, and added as a new one."""

    def __init__(self, parts):
        self.parts = parts

    def __iadd__(self, other):
        if isinstance(other, Vector):
            self.parts += other.parts
            return self
        return NotImplemented

    def __imul__(self, factor):
        self.parts *= factor
        return self

    def __add__(self, other):
        return Vector(self.parts + other)

    def __mul__(self, factor):
        return Vector(self.parts * factor)


def damped_motion(x, v, dt, steps):
    place, speed = Vector(x.copy()), Vector(v.copy())
    also = place
    for _ in range(steps):
        speed *= 1.0 - dt
        place += speed * dt
    moved = place
    moved += 1.0
    return np.sum(also.parts * speed.parts) + np.sum(moved.parts**2)


def bodies_in_a_list(x, dt):
    bodies = [Vector(x.copy()), Vector(x * x)]
    first = bodies[0]
    bodies[0] *= dt
    for i in range(2):
        bodies[i] += Vector(x * dt)
        bodies[i] *= x
    return np.sum(first.parts * bodies[1].parts)


class Money:
    """Amounts that never change: adding in place makes another one."""

    def __init__(self, amount):
        self.amount = amount

    def __iadd__(self, other):
        return Money(self.amount + other * 0.5)

    def __add__(self, other):
        return Money(self.amount + other)


class Account:
    def __init__(self, balance):
        self.balance = Money(balance)
        self.log = []

    def earn(self, rate):
        before = self.balance
        self.balance += before.amount * rate
        self.log += [before.amount, rate]


def savings(start, rate):
    account = Account(start)
    log = account.log
    for _ in range(3):
        account.earn(rate)
    return account.balance.amount * sum(log) + len(log) * start


def ledger(x, y):
    books = {"a": [x], "b": [y], "both": {}}
    held = books["a"]
    for _ in range(2):
        books["a"] += [held[-1] * y, x]
        books["b"] *= 2
        books["both"] |= {"last": held[-1], "count": len(books["b"])}
    rows = [[x], held]
    rows[1] += [y * y]
    return sum(held) * books["both"]["last"] * books["both"]["count"] + sum(books["b"]) + sum(rows[1])


def terms_of_prime_powers(weights, x):
    """Powers whose number is not a product of smaller ones that were met; another name follows the same set."""
    crossed = {0, 1}
    also = crossed
    total = 0.0
    for n in range(2, 8):
        if n not in also:
            total = total + weights[n % 3] * x**n
            crossed |= {n * k for k in range(1, 5)}
    return total + len(also) * x


PROGRAMS = [
    Program(damped_motion, lambda: (draw(3, seed=1), draw(3, seed=2), 0.1, 3), ("x", "v", "dt")),
    Program(bodies_in_a_list, lambda: (draw(3, seed=3), 0.7), ("x", "dt")),
    Program(savings, lambda: (2.0, 0.3), ("start", "rate")),
    Program(ledger, lambda: (0.7, 1.2), ("x", "y")),
    Program(terms_of_prime_powers, lambda: (draw(3, seed=4), 0.9), ("weights", "x")),
]
