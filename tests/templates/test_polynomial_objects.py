"""Polynomials that are objects: `np.poly1d` and the classes of `numpy.polynomial`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial

import tangentx as tx
from tangentx.testing import check_grads

C, D = np.array([0.7, -0.4, 1.3, 0.9]), np.array([1.2, 0.5, -0.8])
Y, T = np.array([0.3, 1.1, -0.4, 0.8, 1.7, 0.2, -0.6, 0.9]), np.array([0.1, 0.5, 0.9, 1.6, 2.0, 2.7, 3.1, 3.8])
SERIES = (Polynomial, Chebyshev, Legendre, Hermite, HermiteE, Laguerre)
PREFIX = dict(zip(SERIES, ("poly", "cheb", "leg", "herm", "herme", "lag"), strict=True))
OUTSIDE = Polynomial([1.0, 2.0, 3.0])


def of_powers(c: Any, d: Any, x: Any) -> Any:
    p, q = np.poly1d(c), np.poly1d(d)
    r = p * q - 2.0 * p + q * 3.0 - 1.0 + p**2
    return r(x) + r.deriv()(x) + p.integ(k=1.5)(x) + (-q / 3.0)(x) + p[2] * q[0] + p.coeffs[1] + p.c[0] * p.order


def divided(c: Any, x: Any) -> Any:
    quotient, rest = np.poly1d(np.append(c, [1.0, 2.0])) / np.poly1d(c)
    return quotient(x) ** 2 + rest(x) + np.poly1d(c)(np.poly1d([2.0, x]))(1.3)


def given_to_functions(c: Any, x: Any) -> Any:
    p = np.poly1d(c)
    return np.polyval(p, x) + np.polyder(p)(x) + np.polyint(p, 2)(x) + np.sum(np.real(p.roots) ** 2)


def fitted(y: Any, t: Any) -> Any:
    p = np.poly1d(np.polyfit(T, y, 2))
    return p(t) + np.sum(p(np.linspace(0.0, 1.0, 4)) ** 2) + np.poly1d(y[:2], True)(t)


def of_plain(c: Any, d: Any, x: Any) -> Any:
    p, q = Polynomial(c), Polynomial(d)
    r = p * q - 2.0 * p + q * 3.0 - 1.0 + p**2
    return r(x) + r.deriv()(x) + p.integ(k=[1.5])(x) * p.integ(2, lbnd=x)(0.2) + (1 - p / 2)(x) * p.degree() + len(q)


def of_domains(c: Any, d: Any, x: Any) -> Any:
    p, q = Chebyshev(c, domain=[0.0, 2.0]), Chebyshev(d, domain=[0, 2])
    r = p * q + p**2 + q.deriv(2) - p.integ(k=[1.5], lbnd=x)
    return r(x) + p.convert(kind=Polynomial)(0.7) * np.sum(p.linspace(5)[1]) + p.mapparms()[0]


def of_outside(x: Any) -> Any:
    return OUTSIDE(x) ** 2 + OUTSIDE.deriv()(x) + (x * OUTSIDE)(2.0)


def in_a_domain(y: Any, t: Any, x: Any) -> Any:
    p, q = Chebyshev.fit(t, y, 3), Polynomial.fit(T, y, 2, w=np.linspace(1.0, 2.0, 8))
    return p(x) + q(x) ** 2 + np.sum(q.convert().coef ** 2) + p.deriv()(x) + Legendre.fit(T, y, 2, domain=[0, 4])(x)


def roots(c: Any) -> Any:
    return np.sum(np.real(Polynomial(c).roots()) * np.array([1.0, 2.0]))


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (of_powers, (C, D, 0.7)),
    (divided, (D, 0.4)),
    (given_to_functions, (np.array([1.0, -3.0, 1.5]), 0.4)),
    (fitted, (Y, 0.4)),
    (of_plain, (C, D, 0.3)),
    (of_domains, (C, D, 0.3)),
    (of_outside, (0.6,)),
    (in_a_domain, (Y, T, 1.4)),
    (roots, (np.array([1.5, -3.0, 1.0]),)),
]


@pytest.mark.share(2)
@pytest.mark.parametrize(("program", "args"), PROGRAMS)
def test_programs_with_polynomials(program: Any, args: tuple[Any, ...]) -> None:
    value, _ = tx.value_and_grad(program, fallback="error")(*args)
    np.testing.assert_allclose(value, program(*args), rtol=1e-12)
    check_grads(program, args, order=1)


def of_each(cls: type) -> Any:
    def program(c: Any, x: Any) -> Any:
        p = cls(c)
        fit = cls.fit(T, c[0] * Y, 2)  # type: ignore[attr-defined]
        plain = p.convert(kind=Polynomial)
        return (2.0 * p + 1.0)(x) + p.deriv()(x) ** 2 + p.integ()(x) + np.sum(plain.coef**2) + fit(x) + np.sum(p(D))

    return program


@pytest.mark.share(3)
@pytest.mark.parametrize("cls", SERIES)
def test_each_class(cls: type) -> None:
    program = of_each(cls)
    value, _ = tx.value_and_grad(program, fallback="error")(C, 0.3)
    np.testing.assert_allclose(value, program(C, 0.3), rtol=1e-12)
    check_grads(program, (C, 0.3), order=1)


@pytest.mark.parametrize("order", [1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("cls", [Polynomial, *(pytest.param(cls, marks=pytest.mark.thorough) for cls in SERIES[1:])])
def test_products_and_quotients_of_each_class(cls: Any, order: int) -> None:
    def program(c: Any, d: Any, x: Any) -> Any:
        p, q = cls(c, domain=[0, 2]), cls(d, domain=[0, 2])
        quotient, rest = divmod(p * q + q, p)
        return (p * q - q**2)(x) + quotient(x) ** 2 + rest(x) + (p // q)(x) * (p % q)(x)

    value, _ = tx.value_and_grad(program, fallback="error")(C, D, 0.3)
    np.testing.assert_allclose(value, program(C, D, 0.3), rtol=1e-12)
    check_grads(program, (C, D, 0.3), order=order)


@pytest.mark.share(3)
@pytest.mark.parametrize("cls", SERIES)
def test_roots_of_each_class(cls: Any) -> None:
    def program(r: Any) -> Any:
        return np.sum(np.real(cls(known(r)).roots()) * np.array([1.0, 2.0, -0.5]))

    known = getattr(inspect.getmodule(cls), PREFIX[cls] + "fromroots")
    r = np.array([-0.7, 0.2, 0.9])
    value, slopes = tx.value_and_grad(program, fallback="error")(r)
    np.testing.assert_allclose(value, r @ np.array([1.0, 2.0, -0.5]), rtol=1e-9)
    np.testing.assert_allclose(slopes, [1.0, 2.0, -0.5], rtol=1e-8)


def test_roots_at_second_order() -> None:
    """Of ``x**2 + c`` they are the roots of ``-c``."""

    def program(c: Any) -> Any:
        return np.real(Polynomial([c, 0.0, 1.0]).roots()[1])

    np.testing.assert_allclose(tx.grad(tx.grad(program), fallback="error")(-4.0), -0.25 * 4.0**-1.5, rtol=1e-9)


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", SERIES)
def test_each_class_on_tensors(cls: Any) -> None:
    """The basis is that of the class there too: a text compares names, for Tensors have classes of their own."""

    def compiled(y: Any) -> Any:
        p, q = cls.fit(T, y, 3), cls(y[:3], domain=[0, 2])
        r = q * q + q**2
        return p(0.3) ** 2 + r(0.7) + (r // q)(0.3) + q.integ(1, lbnd=0.1)(0.4) + q.convert(kind=Polynomial)(0.3)

    def on_tensors(y: Any) -> Any:
        return compiled(y) * eval("1.0")

    value, found = tx.value_and_grad(on_tensors)(Y)
    np.testing.assert_allclose(value, compiled(Y), rtol=1e-12)
    np.testing.assert_allclose(found, tx.grad(compiled, fallback="error")(Y), rtol=1e-12)


def test_series_of_other_domains_are_not_added() -> None:
    def program(c: Any) -> Any:
        return (Chebyshev(c) + Chebyshev(D, domain=[0, 2]))(0.3)

    for call in (program, tx.grad(program)):
        with pytest.raises(TypeError):
            call(C)


def test_a_value_at_a_number_is_a_number() -> None:
    def f(p: Any) -> Any:
        return np.sum((np.polyval(p, 0.5) ** np.arange(3))[1:])

    check_grads(f, (np.array([0.3, 0.5, 0.4]),))
    assert tx.grad(f, fallback="error")(np.array([0.3, 0.5, 0.4]))[2] == pytest.approx(1.0 + 2.0 * 0.725)


@pytest.mark.parametrize("p", [[1.0, 2.0], [1, 2], (1.0, 2), [np.float32(1.0), 2.0]], ids=str)
def test_coefficients_in_a_list_are_an_array(p: Any) -> None:
    def f(x):
        return np.sum(np.polyval(p, x) ** 2)

    x = np.array([0.3, 0.7], np.float32)
    for value in (tx.value_and_grad(f)(x)[0], tx.jvp(f, (x,), (x,))[0], f(tx.tensor(x)).numpy()):
        assert value.dtype == f(x).dtype == np.dtype(float) and value == f(x)
