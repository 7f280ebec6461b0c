"""`gradtape.scipy.signal`: SciPy's names and values, with gradients by every continuous argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal as theirs
from mirror_checks import (
    check_against_scipy,
    check_every_name,
    check_under_vmap_and_jit,
    refuses,
)

import gradtape as gt
from gradtape.scipy import signal

pytestmark = pytest.mark.filterwarnings("ignore")

GENERATOR = np.random.default_rng(5)
B, A = theirs.butter(3, 0.3)
SECTIONS = theirs.butter(4, 0.3, output="sos")


def draw(*shape: int) -> Any:
    return GENERATOR.normal(size=shape)


def complex_draw(*shape: int) -> Any:
    return draw(*shape) + 1j * draw(*shape)


def number(value: float) -> Any:
    return np.array(value)


def plain(value: Any) -> Any:
    """An array of shape () as the number that SciPy wants in its place."""
    return value[()].item() if isinstance(value, np.ndarray) and not value.ndim else value


def called(name: str, *before: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A function of ours and of SciPy's, with some leading and keyword arguments fixed."""
    return (
        lambda *args: getattr(signal, name)(*before, *args, **kwargs),
        lambda *args: getattr(theirs, name)(*before, *map(plain, args), **kwargs),
    )


def test_every_name_of_scipys_is_here() -> None:
    """Each public name is differentiated, refused with a reason, or an object that is passed through."""
    check_every_name(
        signal,
        theirs,
        "BadCoefficients CZT ShortTimeFFT StateSpace TransferFunction ZerosPolesGain ZoomFFT dlti lti windows "
        "bsplines filter_design fir_filter_design lti_conversion ltisys signaltools spectral spline waveforms wavelets",
        "firwin_2d gammatone closest_STFT_dual_window envelope cmplx_sort spline_filter choose_conv_method test "
        "whittaker_henderson",
    )


def test_every_window_of_scipys_is_here() -> None:
    """Windows without a continuous parameter are SciPy's."""
    check_every_name(
        signal.windows,
        theirs.windows,
        "barthann bartlett blackman blackmanharris bohman boxcar cosine flattop hamming hann lanczos nuttall parzen "
        "triang windows",
    )


def test_arrays_are_filtered_by_scipy() -> None:
    """A call without tensors is SciPy's, and gives a plain array."""
    x = draw(20)
    found = signal.filtfilt(B, A, x)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, theirs.filtfilt(B, A, x))


