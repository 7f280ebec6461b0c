"""The public functions, called as `gt.name` and as `np.name`: value, gradient and dtype against NumPy on arrays.

A call is written once, with `xp` for the namespace. NumPy on arrays is the reference for the value, and finite
differences of it for the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import ops
from gradtape.core.operation import Op

from .cases import Draw, assert_close, directions, gradient_by_differences, parts

Call = Callable[..., Any]


def drawn(*shapes: tuple[int, ...], seed: int = 11) -> list[Any]:
    draw = Draw(seed)
    return [draw(*shape) for shape in shapes]


M = [(3, 4)]
V = [(5,)]
T = [(2, 3, 4)]

CALLS: dict[str, tuple[Call, list[tuple[int, ...]]]] = {
    # reductions
    "sum": (lambda xp, x: xp.sum(x), M),
    "sum axis": (lambda xp, x: xp.sum(x, axis=-1), T),
    "sum axes": (lambda xp, x: xp.sum(x, axis=(0, -1), keepdims=True), T),
    "sum of nothing": (lambda xp, x: xp.sum(x, axis=0), [(0, 3)]),
    "sum where": (lambda xp, x: xp.sum(x, axis=1, where=np.arange(4) % 2 == 0, initial=2.0), M),
    "mean where": (lambda xp, x: xp.mean(x, axis=0, where=np.array([[True], [False], [True]])), M),
    "prod where": (lambda xp, x: xp.prod(x, axis=0, where=np.arange(4) != 1, initial=3.0, keepdims=True), M),
    "max where": (lambda xp, x: xp.max(x, axis=1, where=np.arange(4) != 1, initial=-0.55), M),
    "max of nothing": (lambda xp, x: xp.max(x, axis=0, initial=-1.0), [(0, 3)]),
    "min initial": (lambda xp, x: xp.min(x, axis=0, initial=0.05), M),
    "all where": (lambda xp, x: xp.all(x > 0, axis=0, where=np.arange(4) < 2), M),
    "any where": (lambda xp, x: xp.any(x > 0, axis=0, where=np.arange(4) < 2), M),
    "mean": (lambda xp, x: xp.mean(x, axis=1), M),
    "mean keepdims": (lambda xp, x: xp.mean(x, axis=(0, 2), keepdims=True), T),
    "average": (lambda xp, x: xp.average(x, axis=0), M),
    "average weighted": (lambda xp, x: xp.average(x, axis=1, weights=np.arange(1.0, 5.0)), M),
    "average all weighted": (lambda xp, x: xp.average(x, weights=np.arange(1.0, 13.0).reshape(3, 4)), M),
    "average by its own weights": (lambda xp, x: xp.average(np.arange(4.0), weights=x * x), [(4,)]),
    "average returned": (lambda xp, x: xp.average(x, 0, np.arange(1.0, 4.0), returned=True), M),
    "average of two axes": (lambda xp, x: xp.average(x, (2, 0), np.arange(1.0, 9.0).reshape(4, 2), keepdims=True), T),
    "var": (lambda xp, x: xp.var(x), M),
    "var ddof": (lambda xp, x: xp.var(x, axis=1, ddof=1, keepdims=True), M),
    "var correction": (lambda xp, x: xp.var(x, axis=0, correction=1), M),
    "std": (lambda xp, x: xp.std(x, axis=0, ddof=1), M),
    "std all": (lambda xp, x: xp.std(x, keepdims=True), M),
    "max": (lambda xp, x: xp.max(x), M),
    "max axes": (lambda xp, x: xp.max(x, axis=(0, 2)), T),
    "min": (lambda xp, x: xp.min(x, axis=1, keepdims=True), M),
    "ptp": (lambda xp, x: xp.ptp(x, axis=0), M),
    "prod": (lambda xp, x: xp.prod(x, axis=(1, 2)), T),
    "prod all": (lambda xp, x: xp.prod(x, keepdims=True), M),
    "argmax": (lambda xp, x: xp.argmax(x, axis=1), M),
    "argmin": (lambda xp, x: xp.argmin(x, axis=0, keepdims=True), M),
    "all": (lambda xp, x: xp.all(x, axis=0), M),
    "any": (lambda xp, x: xp.any(x), M),
    "count_nonzero": (lambda xp, x: xp.count_nonzero(x, axis=1), M),
    "sum dtype": (lambda xp, x: xp.sum(x, dtype=np.complex128), M),
    "mean dtype": (lambda xp, x: xp.mean(x, axis=0, dtype=np.complex128), M),
    "prod dtype": (lambda xp, x: xp.prod(x, axis=0, dtype=np.complex128), M),
    "var dtype": (lambda xp, x: xp.var(x, axis=0, dtype=np.float64), M),
    "var around a mean": (lambda xp, x: xp.var(x, axis=0, mean=xp.mean(x, axis=0, keepdims=True)), M),
    # running
    "cumsum": (lambda xp, x: xp.cumsum(x), M),
    "cumsum axis": (lambda xp, x: xp.cumsum(x, axis=-2), M),
    "cumprod": (lambda xp, x: xp.cumprod(x), M),
    "cumprod axis": (lambda xp, x: xp.cumprod(x, axis=1), M),
    "diff": (lambda xp, x: xp.diff(x), M),
    "diff twice": (lambda xp, x: xp.diff(x, n=2, axis=0), M),
    "diff ends": (lambda xp, x: xp.diff(x, axis=1, prepend=0.0, append=np.ones((3, 2))), M),
    "trapezoid": (lambda xp, x: xp.trapezoid(x, dx=0.5, axis=0), M),
    "trapezoid points": (lambda xp, x: xp.trapezoid(x, np.array([0.0, 1.0, 3.0]), axis=0), M),
    "trapezoid in its points": (lambda xp, x: xp.trapezoid(np.arange(5.0) ** 2, x), V),
    "trapezoid points of each row": (lambda xp, x: xp.trapezoid(x, np.arange(12.0).reshape(3, 4) ** 2), M),
    # order
    "sort": (lambda xp, x: xp.sort(x), M),
    "sort axis": (lambda xp, x: xp.sort(x, axis=0), M),
    "sort all": (lambda xp, x: xp.sort(x, axis=None), M),
    "argsort": (lambda xp, x: xp.argsort(x, axis=0), M),
    "median odd": (lambda xp, x: xp.median(x), V),
    "median even": (lambda xp, x: xp.median(x, axis=1, keepdims=True), M),
    "median axes": (lambda xp, x: xp.median(x, axis=(0, 2)), T),
    "median kept axes": (lambda xp, x: xp.median(x, axis=(0, 2), keepdims=True), T),
    "quantile": (lambda xp, x: xp.quantile(x, 0.3), M),
    "quantile several": (lambda xp, x: xp.quantile(x, [0.0, 0.3, 1.0], axis=0), M),
    "quantile grid": (lambda xp, x: xp.quantile(x, [[0.1, 0.3], [0.5, 0.9]], axis=(0, 2), keepdims=True), T),
    "quantile lower": (lambda xp, x: xp.quantile(x, 0.3, axis=1, method="lower"), M),
    "quantile higher": (lambda xp, x: xp.quantile(x, 0.3, axis=1, method="higher"), M),
    "quantile midpoint": (lambda xp, x: xp.quantile(x, 0.3, axis=1, method="midpoint"), M),
    "quantile nearest": (lambda xp, x: xp.quantile(x, [0.3, 0.6], axis=1, method="nearest"), M),
    "percentile": (lambda xp, x: xp.percentile(x, 30.0, axis=0, keepdims=True), M),
    # shape
    "reshape": (lambda xp, x: xp.reshape(x, (2, -1)), M),
    "reshape to a length": (lambda xp, x: xp.reshape(x, 12), M),
    "reshape fortran": (lambda xp, x: xp.reshape(x, (2, 6), order="F"), M),
    "ravel": (lambda xp, x: xp.ravel(x), T),
    "ravel fortran": (lambda xp, x: xp.ravel(x, order="F"), T),
    "expand_dims": (lambda xp, x: xp.expand_dims(x, (0, -1)), M),
    "squeeze": (lambda xp, x: xp.squeeze(x), [(1, 3, 1)]),
    "squeeze axis": (lambda xp, x: xp.squeeze(x, axis=-1), [(1, 3, 1)]),
    "atleast_1d": (lambda xp, x: xp.atleast_1d(x), [()]),
    "atleast_2d": (lambda xp, x: xp.atleast_2d(x), V),
    "atleast_3d": (lambda xp, x: xp.atleast_3d(x), M),
    "atleast_3d of several": (lambda xp, x: xp.atleast_3d(x, x[0], x[0, 0]), M),
    "atleast_3d of three": (lambda xp, x: xp.atleast_3d(x), T),
    "transpose": (lambda xp, x: xp.transpose(x), T),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, (1, 2, 0)), T),
    "concat": (lambda xp, x: xp.concat([x, 2 * x[:1]], axis=0), M),
    "transpose axes": (lambda xp, x: xp.transpose(x, (1, 2, 0)), T),
    "matrix_transpose": (lambda xp, x: xp.matrix_transpose(x), T),
    "swapaxes": (lambda xp, x: xp.swapaxes(x, 0, -1), T),
    "moveaxis": (lambda xp, x: xp.moveaxis(x, 0, -1), T),
    "moveaxis several": (lambda xp, x: xp.moveaxis(x, (2, 0), (0, 1)), T),
    "rollaxis": (lambda xp, x: xp.rollaxis(x, 2), T),
    "rollaxis back": (lambda xp, x: xp.rollaxis(x, 0, 3), T),
    "rollaxis before the last": (lambda xp, x: xp.rollaxis(x, 0, -1), T),
    "broadcast_to": (lambda xp, x: xp.broadcast_to(x, (2, 3, 4)), M),
    "broadcast_arrays": (lambda xp, x: xp.broadcast_arrays(x, x[0], 1.0), M),
    "meshgrid": (lambda xp, x: xp.meshgrid(x, x[:2]), V),
    "meshgrid ij": (lambda xp, x: xp.meshgrid(x, x[:2], x[:3], indexing="ij"), V),
    "meshgrid sparse": (lambda xp, x: xp.meshgrid(x, x[:2], sparse=True), V),
    # joining and cutting
    "concatenate": (lambda xp, x: xp.concatenate([x, 2 * x[:1]], axis=0), M),
    "concatenate flat": (lambda xp, x: xp.concatenate([x, x[:1]], axis=None), M),
    "stack": (lambda xp, x: xp.stack([x, x * x], axis=-1), M),
    "vstack": (lambda xp, x: xp.vstack([x, x]), V),
    "hstack": (lambda xp, x: xp.hstack([x, x[:2]]), V),
    "hstack matrices": (lambda xp, x: xp.hstack([x, x[:, :1]]), M),
    "dstack": (lambda xp, x: xp.dstack([x, x]), M),
    "column_stack": (lambda xp, x: xp.column_stack([x[:, 0], x]), M),
    "append": (lambda xp, x: xp.append(x, x[0]), M),
    "append axis": (lambda xp, x: xp.append(x, x[:1], axis=0), M),
    "split": (lambda xp, x: xp.split(x, 2, axis=1), M),
    "split places": (lambda xp, x: xp.split(x, [1, 3], axis=-1), M),
    "array_split": (lambda xp, x: xp.array_split(x, 3), V),
    "array_split in more pieces than elements": (lambda xp, x: xp.array_split(x, 7), V),
    "vsplit": (lambda xp, x: xp.vsplit(x, 3), M),
    "hsplit": (lambda xp, x: xp.hsplit(x, 2), M),
    "hsplit of a vector": (lambda xp, x: xp.hsplit(x, [2]), V),
    "dsplit": (lambda xp, x: xp.dsplit(x, 2), T),
    "unstack": (lambda xp, x: xp.unstack(x, axis=1), M),
    # rearranging
    "flip": (lambda xp, x: xp.flip(x), M),
    "flip axis": (lambda xp, x: xp.flip(x, axis=-1), M),
    "flipud": (lambda xp, x: xp.flipud(x), M),
    "fliplr": (lambda xp, x: xp.fliplr(x), M),
    "rot90": (lambda xp, x: xp.rot90(x), M),
    "rot90 twice": (lambda xp, x: xp.rot90(x, 2), M),
    "rot90 back": (lambda xp, x: xp.rot90(x, -1, axes=(0, 2)), T),
    "roll": (lambda xp, x: xp.roll(x, 2), M),
    "roll axis": (lambda xp, x: xp.roll(x, -1, axis=1), M),
    "roll axes": (lambda xp, x: xp.roll(x, (1, 2), axis=(0, 1)), M),
    "roll all by one": (lambda xp, x: xp.roll(x, 1, axis=(0, 1)), M),
    "repeat": (lambda xp, x: xp.repeat(x, 2), M),
    "repeat axis": (lambda xp, x: xp.repeat(x, [1, 0, 2], axis=0), M),
    "tile": (lambda xp, x: xp.tile(x, (2, 1, 3)), M),
    "tile fewer": (lambda xp, x: xp.tile(x, 2), M),
    "pad": (lambda xp, x: xp.pad(x, 1), M),
    "pad values": (lambda xp, x: xp.pad(x, ((1, 0), (2, 3)), constant_values=7.0), M),
    "pad one axis": (lambda xp, x: xp.pad(x, ((0, 0), (1, 2)), mode="edge"), M),
    "pad edge": (lambda xp, x: xp.pad(x, ((1, 2), (0, 3)), mode="edge"), M),
    "pad reflect": (lambda xp, x: xp.pad(x, 2, mode="reflect"), M),
    "pad symmetric": (lambda xp, x: xp.pad(x, (1, 4), "symmetric"), M),
    "pad wrap": (lambda xp, x: xp.pad(x, 2, "wrap"), M),
    "tril": (lambda xp, x: xp.tril(x, 1), M),
    "triu": (lambda xp, x: xp.triu(x, -1), T),
    # elements
    "take": (lambda xp, x: xp.take(x, [5, 0, 5]), M),
    "take axis": (lambda xp, x: xp.take(x, [[0, 3], [3, 1]], axis=1), M),
    "take wrap": (lambda xp, x: xp.take(x, [5, -6], axis=0, mode="wrap"), M),
    "take clip": (lambda xp, x: xp.take(x, [5, -6], axis=0, mode="clip"), M),
    "take_along_axis": (lambda xp, x: xp.take_along_axis(x, np.array([[0], [2], [0]]), axis=1), M),
    "take_along_axis stretched": (lambda xp, x: xp.take_along_axis(x, np.array([[0, 2, 1, 1]]), axis=0), M),
    "take_along_axis flat": (lambda xp, x: xp.take_along_axis(x, np.array([11, 0]), axis=None), M),
    "where": (lambda xp, x: xp.where(x > 0, x * x, 3.0), M),
    "nonzero": (lambda xp, x: xp.nonzero(x > 0), M),
    "clip": (lambda xp, x: xp.clip(x, -1.0, 1.0), M),
    "clip low": (lambda xp, x: xp.clip(x, 0.0, None), M),
    "clip high": (lambda xp, x: xp.clip(x, a_min=None, a_max=np.array(1.0)), M),
    "clip by keywords": (lambda xp, x: xp.clip(x, min=-1.0, max=1.0), M),
    "nan_to_num": (lambda xp, x: xp.nan_to_num(x, nan=1.0), M),
    "round": (lambda xp, x: xp.round(x, 1), M),
    "sign": (lambda xp, x: xp.sign(x), M),
    "sign of complex numbers": (lambda xp, x: xp.real(xp.sign(x + 2j)), M),
    "isclose": (lambda xp, x: xp.isclose(x, 1.0, atol=0.5), M),
    "astype": (lambda xp, x: xp.astype(x, np.complex128), M),
    "angle": (lambda xp, x: xp.angle(x + 1j, deg=True), M),
    # products
    "tensordot": (lambda xp, x: xp.tensordot(x, x.T, 1), M),
    "tensordot axes": (lambda xp, x: xp.tensordot(x, x, ([0, 2], [0, 2])), T),
    "dot": (lambda xp, x: xp.dot(x, x.T), M),
    "dot of vectors": (lambda xp, x: xp.dot(x, x), V),
    "dot of tensors": (lambda xp, x: xp.dot(x[0], xp.swapaxes(x, 1, 2)), T),
    "dot of scalars": (lambda xp, x: xp.dot(x, 3.0), M),
    "inner": (lambda xp, x: xp.inner(x, x[0]), M),
    "inner of scalars": (lambda xp, x: xp.inner(x, 3.0), M),
    "vdot": (lambda xp, x: xp.vdot(x, x * x), M),
    "outer": (lambda xp, x: xp.outer(x, x[0]), M),
    "kron": (lambda xp, x: xp.kron(x, x[:2]), M),
    "kron of ranks": (lambda xp, x: xp.kron(x, x[0]), M),
    "cross": (lambda xp, x: xp.cross(x, x[::-1] ** 2), [(4, 3)]),
    "cross axes": (lambda xp, x: xp.cross(x, x[:, 0] ** 2, axisa=0, axisb=0, axisc=0), [(3, 2)]),
    "cross axis": (lambda xp, x: xp.cross(x, x**2, axis=0), [(3, 2)]),
    "einsum": (lambda xp, x: xp.einsum("ij,kj->ik", x, x), M),
    "einsum trace": (lambda xp, x: xp.einsum("ii", x), [(3, 3)]),
    "einsum diagonal": (lambda xp, x: xp.einsum("ii->i", x), [(3, 3)]),
    "einsum lists": (lambda xp, x: xp.einsum(x, [0, 1], x, [2, 1], [0, 2]), M),
    "einsum lists without a result": (lambda xp, x: xp.einsum(x, [0, 1], x, [2, 1]), M),
    "einsum dots": (lambda xp, x: xp.einsum("...ij,j->...i", x, x[0, 0]), T),
    "diagonal": (lambda xp, x: xp.diagonal(x, 1, 0, 2), T),
    "diag of a matrix": (lambda xp, x: xp.diag(x, 1), M),
    "diag of a vector": (lambda xp, x: xp.diag(x, -2), V),
    "trace": (lambda xp, x: xp.trace(x, 1, axis1=2, axis2=1), T),
}


LINEAR_ALGEBRA: dict[str, tuple[Call, list[tuple[int, ...]]]] = {
    "norm": (lambda la, x: la.norm(x), M),
    "norm axis": (lambda la, x: la.norm(x, axis=1, keepdims=True), M),
    "norm 1": (lambda la, x: la.norm(x, 1, axis=0), M),
    "norm 2": (lambda la, x: la.norm(x, 2), V),
    "norm 3": (lambda la, x: la.norm(x, 3, axis=-1), M),
    "norm half": (lambda la, x: la.norm(x, 0.5), V),
    "norm inf": (lambda la, x: la.norm(x, np.inf, axis=1), M),
    "norm -inf": (lambda la, x: la.norm(x, -np.inf), V),
    "norm 0": (lambda la, x: la.norm(x, 0), V),
    "norm of matrices": (lambda la, x: la.norm(x, "fro", axis=(0, 2)), T),
    "norm of rows": (lambda la, x: la.norm(x, np.inf, axis=(2, 0), keepdims=True), T),
    "norm of columns": (lambda la, x: la.norm(x, 1), M),
    "norm of the smallest column": (lambda la, x: la.norm(x, -1, axis=(-2, -1)), T),
    "vector_norm": (lambda la, x: la.vector_norm(x), M),
    "vector_norm axes": (lambda la, x: la.vector_norm(x, axis=(2, 0), keepdims=True, ord=1), T),
    "matmul": (lambda la, x: la.matmul(x, x.T), M),
    "matrix_transpose": (lambda la, x: la.matrix_transpose(x), T),
    "outer": (lambda la, x: la.outer(x, x), V),
    "cross": (lambda la, x: la.cross(x, x[::-1] ** 2), [(4, 3)]),
    "diagonal": (lambda la, x: la.diagonal(x, offset=1), T),
    "trace": (lambda la, x: la.trace(x, offset=-1), T),
    "tensordot": (lambda la, x: la.tensordot(x, x, axes=2), M),
    "vecdot": (lambda la, x: la.vecdot(x, x[0]), M),
}


@pytest.mark.parametrize("name", LINEAR_ALGEBRA)
def test_linear_algebra_is_numpys(name: str) -> None:
    """np.linalg functions on a tensor give NumPy's numbers, and gradients that finite differences confirm."""
    call, shapes = LINEAR_ALGEBRA[name]
    arrays = drawn(*shapes)
    reference = call(np.linalg, *arrays)
    result, pull_back = gt.vjp(lambda *xs: call(np.linalg, *xs), *arrays)
    assert result.dtype == np.asarray(reference).dtype
    assert_close([result], [reference], 1e-13)
    weights = directions([reference], 3)
    expected = gradient_by_differences(lambda *xs: call(np.linalg, *xs), arrays, weights, 1e-5)
    assert_close(list(pull_back(weights[0])), expected, 1e-6)


