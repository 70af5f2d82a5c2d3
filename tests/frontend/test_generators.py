"""Generator functions that a loop runs over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

X = np.array([0.4, -0.3, 0.8, 1.1, 0.25])


def windows(x: Any, n: int, step: int = 1) -> Any:
    for i in range(0, len(x) - n + 1, step):
        yield x[i : i + n]


def countdown(x: Any, n: int) -> Any:
    """Yields at two places, and returns early for some."""
    while n > 0:
        if n == 3 and x[0] > 100:
            return
        yield x * n, n
        n -= 1
    yield x, 0


def endless(a: Any, b: Any) -> Any:
    while True:
        yield a
        a, b = b, a + b


def pairs(x: Any, y: Any) -> Any:
    for a in x:
        for b in y:
            if a * b < -0.2:
                continue
            yield a, b


def prefixes(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + v
        yield total


def doubled(x: Any) -> Any:
    for total in prefixes(x):
        yield 2 * total
    yield from prefixes(x * x)


def written(u: Any, n: int) -> Any:
    for i in range(n):
        u[i] = u[i] * 2
        yield u


def left_early(x: Any) -> Any:
    total = 0.0
    for w, n in countdown(x, 6):
        if n % 2:
            continue
        if n == 2:
            break
        total += np.sum(w**2) * n
    else:
        total = total * 100
    for v in endless(x[0], x[1]):
        if v > 5.0 or v < -5.0:
            break
        total = total + v * v
    return total


def with_else(x: Any) -> Any:
    total = x[1]
    for w in windows(x, 2):
        if np.sum(w) > 100.0:
            break
        total = total + np.prod(w)
    else:
        total = total * x[0]
    return total


def returned(x: Any) -> Any:
    for a, b in pairs(x, x[::-1]):
        for c, d in pairs(x[:2], x[1:3]):
            if c > 0.3 and b > 0.5:
                break
            if a * d > 0.8:
                return a * b**2 * c * d
    return x[0]


def nested(x: Any) -> Any:
    total = 0.0
    for a, b in pairs(x, x[::-1]):
        for c, d in pairs(x[:2], x[1:3]):
            if c > 0.3 and b > 0.5:
                break
            total += a * b**2 * c * d
    return total


def side_by_side(x: Any) -> Any:
    total = 0.0
    for i, w in enumerate(windows(x, 2, step=2), 1):
        total += i * np.sum(w**2)
    for w, v in zip(windows(x, 2), x):
        total += np.sum(w) * v
    for v, w, u in zip(x[:2], windows(x, 2), x):
        total += np.sum(w) * v * u
    return total


def consumed(x: Any) -> Any:
    a, b, *_ = prefixes(x)
    rows = np.array([w * 2 for w in windows(x, 2)])
    flat = np.fromiter(prefixes(x), dtype=float)
    table = dict(enumerate(doubled(x)))
    largest = max(windows(x, 2), key=lambda w: np.sum(w))
    found = sum(doubled(x)) * a * b + np.sum(rows**2) + np.sum(flat**3) + table[3] * np.prod(largest)
    return found if any(t > 0.7 for t in prefixes(x)) else x[0]


def sharing(x: Any) -> Any:
    u, total = x.copy(), 0.0
    for v in written(u, 3):
        v[1] += v[0]
        total += np.sum(v**2)
    return total + np.sum(u)


def local(x: Any) -> Any:
    k = x[0] * 2

    def orbit(z: Any, n: int) -> Any:
        for _ in range(n):
            z = k * z * (1 - z)
            yield z

    i, total = 3, 0.0
    for z in orbit(x[1], 3):
        for i in range(2):
            total += z * x[i]
    return total * i + sum(orbit(x[2], n=2))


def in_turn(x: Any) -> Any:
    """One generator after another, and places that yield behind both."""
    for v in x:
        yield v
    for v in x:
        if v > 1.0:
            return
        yield v * 2.0
    yield x[1]


def with_else_in_turn(x: Any) -> Any:
    """Loops that leave in any of the parts, and one that leaves in none."""
    total = 0.0
    for limit in (0.5, 1.5, 9.0):
        for v in in_turn(x):
            if v > limit:
                break
            total = total + v * v
        else:
            total = total * 3.0
    for k, v in enumerate(in_turn(x[:2])):
        if k == 5:
            break
        total = total * (1.0 + v)
    return total


def beside_functions(x: Any) -> Any:
    """Generators that other functions of the same one loop over, and a lambda, which needs what they capture."""
    scale = 2.0

    def scaled(v: Any) -> Any:
        return v * scale

    def weighted(a: Any) -> Any:
        for v in a:
            yield scaled(v) * x[0]

    def chained(a: Any, n: int) -> Any:
        yield 1.0
        yield from weighted(a[:n])

    def total(a: Any, n: int) -> Any:
        return sum(chained(a, n)) * (total(a, n - 1) if n else 1.0)

    scale = x[1]
    return total(x, 2) + (lambda a: max(weighted(a)))(x)


ALL = [
    beside_functions,
    with_else_in_turn,
    left_early,
    with_else,
    returned,
    nested,
    side_by_side,
    consumed,
    sharing,
    local,
]


@pytest.mark.share(1)
@pytest.mark.parametrize("f", ALL)
def test_loops_run_as_the_generator_does(f: Any) -> None:
    check_grads(f, (X,), order=2 if f in (left_early, sharing) else 1, rtol=1e-4)


def test_the_text_has_the_loop_of_the_generator() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for w in windows(x, 2):
            total += np.sum(w**2)
        return total

    text = tx.grad(f).source_for(X)
    assert "for i in range(" in text and "windows" not in text.split("def ")[1]


def test_effects_keep_their_order() -> None:
    told: list[str] = []

    def telling(x: Any) -> Any:
        told.append("begun")
        for v in x:
            told.append("asked")
            yield v
        told.append("over")

    def f(x: Any) -> Any:
        total = 0.0
        for v in telling(x):
            told.append("taken")
            total += v * v
        return total

    np.testing.assert_allclose(tx.grad(f, fallback="error")(X[:2]), 2 * X[:2])
    assert told == ["begun", "asked", "taken", "asked", "taken", "over"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def g(x):\n    y = yield x\n    yield y", "sent to a generator"),
        ("def g(x):\n    try:\n        yield x\n    finally:\n        pass", "`try` or a `with`"),
        ("def g(x):\n    yield x\n    yield from g(x * 0.5)", "runs itself"),
        ("def g(x):\n    while True:\n        yield x", "nothing leaves this loop"),
        ("def g(*xs):\n    yield from xs", "gathers its arguments"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    import linecache

    source = f"{text}\ndef f(x):\n    t = 0.0\n    for v in g(x):\n        t = t + v\n    return t\n"
    name = f"<generator {message}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    space: dict[str, Any] = {}
    exec(compile(source, name, "exec"), space)
    with pytest.raises(tx.UnsupportedSyntax, match=message):
        tx.grad(space["f"], fallback="error")(1.0)


def test_a_generator_of_the_function_around_is_looped_over_by_another() -> None:

    def f(x: Any) -> Any:
        def scaled(a: Any) -> Any:
            yield a
            yield a * x[0]

        def both() -> Any:
            yield from scaled(x[1])
            yield from scaled(x[2])

        total = 1.0
        for v in both():
            total = total * v
        return total

    a, b, c = X[:3]
    np.testing.assert_allclose(
        tx.grad(f, fallback="error")(X)[:3], [2 * a * (b * c) ** 2, 2 * a**2 * b * c**2, 2 * a**2 * b**2 * c]
    )


def test_a_generator_keeps_the_names_of_the_function_that_defines_it() -> None:
    def f(x: Any) -> Any:
        k = 2.0

        def scaled(a: Any) -> Any:
            for v in a:
                yield v * k

        def total(a: Any) -> Any:
            k = 3.0
            return sum(scaled(a)) * k

        return total(x)

    with pytest.raises(tx.UnsupportedSyntax, match="`scaled` is looped over where `k` means something else"):
        tx.grad(f, fallback="error")(X)
