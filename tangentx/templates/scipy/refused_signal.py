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
_SYSTEMS = (
    *(signal.lti, signal.dlti, signal.StateSpace, signal.TransferFunction, signal.ZerosPolesGain),
    *(signal.lsim, signal.impulse, signal.step, signal.bode, signal.freqresp),
    *(signal.dlsim, signal.dimpulse, signal.dstep, signal.dbode, signal.dfreqresp),
)
refused(
    *_SYSTEMS,
    reason="a linear system is brought into forms that are not unique",
    hint="integrate its equations with `scipy.integrate.solve_ivp` or `scipy.linalg.expm`; for a discrete one use "
    "`scipy.signal.lfilter` and `freqz`",
)
refused(
    *(signal.cont2discrete, signal.place_poles, signal.abcd_normalize, signal.tf2ss, signal.zpk2ss),
    *(signal.ss2tf, signal.ss2zpk, signal.tf2zpk, signal.tf2sos, signal.zpk2sos, signal.sos2zpk),
    reason="it brings a linear system into another form, which may not be unique",
    hint="write the matrices that are meant: `scipy.linalg.expm` steps a system, `np.roots` gives poles",
)
refused(
    *(signal.find_peaks, signal.find_peaks_cwt, signal.peak_widths, signal.peak_prominences),
    *(signal.argrelmax, signal.argrelmin, signal.argrelextrema),
    reason="places of peaks change in steps",
    hint="find them of `tx.stop_gradient(x)`, and take the values there: `x[peaks]`",
)
