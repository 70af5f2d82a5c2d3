"""Long programs: many trips, many statements, a long expression, deep calls. None of them meets a RecursionError."""

from __future__ import annotations

import inspect
import linecache
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from benchmarks.compiling import numbers
from tangentx.analysis.dependence.array_dependence import Elements
from tangentx.analysis.infer import control_flow
from tangentx.analysis.infer.inference import Inference
from tangentx.analysis.types import kinds
from tangentx.backend.spelling import Scope
from tangentx.frontend import resolve
from tangentx.ir import upward_exposed
from tangentx.ir.nodes import Lit, Op, Var
from tangentx.optimise import in_place_sums
from tangentx.optimise.extreme_bounds import _Bounds
from tangentx.optimise.facts import shape_arithmetic, shapes
from tangentx.optimise.facts.dataflow import Flow
from tangentx.optimise.facts.shape_arithmetic import Mentions
from tangentx.optimise.facts.shapes import Facts
from tangentx.optimise.sign_normalisation import Signs


def defined(name: str, text: str) -> Callable[..., Any]:
    """The function `f` of a text that linecache alone holds, as a notebook's cell is."""
    file = f"<ipython-input-1-{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    function: Callable[..., Any] = scope["f"]
    return function


def statements(count: int) -> str:
    pairs = ["    a = a + 0.001 * b", "    b = 0.999 * b - 0.001 * a"] * (count // 2)
    return "\n".join(["def f(x):", "    a = x", "    b = 1.0", *pairs, "    return a * b"]) + "\n"


def names(count: int) -> str:
    lines = [f"    v{i} = np.sin(v{i - 1}) + 0.5 * x" for i in range(1, count)]
    return "\n".join(["def f(x):", "    v0 = x", *lines, f"    return v{count - 1}"]) + "\n"


def terms(count: int) -> str:
    return f"def f(x):\n    return {' + '.join(f'{i}.0 * np.sin(0.01 * {i}.0 * x)' for i in range(count))}\n"


def calls(count: int) -> str:
    lines = [f"def g{i}(x):\n    return 0.5 * g{i - 1}(x) + np.sin(x)\n" for i in range(1, count)]
    return "\n".join(["def g0(x):\n    return x * x\n", *lines, f"def f(x):\n    return g{count - 1}(x)\n"])


def loops(count: int) -> str:
    heads = [f"{'    ' * (i + 1)}for i{i} in range(1):" for i in range(count)]
    return "\n".join(["def f(x):", "    s = x", *heads, f"{'    ' * (count + 1)}s = s + x * s", "    return s"]) + "\n"


def comprehensions(count: int) -> str:
    return f"def f(x):\n    return {'sum([' * count}x * x{''.join(f' for i{i} in range(1)])' for i in range(count))}\n"


def branches(count: int) -> str:
    """A chain of elif, of which most are made without a loop's help."""
    lines = [f"    elif k == {i}:\n        y = x * {i}.0" for i in range(1, count)]
    first = "def f(x):\n    k = int(100.5 * x)\n    y = 1.0\n    if k == 0:\n        y = x"
    return "\n".join([first, *lines, "    else:", "        y = x * x", "    return y * x"]) + "\n"


def leaving(count: int) -> str:
    """A chain whose branches end the trip, leave the loop or the function, or change what the others read."""
    does = ["continue", "break", "return y * x", "y = y * x", "y += np.sin(x)", "pass"]
    lines = [f"        elif i * {k} % 97 == {k} - 1:\n            {does[k % 6]}" for k in range(1, count)]
    first = "def f(x):\n    y = x\n    for i in range(60):\n        if i == 61:\n            y = x"
    return "\n".join([first, *lines, "        else:\n            y = y + x * x", "    return y * x"]) + "\n"


def cases(count: int) -> str:
    lines = [f"        case {i}:\n            y = x * {i}.0" for i in range(count)]
    first = "def f(x):\n    match int(100.5 * x):"
    return "\n".join([first, *lines, "        case _:", "            y = x * x", "    return y * x"]) + "\n"


def conditionals(count: int) -> str:
    chain = "".join(f"x * {i}.0 if k == {i} else " for i in range(count))
    return f"def f(x):\n    k = int(100.5 * x)\n    return {chain}x * x\n"


def items(count: int) -> str:
    row = ", ".join(f"x * {i}.0" for i in range(count))
    loop = "    total = 0.0\n    for item in row:\n        total = total + item"
    return f"def f(x):\n    row = [{row}]\n{loop}\n    return (total + sum(row)) * x\n"


def chain(count: int) -> str:
    """Comprehensions one after the other, where all that was known before each loop was once looked at behind it."""
    lines = [f"    r = [v * 0.99 + {i}.0 * x for v in r]" for i in range(count)]
    return "\n".join(["def f(x):", "    r = [x, x * x]", *lines, "    return sum(r)"]) + "\n"


def stars(count: int) -> str:
    """Displays with stars, which were joined one after the other: every item was copied for each that follows."""
    lists = ", ".join(["*a, x"] * count)
    dicts = ", ".join(f"**{{'k{i}': x * {i}.0}}, 'm{i}': x" for i in range(count // 2))
    spliced = ", ".join(["*[x, *(x, 0.1)]"] * count)
    made = f"    a = [x * x, 0.5]\n    d = {{{dicts}}}"
    return f"def f(x):\n{made}\n    return sum([{lists}]) + d['k3'] * sum([{spliced}])\n"


def element_loops(count: int) -> str:
    """Loops inside of one another, each of which writes an element and reads another."""
    lines = [
        f"{'    ' * (i + 1)}for i{i} in range(1):\n{'    ' * (i + 2)}a[i{i}] = a[i{i}] * x + np.sin(a[1])"
        for i in range(count)
    ]
    return "\n".join(["def f(x):", "    a = np.ones(3) * x", *lines, "    return a.sum()"]) + "\n"


def keys(count: int) -> str:
    row = ", ".join(f"{i}: x * {i}.0" for i in range(count))
    return f"def f(x):\n    row = {{{row}}}\n    return row[3] * row[4] * x\n"


def parameters(count: int) -> str:
    names = ", ".join(f"a{i}=1.5" for i in range(count))
    return f"def f(x, {names}):\n    return {' + '.join(f'a{i} * x' for i in range(count))}\n"


def formats(count: int) -> str:
    lines = [f"    row.append(f'{{x:.3f}} {i} {{x!r:>10}}')" for i in range(count)]
    return "\n".join(["def f(x):", "    row = []", *lines, "    return x * len(row)"]) + "\n"


def inner(count: int) -> str:
    lines = [f"    def g{i}(v):\n        return v * x + {i}.0\n    y = y + g{i}(y)" for i in range(count)]
    return "\n".join(["def f(x):", "    y = 0.1 * x", *lines, "    return y"]) + "\n"


def writes(count: int) -> str:
    lines = [f"    a[{i}] = x * {i}.0" for i in range(count)]
    return "\n".join(["def f(x):", f"    a = np.zeros({count})", *lines, "    return np.sum(a * a)"]) + "\n"


def arrays(count: int) -> str:
    lines = ["    a = 0.5 * a + np.sin(a) * x"] * count
    return "\n".join(["def f(x):", "    a = np.ones(2)", *lines, "    return np.sum(a)"]) + "\n"


def rotations(count: int) -> str:
    """The length of each array is a sum of those of slices of the one before it."""
    lines = ["    a = 0.9 * np.concatenate((a[1:], a[:1], a[9:]))"] * count
    return "\n".join(["def f(x):", "    a = x * np.arange(1.0, 6.0)", *lines, "    return np.sum(a * a)"]) + "\n"


def counted_loops(count: int) -> str:
    """Loops whose first trip nothing leaves: their counters are known to be 0 then."""
    loop = "    i = 0\n    while i < 2:\n        a = a * x * 0.9 + 0.1\n        i += 1"
    return "\n".join(["def f(x):", "    a = x", *[loop] * count, "    return a"]) + "\n"


TEXTS = {
    "statements": statements(3_000),
    "names": names(1_000),
    "terms": terms(400),
    "brackets": f"def f(x):\n    return {'np.sin(' * 90}x{')' * 90}\n",
    "calls": calls(200),
    "loops": loops(18),
    "comprehensions": comprehensions(18),
    "branches": branches(200),
    "leaving": leaving(80),
    "cases": cases(120),
    "conditionals": conditionals(120),
    "items": items(200),
    "stars": stars(30),
    "keys": keys(150),
    "parameters": parameters(200),
    "formats": formats(100),
    "inner": inner(40),
    "writes": writes(200),
    "arrays": arrays(60),
    "rotations": rotations(40),
    "sum": f"def f(x):\n    return x * ({' + '.join(['x'] * 1_500)})\n",
    "a long name": f"def f(x):\n    {'v' * 10_000} = x * x\n    return {'v' * 10_000} * x\n",
    "letters read as others": "def f(x):\n    ﬁ = x * x\n    return fi * ﬁ\n",
}
LONGER = {
    "leaving": leaving(300),
    "counted loops": counted_loops(250),
    "many terms": terms(900),
    "branches": branches(1_000),
    "cases": cases(600),
    "conditionals": conditionals(500),
    "terms": terms(1_500),
    "items": items(3_000),
    "chain": chain(300),
    "stars": stars(150),
    "keys": keys(1_000),
    "parameters": parameters(500),
    "formats": formats(300),
    "inner": inner(100),
    "writes": writes(1_000),
    "arrays": arrays(1_000),
}


def compared(f: Callable[..., Any]) -> None:
    h = 1e-5
    slope = (f(0.7 + h) - f(0.7 - h)) / (2.0 * h)
    assert tx.grad(f)(0.7) == pytest.approx(slope, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.share(5)
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_long_text(name: str) -> None:
    compared(defined(name, TEXTS[name]))


@pytest.mark.thorough
@pytest.mark.parametrize("name", LONGER)
def test_longer_text(name: str) -> None:
    compared(defined(f"longer {name}", LONGER[name]))


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["branches", "cases", "conditionals", "loops", "rotations"])
def test_deep_text_in_forward_mode_and_at_second_order(name: str) -> None:
    f = defined(name, TEXTS[name])
    h = 1e-4
    slope, bend = (f(0.7 + h) - f(0.7 - h)) / (2.0 * h), (f(0.7 + h) - 2.0 * f(0.7) + f(0.7 - h)) / h**2
    assert tx.jvp(f, (0.7,), (1.0,), fallback="error")[1] == pytest.approx(slope, rel=1e-6)
    assert tx.grad(tx.grad(f, fallback="error"), fallback="error")(0.7) == pytest.approx(bend, rel=1e-4, abs=1e-4)


def test_what_python_cannot_read_is_refused() -> None:
    f = defined("21 loops", comprehensions(21))
    if sys.version_info >= (3, 14):  # reads as many loops, one in another, as comprehensions
        assert tx.grad(f, fallback="error")(0.7) == pytest.approx(1.4)
        return
    with pytest.raises(tx.UnsupportedSyntax, match="nested so deeply") as caught:
        tx.grad(f, fallback="error")(0.7)
    assert "21 loops" in str(caught.value)
    with pytest.warns(tx.FallbackWarning):
        assert tx.grad(f)(0.7) == pytest.approx(1.4)


def test_loops_one_after_the_other_settle_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each loop once took a round of the analysis of its own, and 200 of them were refused."""
    rounds: list[Any] = []
    plain = Inference._walk_all

    def counted(self: Any, *args: Any) -> None:
        rounds.append(self)
        plain(self, *args)

    monkeypatch.setattr(Inference, "_walk_all", counted)
    compared(defined("counted loops", counted_loops(12)))
    assert len(rounds) < 12


@pytest.mark.parametrize("text, few, factor", [(loops, 9, 8), (stars, 10, 3), (items, 80, 3), (chain, 20, 3)])
def test_the_work_grows_slowly(
    monkeypatch: pytest.MonkeyPatch, text: Callable[[int], str], few: int, factor: int
) -> None:
    """The walks along control flow, which once took twice as long for each further loop, what they look at where ways
    meet, the joins of kinds, and the names that are tried for temporaries."""
    counts: list[dict[str, int]] = []
    step, join, merge, met = Flow._statement, kinds.join, Facts.merge, control_flow.joined

    def stepped(self: Any, s: Any) -> Any:
        counts[-1]["steps"] += 1
        return step(self, s)

    def joined(a: Any, b: Any) -> Any:
        counts[-1]["joins"] += 1
        return join(a, b)

    def merged(self: Any, a: Any, b: Any, site: Any, names: Any) -> Any:
        counts[-1]["looks"] += len(names)
        return merge(self, a, b, site, names)

    def meeting(names: Any, ends: Any) -> Any:
        counts[-1]["looks"] += len(names)
        return met(names, ends)

    def tried(self: Any, name: str) -> bool:
        counts[-1]["tries"] += 1
        return name in self._names

    monkeypatch.setattr(Flow, "_statement", stepped)
    monkeypatch.setattr(kinds, "join", joined)
    monkeypatch.setattr(Facts, "merge", merged)
    monkeypatch.setattr(control_flow, "joined", meeting)
    monkeypatch.setattr(Scope, "__contains__", tried)
    for count in (few, 2 * few):
        counts.append({"steps": 0, "joins": 0, "looks": 0, "tries": 0})
        tx.grad(defined(f"{text.__name__} {count}", text(count)))(0.7)
    assert all(counts[1][work] <= factor * max(1, counts[0][work]) for work in counts[0]), counts


@pytest.mark.parametrize(
    "text, few, owner, name, factor",
    [
        (names, 40, Signs, "operation", 2.2),
        (keys, 60, _Bounds, "block", 2.2),
        (element_loops, 6, Elements, "may_meet", 10),
    ],
)
def test_the_calls_inside_grow_slowly(
    monkeypatch: pytest.MonkeyPatch, text: Callable[[int], str], few: int, owner: type, name: str, factor: float
) -> None:
    """Signs were looked for through all the products before, tuples that are held were gone through at each binding,
    and systems of inequalities were solved with the bounds of all the loops around in one."""
    counts, plain = [0], getattr(owner, name)

    def counted(*args: Any) -> Any:
        sys.setprofile(lambda frame, event, arg: counts.__setitem__(-1, counts[-1] + ("call" in event)))
        try:
            return plain(*args)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(owner, name, counted)
    for count in (few, 2 * few):
        counts.append(0)
        tx.grad(defined(f"calls of {text.__name__} {count}", text(count)))(0.7)
    assert 0 < counts[2] <= factor * counts[1], counts


def test_functions_side_by_side_are_looked_through_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of the function around them were looked for once for each of them."""
    counts: list[int] = []
    inside = resolve.children

    def counted(node: Any) -> Any:
        counts[-1] += 1
        return inside(node)

    monkeypatch.setattr(resolve, "children", counted)
    for count in (40, 80):
        counts.append(0)
        compared(defined(f"{count} functions side by side", inner(count)))
    assert counts[1] < 2.2 * counts[0]


def products(count: int) -> str:
    """Each product shows that a length of its cotangent is one that is known."""
    return "\n".join(["def f(x):", "    v = x", *["    v = np.tanh(x @ v)"] * count, "    return np.sum(v)"]) + "\n"


def dots(count: int) -> str:
    """Each product shows that a length that is new equals one that all before it have come to be written with."""
    return "\n".join(["def f(x):", "    v = x", *["    v = x * np.dot(v, x)"] * count, "    return np.sum(v)"]) + "\n"


@pytest.mark.parametrize(
    ("text", "value", "take"), [(products, 0.1 * np.eye(2), tx.vjp), (dots, np.array([0.5, 0.6]), tx.linearize)]
)
def test_an_equation_of_lengths_rewrites_the_shapes_that_mention_them(
    monkeypatch: pytest.MonkeyPatch, text: Callable[[int], str], value: Any, take: Callable[..., Any]
) -> None:
    """Each once rewrote every shape that was known, and each shape was written anew by every equation."""
    counts: list[int] = []
    replaced, add = shape_arithmetic.replaced, Mentions._add

    def replacing(*args: Any) -> Any:
        counts[-1] += 1
        return replaced(*args)

    def adding(*args: Any) -> None:
        counts[-1] += 1
        add(*args)

    for module in (shape_arithmetic, shapes):
        monkeypatch.setattr(module, "replaced", replacing)
    monkeypatch.setattr(Mentions, "_add", adding)
    for count in (20, 40):
        counts.append(0)
        take(defined(f"{count} {text.__name__}", text(count)), value)
    assert 0 < counts[1] < 2.5 * counts[0], counts


def test_a_sum_of_many_terms() -> None:
    made: dict[str, Any] = {f"v{i}": Op(operator.add, (Var(f"v{i - 1}"), Lit(1.0))) for i in range(5_000)}
    assert not in_place_sums._adds_to(made["v4999"], "s", made)
    made["v0"] = Op(operator.add, (Var("s"), Lit(1.0)))
    assert in_place_sums._adds_to(made["v4999"], "s", made)
    made["v0"] = Op(operator.add, (Var("v4999"), Lit(1.0)))  # in a circle
    assert not in_place_sums._adds_to(made["v4999"], "s", made)


def many_trips(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = y + 1e-4 * np.sin(y)
    return y


def test_many_trips() -> None:
    h = 1e-5
    slope = (many_trips(1.0 + h, 20_000) - many_trips(1.0 - h, 20_000)) / (2.0 * h)
    assert tx.grad(many_trips)(1.0, 20_000) == pytest.approx(slope, rel=1e-6)


def descended(x: float, n: int) -> float:
    if n == 0:
        return x
    return 0.999 * descended(x, n - 1)


def test_recursion_that_is_too_deep_is_the_programs_own_error() -> None:
    gradient = tx.grad(descended)
    assert gradient(2.0, 3) == pytest.approx(0.999**3)
    with pytest.raises(RecursionError):
        descended(2.0, 1_000_000)
    with pytest.raises(RecursionError):
        gradient(2.0, 1_000_000)
    assert gradient(2.0, 300) == pytest.approx(0.999**300)


def test_signs_are_looked_for_far_back_without_recursion() -> None:
    """Products of products, each with a sign deep inside, at a limit that a step a product would exceed."""
    text = numbers(200)
    tx.grad(defined("few numbers", numbers(20)))(0.3)  # modules are loaded before the limit is lowered
    f, before = defined("200 numbers", text), sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 175)
    try:
        found = tx.grad(f, fallback="error")(0.3)
    finally:
        sys.setrecursionlimit(before)
    assert found == pytest.approx((f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6, rel=1e-6)


def mutual(count: int) -> str:
    """Functions that call one another in a circle, so that none of them comes before all that it calls."""
    lines = [f"def g{i}(x, k):\n    return x if k == 0 else 0.9 * g{(i + 1) % count}(x, k - 1)\n" for i in range(count)]
    return "\n".join([*lines, "def f(x):\n    return g0(x * x, 5)\n"])


@pytest.mark.thorough
def test_functions_in_a_wide_circle() -> None:
    """The shapes of what they give back were looked for around the whole circle, by as much recursion."""
    assert tx.grad(defined("mutual", mutual(160)), fallback="error")(0.7) == pytest.approx(1.4 * 0.9**5)


def test_a_pullback_is_cut_in_a_few_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which names have a value at the cut is found once, not once for each name of the state."""
    steps, step = [0], upward_exposed._Walk._statement

    def stepped(self: Any, s: Any, known: Any) -> Any:
        steps[0] += 1
        return step(self, s, known)

    monkeypatch.setattr(upward_exposed._Walk, "_statement", stepped)
    tx.vjp(defined("60 numbers", numbers(60)), 0.3, fallback="error")
    assert 0 < steps[0] < 60 * 30
