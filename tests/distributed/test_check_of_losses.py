"""Losses that are sums or means of rows are told apart; those that are neither are refused, with the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import distributed as gd

da = pytest.importorskip("dask.array", reason="Dask is not installed: the check of losses is not tested")

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = RNG.normal(size=60)
W = np.array([0.3, -0.7, 1.1])
WEIGHTS = RNG.uniform(0.5, 2.0, size=60)


def cut(array: Any) -> Any:
    return da.from_array(array, chunks=(17, *array.shape[1:]))


def centred(w: Any, x: Any, y: Any, k: Any) -> Any:
    predicted = x @ w
    return np.mean((predicted - np.mean(predicted) - y) ** 2)


def root_of_mean(w: Any, x: Any, y: Any, k: Any) -> Any:
    mean = np.mean((x @ w - y) ** 2)
    return np.sqrt(mean)


RIGHT: dict[str, tuple[Callable[..., Any], str]] = {
    "mean of squares": (lambda w, x, y, k: np.mean((x @ w - y) ** 2), "mean"),
    "sum of squares": (lambda w, x, y, k: np.sum((x @ w - y) ** 2), "sum"),
    "mean with penalty": (lambda w, x, y, k: np.mean((x @ w - y) ** 2) + 0.1 * np.sum(w**2), "mean"),
    "sum divided by length": (lambda w, x, y, k: np.sum(np.abs(x @ w - y)) / len(y), "mean"),
    "weighted sum": (lambda w, x, y, k: np.sum(k * (x @ w - y) ** 2), "sum"),
    "weighted mean": (lambda w, x, y, k: np.mean(k * (x @ w - y) ** 2), "mean"),
    "masked sum": (lambda w, x, y, k: np.sum(np.where(y > 0, (x @ w - y) ** 2, 0.0)), "sum"),
    "masked mean": (lambda w, x, y, k: np.mean((y > 0) * np.logaddexp(0.0, -(x @ w))), "mean"),
    "likelihood": (lambda w, x, y, k: np.sum(0.5 * ((y - x @ w) / k) ** 2 + np.log(k)), "sum"),
    "softmax within rows": (lambda w, x, y, k: -np.mean(gt.log_softmax(x * w, axis=1)[:, 0]), "mean"),
    "sum by loops": (lambda w, x, y, k: sum((row @ w - t) ** 2 for row, t in zip(x, y)), "sum"),
    "maximum within rows": (lambda w, x, y, k: np.mean(np.max(x * w, axis=1)), "mean"),
    "root within rows": (lambda w, x, y, k: np.sum(np.sqrt((x @ w - y) ** 2 + 1.0)), "sum"),
    "dot product": (lambda w, x, y, k: np.dot(y, x @ w), "sum"),
}
WRONG: dict[str, Callable[..., Any]] = {
    "root of mean": root_of_mean,
    "root of sum": lambda w, x, y, k: np.sqrt(np.sum((x @ w - y) ** 2)),
    "sum with penalty": lambda w, x, y, k: np.sum((x @ w - y) ** 2) + 0.1 * np.sum(w**2),
    "centred": centred,
    "standardised": lambda w, x, y, k: np.mean(((x - x.mean(axis=0)) / x.std(axis=0) @ w - y) ** 2),
    "normalised weights": lambda w, x, y, k: np.sum(k * (x @ w - y) ** 2) / np.sum(k),
    "masked mean by count": lambda w, x, y, k: np.sum((y > 0) * (x @ w) ** 2) / np.sum(y > 0),
    "maximum": lambda w, x, y, k: np.max((x @ w - y) ** 2),
    "median": lambda w, x, y, k: np.median((x @ w - y) ** 2),
    "logsumexp": lambda w, x, y, k: gt.logsumexp(x @ w),
    "correlation": lambda w, x, y, k: -np.corrcoef(x @ w, y)[0, 1],
    "coefficient of determination": lambda w, x, y, k: np.sum((x @ w - y) ** 2) / np.sum((y - np.mean(y)) ** 2),
    "product": lambda w, x, y, k: np.prod(1.0 + 0.01 * (x @ w)),
    "softmax over rows": lambda w, x, y, k: -np.sum(gt.softmax(x @ w) * y),
    "differences of rows": lambda w, x, y, k: np.mean(np.diff(x @ w) ** 2),
    "all pairs": lambda w, x, y, k: np.mean(((x @ w)[:, None] - y[None, :]) ** 2),
    "mean of two rows": lambda w, x, y, k: np.mean((x[:2] @ w) ** 2),
}


@pytest.mark.parametrize(("loss", "reduction"), RIGHT.values(), ids=RIGHT)
def test_sums_and_means_are_told_apart(loss: Callable[..., Any], reduction: str) -> None:
    """What is a sum or a mean is accepted without being told, and its gradient is that of all rows."""
    args = cut(X), cut(Y), cut(WEIGHTS)
    value, gradient = gd.value_and_grad(loss, jit=False)(W, *args)
    expected, by_hand = gt.value_and_grad(loss)(W, X, Y, WEIGHTS)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-10, atol=1e-13)
    other = "sum" if reduction == "mean" else "mean"
    with pytest.raises(gt.OperandError, match=rf"GT601.*is a {reduction} of rows"):
        gd.value_and_grad(loss, jit=False, reduction=other)(W, *args)


@pytest.mark.parametrize("loss", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("reduction", [None, "mean", "sum"])
def test_other_losses_are_refused(loss: Callable[..., Any], reduction: str | None) -> None:
    """What is neither is an error, declared or not, which says by how much it is off and what to do."""
    with pytest.raises(gt.OperandError) as caught:
        gd.value_and_grad(loss, reduction=reduction)(W, cut(X), cut(Y), cut(WEIGHTS))
    assert caught.value.problem.code == "GT601"
    assert {"finish=", "penalty="} <= {word.rstrip(",") for fix in caught.value.problem.fixes for word in fix.split()}


def test_the_line_where_rows_meet() -> None:
    """The message shows where rows meet, and the operation on what they gave that makes it no sum."""
    with pytest.raises(gt.OperandError) as caught:
        gd.value_and_grad(root_of_mean)(W, cut(X), cut(Y), cut(WEIGHTS))
    root, mean = caught.value.problem.spans
    assert (root.text, mean.text) == ("np.sqrt(mean)", "np.mean((x @ w - y) ** 2)")
    with pytest.raises(gt.OperandError) as caught:
        gd.value_and_grad(centred)(W, cut(X), cut(Y), cut(WEIGHTS))
    assert [span.text for span in caught.value.problem.spans] == [
        "(predicted - np.mean(predicted) - y) ** 2",
        "np.mean(predicted)",
    ]


def test_the_first_fix_is_the_one_that_fits() -> None:
    """A penalty beside a sum is told from a function of sums."""
    for name, fix in (("sum with penalty", "penalty="), ("root of mean", "finish=")):
        with pytest.raises(gt.OperandError) as caught:
            gd.value_and_grad(WRONG[name])(W, cut(X), cut(Y), cut(WEIGHTS))
        assert fix in caught.value.problem.fixes[0]


def test_sums_for_finish_have_to_be_sums() -> None:
    """With finish=, a function that returns means is refused."""
    with pytest.raises(gt.OperandError, match="GT601"):
        gd.value_and_grad(lambda w, x: [np.mean(x @ w)], finish=lambda s: s[0] ** 2)(W, cut(X))


def test_residuals_have_to_be_those_of_rows() -> None:
    """Gauss-Newton refuses residuals that depend on other rows, and arrays without a row for each row."""
    with pytest.raises(gt.OperandError, match="depend on the other rows"):
        gd.gauss_newton(lambda w, x: x @ w - np.mean(x @ w))(W, W, cut(X))
    with pytest.raises(gt.OperandError, match="a row for each row"):
        gd.gauss_newton(lambda w, x: np.sum(x @ w))(W, W, cut(X))


def test_what_cannot_be_seen_is_asked_for() -> None:
    """Where value and gradient are zero or not finite, the reduction has to be declared, and then is taken."""
    flat = lambda w, x: np.sum(np.maximum(x @ w - 100.0, 0.0))
    with pytest.raises(gt.OperandError, match='reduction="mean"'):
        gd.value_and_grad(flat)(W, cut(X))
    assert gd.value_and_grad(flat, reduction="sum")(W, cut(X))[0] == 0.0


def test_without_the_check_nothing_is_refused() -> None:
    """check=False takes the word of the caller: the sum over the chunks of a loss that is no sum."""
    value, _ = gd.value_and_grad(root_of_mean, reduction="sum", check=False)(W, cut(X), cut(Y), cut(WEIGHTS))
    parts = [root_of_mean(W, X[i : i + 17], Y[i : i + 17], None) for i in range(0, 60, 17)]
    assert value == pytest.approx(sum(parts))


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (lambda w, x, y: np.sqrt(np.mean(np.logaddexp(0.0, -y * (x @ w)))), "finish="),
        (lambda w, x, y: np.sum((x @ w - y) ** 2) + 0.1 * np.sum(w**2), "penalty="),
    ],
    ids=["root of a mean", "sum with penalty"],
)
def test_zeros_do_not_hide_what_a_loss_is(loss: Callable[..., Any], says: str) -> None:
    """At zeros all rows have one value, or the penalty is zero: the check looks at other parameters, too."""
    with pytest.raises(gt.OperandError, match=rf"GT601(.|\n)*fix: [^\n]*(\n[^\n]*)?{says}"):
        gd.value_and_grad(loss)(np.zeros(3), cut(X), cut(np.sign(Y)))


def test_a_loss_that_ends_elsewhere_is_checked_where_it_is() -> None:
    """Parameters nearby may be outside of what a loss is defined for: then they say nothing."""

    def loss(w: Any, x: Any) -> Any:
        if np.any(w < 1e-8) or np.any(w > 1e-4):
            raise ValueError("outside")
        return np.mean((x * w) ** 2)

    assert np.isfinite(gd.grad(loss, jit=False)(np.full(3, 1e-6), cut(X))).all()
