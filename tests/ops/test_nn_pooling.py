"""Pooling: against windows written out, finite differences, and at ties, borders and NaN."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt

from .differentiation import assert_differentiates

F = gt.nn.functional
MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
MEAN = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE_MAX = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
ADAPTIVE_MEAN = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}


def distinct(*shape: int, seed: int = 0) -> Any:
    """Numbers that are all different, in random order."""
    count = int(np.prod(shape))
    return (np.random.default_rng(seed).permutation(count) / max(count, 1) - 0.4).reshape(shape)


def members(n: int, size: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> list[list[int]]:
    """The elements of each window along one axis, padding included, as positions that may lie outside."""
    span, windows, start = dilation * (size - 1) + 1, [], -padding
    while start + span <= n + padding or (ceil_mode and start < n and start + span < n + padding + stride):
        windows.append([start + dilation * k for k in range(size)])
        start += stride
    return windows


def pooled(x: Any, windows: list[list[list[int]]], summary: Any) -> Any:
    """`summary` of the elements of each window that are there."""
    axes = len(windows)
    out = np.empty((*x.shape[:-axes], *map(len, windows)))
    for place in itertools.product(*[range(len(along)) for along in windows]):
        inside = [
            [i for i in along[q] if 0 <= i < n] for along, q, n in zip(windows, place, x.shape[-axes:], strict=True)
        ]
        chosen = x[(..., *np.ix_(*inside))].reshape((*x.shape[:-axes], -1))
        out[(..., *place)] = summary(chosen, place)
    return out


@st.composite
def poolings(draw: Any, dilated: bool) -> Any:
    """An array and the arguments of a pooling that has an output."""
    axes = draw(st.integers(1, 3))
    each = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(axes))
    size, stride = each(1, 3), each(1, 3)
    dilation = each(1, 2) if dilated else (1,) * axes
    padding = tuple(draw(st.integers(0, k // 2)) for k in size)
    shape = tuple(
        draw(st.integers(max(1, d * (k - 1) + 1 - 2 * p), d * (k - 1) + 4))
        for d, k, p in zip(dilation, size, padding, strict=True)
    )
    return distinct(2, 1, *shape), size, stride, padding, dilation, draw(st.booleans())


def windows_of(x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> list[Any]:
    lengths = x.shape[-len(size) :]
    return [members(*each, ceil_mode) for each in zip(lengths, size, stride, padding, dilation, strict=True)]


@settings(max_examples=80, deadline=None)
@given(poolings(dilated=True))
def test_max_pool_is_the_largest_of_each_window(case: Any) -> None:
    """For any size, stride, padding, dilation and rounding the values are those of windows written out."""
    x, size, stride, padding, dilation, ceil_mode = case
    axes, windows = len(size), windows_of(*case)
    lengths = x.shape[-axes:]
    if any(not any(0 <= i < n for i in each) for along, n in zip(windows, lengths, strict=True) for each in along):
        with pytest.raises(gt.ShapeError, match="without any element"):
            MAX[axes](x, size, stride, padding, dilation, ceil_mode)
        return
    expected = pooled(x, windows, lambda chosen, place: chosen.max(-1))
    out, positions = MAX[axes](x, size, stride, padding, dilation, ceil_mode, return_indices=True)
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out, expected)
    flat = x.reshape((*x.shape[:2], -1))
    np.testing.assert_array_equal(
        np.take_along_axis(flat, positions.reshape((*x.shape[:2], -1)), -1).reshape(out.shape), expected
    )


@settings(max_examples=80, deadline=None)
@given(poolings(dilated=False), st.booleans())
def test_avg_pool_is_the_mean_of_each_window(case: Any, count_include_pad: bool) -> None:
    """Padding counts as zeros or not at all, and what lies beyond it never counts."""
    x, size, stride, padding, _, ceil_mode = case
    axes, windows = len(size), windows_of(*case)

    def mean(chosen: Any, place: Any) -> Any:
        counted = [
            sum(i < n + p for i in along[q])
            for along, q, n, p in zip(windows, place, x.shape[-axes:], padding, strict=True)
        ]
        return chosen.sum(-1) / (np.prod(counted) if count_include_pad else chosen.shape[-1])

    expected = pooled(x, windows, mean)
    actual = MEAN[axes](x, size, stride, padding, ceil_mode, count_include_pad)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=1, max_size=3))
def test_adaptive_pooling_divides_the_axes(lengths: Any) -> None:
    """Window q of m over n elements reaches from floor(q n / m) to ceil((q + 1) n / m), for means and maxima."""
    axes, wanted = len(lengths), tuple(m for _, m in lengths)
    x = distinct(2, 1, *[n for n, _ in lengths])
    windows = [[list(range(q * n // m, -(-(q + 1) * n // m))) for q in range(m)] for n, m in lengths]
    largest = pooled(x, windows, lambda chosen, place: chosen.max(-1))
    means = pooled(x, windows, lambda chosen, place: chosen.mean(-1))
    np.testing.assert_array_equal(ADAPTIVE_MAX[axes](x, wanted), largest)
    np.testing.assert_allclose(ADAPTIVE_MEAN[axes](x, wanted), means, rtol=1e-12, atol=1e-14)


DIFFERENTIATED = {
    "max": lambda x: F.max_pool2d(x, 2),
    "max, overlapping": lambda x: F.max_pool2d(x, 3, 1, 1),
    "max, dilated": lambda x: F.max_pool2d(x, 2, 1, 1, 2, True),
    "mean": lambda x: F.avg_pool2d(x, (2, 3), (1, 2)),
    "mean, padded": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "mean, of a given divisor": lambda x: F.avg_pool2d(x, 2, divisor_override=3),
    "adaptive max": lambda x: F.adaptive_max_pool2d(x, (3, 2)),
    "adaptive mean": lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
    "adaptive mean, even": lambda x: F.adaptive_avg_pool2d(x, (2, 1)),
    "adaptive mean, more than there is": lambda x: F.adaptive_avg_pool2d(x, 6),
    "max of signals": lambda x: F.max_pool1d(x[0], 2, 1),
    "mean of volumes": lambda x: F.avg_pool3d(x[None], (1, 2, 2)),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_pooling_differentiates(name: str) -> None:
    """Both modes agree with finite differences and with each other; so do a mapped batch and the second order."""
    f = DIFFERENTIATED[name]
    assert_differentiates(lambda x: f(x) ** 2, distinct(1, 2, 4, 5))


def test_the_first_of_equal_elements_gets_the_gradient() -> None:
    """Ties are not shared: in each window the first of the largest, row by row, is the one that is taken."""
    x = np.zeros((1, 1, 2, 4))
    expected = [[[[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]]
    np.testing.assert_array_equal(gt.grad(lambda x: F.max_pool2d(x, 2).sum())(x), expected)
    assert F.max_pool2d(x, 2, return_indices=True)[1].tolist() == [[[[0, 2]]]]


def test_overlapping_windows_add_their_gradients() -> None:
    """An element that is the largest of two windows gets both gradients."""
    np.testing.assert_array_equal(
        gt.grad(lambda x: F.max_pool1d(x, 2, 1).sum())(np.array([[[0.0, 5.0, 1.0]]])), [[[0.0, 2.0, 0.0]]]
    )


def test_padding_never_wins() -> None:
    """Where all elements are negative, or -inf, a padded window still takes one that is there."""
    x = np.array([[[-3.0, -2.0, -np.inf]]])
    out, positions = F.max_pool1d(x, 2, 2, 1, return_indices=True)
    assert out.tolist() == [[[-3.0, -2.0]]]
    assert F.max_pool1d(np.full((1, 1, 3), -np.inf), 3, 2, 1, return_indices=True)[1].tolist() == [[[0, 1]]]
    assert positions.tolist() == [[[0, 1]]]


def test_nan_is_the_largest() -> None:
    """A NaN in a window is its result, wherever in the window it is; of several, the first is taken."""
    for third in (0.0, np.nan):
        out, positions = F.max_pool1d(np.array([[[1.0, np.nan, third, 2.0]]]), 3, 1, return_indices=True)
        assert np.isnan(out).all()
        assert positions.tolist() == [[[1, 1]]]


def test_integers_can_be_pooled() -> None:
    """The largest of integers is an integer."""
    out = F.max_pool1d(np.array([[[1, 3, 2, 5]]]), 2)
    assert out.tolist() == [[[3, 5]]]
    assert out.dtype.kind == "i"


@pytest.mark.parametrize("f", [F.max_pool2d, F.avg_pool2d, F.adaptive_max_pool2d, F.adaptive_avg_pool2d])
def test_single_precision_and_single_examples(f: Any) -> None:
    """Single precision stays, and an input without the axis of examples gives an output without it."""
    x = distinct(3, 5, 5).astype("f")
    value, pull_back = gt.vjp(lambda x: f(x, 2), x)
    assert value.shape[0] == 3
    np.testing.assert_array_equal(value, f(x[None], 2)[0])
    assert (value.dtype, pull_back(value)[0].dtype) == (np.float32, np.float32)


def test_indices_of_a_single_example() -> None:
    """The positions have the shape of the values, for a single example too."""
    for pool in (F.max_pool1d, F.adaptive_max_pool1d):
        out, positions = pool(distinct(2, 6), 2, return_indices=True)
        assert out.shape == positions.shape


X = np.ones((2, 3, 4, 4))
REFUSED = {
    "rank": (lambda: F.max_pool2d(X[0, 0], 2), gt.ShapeError, r"input has shape \(4, 4\)"),
    "size": (lambda: F.max_pool2d(X, 0), gt.OperandError, "kernel_size=0"),
    "too long": (lambda: F.avg_pool2d(X, 5), gt.ShapeError, "longer than input"),
    "padding": (lambda: F.avg_pool2d(X, 2, padding=2), gt.OperandError, "half the kernel_size"),
    "divisor": (lambda: F.avg_pool2d(X, 2, divisor_override=0), gt.OperandError, "divisor_override=0"),
    "output size": (lambda: F.adaptive_avg_pool2d(X, (1, 2, 3)), gt.OperandError, "output_size"),
    "nothing": (lambda: F.adaptive_max_pool2d(X[:, :, :0], 1), gt.ShapeError, "nothing to pool"),
    "complex": (lambda: F.max_pool2d(X + 0j, 2), gt.OperandError, "max_pool2d: input has dtype complex128"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_what_was_given(case: str) -> None:
    """What does not fit is refused with what was given and what is accepted."""
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        call()
