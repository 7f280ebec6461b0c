"""Keywords of NumPy's functions on tensors: shapes, dtypes and numbers are those that NumPy gives for arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as gt

X = np.random.default_rng(0).normal(size=(3, 4))
NAMES = {"np": np, "X": X, "B": X > 0, "I": np.array([[1, 0, 2, 1]] * 3), "V": X[0] ** 2}

CALLS = """
    np.clip(x, -0.5, 0.5, out=o(3, 4))
    np.clip(x, None, 0.5)
    np.clip(x, a_min=0, a_max=None)
    np.concatenate([x, x], axis=None)
    np.concatenate([x, x], out=o(6, 4))
    np.concatenate([x, x], dtype='float32', casting='same_kind')
    np.stack([x, x], axis=-1, out=o(3, 4, 2))
    np.stack([x, x], dtype='float32')
    np.vstack([x, x], dtype='float32')
    np.mean(x, axis=0, where=B)
    np.mean(x, dtype='float32')
    np.sum(x, axis=(0, 1), keepdims=True, initial=3.0)
    np.sum(x, axis=-1, where=B, initial=1.0)
    np.prod(x, axis=0, where=B, initial=2.0)
    np.max(x, axis=0, where=B, initial=-9.0)
    np.var(x, axis=0, ddof=1, keepdims=True)
    np.std(x, mean=np.mean(X, axis=0, keepdims=True), axis=0)
    np.median(x, axis=(0, 1), keepdims=True)
    np.median(x, axis=0, out=o(4))
    np.quantile(x, [0.2, 0.7], axis=1, method='hazen')
    np.nanmean(x, axis=0, where=B)
    np.nansum(x, axis=0, initial=2.0)
    np.cumsum(x, axis=1, dtype='float32')
    np.cumsum(x, axis=1, out=o(3, 4))
    np.cumulative_sum(x, axis=1, include_initial=True)
    np.cumulative_prod(x, axis=0, dtype='float32', include_initial=True)
    np.dot(x, x.T, out=o(3, 3))
    np.einsum('ij,kj', x, x, optimize=True)
    np.einsum('ij,kj->ik', x, x, out=o(3, 3))
    np.einsum(x, [0, 1], x, [2, 1], [0, 2])
    np.take(x, I, axis=1, mode='wrap')
    np.take(x, [0, 5], mode='clip')
    np.choose([0, 1, 0, 1], [x[0], x[1]], mode='wrap', out=o(4))
    np.compress([1, 0, 1], x, axis=0, out=o(2, 4))
    np.round(x, 1, out=o(3, 4))
    np.trace(x, offset=1, dtype='float32')
    np.diff(x, n=2, axis=0, prepend=0.0, append=x[:1])
    np.gradient(x, 2.0, axis=1, edge_order=2)
    np.argsort(x, axis=0, kind='stable')
    np.sort(x, axis=None)
    np.sort(x, axis=0, stable=True)
    np.partition(x, [1, 2], axis=1)
    np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    np.average(x, axis=1, weights=V, returned=True)
    np.ptp(x, axis=0, keepdims=True)
    np.repeat(x, [1, 2, 3], axis=0)
    np.roll(x, (1, 2), axis=(0, 1))
    np.rot90(x, 3, axes=(1, 0))
    np.tile(x, (2, 1, 2))
    np.squeeze(x[None], axis=0)
    np.moveaxis(x, [0, 1], [1, 0])
    np.expand_dims(x, (0, 2))
    np.broadcast_to(x, (2, 3, 4))
    np.meshgrid(x[0], x[1], indexing='ij', sparse=True)
    np.atleast_3d(x, x[0])
    np.linspace(x[0], x[1], 5, endpoint=False, retstep=True)
    np.linspace(x[0], x[1], 5, axis=-1)
    np.full_like(x, x[0, 0])
    np.ones_like(x, dtype='float32', shape=(2,))
    np.where(B, x, x * 2)
    np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0)
    np.cov(x, bias=True)
    np.corrcoef(x, rowvar=False)
    np.cross(x[:, :3], x[:, 1:])
    np.kron(x, x)
    np.linalg.norm(x, ord=1, axis=0, keepdims=True)
    np.linalg.norm(x, 'nuc')
    np.linalg.svd(x, full_matrices=False)[1]
    np.linalg.qr(x, mode='r')
    np.linalg.pinv(x, rcond=1e-10)
    np.fft.fft(x, n=6, axis=0, norm='ortho')
    np.fft.irfftn(np.fft.rfftn(x), s=(3, 4), axes=(0, 1))
    np.fft.fft(x, out=oc(3, 4))
    np.add(x, 1, out=o(3, 4), where=B)
    np.add(x, 1, o(3, 4))
    np.modf(x)
    np.divmod(x, 0.3)
    np.frexp(x)
    np.interp(x, [0.0, 1.0, 2.0], [1.0, 2.0, 0.0], left=-1.0, right=5.0, period=None)
    np.trapezoid(x, dx=0.5, axis=0)
    np.unwrap(x * 9, discont=2.0, axis=0, period=5.0)
    np.ediff1d(x, to_begin=1.0, to_end=[2.0, 3.0])
    np.convolve(x[0], x[1], 'same')
    np.searchsorted(np.sort(x[0]), x[1], side='right')
    np.isclose(x, x + 1e-09, atol=1e-07)
    np.real_if_close(x + 0j, tol=10)
    np.sinc(x)
    np.i0(x)
    np.angle(x + 1j, deg=True)
    np.percentile(x, 30, axis=0, keepdims=True)
    np.matrix_transpose(x)
    np.linalg.matrix_transpose(x)
    np.permute_dims(x, (1, 0))
    np.unstack(x, axis=1)
    np.concat([x, x], axis=1)
    np.astype(x, 'float32')
    np.vander(x[0], 3, increasing=True)
    np.count_nonzero(x > 0, axis=0, keepdims=True)
    np.digitize(x, [0.0, 1.0], right=True)
    np.bincount([0, 1, 1, 3], weights=x[0], minlength=6)
    np.histogram(x, bins=3, range=(-1, 1), density=True)
    np.select([x > 0, x < -0.5], [x, x * 2], default=9.0)
    np.insert(x, 1, 9.0, axis=1)
    np.delete(x, slice(0, 2), axis=1)
    np.apply_over_axes(np.sum, x, (0, 1))
    np.apply_along_axis(lambda r: r[:2] * 2, 1, x)
    np.block([[x, x], [x, x]])
    np.isin(x, [0.0, 1.0], invert=True)
    np.trim_zeros(x[0])
    np.squeeze(x)
    np.vdot(x, x)
    np.nanpercentile(x, [10, 50], axis=1)
    np.nanmedian(x, axis=0, keepdims=True)
    np.nanvar(x, axis=0, ddof=1)
    np.broadcast_arrays(x, x[0])
    np.split(x, [1, 2], axis=1)
    np.array_split(x, 3, axis=1)
    np.ravel(x, order='F')
    np.reshape(x, (4, 3), order='F')
    np.reshape(x, (4, 3), copy=True)
    np.copy(x, order='F')
    np.flip(x, axis=(0, 1))
    np.outer(x, x[0], out=o(12, 4))
    np.argmax(x, axis=0, out=np.zeros(4, int))
    np.all(x, axis=0, where=B, keepdims=True)
    np.any(x, axis=0, out=np.zeros(4, bool))
    np.nancumsum(x, axis=0)
    np.tensordot(x, x, axes=([1], [1]))
    np.matmul(x, x.T, out=o(3, 3))
    np.matmul(x, x.T, dtype='float32')
    np.vecdot(x, x)
    np.inner(x, x)
    np.linalg.multi_dot([x, x.T, x], out=o(3, 4))
    np.linalg.lstsq(x.T, x[:, 0].sum() * x[0])[0]
    np.linalg.cond(x[:, :3], p=1)
    np.linalg.tensorsolve(np.eye(4) + 0 * x[0], x[0])
    np.linalg.vector_norm(x, axis=1, ord=3)
    np.linalg.matrix_norm(x, ord=2)
    np.polyint(x[0], m=2, k=[1.0, 2.0])
    np.lexsort((x[0], x[1]))
    np.take_along_axis(x, I, axis=1)
    np.resize(x, (2, 2))
    np.diag(x, k=1)
    np.tril(x, k=-1)
    np.fix(x, out=o(3, 4))
    np.nextafter(x, 9.0)