@pytest.mark.parametrize("name", CALLS)
def test_value_is_numpys(name: str) -> None:
    """`gt.f` and `np.f` on a tensor give what `np.f` gives on an array: same numbers, shape and dtype."""
    call, shapes = CALLS[name]
    arrays = drawn(*shapes)
    expected = parts(call(np, *arrays))
    for namespace in (gt, np):
        actual = parts(call(namespace, *map(gt.tensor, arrays)))
        for a, b in zip(actual, expected, strict=True):
            array = a.numpy() if isinstance(a, gt.Tensor) else a
            assert array.dtype == np.asarray(b).dtype
            assert_close([array], [b], 1e-13)


@pytest.mark.parametrize("name", CALLS)
def test_plain_arrays_in_plain_arrays_out(name: str) -> None:
    """`gt.f` on arrays records nothing and gives the arrays that NumPy gives."""
    call, shapes = CALLS[name]
    arrays = drawn(*shapes)
    for a, b in zip(parts(call(gt, *arrays)), parts(call(np, *arrays)), strict=True):
        assert not isinstance(a, gt.Tensor)
        assert_close([a], [b], 1e-13)


DIFFERENTIABLE_CALLS = [
    name for name, (call, shapes) in CALLS.items() if parts(call(np, *drawn(*shapes)))[0].dtype.kind in "fc"
]


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE_CALLS if name != "round"])
def test_gradient_agrees_with_finite_differences(name: str) -> None:
    """The gradient of a randomly weighted result is the slope that NumPy finds by small steps."""
    call, shapes = CALLS[name]
    arrays = drawn(*shapes)
    reference = parts(call(np, *arrays))
    weights = directions(reference, 3)
    result, pull_back = gt.vjp(lambda *xs: call(gt, *xs), *arrays)
    cotangents = type(result)(weights) if isinstance(result, list | tuple) else weights[0]
    gradients = list(pull_back(cotangents))
    assert [(g.shape, g.dtype) for g in gradients] == [(a.shape, a.dtype) for a in arrays]
    expected = gradient_by_differences(lambda *xs: parts(call(np, *xs)), arrays, weights, 1e-5)
    assert_close(gradients, expected, 1e-6)