FILTERS = {
    "lfilter": (called("lfilter"), (B * 2, A * 2, draw(2, 5))),
    "lfilter of a complex signal": (
        called("lfilter"),
        (complex_draw(2), complex_draw(3) / 3 + [2, 0, 0], complex_draw(4)),
    ),
    "lfilter_zi": (called("lfilter_zi"), (B, 2 * A)),
    "lfiltic": (called("lfiltic"), (B, A, draw(3), draw(2))),
    "sosfilt": (called("sosfilt", axis=1), (SECTIONS, draw(2, 5, 2))),
    "sosfilt_zi": (called("sosfilt_zi"), (SECTIONS,)),
    "filtfilt": (called("filtfilt", padlen=5), (B, A, draw(8))),
    "filtfilt of a constant": (called("filtfilt", padlen=5, padtype="constant", axis=0), (B, A, draw(8, 2))),
    "filtfilt mirrored": (called("filtfilt", padlen=5, padtype="even"), (B, A, draw(8))),
    "sosfiltfilt": (called("sosfiltfilt", padlen=4), (SECTIONS, draw(6))),
    "deconvolve": (called("deconvolve"), (draw(6), draw(3))),
    "savgol_filter": (called("savgol_filter", window_length=5, polyorder=2, axis=0), (draw(8, 2),)),
    "savgol_filter of even length": (
        called("savgol_filter", window_length=4, polyorder=2, mode="mirror", deriv=1),
        (draw(6),),
    ),
    "savgol_coeffs": (called("savgol_coeffs", 5, 2, 1), (number(0.5), number(1.7))),
    "detrend": (called("detrend", bp=[3], axis=0), (draw(7, 2),)),
    "hilbert": (called("hilbert", N=8), (draw(2, 7),)),
    "hilbert2": (called("hilbert2"), (draw(4, 5),)),
    "envelope": (called("envelope", n_out=9), (draw(7) + 2,)),
    "wiener": (called("wiener", mysize=3), (draw(5, 4),)),
    "medfilt": (called("medfilt", kernel_size=3), (draw(4, 4),)),
    "medfilt2d": (called("medfilt2d"), (draw(4, 4),)),
    "order_filter": (called("order_filter", domain=np.eye(3), rank=1), (draw(4, 4),)),
    "vectorstrength": (called("vectorstrength"), (draw(4), np.array([0.7, 1.2]))),
    "convolve2d": (called("convolve2d", mode="same", boundary="symm"), (draw(3, 4), draw(2, 3))),
    "convolve2d filled": (called("convolve2d", fillvalue=0.5), (draw(3, 4), draw(2, 2))),
    "correlate2d": (called("correlate2d", mode="same", boundary="wrap"), (draw(4, 4), draw(2, 3))),
    "correlate2d of the larger": (called("correlate2d", mode="valid"), (draw(2, 2), complex_draw(3, 3))),
    "convolve": (called("convolve", mode="same"), (draw(3, 4), draw(2, 3))),
    "correlate": (called("correlate", mode="valid"), (draw(6), draw(3))),
    "fftconvolve": (called("fftconvolve"), (draw(5), draw(3))),
    "oaconvolve": (called("oaconvolve"), (draw(5), draw(3))),
    "upfirdn": (called("upfirdn", up=3, down=2), (draw(5), draw(2, 4))),
    "upfirdn continued by a line": (called("upfirdn", up=2, down=3, mode="line", axis=0), (draw(5), draw(4, 2))),
    "upfirdn mirrored": (called("upfirdn", up=1, down=2, mode="antisymmetric"), (draw(4), draw(5))),
    "resample to less": (called("resample", num=4, window="hamming"), (draw(7, 2),)),
    "resample to more": (called("resample", num=9), (complex_draw(6),)),
    "resample_poly": (called("resample_poly", up=3, down=2, padtype="mean"), (draw(6),)),
    "decimate": (called("decimate", q=2, n=2), (draw(12),)),
    "decimate without feedback": (called("decimate", q=2, ftype="fir", n=4), (draw(9),)),
}


@pytest.mark.parametrize("case", FILTERS)
def test_filters_have_scipys_values_and_derivatives(case: str) -> None:
    """Filters are differentiated by signals, coefficients and states."""
    (ours, scipys), args = FILTERS[case]
    check_against_scipy(ours, scipys, *args)


def test_whittaker_henderson_smoothing() -> None:
    """The minimum of a sum of squares, by the signal, the weights and the penalty, as in SciPy from 1.18 on."""
    y, weights, penalty = draw(7), GENERATOR.uniform(0.5, 1.5, 7), number(2.5)
    roughness = np.diff(np.eye(7), n=3, axis=0)
    matrix = np.diag(weights) + penalty * roughness.T @ roughness
    smooth = lambda y, w, p: signal.whittaker_henderson(y, lamb=p, order=3, weights=w).x
    expected = lambda y, w, p: np.linalg.solve(matrix, w * y)
    if hasattr(theirs, "whittaker_henderson"):
        expected = lambda y, w, p: theirs.whittaker_henderson(y, lamb=p, order=3, weights=w).x
    check_against_scipy(smooth, expected, y, weights, penalty, order=2)
    check_under_vmap_and_jit(lambda y: signal.whittaker_henderson(y, lamb=2.0).x, draw(2, 6))
    missing = np.where(np.arange(7) == 3, np.nan, y)
    filled = gt.grad(lambda y: smooth(y, (np.arange(7) != 3) * 1.0, 2.0).sum())(missing)
    assert filled[3] == 0.0
    assert np.isfinite(filled).all()
    assert "lamb='reml'" in refuses(signal.whittaker_henderson, y)


