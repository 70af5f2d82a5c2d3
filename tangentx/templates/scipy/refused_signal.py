"""Classes of `scipy.signal` that nothing can be differentiated through, with the reason."""

from __future__ import annotations

from scipy import signal

from tangentx.templates.refusals import refused

refused(
    *(signal.ShortTimeFFT, signal.ShortTimeFFT.__init__),
    *(signal.ShortTimeFFT.from_window, signal.ShortTimeFFT.from_dual, signal.ShortTimeFFT.from_window.__func__),
    reason="its objects keep windows, scales and dual windows that they find when they are asked",
    hint="use `scipy.signal.stft`, `istft`, `spectrogram` or `csd`",
)