@pytest.mark.parametrize("name", CALLS)
def test_single_precision_stays(name: str) -> None:
    """float32 in, float32 out, where NumPy has that or only lists of numbers widen it, and a float32 gradient."""
    call, shapes = CALLS[name]
    arrays = [a.astype("float32") for a in drawn(*shapes)]
    reference = parts(call(np, *arrays))
    for a, b in zip(parts(call(gt, *map(gt.tensor, arrays))), reference, strict=True):
        assert a.dtype in (np.asarray(b).dtype, np.float32)
    if name in DIFFERENTIABLE_CALLS and name != "round":
        result, pull_back = gt.vjp(lambda *xs: call(gt, *xs), *arrays)
        weights = directions(reference, 3)
        cotangents = type(result)(weights) if isinstance(result, list | tuple) else weights[0]
        assert [g.dtype for g in pull_back(cotangents)] == [np.float32] * len(arrays)


@pytest.mark.parametrize("name", CALLS)
def test_vmap_is_a_loop(name: str) -> None:
    """Functions made of operations batch like operations do."""
    call, shapes = CALLS[name]
    if name == "nonzero":
        return  # how many there are differs between examples; see test_errors
    batch = [np.stack(column) for column in zip(*(drawn(*shapes, seed=s) for s in (1, 2, 3)), strict=True)]
    mapped = parts(gt.vmap(lambda *xs: call(gt, *xs))(*batch))
    loop = [parts(call(np, *[column[k] for column in batch])) for k in range(3)]
    assert_close(mapped, [np.stack(column) for column in zip(*loop, strict=True)], 1e-12)