@pytest.mark.parametrize("length", [1, 6])
def test_states_of_filters_are_differentiated(length: int) -> None:
    """`lfilter` with a state returns the final one, also for signals shorter than the filter."""
    args: tuple[Any, ...] = (draw(5), draw(3) / 3 + [2, 0, 0], draw(2, length), draw(2, 4))
    check_against_scipy(
        lambda b, a, x, zi: signal.lfilter(b, a, x, -1, zi), lambda b, a, x, zi: theirs.lfilter(b, a, x, -1, zi), *args
    )
    args = (SECTIONS, draw(3), draw(2, 2))
    check_against_scipy(
        lambda sos, x, zi: signal.sosfilt(sos, x, -1, zi), lambda sos, x, zi: theirs.sosfilt(sos, x, -1, zi), *args
    )


def test_filters_have_second_derivatives() -> None:
    """Second derivatives by coefficients and signals, in each mode over each."""
    check_against_scipy(*called("lfilter"), draw(2), np.array([1.0, -0.5, 0.2]), draw(4), order=2)
    check_against_scipy(*called("upfirdn", up=2, down=3), draw(3), draw(4), order=2)
    check_against_scipy(*called("butter", 2), number(0.3), order=2)


@pytest.mark.parametrize("irlen", [None, 6])
def test_gustafssons_method_is_differentiated(irlen: int | None) -> None:
    """The states that make the order of forwards and backwards indifferent move with the signal and the filter."""
    b, a = theirs.butter(2, 0.4)
    check_against_scipy(
        *called("filtfilt", method="gust", irlen=irlen), b, a, draw(14), exact=1e-8, rtol=1e-4, atol=1e-5
    )


def test_filters_under_vmap_and_jit() -> None:
    """Batches of signals are filtered at once, batches of coefficients one after the other; compiled code agrees."""
    check_under_vmap_and_jit(lambda x: signal.lfilter(B, A, x), draw(3, 8))
    check_under_vmap_and_jit(lambda b, a, x: signal.lfilter(b, a, x), draw(2, 2), draw(2, 2) / 3 + [2, 0], draw(2, 6))
    check_under_vmap_and_jit(lambda x: signal.sosfiltfilt(SECTIONS, x, padlen=3), draw(2, 8))
    check_under_vmap_and_jit(lambda x: signal.resample_poly(x, 3, 2), draw(2, 8))
    check_under_vmap_and_jit(lambda c: signal.butter(2, c)[1], np.array([0.2, 0.3]))
    check_under_vmap_and_jit(lambda x: signal.welch(x, nperseg=4)[1], draw(2, 12))


def test_single_precision_stays() -> None:
    """Results of single precision stay so, as in SciPy."""
    x = draw(12).astype(np.float32)
    b, a = B.astype(np.float32), A.astype(np.float32)
    for name, args in {"lfilter": (b, a, x), "welch": (x,), "hilbert": (x,), "savgol_filter": (x, 5, 2)}.items():
        kwargs = {"nperseg": 8} if name == "welch" else {}
        tensors = [gt.tensor(v) if isinstance(v, np.ndarray) else v for v in args]
        ours, scipys = getattr(signal, name)(*tensors, **kwargs), getattr(theirs, name)(*args, **kwargs)
        ours, scipys = (ours[1], scipys[1]) if name == "welch" else (ours, scipys)
        assert ours.dtype == scipys.dtype
        np.testing.assert_allclose(ours.numpy(), scipys, rtol=2e-5, atol=1e-5)


