"""check_grads and gradcheck, on differentiators written by hand: right ones pass, each kind of wrong one is named."""

import cmath
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from tangentx import stop_gradient
from tangentx.common import pytrees
from tangentx.errors import NotDifferentiable
from tangentx.testing import check_grads, gradcheck


class ByHand:
    """A differentiator that knows the gradients and Hessian products it was given; each may be wrong on purpose.

    `gradients` maps a function to its gradient by all of `wrt`, `products` maps the gradient to its derivative along
    a tangent: ``product(args, tangents)``.
    """

    def __init__(self, f, gradient, product=None, tangent=None):
        self.f = f
        self.gradient = gradient
        self.product = product
        self.tangent = tangent

    def grad(self, f, wrt=0):
        assert f is self.f
        return self.gradient

    def jvp(self, f, primals, tangents):
        if f is self.gradient:
            return f(*primals), self.product(primals, tangents)
        if self.tangent is not None:
            return f(*primals), self.tangent(primals, tangents)
        gradient = self.gradient(*primals)
        moving = tuple(t for t in tangents if t is not None)
        parts = gradient if type(gradient) is tuple else (gradient,)
        pairs = pytrees.leaves("x", moving, parts)
        return f(*primals), sum(np.sum(np.real(t * g)) for _, t, g in pairs if t is not None)

    def vjp(self, f, *primals):
        assert f is self.gradient

        def pullback(seed):
            product = self.product(primals, (seed,) + (None,) * (len(primals) - 1))
            return (product,) + (None,) * (len(primals) - 1) if len(primals) > 1 else product

        return f(*primals), pullback


def cubes(x, scale):
    return scale * np.sum(x**3)


def cubes_gradient(x, scale):
    return scale * 3.0 * x**2


def cubes_product(primals, tangents):
    x, scale = primals
    return scale * 6.0 * x * tangents[0]


POINT = (np.array([[0.5, -1.0], [2.0, 0.25]]), 2)


def test_right_derivatives_pass_at_both_orders():
    check_grads(cubes, POINT, using=ByHand(cubes, cubes_gradient, cubes_product))


def test_wrong_element_is_named_with_index_and_both_numbers():
    def wrong(x, scale):
        out = cubes_gradient(x, scale)
        out[1, 0] += 0.5
        return out

    with pytest.raises(AssertionError) as caught:
        check_grads(cubes, POINT, order=1, modes=("reverse",), using=ByHand(cubes, wrong))
    text = str(caught.value)
    assert text.startswith("reverse, order 1: argument x, index (1, 0): got 24.5, differences give 24.0")


def test_wrong_tangent_is_named_as_forward():
    using = ByHand(cubes, cubes_gradient, tangent=lambda primals, tangents: 2.0)
    with pytest.raises(AssertionError, match=r"^forward, order 1: argument x, index \(0, 0\): got 2.0, .* 1\.5"):
        check_grads(cubes, POINT, order=1, using=using)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_wrong_second_order_is_named(mode):
    def wrong(primals, tangents):
        out = cubes_product(primals, tangents)
        out[0, 1] *= 1.001
        return out

    check_grads(cubes, POINT, order=1, modes=(mode,), using=ByHand(cubes, cubes_gradient, wrong))
    with pytest.raises(AssertionError, match=rf"^{mode} over reverse, order 2: argument x, index \(0, 1\): got "):
        check_grads(cubes, POINT, modes=(mode,), using=ByHand(cubes, cubes_gradient, wrong))


def test_complex_step_sees_what_differences_cannot():
    """An error of 3e-8 hides in the tolerance of differences, and shows against the complex step."""

    def slightly_wrong(x):
        return np.cos(x) * (1.0 + 3e-8)

    def analytic(x):
        return np.sin(x) if isinstance(x, complex) else math.sin(x)

    with pytest.raises(AssertionError, match="argument x"):
        check_grads(analytic, (0.3,), order=1, using=ByHand(analytic, slightly_wrong))
    # math.sin refuses complex numbers, so that differences alone decide.
    check_grads(lambda x: math.sin(x), (0.3,), order=1, using=_for_any(slightly_wrong))


def _for_any(gradient):
    using = ByHand(None, gradient)
    using.grad = lambda f, wrt=0: gradient
    return using


def test_complex_step_that_disagrees_is_ignored():
    def f(x):
        return abs(x) * x  # analytic only where x is real: the complex step gives |x|, half of the derivative

    check_grads(f, (-1.5,), order=1, using=ByHand(f, lambda x: 2.0 * abs(x)))


def test_complex_argument_follows_the_convention():
    def f(z):
        return (z * z).real + z.imag

    # df/dx - i df/dy of Re(z^2) + y is 2z - i.
    check_grads(f, (0.5 + 2.0j,), order=1, using=ByHand(f, lambda z: 2.0 * z - 1.0j))
    with pytest.raises(AssertionError, match="imaginary"):
        check_grads(f, (0.5 + 2.0j,), order=1, using=ByHand(f, lambda z: (2.0 * z - 1.0j).conjugate()))
    assert cmath.isclose(f(1.0 + 1.0j), 1.0)


class Pair(NamedTuple):
    weight: float
    bias: np.ndarray


@dataclass
class Model:
    name: str
    parts: list


def energy(model, table):
    pair = model.parts[0]
    return pair.weight**2 * table["k"] + np.sum(pair.bias * model.parts[1]["deep"][0])


def energy_gradient(model, table):
    pair, rest = model.parts
    deep = rest["deep"][0]
    first = Pair(2.0 * pair.weight * table["k"], np.full(2, deep))
    second = {"deep": (float(np.sum(pair.bias)),), "count": None}
    return Model(None, [first, second])


