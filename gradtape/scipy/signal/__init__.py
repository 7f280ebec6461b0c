"""`scipy.signal` with gradients: filters, their design, spectra, convolution, resampling, windows, linear systems.

A linear filter is one operation, whose transpose is the filter run backwards. Filters are differentiated by their
coefficients, and their design by the cut-off frequencies, so that both can be fitted.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy import signal
>>> def power_behind(cutoff, x):
...     b, a = signal.butter(2, cutoff)
...     return np.sum(signal.lfilter(b, a, x) ** 2)
>>> gt.grad(power_behind)(0.25, np.array([1.0, 0.0, 0.0, 0.0])).round(4)
np.float64(1.2617)
"""

from gradtape.scipy.signal import windows
from gradtape.scipy.signal.convolving import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    deconvolve,
    fftconvolve,
    oaconvolve,
)
from gradtape.scipy.signal.filter_forms import (
    bilinear,
    bilinear_zpk,
    lp2bp,
    lp2bp_zpk,
    lp2bs,
    lp2bs_zpk,
    lp2hp,
    lp2hp_zpk,
    lp2lp,
    lp2lp_zpk,
    normalize,
    sos2tf,
    sos2zpk,
    ss2tf,
    ss2zpk,
    tf2sos,
    tf2ss,
    tf2zpk,
    zpk2sos,
    zpk2ss,
    zpk2tf,
)
from gradtape.scipy.signal.fir_filters import (
    firls,
    firwin,
    firwin2,
    kaiser_atten,
    kaiser_beta,
    minimum_phase,
)
from gradtape.scipy.signal.iir_filters import (
    bessel,
    butter,
    cheb1ap,
    cheb2ap,
    cheby1,
    cheby2,
    ellip,
    iirfilter,
    iirnotch,
    iirpeak,
)
from gradtape.scipy.signal.linear_filters import (
    filtfilt,
    lfilter,
    lfilter_zi,
    lfiltic,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from gradtape.scipy.signal.mirrored import original
from gradtape.scipy.signal.peaks import find_peaks, peak_prominences, peak_widths
from gradtape.scipy.signal.rates import (
    decimate,
    resample,
    resample_poly,
    upfirdn,
)
from gradtape.scipy.signal.responses import (
    czt,
    czt_points,
    freqs,
    freqs_zpk,
    freqz,
    freqz_sos,
    freqz_zpk,
    group_delay,
    sosfreqz,
    zoom_fft,
)
from gradtape.scipy.signal.selections import (
    medfilt,
    medfilt2d,
    order_filter,
)
from gradtape.scipy.signal.shapes import (
    chirp,
    gauss_spline,
    gausspulse,
    sawtooth,
    square,
    sweep_poly,
)
from gradtape.scipy.signal.spectra import (
    coherence,
    csd,
    istft,
    lombscargle,
    periodogram,
    spectrogram,
    stft,
    welch,
)
from gradtape.scipy.signal.systems import (
    bode,
    cont2discrete,
    dbode,
    dfreqresp,
    dimpulse,
    dlsim,
    dstep,
    freqresp,
    impulse,
    lsim,
    step,
)
from gradtape.scipy.signal.trends import (
    detrend,
    envelope,
    hilbert,
    hilbert2,
    savgol_coeffs,
    savgol_filter,
    vectorstrength,
    whittaker_henderson,
    wiener,
)
from gradtape.scipy.signal.windows import get_window

__all__ = [
    "REASONS",
    "bessel",
    "bilinear",
    "bilinear_zpk",
    "bode",
    "butter",
    "cheb1ap",
    "cheb2ap",
    "cheby1",
    "cheby2",
    "chirp",
    "coherence",
    "cont2discrete",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "czt",
    "czt_points",
    "dbode",
    "decimate",
    "deconvolve",
    "detrend",
    "dfreqresp",
    "dimpulse",
    "dlsim",
    "dstep",
    "ellip",
    "envelope",
    "fftconvolve",
    "filtfilt",
    "find_peaks",
    "firls",
    "firwin",
    "firwin2",
    "freqresp",
    "freqs",
    "freqs_zpk",
    "freqz",
    "freqz_sos",
    "freqz_zpk",
    "gauss_spline",
    "gausspulse",
    "get_window",
    "group_delay",
    "hilbert",
    "hilbert2",
    "iirfilter",
    "iirnotch",
    "iirpeak",
    "impulse",
    "istft",
    "kaiser_atten",
    "kaiser_beta",
    "lfilter",
    "lfilter_zi",
    "lfiltic",
    "lombscargle",
    "lp2bp",
    "lp2bp_zpk",
    "lp2bs",
    "lp2bs_zpk",
    "lp2hp",
    "lp2hp_zpk",
    "lp2lp",
    "lp2lp_zpk",
    "lsim",
    "medfilt",
    "medfilt2d",
    "minimum_phase",
    "normalize",
    "oaconvolve",
    "order_filter",
    "peak_prominences",
    "peak_widths",
    "periodogram",
    "resample",
    "resample_poly",
    "savgol_coeffs",
    "savgol_filter",
    "sawtooth",
    "sos2tf",
    "sos2zpk",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "sosfreqz",
    "spectrogram",
    "square",
    "ss2tf",
    "ss2zpk",
    "step",
    "stft",
    "sweep_poly",
    "tf2sos",
    "tf2ss",
    "tf2zpk",
    "upfirdn",
    "vectorstrength",
    "welch",
    "whittaker_henderson",
    "wiener",
    "windows",
    "zoom_fft",
    "zpk2sos",
    "zpk2ss",
    "zpk2tf",
]

original.functions["get_window"] = get_window

REASONS = {
    "returns whole numbers, which have no gradient": ("choose_conv_method correlation_lags max_len_seq"),
    "chooses an order, which is a whole number": "buttord cheb1ord cheb2ord ellipord iirdesign kaiserord",
    "says whether a condition holds": "check_COLA check_NOLA",
    "groups roots that are close to one another": "invres invresz residue residuez unique_roots",
    "is found by exchanging points between iterations": "remez",
    "is not unique: it chooses among the gains that place the poles": "place_poles",
    "takes whole numbers only": "besselap buttap unit_impulse",
    "has elliptic functions of its ripples, which are differentiated by the cut-off frequencies only": "ellipap",
    "takes frequencies that divide the sampling frequency only": "iircomb",
    "has no derivative in gradtape; gradtape.scipy.ndimage.spline_filter1d and map_coordinates have one": (
        "cspline1d cspline1d_eval cspline2d qspline1d qspline1d_eval qspline2d spline_filter symiirorder1 symiirorder2"
    ),
    "has no derivative in gradtape; scipy.signal.convolve with each of the filters has one": "sepfir2d",
    "has no derivative in gradtape; scipy.signal.firwin has one": "firwin_2d gammatone",
    "solves a problem of least squares under conditions that has no derivative in gradtape": "closest_STFT_dual_window",
    "is a step of the search for an order": "band_stop_obj findfreqs",
    "only fills in and checks matrices": "abcd_normalize",
    "runs the tests of SciPy": "test",
}
"""Why functions refuse tensors whose gradient is recorded: names for each reason."""

PIECEWISE_CONSTANT = "argrelextrema argrelmax argrelmin find_peaks_cwt"
"""The functions whose results are places."""

__getattr__, __dir__, __test__ = original.module(globals(), REASONS, PIECEWISE_CONSTANT)