X, Y = draw(2, 17), draw(2, 17)
TRANSFORM = theirs.stft(draw(15), nperseg=6)[2]
SPECTRA: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "welch": (lambda m, x, fs: m.welch(x, fs, nperseg=6), (X, number(2.0))),
    "welch of a window": (lambda m, x, w: m.welch(x, window=w, average="median"), (X, np.hanning(6) + 0.1)),
    "welch of both sides": (lambda m, x: m.welch(x, nperseg=5, return_onesided=False, scaling="spectrum"), (X,)),
    "csd": (lambda m, x, y: m.csd(x, y, nperseg=6, noverlap=2, nfft=8, detrend="linear"), (X, Y)),
    "csd by the median": (lambda m, x, y: m.csd(x, y, nperseg=5, average="median"), (X, Y)),
    "csd of different lengths": (lambda m, x, y: m.csd(x, y, nperseg=6, axis=0), (draw(9), draw(12))),
    "coherence": (lambda m, x, y: m.coherence(x, y, nperseg=6), (X[0], Y[0])),
    "periodogram": (lambda m, x: m.periodogram(x, nfft=8, axis=0), (draw(6, 2),)),
    "periodogram cut": (lambda m, x: m.periodogram(x, nfft=5, window="hann"), (draw(8),)),
    "stft": (lambda m, x: m.stft(x, nperseg=6), (draw(2, 11),)),
    "stft of densities": (lambda m, x: m.stft(x, 2.0, nperseg=6, scaling="psd", boundary="odd", axis=0), (draw(9, 2),)),
    "stft of both sides": (lambda m, x: m.stft(x, nperseg=4, return_onesided=False), (complex_draw(9),)),
    "istft": (lambda m, z: m.istft(z), (TRANSFORM,)),
    "istft of a window": (lambda m, z, w: m.istft(z, window=w, scaling="psd"), (TRANSFORM, np.hamming(6))),
    "istft of other axes": (
        lambda m, z: m.istft(z, time_axis=0, freq_axis=2),
        (np.moveaxis(theirs.stft(draw(2, 11), nperseg=4)[2], (1, 2), (2, 0)),),
    ),
    "spectrogram": (lambda m, x: m.spectrogram(x, nperseg=6), (draw(15),)),
    "spectrogram of magnitudes": (lambda m, x: m.spectrogram(x, nperseg=6, mode="magnitude"), (draw(15),)),
    "spectrogram of phases": (lambda m, x: m.spectrogram(x, nperseg=6, mode="phase"), (draw(15),)),
    "lombscargle": (
        lambda m, x, y, f, w: m.lombscargle(x, y, f, weights=w, floating_mean=True, normalize=True),
        (np.sort(draw(6)), draw(6), np.array([0.7, 1.5]), GENERATOR.uniform(0.5, 1, 6)),
    ),
    "lombscargle of amplitudes": (
        lambda m, x, y, f: m.lombscargle(x, y, f, normalize="amplitude"),
        (np.sort(draw(6)), draw(6), np.array([0.7, 1.5])),
    ),
    "czt": (
        lambda m, x, w, a: m.czt(x, 4, plain(w), plain(a)),
        (complex_draw(5), np.array(0.95 * np.exp(-0.4j)), np.array(0.9 + 0.2j)),
    ),
    "zoom_fft": (lambda m, x, f: m.zoom_fft(x, f, 5, fs=3.0), (draw(2, 6), np.array([0.2, 0.9]))),
}


@pytest.mark.parametrize("case", SPECTRA)
def test_spectra_have_scipys_values_and_derivatives(case: str) -> None:
    """Spectra are differentiated by signals, windows and sampling frequencies."""
    function, args = SPECTRA[case]
    check_against_scipy(lambda *a: function(signal, *a), lambda *a: function(theirs, *map(plain, a)), *args)


