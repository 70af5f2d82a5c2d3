"""Statistics of samples, tests by means, and short-time transforms: values as SciPy's, derivatives by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import signal, stats

import tangentx as tx
from tangentx.templates.scipy import descriptive_statistics as own
from tangentx.templates.scipy import descriptive_statistics as trimmed
from tangentx.templates.scipy import short_time_transforms as short
from tangentx.testing import check_grads

X = np.array([0.4, -0.3, 0.8, 1.1, 0.25, -0.7])
Y = np.array([0.5, 0.1, 0.9, 1.4, 0.2, -0.6])
M = np.stack([X, Y[::-1], X * Y])
S = np.sin(np.arange(37) * 0.7) + 0.2 * np.cos(np.arange(37) ** 1.3)

VALUES: dict[str, Any] = {
    "describe": (stats.describe, own.describe, (M,), {"axis": 1, "ddof": 0, "bias": False}),
    "trimmed": (stats.trim_mean, own.trim_mean, (M, 0.2), {"axis": 1}),
    "trimmed whole": (stats.trim_mean, own.trim_mean, (M, 0.1), {"axis": None}),
    "kurtosis": (stats.kurtosis, own.kurtosis, (M, 1, False, False), {"keepdims": True}),
    "deviation from the mean": (stats.median_abs_deviation, own.median_abs_deviation, (M, 1), {"center": np.mean}),
    "skew whole": (stats.skew, own.skew, (M, None), {}),
    "moment of one": (stats.moment, own.moment, (X,), {}),
    "iqr": (stats.iqr, own.iqr, (M, 0, (10, 60)), {"interpolation": "midpoint"}),
    "entropy of rows": (stats.entropy, own.entropy, (np.abs(M), np.abs(M[::-1])), {"axis": 1, "base": 2.0}),
    "pmean of none": (stats.pmean, own.pmean, (np.abs(X), 0), {}),
    "boxcox of none": (stats.boxcox_llf, own.boxcox_llf, (0.0, np.abs(X)), {}),
    "one": (stats.ttest_1samp, own.ttest_1samp, (M, 0.3), {"axis": 1, "alternative": "greater"}),
    "pairs": (stats.ttest_rel, own.ttest_rel, (X, Y), {"alternative": "less"}),
    "two": (stats.ttest_ind, own.ttest_ind, (X, Y[:4]), {}),
    "unequal": (stats.ttest_ind, own.ttest_ind, (X, Y[:4]), {"equal_var": False}),
    "correlation": (stats.pearsonr, own.pearsonr, (X, Y), {}),
    "trimmed mean": (stats.tmean, trimmed.tmean, (M, (-0.4, 0.9)), {"axis": 1}),
    "trimmed variance": (stats.tvar, trimmed.tvar, (X, (None, 0.8), (True, False)), {}),
    "trimmed deviation": (stats.tstd, trimmed.tstd, (M, (-0.4, 1.2)), {"axis": 1, "keepdims": True}),
    "trimmed error": (stats.tsem, trimmed.tsem, (M, (-0.4, 0.9)), {"axis": None, "ddof": 0}),
    "trimmed smallest": (stats.tmin, trimmed.tmin, (M, 0.3, 1), {}),
    "trimmed largest": (stats.tmax, trimmed.tmax, (M, 0.4, 0, False), {"keepdims": True}),
    "test keeping axes": (stats.ttest_1samp, own.ttest_1samp, (M, 0.3), {"axis": 1, "keepdims": True}),
    "spectrogram": (signal.spectrogram, short.spectrogram, (S,), {"nperseg": 9, "noverlap": 3}),
    "complex": (signal.spectrogram, short.spectrogram, (S,), {"nperseg": 8, "mode": "complex", "scaling": "spectrum"}),
    "magnitude": (signal.spectrogram, short.spectrogram, (S, 2.0), {"nperseg": 8, "mode": "magnitude", "nfft": 12}),
} | {
    f"stft {i}": (signal.stft, short.stft, (S,), options)
    for i, options in enumerate(
        (
            {"nperseg": 9, "noverlap": 3},
            {"nperseg": 8, "boundary": None},
            {"nperseg": 8, "boundary": "even"},
            {"nperseg": 8, "boundary": "odd", "padded": False},
            {"nperseg": 8, "boundary": "constant", "scaling": "psd", "fs": 3.0},
            {"nperseg": 6, "window": np.hanning(6), "nfft": 16, "detrend": "constant"},
        )
    )
}


def parts(found: Any) -> Any:
    """All numbers of a result, which may be a tuple of arrays."""
    if isinstance(found, tuple):
        return np.concatenate([parts(item) for item in found])
    return np.ravel(found)


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_scipy(name: str) -> None:
    function, ours, args, kwargs = VALUES[name]
    found, wanted = parts(ours(*args, **kwargs)), parts(function(*args, **kwargs))
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_signals_come_back_from_their_transforms() -> None:
    for options in ({"nperseg": 8}, {"nperseg": 9, "noverlap": 3}, {"nperseg": 8, "scaling": "psd", "fs": 3.0}):
        for x in (S, np.stack([S, S[::-1]])):
            z = signal.stft(x, **options)[2]
            for wanted, found in zip(signal.istft(z, **options), short.istft(z, **options), strict=True):
                np.testing.assert_allclose(found, wanted, atol=1e-12)
    z = signal.stft(S, nperseg=8)[2]
    for options in ({}, {"nperseg": 8}):
        np.testing.assert_allclose(short.istft(z, **options)[1], signal.istft(z, **options)[1], atol=1e-12)
    turned = short.istft(z.T, time_axis=0, freq_axis=1)[1]
    np.testing.assert_allclose(turned, signal.istft(z.T, time_axis=0, freq_axis=1)[1], atol=1e-12)


def line(x: Any, y: Any) -> Any:
    found = stats.linregress(x, y)
    slope, intercept, r, p, error = stats.linregress(x[:4], y[:4])
    return found.slope * found.rvalue + intercept * r + slope + p * error


def by_means(x: Any, y: Any) -> Any:
    t, p = stats.ttest_ind(x, y[:5])
    pairs, one = stats.ttest_rel(x, y), stats.ttest_1samp(x, 0.3, alternative="less")
    return t * p + pairs.statistic * pairs.pvalue + one.pvalue + stats.pearsonr(x, y).pvalue


def filtered(x: Any, y: Any) -> Any:
    _, _, z = signal.stft(x, fs=2.0, nperseg=8, boundary="even")
    _, back = signal.istft(z * np.exp(-np.abs(z)), fs=2.0, nperseg=8)
    _, _, power = signal.spectrogram(y, nperseg=9)
    return np.sum(back[:30] ** 3) + np.sum(np.log(power + 0.1))


@pytest.mark.share(2)
@pytest.mark.parametrize(("f", "args"), [(line, (X, Y)), (by_means, (X, Y)), (filtered, (S, S[::-1].copy()))])
def test_derivatives_by_differences(f: Any, args: Any) -> None:
    check_grads(f, args, wrt=(0, 1), order=1, rtol=1e-4)
    gradient = tx.grad(f, wrt=(0, 1), fallback="error")(*args)

    def on_tensors(*given: Any) -> Any:
        tensors = [tx.Tensor(a, requires_grad=True) for a in given]
        return tx.autograd.grad(tx.differentiate(f)(*tensors), tensors)

    for found, wanted in zip(on_tensors(*args), gradient, strict=True):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: stats.zscore(x, nan_policy="omit")[0], "nan_policy"),
        (lambda x: np.sum(signal.stft(x + 1j * x, nperseg=4, return_onesided=False)[2].real), "one side"),
        (lambda x: np.sum(signal.spectrogram(x, nperseg=4, mode="angle")[2]), "angles"),
    ],
)
def test_what_is_refused(f: Any, message: str) -> None:
    with pytest.raises(tx.TangentxError, match=message):
        tx.grad(f, fallback="error")(X)
