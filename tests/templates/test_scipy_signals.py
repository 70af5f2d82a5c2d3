"""Signals of which several results come, or whose options are many: as SciPy has them, and against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.templates import composed
from tangentx.testing import check_grads

signal = pytest.importorskip("scipy.signal")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=40), RNG.normal(size=40)

CALLS: dict[str, Any] = {
    "welch": (signal.welch, (X, 2.0), {"nperseg": 16}),
    "welch of rows": (signal.welch, (X.reshape(2, 20),), {"window": ("tukey", 0.3), "nperseg": 9, "noverlap": 3}),
    "welch along the first axis": (signal.welch, (X.reshape(20, 2),), {"axis": 0, "nperseg": 8, "scaling": "spectrum"}),
    "welch with a window": (signal.welch, (X,), {"window": np.arange(1.0, 9.0), "detrend": "linear", "nfft": 12}),
    "welch with a list": (signal.welch, (X, 2.0, [1.0, 2.0, 3.0, 2.0, 1.0]), {"scaling": "spectrum"}),
    "welch as it is": (signal.welch, (X,), {"detrend": False, "nperseg": 40}),
    "csd": (signal.csd, (X, Y), {"nperseg": 15}),
    "coherence": (signal.coherence, (X, Y), {"nperseg": 16}),
    "coherence along an axis": (
        *(signal.coherence, (X.reshape(20, 2), Y.reshape(20, 2), 2.0, "hann", 8, 2, None, False, 0)),
        {},
    ),
    "periodogram": (signal.periodogram, (X, 3.0), {}),
    "periodogram with options": (signal.periodogram, (X,), {"window": "hann", "nfft": 64, "scaling": "spectrum"}),
    "freqz": (signal.freqz, (X[:3], np.array([1.0, 0.4, -0.2])), {"worN": 7}),
    "freqz around": (signal.freqz, (X[:3],), {"worN": 6, "whole": True, "fs": 2.0}),
    "freqz at places": (signal.freqz, (X[:3], Y[:2] + 3.0), {"worN": np.array([0.1, 0.7])}),
    "freqz to the end": (signal.freqz, (X[:3],), {"worN": 6, "include_nyquist": True}),
    "medfilt": (signal.medfilt, (X, 5), {}),
    "resample_poly with a filter": (signal.resample_poly, (X, 3, 7), {"window": [0.1, 0.4, 0.4, 0.1]}),
    "resample_poly of two rates that have a divisor": (signal.resample_poly, (X, 4, 6), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_as_scipys(name: str) -> None:
    function, args, kwargs = CALLS[name]
    found = composed(function, args, kwargs)(*args, **kwargs)
    expected = function(*args, **kwargs)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)


def spectrum(x):
    at, power = signal.welch(x, 2.0, nperseg=16)
    return np.sum(power * np.cos(at)) + signal.periodogram(x)[1][3]


def togetherness(x):
    at, both = signal.csd(x, Y, nperseg=16)
    return np.sum(np.abs(both) ** 2) + np.sum(signal.coherence(x, Y, nperseg=16)[1])


def response(p):
    at, h = signal.freqz(p[:3], np.array([1.0, 0.4, -0.2]) * p[3], worN=8)
    return np.sum(np.abs(h) ** 2)


def rates(x):
    slower = signal.resample_poly(x, 2, 3)
    return np.sum(np.tanh(slower)) + np.sum(signal.resample(x, 13) ** 2) + np.sum(signal.savgol_filter(x, 7, 3) ** 3)


@pytest.mark.parametrize("f", [spectrum, togetherness, rates], ids=lambda f: f.__name__)
def test_of_a_signal(f: Any) -> None:
    check_grads(f, (X,), order=1)


def test_of_a_filter() -> None:
    check_grads(response, (X[:4] + 2.0,), order=1)


REFUSED: dict[str, Any] = {
    "`window` varies": lambda x: np.sum(signal.welch(Y, window=x[:8])[1]),
    "has no derivative with `average`|as means": lambda x: np.sum(signal.welch(x, average="median", nperseg=8)[1]),
    "odd padding": lambda x: np.sum(signal.sosfiltfilt(np.array([[1.0, 2, 1, 1, 0, 0]]), x, padtype="even")),
    "without `t`": lambda x: np.sum(signal.resample(x, 9, t=Y)[0]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_at_the_call(message: str) -> None:
    with pytest.raises(tx.TangentxError, match=f"(?s)test_scipy_signals.*({message})"):
        tx.grad(REFUSED[message], fallback="error")(X)