WINDOWS = {
    "gaussian": (2.0,),
    "general_gaussian": (1.3, 2.0),
    "kaiser": (3.0,),
    "tukey": (0.55,),
    "general_hamming": (0.6,),
    "chebwin": (50.0,),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_differentiated_by_their_parameters(name: str) -> None:
    """Windows of even and odd length, symmetric and periodic."""
    parameters = [number(value) for value in WINDOWS[name]]
    for length, symmetric in ((7, True), (6, False)):
        ours, scipys = getattr(signal.windows, name), getattr(theirs.windows, name)
        check_against_scipy(
            lambda *p, f=ours, n=length, s=symmetric: f(n, *p, sym=s),
            lambda *p, f=scipys, n=length, s=symmetric: f(n, *map(plain, p), sym=s),
            *parameters,
        )
    check_against_scipy(
        lambda *p: signal.get_window((name, *p), 5),
        lambda *p: theirs.get_window((name, *map(plain, p)), 5),
        *parameters,
    )


def test_other_windows_are_differentiated() -> None:
    """Windows whose arguments are in another order, or that need an even length."""
    windows = (signal.windows, theirs.windows)
    for function, *args in (
        (lambda m, tau, c: m.exponential(5, plain(c), plain(tau), False), number(1.5), number(1.7)),
        (lambda m, sll: m.taylor(6, 4, plain(sll)), number(30.0)),
        (lambda m, beta: m.kaiser_bessel_derived(6, plain(beta)), number(3.0)),
        (lambda m, a: m.general_cosine(6, a), draw(3)),
    ):
        check_against_scipy(*[lambda *a, m=m, f=function: f(m, *a) for m in windows], *args)
    check_against_scipy(lambda b: signal.get_window(b, 5), lambda b: theirs.get_window(b.item(), 5), number(2.0))


BANDS = {"low": number(0.3), "high": number(0.3), "band": np.array([0.2, 0.55]), "stop": np.array([0.2, 0.55])}


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("output", ["ba", "zpk", "sos"])
def test_recursive_filters_are_differentiated_by_their_design(band: str, output: str) -> None:
    """Cut-off frequencies and ripples have derivatives in all forms of the result."""
    edges = BANDS[band]
    settings = {"btype": band, "output": output}
    check_against_scipy(*called("butter", 3, **settings), edges)
    check_against_scipy(*called("cheby1", 2, **settings), number(1.5), edges)
    check_against_scipy(*called("cheby2", 2, **settings), number(30.0), edges)
    check_against_scipy(*called("ellip", 3, 1.0, 30.0, **settings), edges)
    check_against_scipy(*called("bessel", 2, analog=True, **settings), edges)


ROOTS = (np.array([0.3, -0.6]), np.array([0.5, -0.4, 0.1]), number(2.0))
MATRICES = (
    np.array([[-1, 0.5, 0], [0.3, -2, 0.4], [0, 0.2, -0.7]]),
    *(draw(3, 2), draw(2, 3), draw(2, 2)),
)
DESIGNS = {
    "iirnotch": (called("iirnotch"), (number(0.3), number(5.0), number(2.0))),
    "iirpeak": (called("iirpeak"), (number(0.3), number(5.0), number(2.0))),
    "butter with fs": (
        (lambda w, fs: signal.butter(2, w, fs=fs), lambda w, fs: theirs.butter(2, w.item(), fs=fs.item())),
        (number(3.0), number(22.0)),
    ),
    "firwin": (called("firwin", 7), (number(0.3),)),
    "firwin of a band": (called("firwin", 7, pass_zero="bandpass", fs=3.0), (np.array([0.3, 0.9]),)),
    "firwin of a width": (
        (lambda c, w: signal.firwin(7, c, width=w), lambda c, w: theirs.firwin(7, c.item(), width=w.item())),
        (number(0.5), number(0.4)),
    ),
    "firwin2": (called("firwin2", 9, [0.0, 0.3, 0.6, 1.0]), (np.array([1.0, 0.9, 0.2, 0.1]),)),
    "firls": (called("firls", 7), (np.array([0.05, 0.3, 0.5, 0.95]), np.array([1, 0.9, 0.1, 0.2]))),
    "minimum_phase": (called("minimum_phase", n_fft=32), (theirs.firwin(7, 0.3),)),
    "lp2lp": (called("lp2lp"), (draw(2), draw(3), number(1.7))),
    "lp2hp": (called("lp2hp"), (draw(2), draw(3), number(1.7))),
    "lp2bp": (called("lp2bp"), (draw(2), draw(3), number(1.7), number(0.6))),
    "lp2bs": (called("lp2bs"), (draw(2), draw(3), number(1.7), number(0.6))),
    "bilinear": (called("bilinear"), (draw(2), draw(3), number(1.7))),
    "tf2zpk": (called("tf2zpk"), (draw(3), A)),
    "zpk2tf": (called("zpk2tf"), ROOTS),
    "zpk2sos": (called("zpk2sos"), ROOTS),
    "tf2sos": (called("tf2sos"), (draw(3), A)),
    "sos2tf": (called("sos2tf"), (SECTIONS,)),
    "sos2zpk": (called("sos2zpk"), (SECTIONS + 0.01 * np.array([1, 2, 3, 0, 2, 1]),)),
    "tf2ss": (called("tf2ss"), (draw(2, 3), 2 * A)),
    "ss2tf": (called("ss2tf", input=1), MATRICES),
    "freqz": (called("freqz", worN=5), (B, A)),
    "freqz at frequencies": (called("freqz", fs=3.0), (B, A, draw(3))),
    "freqz of several": (called("freqz", worN=4), (draw(3, 2, 1),)),
    "freqz_zpk": (called("freqz_zpk", worN=4), ROOTS),
    "freqs": (called("freqs"), (B, A, draw(3))),
    "freqs_zpk": (called("freqs_zpk"), (*ROOTS, draw(3))),
    "group_delay": (
        (lambda b, a: signal.group_delay((b, a), 4), lambda b, a: theirs.group_delay((b, a), 4)),
        (draw(2), A),
    ),
    "chirp": (called("chirp", method="hyperbolic"), (draw(4), number(1.0), number(2.0), number(1.4))),
    "chirp of one frequency": (called("chirp", method="log"), (draw(4), number(1.0), number(2.0), number(1.0))),
    "sweep_poly": (called("sweep_poly"), (draw(4), draw(3))),
    "gausspulse": (called("gausspulse", retquad=True, retenv=True), (draw(3) / 3, number(3.0), number(0.6))),
    "sawtooth": (called("sawtooth"), (draw(5) * 3, number(0.3))),
    "square": (called("square"), (draw(5) * 3, number(0.3))),
}


@pytest.mark.parametrize("case", DESIGNS)
def test_designs_and_forms_have_scipys_values_and_derivatives(case: str) -> None:
    """Filters in other forms, their responses, and signals by formulas."""
    (ours, scipys), args = DESIGNS[case]
    check_against_scipy(ours, scipys, *args, exact=1e-9)


@pytest.mark.parametrize("method", ["zoh", "foh", "bilinear"])
def test_systems_are_discretised_with_derivatives(method: str) -> None:
    """A system in discrete time is differentiated by the one in continuous time and by the step."""
    check_against_scipy(
        lambda a, b, c, d, dt: signal.cont2discrete((a, b, c, d), dt, method),
        lambda a, b, c, d, dt: theirs.cont2discrete((a, b, c, d), dt, method),
        *MATRICES,
        number(0.3),
        exact=1e-9,
    )


def test_responses_of_systems_are_differentiated() -> None:
    """Responses over time, in continuous and in discrete time, with the times that follow from the system."""
    times = np.linspace(0, 1, 4)
    num, den = draw(2), np.array([1.0, 3.0, 1.2])
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (lambda m, a, b, c, d, u, x: m.lsim((a, b, c, d), u, times, x), (*MATRICES, draw(4, 2), draw(3))),
        (lambda m, n, d: m.impulse((n, d), N=4), (num, den)),
        (lambda m, n, d: m.step((n, d), N=4), (num, den)),
        (lambda m, a, b, u: m.dlsim((a, b, np.eye(1, 3), np.zeros((1, 2)), 0.5), u), (*MATRICES[:2], draw(4, 2))),
        (lambda m, n, d: m.dstep((n, d, 0.5), n=4), (num, den / 3)),
        (lambda m, n, d: m.bode((n, d), n=4), (num, den)),
        (lambda m, n, d, w: m.dfreqresp((n, d, 0.5), w), (num, den, np.abs(draw(3)))),
    ]
    for function, args in cases:
        check_against_scipy(
            lambda *a, f=function: f(signal, *a), lambda *a, f=function: f(theirs, *a), *args, exact=1e-9
        )


