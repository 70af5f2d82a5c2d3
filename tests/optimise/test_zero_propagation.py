"""Known zeros leave sums, and what the user computes is left as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import templates
from tangentx.arrays import real_zero
from tangentx.ir.nodes import Assign, Lit, Var
from tangentx.optimise import simplify, zero_propagation
from tangentx.optimise.rewriting import ADD, Rewriter
from tangentx.templates import Template
from tangentx.templates.examples import draw
from tests.optimise.support import WAYS, differences, every, gradient, operations, unit_of


def sums(x):
    y = 0.0
    z = y + x
    return z


def kept_in_a_loop(x):
    y = 0.0
    for _ in range(3):
        y = y + x
    return y


def broadcast_zero(x, y):
    z = np.zeros_like(y)
    return z + x


def same_shape(x):
    z = np.zeros_like(x)
    w = x * 2.0
    return z + w


def written(x):
    z = np.zeros_like(x)
    z[0] = 1.0
    return z + x * 2.0


def test_a_sum_with_zero_is_the_other_operand() -> None:
    program, unit = unit_of(sums, 1.0, reverse=True)
    assert zero_propagation.run(program, [unit])
    assert ADD not in operations(unit)
    assert any(isinstance(s, Assign) and s.target == "z" and s.value == Var("x") for s in every(unit))


def test_the_forward_sweep_stays() -> None:
    program, unit = unit_of(sums, 1.0)
    assert not zero_propagation.run(program, [unit])


def test_a_zero_on_the_first_trip_alone_is_none() -> None:
    program, unit = unit_of(kept_in_a_loop, 1.0, reverse=True)
    zero_propagation.run(program, [unit])
    assert ADD in operations(unit)


def test_an_array_of_zeros_may_broadcast() -> None:
    program, unit = unit_of(broadcast_zero, np.ones(1), np.ones(3), reverse=True)
    zero_propagation.run(program, [unit])
    assert ADD in operations(unit)
    program, unit = unit_of(same_shape, np.ones(3), reverse=True)
    zero_propagation.run(program, [unit])
    assert ADD not in operations(unit)


def test_what_is_written_in_place_is_no_zero() -> None:
    program, unit = unit_of(written, np.ones(3), reverse=True)
    zero_propagation.run(program, [unit])
    assert ADD in operations(unit)


def made_of_constants(x):
    a = np.ones((2, 2)) * x
    zero = real_zero(a)
    return np.sum(a + zero)


def test_an_array_of_constant_shape_is_a_zero_of_that_shape() -> None:
    program, unit = unit_of(made_of_constants, 2.0, reverse=True)
    simplify.run(program, [unit])
    assert operations(unit)[-2:] == [ADD, np.sum]
    assert np.zeros in operations(unit)
    zero_propagation.run(program, [unit])
    assert ADD not in operations(unit)


def callee(x, y):
    return x + y


def test_a_parameter_that_every_call_gives_a_zero() -> None:
    program, unit = unit_of(callee, 1.0, 2.0, reverse=True)
    unit.outer = False
    walk = Rewriter(program, unit, [zero_propagation.Zeros])
    walk.rules[0].begin((1,))
    body = walk.whole()
    assert any(isinstance(s, Assign) and s.value in (Var("x"), Lit(0.0)) for s in body)


def like_zero(x: Any) -> Any:
    return np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0


def nonzero(x: Any) -> bool:
    return any(map(nonzero, x)) if isinstance(x, list | tuple) else bool(np.any(x))


def with_zeros(template: Template) -> list[tuple[Any, list[Any]]]:
    """Functions with arguments of which as many are zeros as make the result one, by the pass: no lists of zeros."""
    found = []
    for example in draw(template) if template.kind in ("linear", "bilinear") and template.drawn else ():
        pairs = list(zip(template.params, example.args, strict=False))
        active = [i for i, (p, x) in enumerate(pairs) if p.name in template.cotangents and x is not None]
        if example.kwargs or not active or any(isinstance(example.args[i], list | tuple) for i in active):
            continue
        for zeroed in [active] if template.kind == "linear" else [[i] for i in active]:
            args = [like_zero(x) if i in zeroed else x for i, x in enumerate(example.args)]
            found.append((example.fn, args))
    return found


CASES = [case for template in templates.templates() for case in with_zeros(template)]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_linear_gives_zeros_for_zeros(fn: Any, args: list[Any]) -> None:
    assert not nonzero(fn(*args))


def chosen_by_a_fit(x, y):
    cash = y.copy()
    for _ in range(3):
        hold = np.linalg.solve(np.outer(x, x) + np.eye(len(x)), cash)
        rows = np.flatnonzero(x > hold)
        cash[rows] = x[rows] ** 2
    return np.sum(cash)


def compared_alone(x, y):
    s = 0.0
    for _ in range(3):
        hold = np.sin(x) * y
        s += np.sum(x[np.flatnonzero(x > hold)] ** 2)
    return s


@pytest.mark.parametrize("f", [chosen_by_a_fit, compared_alone], ids=lambda f: f.__name__)
@pytest.mark.parametrize("off", WAYS[:2], ids=str)
def test_what_is_only_compared_has_no_reverse(f: Any, off: Any) -> None:
    args = np.array([0.3, 0.8, 1.2]), np.array([0.5, 0.1, 0.2])
    np.testing.assert_allclose(gradient(f, args, off), differences(f, args), rtol=1e-6)
    if not off:
        text = tx.grad(f, wrt=("x", "y")).source_for(*args).partition("# ---- reverse sweep")[2]
        reverse = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        assert not any(part in line for line in reverse for part in ("solve", "hold", "y_bar = clone"))
