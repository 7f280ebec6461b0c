"""Convolution and its transpose: against sums written out, finite differences, and themselves."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.ops import convolution

from .differentiation import assert_differentiates

F = gt.nn.functional
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSE = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def random(*shape: int, seed: int = 0, dtype: Any = float) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def meetings(inputs: Any, taps: Any, outputs: Any, stride: Any, low: Any, dilation: Any) -> Any:
    """Every output, tap and input that meet, as index tuples; inputs that are not there are left out."""
    for output in itertools.product(*map(range, outputs)):
        for tap in itertools.product(*map(range, taps)):
            place = [s * q + d * k - p for s, q, d, k, p in zip(stride, output, dilation, tap, low, strict=True)]
            if all(0 <= i < n for i, n in zip(place, inputs, strict=True)):
                yield output, tap, tuple(place)


def naive(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The convolution as a sum over everything that meets."""
    inputs, taps = x.shape[2:], w.shape[2:]
    outputs = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(inputs, padding, dilation, taps, stride, strict=True)
    ]
    out = np.zeros((x.shape[0], w.shape[0], *outputs), np.result_type(x, w))
    size, width = w.shape[0] // groups, w.shape[1]
    for output, tap, place in meetings(inputs, taps, outputs, stride, padding, dilation):
        for o in range(w.shape[0]):
            first = o // size * width
            channels = x[(slice(None), slice(first, first + width), *place)]
            out[(slice(None), o, *output)] += channels @ w[(o, slice(None), *tap)]
    return out


@st.composite
def convolutions(draw: Any) -> Any:
    """Arrays and arguments of a convolution that has an output."""
    axes = draw(st.integers(1, 3))
    each = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(axes))
    stride, padding, dilation, taps = each(1, 3), each(0, 2), each(1, 2), each(1, 3)
    inputs = tuple(
        draw(st.integers(max(1, d * (k - 1) + 1 - 2 * p), d * (k - 1) + 4))
        for d, k, p in zip(dilation, taps, padding, strict=True)
    )
    groups, c, o, n = (draw(st.integers(1, 2)) for _ in range(4))
    x = random(n, groups * c, *inputs, seed=1)
    w = random(groups * o, c, *taps, seed=2)
    return x, w, {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


@settings(max_examples=80, deadline=None)
@given(convolutions())
def test_convolution_is_the_sum_written_out(case: Any) -> None:
    """For any stride, padding, dilation and number of groups the values are those of the definition."""
    x, w, params = case
    expected = naive(x, w, **params)
    actual = CONV[x.ndim - 2](x, w, **params)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-11)