def test_nested_lists_hold_tensors() -> None:
    """Coefficients may be lists of numbers and tensors."""
    gradient = gt.grad(lambda decay: signal.lfilter([1.0], [1.0, -decay], [1.0, 0.0, 0.0])[2])(gt.tensor(0.5))
    assert float(gradient) == pytest.approx(1.0)


PEAKS = np.array([0.03, 1.31, 0.42, 2.27, 1.08, 1.64, 0.21, 0.93, -0.35, 0.52])


@pytest.mark.parametrize("rel_height", [0.5, 0.8])
def test_properties_of_peaks(rel_height: float) -> None:
    """Heights, thresholds, prominences and widths are differentiated; the places are SciPy's."""
    settings = {"height": 0.3, "threshold": 0.1, "prominence": 0.2, "width": 0.1, "rel_height": rel_height}
    floats = (
        "peak_heights",
        "left_thresholds",
        "right_thresholds",
        "prominences",
        "widths",
        "width_heights",
        "left_ips",
    )

    def measured(module: Any) -> Any:
        return lambda x: [module.find_peaks(x, **settings)[1][name] for name in floats]

    check_against_scipy(measured(signal), measured(theirs), PEAKS)
    peaks, found = signal.find_peaks(gt.tensor(PEAKS), **settings)
    assert peaks.tolist() == theirs.find_peaks(PEAKS, **settings)[0].tolist()
    assert found["left_bases"].tolist() == theirs.find_peaks(PEAKS, **settings)[1]["left_bases"].tolist()
    check_against_scipy(
        lambda x: signal.peak_prominences(x, [3, 7])[0], lambda x: theirs.peak_prominences(x, [3, 7])[0], PEAKS
    )
    check_against_scipy(
        lambda x: signal.peak_widths(x, [3, 7], rel_height), lambda x: theirs.peak_widths(x, [3, 7], rel_height), PEAKS
    )