# tested elsewhere: new tensors, writing, and questions about shapes and dtypes
ELSEWHERE = {"zeros", "ones", "full", "eye", "arange", "linspace", "zeros_like", "ones_like", "full_like", "copy"}
ELSEWHERE |= {"at", "getitem", "shape", "ndim", "size", "result_type", "iscomplexobj", "isrealobj"}
ELSEWHERE |= {"allclose", "array_equal", "expand", "norm", "softmax", "log_softmax", "logsumexp"}


def test_every_public_function_is_called_here() -> None:
    """A public function that is not a row of the table has a call above, or is tested by name elsewhere."""
    functions = {name for name in ops.__all__ if not isinstance(getattr(ops, name), Op)}
    assert functions - {name.split()[0] for name in CALLS} == ELSEWHERE


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_numbers_of_nan_to_num_have_gradients(compiled: bool) -> None:
    """What takes the place of nan and infinity may be tensors: refused before, and lost in compiled programs."""
    bad = np.array([np.nan, 1.0, np.inf, -np.inf, np.nan])
    derivative = gt.grad(lambda v: np.nan_to_num(bad * v[3], nan=v[0], posinf=v[1], neginf=v[2]).sum())
    found = (gt.jit(derivative) if compiled else derivative)(np.array([2.0, 3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(found, [2.0, 1.0, 1.0, 1.0])
