"""Shadows of complex storages whose imaginary part is viewed are kept conjugated, others are not."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx


def stored(z, s):
    z[1] = z[0] * s
    parts = [z.imag]
    parts[0][0] *= s
    return np.sum(z.real * z.imag) + np.sum(parts[0] ** 2)


def slope(f, z, *rest, h=1e-6):
    """The derivative by x minus i times that by y, by differences."""
    result = np.zeros(z.shape, complex)
    for k in range(z.size):
        for part, unit in ((1.0, 1.0), (1j, -1j)):
            step = np.zeros(z.shape, complex)
            step.flat[k] = h * part
            result.flat[k] += unit * (f(z + step, *rest) - f(z - step, *rest)) / (2.0 * h)
    return result


POINT = np.array([0.3 + 0.4j, -0.6 + 0.2j, 0.5 - 0.7j])


def test_the_gradient_keeps_its_convention() -> None:
    expected = slope(stored, POINT, 1.2)
    np.testing.assert_allclose(tx.grad(stored, fallback="error")(POINT, 1.2), expected, atol=1e-8)
    value, pull = tx.vjp(stored, POINT, 1.2)
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], expected, atol=1e-8)


def test_an_array_that_is_returned_takes_its_seed() -> None:
    def f(z):
        z[1] = z[0] * z[0]
        part = z.imag
        part[2] = 3.0 * part[1]
        return z

    seed = np.array([1.0 + 2.0j, 0.5 - 1.0j, -0.3j])
    value, pull = tx.vjp(f, POINT)
    expected = slope(lambda z: np.sum(f(z) * seed).real, POINT)
    np.testing.assert_allclose(pull(seed), expected, atol=1e-8)


def test_only_what_is_viewed_is_conjugated() -> None:
    def plain(z):
        z[1] = z[0] * z[0]
        return np.sum(z.real**2)

    assert "np.conj" not in tx.grad(plain, fallback="error").source_for(POINT)
    assert "np.conj" in tx.grad(stored, fallback="error").source_for(POINT, 1.2)


def test_a_container_of_such_arrays_is_refused_as_a_cotangent() -> None:
    def f(items):
        items[0][1] = items[0][0] * 2.0
        part = items[0].imag
        part[0] = 1.0
        return np.sum(part)

    with pytest.raises(tx.TangentxError, match="imaginary part") as caught:
        tx.grad(f, fallback="error")([POINT.copy()])
    assert caught.value.span is not None
