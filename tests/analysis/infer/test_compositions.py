"""What the body of a composition refuses is refused where the user calls it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, ndimage

import tangentx as tx
from tests.frontend.made import defined


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        ("np.pad(x, 1, mode='empty')", "in this mode", "such as 'constant'"),
        ("np.cov(np.stack([x]))", "a table of one row", "the row itself"),
        ("np.linalg.qr(np.outer(x, x), 'raw')[1]", "in this mode", "'reduced'"),
        ("x.ravel('K')", "depends on the layout", "order='C'"),
    ],
)
@pytest.mark.parametrize("derivative", [tx.grad, lambda f, **how: lambda x: tx.jvp(f, (x,), (x,), **how)])
def test_refusals_stand_at_the_call(call: str, message: str, hint: str, derivative: object) -> None:
    function = defined(f"import numpy as np\ndef f(x):\n    x = 2.0 * x\n    return np.sum({call})\n")
    with pytest.raises(tx.NotDifferentiable, match=message) as caught:
        derivative(function, fallback="error")(np.ones(3))  # type: ignore[operator]
    span = caught.value.span
    assert span is not None and span.line == 4 and "np.sum" in span.text
    assert hint in caught.value.hint


def test_what_is_refused_for_some_values_alone_is_compiled() -> None:
    function = defined("import numpy as np\ndef f(x, p):\n    return np.linalg.norm(x, p)\n")
    x = np.array([1.0, 2.0])
    assert tx.grad(function, fallback="error")(x, 3) == pytest.approx(x**2 / np.sum(x**3) ** (2 / 3))


def without_a_whole_basis(x):
    return np.sum(linalg.orthogonal_procrustes(np.outer(x, x), np.outer(x, x))[0])


def with_an_origin(x):
    return np.sum(ndimage.convolve(x, np.array([1.0, 2.0]), origin=-1))


def of_too_few_equations(x):
    return np.sum(linalg.lstsq(np.outer(x, x), x)[0])


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (without_a_whole_basis, "orthogonal_procrustes"),
        (with_an_origin, "convolve"),
        (of_too_few_equations, "lstsq"),
    ],
)
@pytest.mark.parametrize("check", [False, True])
def test_a_refusal_inside_names_the_line_and_the_function_that_was_called(f, name, check) -> None:
    with pytest.raises(tx.NotDifferentiable, match=name) as caught:
        tx.grad(f, check=check)(np.array([0.9, 0.31, 0.58]))
    assert caught.value.span.file == __file__
    assert name in caught.value.span.text
