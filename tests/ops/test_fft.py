"""Fourier transforms, beyond what the table's own tests say of the rows they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.ops import fft as fourier

from .cases import assert_close
from .differentiation import assert_differentiates, assert_values_are_numpys, in_the_plane

X = np.random.default_rng(4).normal(size=(3, 4, 5))
ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
TWO_AXES = ["fft2", "ifft2", "rfft2", "irfft2"]
SEVERAL_AXES = ["fftn", "ifftn", "rfftn", "irfftn"]
REAL_ONLY = {"rfft", "ihfft", "rfft2", "rfftn"}
norms = pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])


def inputs(name: str, x: Any = X) -> list[Any]:
    """Real numbers, and complex ones where the transform takes them."""
    return [x] if name in REAL_ONLY else [x, in_the_plane(x)]


class TestOneAxis:
    @norms
    @pytest.mark.parametrize("name", ONE_AXIS)
    @pytest.mark.parametrize(("n", "axis"), [(None, -1), (3, 0), (5, 0), (4, 1), (7, 2), (1, 1), (2, -2)])
    def test_value_is_numpys(self, name: str, n: int | None, axis: int, norm: str | None) -> None:
        """Whatever length, axis and scale: NumPy's numbers, in single precision too."""
        function = lambda x: getattr(np.fft, name)(x, n, axis, norm)
        for x in inputs(name):
            assert_values_are_numpys(function, x)
            single = x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)
            assert_values_are_numpys(function, single, tolerance=1e-5)

    @norms
    @pytest.mark.parametrize("name", ONE_AXIS)
    @pytest.mark.parametrize(("n", "axis"), [(None, 0), (3, 1), (6, 1)])
    def test_derivatives(self, name: str, n: int | None, axis: int, norm: str | None) -> None:
        """Cut, filled up or as long as it is: both modes, second order and batches of every transform."""
        for x in inputs(name, X[:, :, 0]):
            assert_differentiates(lambda x: getattr(np.fft, name)(x, n, axis, norm), x, step=1.0)

    @pytest.mark.parametrize("name", ONE_AXIS)
    def test_single_precision_stays(self, name: str) -> None:
        """The gradient of single precision is in single precision."""
        gradient = gt.grad(lambda x: np.sum(np.abs(getattr(np.fft, name)(x)) ** 2))(X.astype(np.float32))
        assert gradient.dtype == np.float32
        expected = gt.grad(lambda x: np.sum(np.abs(getattr(np.fft, name)(x)) ** 2))(X)
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)


class TestSeveralAxes:
    @norms
    @pytest.mark.parametrize("name", TWO_AXES)
    @pytest.mark.parametrize(("s", "axes"), [(None, (-2, -1)), ((3, 6), (0, 1)), ((2, -1), (2, 0))])
    def test_two(self, name: str, s: Any, axes: Any, norm: str | None) -> None:
        """Whatever lengths, axes and scale: NumPy's numbers."""
        for x in inputs(name):
            assert_values_are_numpys(lambda x: getattr(np.fft, name)(x, s, axes, norm), x)

    @norms
    @pytest.mark.parametrize("name", SEVERAL_AXES)
    @pytest.mark.parametrize(("s", "axes"), [(None, None), (None, (1,)), ((2, 6, 3), (2, 0, 1)), ((-1, 4), (0, -1))])
    def test_any_number(self, name: str, s: Any, axes: Any, norm: str | None) -> None:
        """Whatever lengths, axes and scale: NumPy's numbers."""
        for x in inputs(name):
            assert_values_are_numpys(lambda x: getattr(np.fft, name)(x, s, axes, norm), x)

    @pytest.mark.parametrize("name", [*TWO_AXES, *SEVERAL_AXES])
    def test_derivatives(self, name: str) -> None:
        """Both modes, second order and batches of every transform."""
        for x in inputs(name, X[:, :2, :3]):
            assert_differentiates(lambda x: getattr(np.fft, name)(x, norm="ortho"), x, step=1.0)

    @pytest.mark.parametrize("name", SEVERAL_AXES)
    def test_lengths_without_axes_are_deprecated(self, name: str) -> None:
        """NumPy deprecates lengths without axes; so is it here, with NumPy's result."""
        with pytest.warns(DeprecationWarning, match="axes"):
            expected = getattr(np.fft, name)(X, s=(3, 4))
        with pytest.warns(DeprecationWarning, match="axes="):
            actual = getattr(np.fft, name)(gt.tensor(X), s=(3, 4))
        np.testing.assert_allclose(actual.numpy(), expected)


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    n=st.one_of(st.none(), st.integers(1, 8)),
    name=st.sampled_from(ONE_AXIS),
    norm=st.sampled_from([None, "ortho", "forward"]),
    data=st.data(),
)
def test_transform_and_gradient_are_adjoint(
    shape: list[int], n: int | None, name: str, norm: str | None, data: Any
) -> None:
    """<w, F x> = <F^H w, x> for every shape, length and axis."""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    if name in ("irfft", "hfft") and n is None and shape[axis] == 1:
        n = 1
    x = np.random.default_rng(len(shape)).normal(size=shape)
    x = x if name in REAL_ONLY else in_the_plane(x)
    value, pull_back = gt.vjp(lambda x: getattr(np.fft, name)(x, n, axis, norm), x)
    weights = np.cos(value.real) if value.dtype.kind != "c" else in_the_plane(np.cos(value.real))
    (gradient,) = pull_back(weights)
    assert (gradient.shape, gradient.dtype) == (x.shape, x.dtype)
    assert np.sum(np.real(np.conj(weights) * value)) == pytest.approx(np.sum(np.real(np.conj(gradient) * x)), abs=1e-9)


