"""Transforms of as many points as there are crop nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.optimise.support import differences, gradient

X = np.array([0.3, 0.7, 1.1, 0.4])


def power(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2)


def filtered(x):
    spectrum = np.fft.fft(1.0 * x)
    spectrum[2:] = 0.0
    return np.sum(np.real(np.fft.ifft(spectrum)) ** 3)


def other_length(x):
    return np.sum(np.abs(np.fft.fft(x, 3)) ** 2 + np.abs(np.fft.fft(x, 6)[::2]) ** 2)


def plane(x):
    return np.sum(np.abs(np.fft.fft2(np.outer(x, x), axes=(0, 1))) ** 4) + np.abs(np.fft.fftn(x, axes=(0,))[1])


ALL = (power, filtered, other_length, plane)


@pytest.mark.parametrize("f", [power, filtered], ids=lambda f: f.__name__)
def test_nothing_is_cropped(f: Any) -> None:
    text = tx.grad(f).source_for(X)
    assert "cropped" not in text and "None" not in text


def test_other_lengths_are_cropped() -> None:
    text = tx.grad(other_length).source_for(X)
    assert text.count("cropped(") == 2 and "np.fft.fft(" in text


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_all_ways_agree(f: Any) -> None:
    wanted = differences(lambda x: f(x.copy()), (X,))
    for off in ((), "all", "spectra"):
        np.testing.assert_allclose(gradient(f, (X.copy(),), off), wanted, rtol=1e-6, atol=1e-7)