def test_places_that_are_found_pick_elements() -> None:
    """Functions that return places take tensors with a gradient; compiled, they follow new numbers."""

    def total(x: Any) -> Any:
        peaks, _ = signal.find_peaks(x)
        return np.sum(x[peaks] ** 2) + np.sum(x[signal.argrelextrema(x, np.less)] ** 3)

    compiled = gt.jit(gt.grad(total))
    for x in (PEAKS, PEAKS[::-1].copy(), np.sin(np.arange(10.0) ** 2)):
        expected = np.zeros(10)
        peaks, valleys = theirs.find_peaks(x)[0], theirs.argrelmin(x)[0]
        expected[peaks], expected[valleys] = 2 * x[peaks], 3 * x[valleys] ** 2
        np.testing.assert_allclose(gt.grad(total)(x), expected)
        np.testing.assert_allclose(compiled(x), expected)


def test_what_has_no_derivative_says_why() -> None:
    """Tracked tensors are refused with the reason, and wrong arguments with what is accepted."""
    assert "chooses among the gains" in refuses(signal.place_poles, draw(2, 2), draw(2, 1), [1.0, 2.0])
    assert "takes bare arrays" in refuses(theirs.ShortTimeFFT(np.ones(4), 2, 1.0).stft, draw(9))
    assert "padtype='left'; accepted are 'odd'" in refuses(signal.filtfilt, B, A, draw(30), padtype="left")
    assert "more than padlen=12" in refuses(signal.filtfilt, B, A, draw(9))
    assert "cut-off frequencies may be" in refuses(signal.ellip, 2, number(1.0), 30.0, 0.3)
    with pytest.raises(ValueError, match="between 0 and"):
        signal.butter(2, gt.tensor(1.5))