class TestIdentities:
    @pytest.mark.parametrize("length", [4, 5])
    def test_round_trips(self, length: int) -> None:
        """A transform and its inverse have the identity as derivative, of even and of odd length."""
        x, weights = X[..., :length], np.cos(X[..., :length])
        trips = [
            lambda x: np.fft.irfft(np.fft.rfft(x), length),
            lambda x: np.fft.hfft(np.fft.ihfft(x), length),
            lambda x: np.fft.irfftn(np.fft.rfftn(x), x.shape, axes=(0, 1, 2)),
            lambda x: np.fft.ifft2(np.fft.fft2(x)).real,
        ]
        for trip in trips:
            value, pull_back = gt.vjp(trip, x)
            assert_close([value, *pull_back(weights)], [x, weights], 1e-12)

    def test_convolution_theorem(self) -> None:
        """The gradient through a product of spectra is that of the convolution itself."""
        signal, kernel = X[0, 0], X[1, 1, :3]

        def by_spectra(signal: Any, kernel: Any) -> Any:
            return np.fft.irfft(np.fft.rfft(signal, 7) * np.fft.rfft(kernel, 7), 7)

        assert_close([by_spectra(signal, kernel)], [np.convolve(signal, kernel)], 1e-12)
        weights = np.cos(np.arange(7.0))
        by_signal, by_kernel = gt.vjp(by_spectra, signal, kernel)[1](weights)
        assert_close([by_signal], [np.correlate(weights, kernel, "valid")], 1e-12)
        assert_close([by_kernel], [np.correlate(weights, signal, "valid")], 1e-12)

    def test_power_of_a_signal(self) -> None:
        """By Parseval the energy of the spectrum has the gradient 2 x, halves counted twice or not."""
        gradient = gt.grad(lambda x: np.sum(np.abs(np.fft.fft(x, norm="ortho")) ** 2))(X)
        np.testing.assert_allclose(gradient, 2 * X)