@settings(max_examples=60, deadline=None)
@given(convolutions())
def test_transposed_convolution_is_the_transpose(case: Any) -> None:
    """<conv(x), y> = <x, conv_transpose(y)>: with the same weight each is the adjoint of the other."""
    x, w, params = case
    axes = x.ndim - 2
    y = random(*CONV[axes](x, w, **params).shape, seed=3)
    least = [
        s * (q - 1) - 2 * p + d * (k - 1) + 1
        for s, q, p, d, k in zip(
            params["stride"], y.shape[2:], params["padding"], params["dilation"], w.shape[2:], strict=True
        )
    ]
    extra = tuple(n - m for n, m in zip(x.shape[2:], least, strict=True))  # what the stride had left over
    if min(least) < 1 or any(e >= max(s, d) for e, s, d in zip(extra, params["stride"], params["dilation"])):
        return
    back = TRANSPOSE[axes](y, w, output_padding=extra, **params)
    assert back.shape == x.shape
    assert np.sum(CONV[axes](x, w, **params) * y) == pytest.approx(np.sum(x * back), rel=1e-9, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(convolutions())
def test_gradients_are_those_of_the_sum_written_out(case: Any) -> None:
    """The gradient of both arguments is the sum over everything that meets, of the cotangent and the other one."""
    x, w, params = case
    axes = x.ndim - 2
    out, pull_back = gt.vjp(lambda x, w: CONV[axes](x, w, **params), x, w)
    g = random(*out.shape, seed=4)
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    size, width = w.shape[0] // params["groups"], w.shape[1]
    places = meetings(x.shape[2:], w.shape[2:], g.shape[2:], params["stride"], params["padding"], params["dilation"])
    for output, tap, place in places:
        for o in range(w.shape[0]):
            group = slice(o // size * width, o // size * width + width)
            weight, cotangent = w[(o, slice(None), *tap)], g[(slice(None), o, *output)]
            dx[(slice(None), group, *place)] += np.outer(cotangent, weight)
            dw[(o, slice(None), *tap)] += cotangent @ x[(slice(None), group, *place)]
    for actual, expected in zip(pull_back(g), (dx, dw), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_convolution_differentiates(axes: int) -> None:
    """Both modes, the second order and a mapped batch hold for input, weight and bias."""
    x, w, b = random(2, 2, *[4, 3, 2][:axes]), random(4, 1, *[2, 2, 1][:axes], seed=1), random(4, seed=2)
    assert_differentiates(lambda x, w, b: CONV[axes](x, w, b, stride=2, padding=1, groups=2), x, w, b)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_convolution_differentiates(axes: int) -> None:
    """Both modes, the second order and a mapped batch hold for the transposed convolution too."""
    x, w, b = random(2, 2, *[3, 2, 2][:axes]), random(2, 2, *[2, 3, 1][:axes], seed=1), random(4, seed=2)
    assert_differentiates(
        lambda x, w, b: TRANSPOSE[axes](x, w, b, stride=2, output_padding=1, groups=2, dilation=1), x, w, b
    )


def test_convolution_has_derivatives_of_third_order() -> None:
    """A cubic made of two convolutions has the third derivative that differences of the second find."""
    w = random(1, 1, 2, seed=1)

    def f(x: Any) -> Any:
        return np.sum(F.conv1d(x, w) * F.conv1d(x, w, padding=1)[:, :, :2] * F.conv1d(x * x, w))

    x, d, step = random(1, 1, 3), random(1, 1, 3, seed=5), 1e-5
    second = lambda x: gt.jvp(gt.grad(f), (x,), (d,))[1]
    third = gt.jvp(second, (x,), (d,))[1]
    np.testing.assert_allclose(third, (second(x + step * d) - second(x - step * d)) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("length", [4, 5])
@pytest.mark.parametrize("taps", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same_keeps_the_length(length: int, taps: int, dilation: int) -> None:
    """padding="same" gives the input's length; of an odd number of zeros the smaller half is in front."""
    x, w = random(1, 1, length), random(1, 1, taps, seed=1)
    total = dilation * (taps - 1)
    padded = np.pad(x, [(0, 0), (0, 0), (total // 2, total - total // 2)])
    actual = F.conv1d(x, w, padding="same", dilation=dilation)
    assert actual.shape == x.shape
    np.testing.assert_allclose(actual, F.conv1d(padded, w, padding="valid", dilation=dilation), rtol=1e-13)


def test_one_example_needs_no_axis_of_its_own() -> None:
    """An input without the axis of examples gives an output without it, forward and back."""
    x, w, b = random(2, 5, 5), random(3, 2, 3, 3, seed=1), random(3, seed=2)
    np.testing.assert_allclose(F.conv2d(x, w, b), F.conv2d(x[None], w, b)[0])
    np.testing.assert_allclose(
        F.conv_transpose2d(x[:, :2], w[:2], b[:2]), F.conv_transpose2d(x[None, :, :2], w[:2], b[:2])[0]
    )
    assert gt.grad(lambda x: F.conv2d(x, w, b).sum())(x).shape == x.shape


def test_examples_in_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few examples are taken together, values and gradients are the same."""
    x, w = random(5, 4, 6, 6), random(6, 2, 3, 3, seed=1)
    f = lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=2)
    whole, whole_back = gt.vjp(f, x, w)
    monkeypatch.setattr(convolution, "CHUNK_BYTES", 1)
    parts, parts_back = gt.vjp(f, x, w)
    np.testing.assert_allclose(parts, whole, rtol=1e-12)
    g = random(*whole.shape, seed=2)
    for a, b in zip(parts_back(g), whole_back(g), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def test_single_precision_stays() -> None:
    """In single precision the value, the gradients and the tangents are in single precision."""
    x, w, b = random(2, 2, 5, dtype="f"), random(3, 2, 2, seed=1, dtype="f"), random(3, seed=2, dtype="f")
    f = lambda x, w, b: F.conv1d(x, w, b, padding=1)
    value, pull_back = gt.vjp(f, x, w, b)
    assert value.dtype == np.float32
    assert {g.dtype for g in pull_back(value)} == {np.dtype("float32")}
    assert gt.jvp(f, (x, w, b), (x, w, b))[1].dtype == np.float32


def test_no_examples_and_no_channels() -> None:
    """An empty batch gives an empty result, and gradients of zero for the weight."""
    x, w = np.zeros((0, 2, 4)), random(3, 2, 2)
    assert F.conv1d(x, w).shape == (0, 3, 3)
    np.testing.assert_array_equal(gt.grad(lambda w: F.conv1d(x, w).sum())(w), np.zeros_like(w))


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0)])
def test_mapped_over_images_kernels_or_both(in_axes: Any) -> None:
    """vmap over either argument is the loop, and stays one call of BLAS a chunk."""
    x, w = random(3, 2, 2, 4, 4), random(3, 4, 1, 2, 2, seed=1)
    f = lambda x, w: F.conv2d(x, w, padding=1, groups=2)
    chosen = [a if axis is not None else a[0] for a, axis in zip((x, w), in_axes, strict=True)]
    expected = [
        f(*[a[i] if axis is not None else a for a, axis in zip(chosen, in_axes, strict=True)]) for i in range(3)
    ]
    np.testing.assert_allclose(gt.vmap(f, in_axes)(*chosen), np.stack(expected), rtol=1e-12)


X, W = np.ones((2, 4, 6, 6)), np.ones((8, 4, 3, 3))

REFUSED = {
    "rank of the input": (lambda: F.conv2d(X[0, 0], W), gt.ShapeError, r"input has shape \(6, 6\)"),
    "rank of the weight": (lambda: F.conv2d(X, W[0]), gt.ShapeError, r"weight has shape \(4, 3, 3\)"),
    "channels last": (lambda: F.conv2d(np.moveaxis(X, 1, -1), W), gt.ShapeError, "np.moveaxis"),
    "channels": (lambda: F.conv2d(X[:, :3], W), gt.ShapeError, "3 channels .* takes 4"),
    "groups": (lambda: F.conv2d(X, np.ones((7, 2, 3, 3)), groups=2), gt.ShapeError, "groups=2 does not"),
    "bias": (lambda: F.conv2d(X, W, np.ones((8, 1, 1))), gt.ShapeError, r"bias has shape \(8, 1, 1\)"),
    "kernel too long": (lambda: F.conv2d(X, np.ones((8, 4, 7, 7))), gt.ShapeError, "longer than the input"),
    "no taps": (lambda: F.conv2d(X, np.ones((8, 4, 0, 3))), gt.ShapeError, "no taps"),
    "stride": (lambda: F.conv2d(X, W, stride=0), gt.OperandError, "stride=0"),
    "fraction": (lambda: F.conv2d(X, W, stride=1.5), gt.OperandError, "not of integers"),
    "too many": (lambda: F.conv2d(X, W, dilation=(1, 1, 1)), gt.OperandError, "2 axes"),
    "padding": (lambda: F.conv2d(X, W, padding=-1), gt.OperandError, "padding=-1"),
    "word": (lambda: F.conv2d(X, W, padding="full"), gt.OperandError, "'same', 'valid'"),
    "same with stride": (lambda: F.conv2d(X, W, stride=2, padding="same"), gt.OperandError, "stride=1"),
    "transposed channels": (lambda: F.conv_transpose2d(X, W), gt.ShapeError, "takes 8"),
    "output padding": (lambda: F.conv_transpose2d(X, W[:4], output_padding=1), gt.OperandError, "output_padding=1"),
    "transposed padding": (lambda: F.conv_transpose2d(X, W[:4], padding=9), gt.ShapeError, "less padding"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_what_was_given(case: str) -> None:
    """What does not fit is refused with what was given, what is accepted and a fix."""
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words) as refusal:
        call()
    assert "fix" in str(refusal.value)
