"""Classes of SciPy's without a rule are refused at the user's line, with a reason and what does the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tangentx as tx

signal, stats = pytest.importorskip("scipy.signal"), pytest.importorskip("scipy.stats")
REFUSED: dict[str, tuple[Callable[..., object], str]] = {
    "a window": (lambda x: np.sum(np.abs(signal.ShortTimeFFT(np.hanning(4), 2, 1.0).stft(x))), "scipy.signal.stft"),
    "a kept window": (
        lambda x: np.sum(signal.ShortTimeFFT.from_window("hann", 1.0, 4, 2).spectrogram(x)),
        "scipy.signal.stft",
    ),
}
if hasattr(stats, "Normal"):
    REFUSED["a normal distribution"] = (lambda x: np.sum(stats.Normal(mu=x[0], sigma=2.0).logpdf(x)), "norm.logpdf")
    REFUSED["a uniform distribution"] = (lambda x: np.sum(stats.Uniform(a=x[0] - 1.0, b=3.0).pdf(x)), "uniform")


@pytest.mark.parametrize("name", REFUSED)
def test_the_message_says_what_to_use(name: str) -> None:
    program, instead = REFUSED[name]
    with pytest.raises(tx.NoTemplate) as caught:
        tx.grad(program, fallback="error")(np.linspace(0.1, 1.0, 12))
    assert instead in str(caught.value) and __file__ in str(caught.value)
