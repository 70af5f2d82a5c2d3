"""`cmath`: the derivatives along both axes of the plane, and what Python raises where NumPy gives infinity."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import pytest

import tangentx as tx
from tangentx.testing import check_grads

ELEMENTARY = (
    *(cmath.exp, cmath.log, cmath.log10, cmath.sqrt, cmath.sin, cmath.cos, cmath.tan, cmath.sinh, cmath.cosh),
    *(cmath.tanh, cmath.asin, cmath.acos, cmath.atan, cmath.asinh, cmath.acosh, cmath.atanh),
)


def at(function: Callable[[Any], Any]) -> Any:
    def f(x: Any, y: Any) -> Any:
        z = function(complex(x, y))
        return 1.3 * z.real + 0.7 * z.imag

    return f


@pytest.mark.share(4)
@pytest.mark.parametrize("function", ELEMENTARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("point", [(0.3, 0.4), (-0.6, -0.2), (-1.7, 0.5)])
def test_a_function_of_a_complex_number(function: Any, point: tuple[float, float]) -> None:
    f = at(function)
    check_grads(f, point, wrt=(0, 1), order=2)
    assert tx.value_and_grad(f, fallback="error")(*point)[0] == pytest.approx(f(*point), rel=1e-14)


def test_a_real_number_and_a_base() -> None:
    def f(x: Any) -> Any:
        return cmath.sqrt(x).imag + cmath.log(x, 2.0).real + cmath.log(3.0, complex(x, 1.0)).imag

    check_grads(f, (-0.7,))
    assert type(tx.value_and_grad(f, fallback="error")(-0.7)[0]) is float


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_python_raises() -> None:
    for f, x, raised in (
        (lambda x: cmath.log(complex(x, 0.0)).real, 0.0, ValueError),
        (lambda x: cmath.atanh(x).real, 1.0, ValueError),
        (lambda x: cmath.exp(x).real, 1000.0, OverflowError),
    ):
        with pytest.raises(raised):
            f(x)
        with pytest.raises(raised):
            tx.grad(f, fallback="error")(x)