def nested_point():
    return Model("m", [Pair(1.5, np.array([1.0, 2.0])), {"deep": (0.5,), "count": 3}]), {"k": 2.0}


def test_structures_are_walked_and_their_paths_named():
    check_grads(energy, nested_point(), order=1, using=ByHand(energy, energy_gradient))

    def wrong(model, table):
        out = energy_gradient(model, table)
        out.parts[1]["deep"] = (9.0,)
        return out

    with pytest.raises(AssertionError, match=r"argument model\.parts\[1\]\['deep'\]\[0\], index \(\): got 9\.0"):
        check_grads(energy, nested_point(), order=1, modes=("reverse",), using=ByHand(energy, wrong))


def test_gradient_of_another_structure_dtype_or_shape_fails():
    def check(gradient, match):
        with pytest.raises(AssertionError, match=match):
            check_grads(cubes, POINT, order=1, using=ByHand(cubes, gradient))

    check(lambda x, s: [x], r"argument x has shape \(2, 2\), float64; its gradient is shape \(1, 2, 2\)")
    check(lambda x, s: cubes_gradient(x, s).astype(np.float32), "its gradient is shape .* float32")
    check(lambda x, s: None, "its gradient is None")

    def with_count(model, table):
        out = energy_gradient(model, table)
        out.parts[1]["count"] = 0.0
        return out

    with pytest.raises(AssertionError, match=r"\['count'\] has no derivative"):
        check_grads(energy, nested_point(), order=1, using=ByHand(energy, with_count))
    with pytest.raises(AssertionError, match=r"model\.parts: a tuple does not have the structure of a list"):
        check_grads(energy, nested_point(), order=1, using=ByHand(energy, lambda m, t: Model(None, ())))


def test_float32_passes_within_its_means_and_a_wrong_sign_fails():
    x = np.array([0.5, -1.25, 3.0], np.float32)
    check_grads(cubes, (x, 2), using=ByHand(cubes, lambda x, s: np.float32(3 * s) * x**2, cubes_product_single))
    wrong = np.array([1.0, -1.0, 1.0], np.float32)
    with pytest.raises(AssertionError, match=r"index \(1,\)"):
        check_grads(cubes, (x, 2), using=ByHand(cubes, lambda x, s: wrong * np.float32(3 * s) * x**2))


def cubes_product_single(primals, tangents):
    x, scale = primals
    return np.float32(6 * scale) * x * tangents[0]


def test_by_name_and_by_several():
    def f(a, b):
        return a * b**2

    using = ByHand(f, lambda a, b: 2.0 * a * b)
    using.jvp = lambda f, primals, tangents: (f(*primals), 2.0 * primals[0] * primals[1] * tangents[1])
    check_grads(f, (3.0, 4.0), wrt="b", order=1, using=using)
    check_grads(f, (3.0, 4.0), wrt=("a", 1), order=1, using=ByHand(f, lambda a, b: (b**2, 2.0 * a * b)))
    with pytest.raises(AssertionError, match=r"argument b, index \(\): got 0\.0"):
        check_grads(f, (3.0, 4.0), wrt=("a", 1), order=1, using=ByHand(f, lambda a, b: (b**2, 0.0)))


def test_a_function_that_writes_into_its_arguments_is_given_copies():
    def f(x):
        x *= 2.0
        return np.sum(x)

    x = np.array([1.0, 2.0])
    check_grads(f, (x,), order=1, using=ByHand(f, lambda x: np.full(2, 2.0)))
    assert x.tolist() == [1.0, 2.0]


def test_an_error_in_one_of_many_elements_is_found():
    x = np.linspace(0.1, 1.0, 300)

    def wrong(x, scale):
        out = cubes_gradient(x, scale)
        out[int(np.argmax(x))] = 0.0
        return out

    with pytest.raises(AssertionError):
        check_grads(cubes, (x, 1), order=1, modes=("reverse",), using=ByHand(cubes, wrong))


def test_what_stop_gradient_gives_is_a_constant_by_differences_too():
    x = np.array([0.7, 1.3, 2.1])
    check_grads(lambda x: np.sum(stop_gradient(np.sin(x)) * x**3) + stop_gradient(x[0]) * x[1] ** 2, (x,))
    f = lambda x: np.sum(stop_gradient(x) * x)
    with pytest.raises(AssertionError, match="differences give"):
        check_grads(f, (x,), using=ByHand(f, lambda x: 2.0 * x), order=1)


def test_what_cannot_be_checked_is_refused():
    using = ByHand(cubes, cubes_gradient)
    with pytest.raises(NotDifferentiable, match="real scalar"):
        check_grads(lambda x: x, (np.ones(2),), using=using)
    with pytest.raises(NotDifferentiable, match="nothing to check"):
        check_grads(cubes, (np.ones(2, int), 1), using=using)
    for wrt in ("y", 2, -1):
        with pytest.raises(ValueError, match="the arguments given are x, scale"):
            check_grads(cubes, POINT, wrt=wrt, using=using)
    with pytest.raises(ValueError, match="order"):
        check_grads(cubes, POINT, order=3, using=using)
    with pytest.raises(ValueError, match="modes"):
        check_grads(cubes, POINT, modes=("sideways",), using=using)


def test_gradcheck_returns_true_or_raises():
    def f(x):
        return np.sum(np.exp(x))

    using = ByHand(f, lambda x: (np.exp(x),))
    assert gradcheck(f, np.array([0.1, 0.2]), using=using) is True
    with pytest.raises(AssertionError, match=r"argument x, index \(0,\)"):
        gradcheck(f, np.array([0.1, 0.2]), using=ByHand(f, lambda x: (np.sin(x),)))
    with pytest.warns(UserWarning, match="float32"):
        assert gradcheck(f, np.array([0.1, 0.2], np.float32), using=using)