"""
"""`x` is a matrix, `o` makes something to write into, `oc` something complex."""

REFUSED = {
    "np.clip(x, -0.5, 0.5, dtype='float64')": "accepted: x, min, max",
}


def results(call: str, x: Any, zeros: Any) -> list[Any]:
    """What a call gives, as a list."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = eval(
            call, {**NAMES, "x": x, "o": lambda *shape: zeros(shape), "oc": lambda *shape: zeros(shape, complex)}
        )
    return list(found) if isinstance(found, list | tuple) else [found]


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_is_numpys(call: str) -> None:
    """On a tensor the call gives what it gives on an array."""
    call = call.strip()
    for ours, theirs in zip(results(call, gt.tensor(X), gt.zeros), results(call, X.copy(), np.zeros), strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_not_taken_says_what_is(call: str) -> None:
    """A keyword that has no meaning for tensors is refused, with what is taken."""
    with pytest.raises(gt.OperandError) as caught:
        results(call, gt.tensor(X), gt.zeros)
    assert REFUSED[call] in " ".join(str(caught.value).split())


@pytest.mark.parametrize("function", [np.sum, np.prod, np.cumsum, np.cumprod])
def test_small_integers_stay_small_where_that_is_asked_for(function: Any) -> None:
    """With dtype= a sum of int8 is int8, and without it is what NumPy makes of it."""
    x = np.array([1, 2], np.int8)
    assert function(gt.tensor(x), dtype=np.int8).dtype == np.int8
    assert function(gt.tensor(x)).dtype == function(x).dtype
