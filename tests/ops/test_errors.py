"""What operations refuse: the error is of gradtape's own family and of NumPy's, names the line, and offers a fix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

X = gt.tensor(np.ones((2, 3)))

REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "an axis too many": (lambda: gt.sum(X, axis=2), gt.AxisError, "axis 2"),
    "an axis below": (lambda: gt.mean(X, axis=-3), gt.AxisError, "axis -3"),
    "an axis twice": (lambda: gt.sum(X, axis=(0, 0)), gt.AxisError, "once"),
    "an axis to sort": (lambda: gt.sort(X, axis=5), gt.AxisError, "axis 5"),
    "an axis to exchange": (lambda: gt.swapaxes(X, 0, 4), gt.AxisError, "axis 4"),
    "an axis to join": (lambda: gt.stack([X, X], axis=4), gt.AxisError, "axis 4"),
    "an axis to add": (lambda: gt.expand_dims(X, 7), gt.AxisError, "axis 7"),
    "an axis of NumPy's": (lambda: np.cumsum(X, axis=3), gt.AxisError, "axis 3"),
    "two axes for one": (lambda: gt.sort(X, axis=(0, 1)), gt.OperandError, "one axis"),
    "half an axis": (lambda: gt.sum(X, axis=0.5), gt.OperandError, "not an integer"),
    "half a length": (lambda: X.reshape(X.size / 2, 2), gt.OperandError, "n // 2"),
    "moves without places": (lambda: gt.moveaxis(X, (0, 1), 0), gt.ShapeError, "destinations"),
    "squeezing": (lambda: gt.squeeze(X, 1), gt.ShapeError, "length 3"),
    "reshaping": (lambda: gt.reshape(X, (4, 2)), gt.ShapeError, "reshape"),
    "reshaping to half": (lambda: X.reshape(-1, 4), gt.ShapeError, "reshape"),
    "reshaping by memory": (lambda: gt.reshape(X, 6, order="K"), gt.OperandError, "order"),
    "stretching": (lambda: gt.broadcast_to(X, (2, 4)), gt.ShapeError, "broadcast"),
    "stretching together": (lambda: gt.broadcast_arrays(X, np.ones(2)), gt.ShapeError, "no common shape"),
    "expanding to fewer axes": (lambda: gt.expand(X, (3,)), gt.ShapeError, "fewer axes"),
    "grids": (lambda: gt.meshgrid(X[0], indexing="yx"), gt.OperandError, "indexing"),
    "joining nothing": (lambda: gt.concatenate([]), gt.ShapeError, "no arrays"),
    "stacking nothing": (lambda: gt.stack([]), gt.ShapeError, "no arrays"),
    "joining unlike shapes": (lambda: gt.concatenate([X, X[0]]), gt.ShapeError, "concatenate"),
    "cutting": (lambda: gt.split(X, 2, axis=1), gt.ShapeError, "array_split"),
    "rolling": (lambda: gt.roll(X, (1, 2, 3), axis=(0, 1)), gt.ShapeError, "3 shifts"),
    "padding": (lambda: gt.pad(X, 1, mode="average"), gt.OperandError, "constant"),
    "a triangle of a number": (lambda: gt.tril(gt.tensor(1.0)), gt.ShapeError, "two axes"),
    "differences": (lambda: gt.diff(X, n=-1), gt.OperandError, "n is"),
    "weights": (lambda: gt.average(X, weights=np.ones(3)), gt.OperandError, "weights"),
    "a largest without a first": (lambda: gt.max(X, where=np.ones(3, bool)), gt.OperandError, "initial"),
    "a way to take": (lambda: gt.take(X, [0], mode="loop"), gt.OperandError, "wrap"),
    "an index": (lambda: X[5], gt.IndexingError, "getitem"),
    "letters for axes": (lambda: gt.einsum("ijk->i", X), gt.ShapeError, "letters"),
    "letters for operands": (lambda: gt.einsum("ij,jk->ik", X), gt.ShapeError, "2 operands"),
    "letters from nowhere": (lambda: gt.einsum("ij->ik", X), gt.ShapeError, "no operand"),
    "letters twice": (lambda: gt.einsum("ij->ii", X), gt.ShapeError, "twice"),
    "a diagonal that is none": (lambda: gt.einsum("ii->i", X), gt.ShapeError, "length 2 and 3"),
    "products": (lambda: gt.matmul(X, X), gt.ShapeError, "matmul"),
    "sums of products": (lambda: gt.tensordot(X, X, ([0], [1])), gt.ShapeError, "same lengths"),
    "vectors of one component": (lambda: gt.cross(X[:, :1], X[:, :1]), gt.ShapeError, "three"),
    "diagonals of nothing": (lambda: gt.diag(gt.tensor(1.0)), gt.ShapeError, "vector or a matrix"),
    "norms by name": (lambda: gt.norm(X[0], "nuc"), gt.ShapeError, "number"),
    "norms of many axes": (lambda: gt.norm(gt.ones((2, 2, 2)), 1), gt.ShapeError, "3 axes"),
    "shares": (lambda: gt.quantile(X, 25), gt.OperandError, "percentile"),
    "ways to share": (lambda: gt.quantile(X, 0.5, method="guess"), gt.OperandError, "linear"),
    "unlike shapes": (lambda: X + np.ones(2), gt.ShapeError, "GT110"),
    "fractions into integers": (lambda: gt.at(np.ones(2, int))[0].set(0.5), gt.DtypeError, "astype"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_explain_themselves(name: str) -> None:
    """What is refused is an error of ours that names the calling line and says more than NumPy does."""
    call, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words) as caught:
        call()
    assert isinstance(caught.value, gt.GradTapeError)
    assert isinstance(caught.value, ValueError | TypeError | IndexError)
    assert "test_errors.py" in str(caught.value)


def test_the_next_gradient_works() -> None:
    """After a refusal nothing is left behind: the next gradient is right."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(gt.ShapeError):
        gt.reshape(x * x, (3,))
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])


def test_what_is_not_there_says_so() -> None:
    """A NumPy function without a rule raises at the call instead of losing the gradient."""
    with pytest.raises(gt.UnsupportedError, match="packbits"):
        np.packbits(X > 0)
