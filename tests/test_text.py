"""How long generated text is beside what a careful person would have written, and which names it has."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests import handwritten as by_hand

RNG = np.random.default_rng(5)
WEIGHTS = tuple(RNG.normal(size=shape) for shape in ((4, 5), (5,), (5, 3), (3,), (6, 4)))
PRICES = tuple(RNG.uniform(0.5, 1.0, size=4) for _ in range(3))
# The goal is 1.3 for each; a bound above it is what is reached.
CASES: dict[str, tuple[Callable[..., Any], tuple[Callable[..., Any], ...], Any, tuple[Any, ...], float]] = {
    "glide": (by_hand.glide, (by_hand.glide_grad,), "v", (20.0, 5, 0.01), 1.3),
    "smooth": (by_hand.smooth, (by_hand.smooth_grad,), ("u", "c"), (np.array([1.0, 2.0, 4.0, 3.0]), 0.1, 3), 1.3),
    "settle": (
        by_hand.settle,
        (by_hand.settle_grad, by_hand.relax_forward, by_hand.relax_backward),
        "b",
        (np.array([0.3, 0.7, 0.2]), 0.5, 1e-8),
        1.3,
    ),
    "formula": (by_hand.formula, (by_hand.formula_grad,), ("x", "y"), (1.0, 2.0), 1.3),
    "network": (
        by_hand.network,
        (by_hand.network_grad,),
        ("w1", "b1", "w2", "b2"),
        (*WEIGHTS, np.array([0, 1, 2, 0, 1, 2])),
        2.1,
    ),
    "options": (
        by_hand.options,
        (by_hand.options_grad,),
        ("spot", "rate", "sigma"),
        (PRICES[0], PRICES[1], 0.03, 0.2, PRICES[2]),
        2.4,
    ),
}
# A name of ours says what it is in words: those of the user's names, of functions and of arithmetic.
OURS = re.compile(r"bar|dot|tape|saved|exits|entry|copy|ans|k|\d+")
SAYING = frozenset(
    "plus minus times over at to squared cubed half one two three sum max min exp log sqrt abs sign not above below"
    " equals last from part total product ratio difference power value length item items result record".split()
)


def size(text: str) -> int:
    """The statements of a text; functions, imports and docstrings are not counted."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    plain = [s for s in found if not isinstance(s, ast.FunctionDef | ast.Import | ast.ImportFrom)]
    return sum(not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in plain)


def generated(name: str) -> str:
    f, _, wrt, args, _ = CASES[name]
    source: str = tx.grad(f, wrt=wrt).source_for(*args)
    return source


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_as_short_as_one_written_by_hand(name: str) -> None:
    _, written, _, _, bound = CASES[name]
    mine = sum(size(inspect.getsource(f)) for f in written)
    assert size(generated(name)) <= bound * mine, f"{size(generated(name))} statements, by hand {mine}"


@pytest.mark.parametrize("name", CASES)
def test_names_are_the_users_or_say_what_they_are(name: str) -> None:
    text = generated(name)
    users = {n.id for n in ast.walk(ast.parse(inspect.getsource(by_hand))) if isinstance(n, ast.Name)}
    users |= {n.arg for n in ast.walk(ast.parse(inspect.getsource(by_hand))) if isinstance(n, ast.arg)}
    tree = ast.parse(text)
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    said = users | SAYING | set(dir(np))
    strange = {n: [w for w in n.split("_") if w and w not in said and not OURS.fullmatch(w)] for n in bound - users}
    assert not any(strange.values()), strange
    assert not {n for n in bound - users if re.fullmatch(r"t(_\d+)?", n)}


@pytest.mark.parametrize("name", CASES)
def test_what_was_written_by_hand_is_right(name: str) -> None:
    f, written, wrt, args, _ = CASES[name]
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    for one, other in zip(np.atleast_1d(wrt), _several(written[0](*copies), wrt), strict=True):
        np.testing.assert_allclose(tx.grad(f, wrt=str(one))(*args), other, rtol=1e-10)


def _several(found: Any, wrt: Any) -> tuple[Any, ...]:
    return found if isinstance(wrt, tuple) else (found,)
