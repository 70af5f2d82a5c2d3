"""No rule warns, or raises under ``np.errstate(all="raise")``, where the operation itself does not: at kinks, too."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from test_forward import CASES, Program

import tangentx as tx
from tangentx.templates.examples import Example

WHOLE = {}
for case in CASES:  # the first group of each example is all of its parts
    WHOLE.setdefault(case.id.rpartition("-")[0], case)


@contextmanager
def strict() -> Iterator[None]:
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def _with(value: float) -> Callable[[Any], Any]:
    """Replaces all numbers and elements."""

    def change(x: Any) -> Any:
        if isinstance(x, list | tuple):
            return type(x)(change(item) for item in x)
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            return np.full_like(x, value)
        return type(x)(value) if isinstance(x, float) else x

    return change


VALUES: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda x: x,
    "zeros": _with(0.0),
    "equal": _with(0.5),
}


def program(name: str, values: str) -> tuple[Any, list[Any]]:
    """A weighed sum of what the example gives, and its arguments."""
    example, group = WHOLE[name].values
    args = tuple(VALUES[values](x) if i in example.wrt else x for i, x in enumerate(example.args))
    with np.errstate(all="ignore"):
        made = Program(Example(example.fn, args, example.kwargs, example.wrt), group, bend=False)
    return made.space["s"], list(made.given.values())


def on_tensors(f: Any, xs: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            try:
                f(*(tx.tensor(x, requires_grad=True) for x in xs))
            except (TypeError, AttributeError, ValueError):
                return  # a method of arrays, called as a function, and what stores into arrays know no Tensor
    y = f(*(tx.tensor(x, requires_grad=True) for x in xs))
    if isinstance(y, tx.Tensor):
        y.backward()


def cases() -> Iterator[Any]:
    """Each second example with one sort of values; all with each with ``--thorough``."""
    for i, name in enumerate(WHOLE):
        for k, values in enumerate(VALUES):
            yield pytest.param(name, values, marks=() if (i + k) % (2 * len(VALUES)) == 0 else pytest.mark.thorough)


@pytest.mark.share(9)
@pytest.mark.parametrize(("name", "values"), list(cases()))
def test_the_derivative_is_as_quiet_as_the_program(name: str, values: str) -> None:
    try:
        f, xs = program(name, values)
        with strict():
            f(*xs)
    except (ArithmeticError, ValueError, IndexError, TypeError, RuntimeWarning):
        pytest.skip("the program itself raises or warns")
    dots = [np.full_like(x, 0.7) if isinstance(x, np.ndarray) else type(x)(0.7) for x in xs]
    found: list[Any] = []
    for run in (
        lambda: found.extend(tx.grad(f, tuple(range(len(xs))), fallback="error")(*xs)),
        lambda: on_tensors(f, xs),
        lambda: tx.jvp(f, xs, dots, fallback="error"),
    ):
        try:
            with strict():
                run()
        except (np.linalg.LinAlgError, tx.TangentxError):
            pass  # there is no derivative, and it says so
        except FloatingPointError:
            with np.errstate(all="ignore"):
                found.extend(tx.grad(f, tuple(range(len(xs))), fallback="error")(*xs))
            if all(np.all(np.isfinite(x)) for x in found if x is not None):
                raise
        if not all(np.all(np.isfinite(x)) for x in found if x is not None):
            break  # what is infinite has no sum