class TestFrequencies:
    @pytest.mark.parametrize("axes", [None, 0, (1, 2), -1])
    def test_shifts(self, axes: Any) -> None:
        """Shifts are NumPy's, undo each other, and their gradients do."""
        assert_values_are_numpys(lambda x: np.fft.fftshift(x, axes), X)
        assert_values_are_numpys(lambda x: np.fft.ifftshift(x, axes), X)
        assert_differentiates(lambda x: np.fft.fftshift(x, axes), X[:, :2, :3], step=1.0)
        value, pull_back = gt.vjp(lambda x: np.fft.ifftshift(np.fft.fftshift(x, axes), axes), X)
        assert_close([value, *pull_back(X)], [X, X], 0.0)

    @pytest.mark.parametrize("n", [1, 4, 5])
    def test_frequencies(self, n: int) -> None:
        """Frequencies are NumPy's, and have a gradient with respect to the distance of samples."""
        np.testing.assert_allclose(fourier.fftfreq(n, 0.25), np.fft.fftfreq(n, 0.25))
        np.testing.assert_allclose(fourier.rfftfreq(n, 0.25), np.fft.rfftfreq(n, 0.25))
        for function in (fourier.fftfreq, fourier.rfftfreq):
            slope = gt.grad(lambda d, f=function: np.sum(f(n, d) ** 2))(0.5)
            assert slope == pytest.approx(-4 * np.sum(np.asarray(function(n, 0.5)) ** 2))


class TestArguments:
    def test_written_into_a_tensor(self) -> None:
        """out= a tensor is that tensor with the result."""
        out = gt.tensor(np.zeros((3, 4, 5), complex))
        assert np.fft.fft(gt.tensor(X), out=out) is out
        np.testing.assert_allclose(out.numpy(), np.fft.fft(X))

    def test_written_into_an_array(self) -> None:
        """out= an array takes the values of a tensor that is not tracked, and refuses those of one that is."""
        out = np.zeros((3, 4, 5), complex)
        np.fft.fft(gt.tensor(X), out=out)
        np.testing.assert_allclose(out, np.fft.fft(X))
        with pytest.raises(gt.DetachError):
            gt.grad(lambda x: np.sum(np.abs(np.fft.fft(x, out=out))))(X)

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda x: np.fft.fft(x, 0), ValueError, r"data points \(0\)(.|\n)*\(3, 4, 5\)"),
            (lambda x: np.fft.fft(x, axis=3), IndexError, "axis 3"),
            (lambda x: np.fft.fft(x, norm="unit"), ValueError, "norm='unit' is not a scale"),
            (lambda x: np.fft.hfft(x, norm="unit"), ValueError, "norm='unit' is not a scale"),
            (lambda x: np.fft.fftn(x, (2, 3), (0,)), ValueError, r"s=\(2, 3\) and axes=\(0,\) differ"),
            (lambda x: np.fft.fft(x, 2.5), TypeError, "integer"),
            (lambda x: np.fft.rfft(x * 1j), TypeError, "rfft"),
            (lambda x: np.fft.irfft(x[..., :1]), ValueError, "data points"),
        ],
    )
    def test_refusals_are_numpys(self, call: Any, error: type[Exception], message: str) -> None:
        """What NumPy refuses is refused with its class."""
        with pytest.raises(error):
            call(X)
        with pytest.raises(error, match=message):
            call(gt.tensor(X))

    @norms
    @pytest.mark.parametrize(("n", "axis"), [(2048, 1), (2049, 1), (5001, 1), (2048, 0)])
    def test_long_transforms_of_real_numbers_are_numpys(self, n: int, axis: int, norm: str | None) -> None:
        """Half of long transforms is the conjugate of the other half, whatever length, axis and scale."""
        x = np.random.default_rng(5).normal(size=(2, 3000))
        x = x if axis else x.T
        assert_values_are_numpys(lambda x: np.fft.fft(x, n, axis, norm), x, tolerance=1e-11)
        transform = lambda x: np.fft.fft(x, n, axis, norm)
        value, pull_back = gt.vjp(transform, x)
        weights = in_the_plane(np.random.default_rng(6).normal(size=value.shape))
        _, tangent = gt.jvp(transform, (x,), (np.cos(x),))
        left = np.sum(np.real(np.conj(weights) * tangent))
        assert left == pytest.approx(np.sum(pull_back(weights)[0] * np.cos(x)), rel=1e-10)

    def test_nothing_gives_nothing(self) -> None:
        """A stack of no signals has a transform and a gradient without elements."""
        value, pull_back = gt.vjp(np.fft.rfft, np.zeros((0, 4)))
        assert value.shape == (0, 3)
        assert pull_back(value)[0].shape == (0, 4)
