"""Losses: against formulas written out, at huge logits and infinite masks, and refusing what would be broadcast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt

from .differentiation import assert_differentiates

F = gt.nn.functional
RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3)) * 2
Y = np.array([2, 0, 1, 1, 0])
P = RNG.uniform(0.1, 0.9, (5, 3))
WEIGHT = np.array([0.5, 2.0, 1.5])


def log_softmax(x: Any, axis: int) -> Any:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def reduced(losses: Any, reduction: str, total: Any = None) -> Any:
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / (losses.size if total is None else total)


# -- cross entropy


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("ignored", [False, True])
def test_cross_entropy_of_labels(reduction: str, weighted: bool, smoothing: float, ignored: bool) -> None:
    """Weights, smoothing, ignored labels and reductions, against one example after the other; all differentiate."""
    labels = np.where(np.arange(5) == 1, -100, Y) if ignored else Y
    weight = WEIGHT if weighted else np.ones(3)
    losses, total = np.zeros(5), 0.0
    for i, label in enumerate(labels):
        if label >= 0:
            target = (1 - smoothing) * np.eye(3)[label] + smoothing / 3
            losses[i] = -np.sum(target * weight * log_softmax(X, 1)[i])
            total += weight[label]
    f = lambda x: F.cross_entropy(
        x, labels, WEIGHT if weighted else None, reduction=reduction, label_smoothing=smoothing
    )
    np.testing.assert_allclose(f(X), reduced(losses, reduction, total), rtol=1e-12)
    assert_differentiates(f, X)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_of_probabilities(reduction: str, weighted: bool, smoothing: float) -> None:
    """The same for targets that are probabilities, which have a gradient of their own."""
    target = (1 - smoothing) * P + smoothing / 3
    losses = -np.sum(target * (WEIGHT if weighted else 1) * log_softmax(X, 1), axis=1)
    f = lambda x, p: F.cross_entropy(x, p, WEIGHT if weighted else None, reduction=reduction, label_smoothing=smoothing)
    np.testing.assert_allclose(f(X, P), reduced(losses, reduction), rtol=1e-12)
    assert_differentiates(f, X, P)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=0, max_size=3), st.integers(1, 4), st.data())
def test_classes_are_along_axis_1_or_any_other(others: list[int], classes: int, data: Any) -> None:
    """With any axes behind the classes, and with the classes along any axis, each example counts by itself."""
    axis = data.draw(st.integers(0, len(others)))
    shape = (*others[:axis], classes, *others[axis:])
    x = np.random.default_rng(1).normal(size=shape)
    labels = np.random.default_rng(2).integers(0, classes, others)
    expected = -np.take_along_axis(log_softmax(x, axis), np.expand_dims(labels, axis), axis).squeeze(axis)
    np.testing.assert_allclose(
        F.cross_entropy(x, labels, reduction="none", axis=axis), expected, rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(
        F.nll_loss(log_softmax(x, axis), labels, reduction="none", axis=axis), expected, rtol=1e-11, atol=1e-12
    )
    if axis == min(1, len(others)):
        np.testing.assert_allclose(F.cross_entropy(x, labels), expected.mean(), rtol=1e-11, atol=1e-12)


def test_gradient_is_softmax_less_target() -> None:
    """The gradient of the sum is softmax(x) with 1 taken off at the label."""
    expected = np.exp(log_softmax(X, 1)) - np.eye(3)[Y]
    np.testing.assert_allclose(gt.grad(lambda x: F.cross_entropy(x, Y, reduction="sum"))(X), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_huge_logits_do_not_overflow(dtype: str) -> None:
    """At logits of 1e4 and of -inf for other classes, values and gradients are exact and finite."""
    x = np.array([[1e4, -1e4, 0.0], [0.0, -np.inf, 0.0], [-1e4, 1e4, 0.0]], dtype)
    labels = np.array([0, 2, 0])
    value, gradient = gt.value_and_grad(lambda x: F.cross_entropy(x, labels, reduction="sum"))(x)
    assert value.dtype == gradient.dtype == np.dtype(dtype)
    np.testing.assert_allclose(value, 0 + math.log(2) + 2e4, rtol=1e-6)
    np.testing.assert_allclose(gradient, [[0, 0, 0], [0.5, 0, -0.5], [-1, 1, 0]], atol=1e-7)


def test_classes_of_no_probability_may_be_masked() -> None:
    """A logit of -inf where the target is 0 adds nothing, in values, gradients and tangents."""
    x, p = np.array([[0.0, 0.0, -np.inf]]), np.array([[0.5, 0.5, 0.0]])
    f = lambda x: F.cross_entropy(x, p)
    assert f(x) == pytest.approx(math.log(2))
    np.testing.assert_allclose(gt.grad(f)(x), np.zeros((1, 3)), atol=1e-12)
    assert gt.jvp(f, (x,), (np.array([[1.0, 0.0, 0.0]]),))[1] == pytest.approx(0.0)


def test_ignored_examples_may_hold_anything() -> None:
    """An ignored example adds nothing to the value or to the gradient, even if its logits are NaN."""
    x = np.array([[np.nan, 1.0], [0.0, 0.0]])
    value, gradient = gt.value_and_grad(lambda x: F.cross_entropy(x, np.array([-1, 1]), ignore_index=-1))(x)
    assert value == pytest.approx(math.log(2))
    np.testing.assert_allclose(gradient, [[0, 0], [0.5, -0.5]])


def test_a_class_can_be_ignored() -> None:
    """`ignore_index` may be the number of a class."""
    value = F.cross_entropy(X, Y, ignore_index=0)
    np.testing.assert_allclose(value, F.cross_entropy(X[Y != 0], Y[Y != 0]))


def test_mapped_over_labels() -> None:
    """Inside vmap logits and labels of one example each give its loss; labels alone may be mapped too."""
    labels = np.array([2, -100, 1, 1, 0])
    each = gt.vmap(lambda x, y: F.cross_entropy(x, y, WEIGHT, reduction="sum"))(X, labels)
    np.testing.assert_allclose(each, F.cross_entropy(X, labels, WEIGHT, reduction="none"), rtol=1e-12)
    alone = gt.vmap(lambda y: F.cross_entropy(X[0], y, label_smoothing=0.1), 0)(Y)
    np.testing.assert_allclose(alone, [F.cross_entropy(X[0], y, label_smoothing=0.1) for y in Y], rtol=1e-12)
    gradients = gt.vmap(gt.grad(lambda x, y: F.cross_entropy(x, y)))(X, Y)
    np.testing.assert_allclose(gradients, gt.grad(lambda x: F.cross_entropy(x, Y, reduction="sum"))(X), rtol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_nll_loss_picks(reduction: str) -> None:
    """-input[label], weighted and reduced as cross entropy is."""
    labels = np.array([2, -100, 1, 1, 0])
    logarithms = log_softmax(X, 1)
    f = lambda x: F.nll_loss(x, labels, WEIGHT, reduction=reduction)
    np.testing.assert_allclose(f(logarithms), F.cross_entropy(X, labels, WEIGHT, reduction=reduction), rtol=1e-12)
    assert_differentiates(f, logarithms)


# -- the others, each with its formula

D = X - P
SIGN = np.where(RNG.uniform(size=(5, 3)) > 0.5, 1.0, -1.0)
COUNTS = np.floor(P * 8)
SOFTPLUS = np.vectorize(lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0))
COSINE = np.sum(X * P, 1) / np.linalg.norm(X, axis=1) / np.linalg.norm(P, axis=1)
DISTANCE = lambda a, b: np.linalg.norm(a - b + 1e-6, axis=-1)
STIRLING = np.where(COUNTS > 1, COUNTS * np.log(np.maximum(COUNTS, 1)) - COUNTS, 0)
STIRLING = STIRLING + np.where(COUNTS > 1, 0.5 * np.log(2 * np.pi * np.maximum(COUNTS, 1)), 0)

# name: the function of what moves, the point, the losses
FORMULAS: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "mse_loss": (F.mse_loss, (X, P), D**2),
    "mse_loss, weighted": (lambda x, y, **k: F.mse_loss(x, y, weight=WEIGHT, **k), (X, P), D**2 * WEIGHT),
    "l1_loss": (F.l1_loss, (X, P), np.abs(D)),
    "mae_loss": (F.mae_loss, (X, P), np.abs(D)),
    "huber_loss": (
        lambda x, y, **k: F.huber_loss(x, y, delta=0.7, **k),
        (X, P),
        np.where(np.abs(D) < 0.7, D**2 / 2, 0.7 * (np.abs(D) - 0.35)),
    ),
    "smooth_l1_loss": (
        lambda x, y, **k: F.smooth_l1_loss(x, y, beta=0.7, **k),
        (X, P),
        np.where(np.abs(D) < 0.7, D**2 / 1.4, np.abs(D) - 0.35),
    ),
    "smooth_l1_loss, sharp": (lambda x, y, **k: F.smooth_l1_loss(x, y, beta=0.0, **k), (X, P), np.abs(D)),
    "binary_cross_entropy": (
        F.binary_cross_entropy,
        (P, 1 - P**2),
        -((1 - P**2) * np.log(P) + P**2 * np.log(1 - P)),
    ),
    "binary_cross_entropy, weighted": (
        lambda x, y, **k: F.binary_cross_entropy(x, y, WEIGHT, **k),
        (P, 1 - P),
        -((1 - P) * np.log(P) + P * np.log(1 - P)) * WEIGHT,
    ),
    "binary_cross_entropy_with_logits": (F.binary_cross_entropy_with_logits, (X, P), SOFTPLUS(X) - X * P),
    "binary_cross_entropy_with_logits, weighted": (
        lambda x, y, **k: F.binary_cross_entropy_with_logits(x, y, WEIGHT, pos_weight=WEIGHT + 1, **k),
        (X, P),
        WEIGHT * ((WEIGHT + 1) * P * SOFTPLUS(-X) + (1 - P) * SOFTPLUS(X)),
    ),
    "kl_div": (F.kl_div, (X, P), P * (np.log(P) - X)),
    "kl_div, of logarithms": (lambda x, y, **k: F.kl_div(x, y, log_target=True, **k), (X, D), np.exp(D) * (D - X)),
    "poisson_nll_loss": (lambda x, **k: F.poisson_nll_loss(x, COUNTS, **k), (X,), np.exp(X) - COUNTS * X),
    "poisson_nll_loss, of rates": (
        lambda x, **k: F.poisson_nll_loss(x, COUNTS, log_input=False, full=True, **k),
        (P,),
        P - COUNTS * np.log(P + 1e-8) + STIRLING,
    ),
    "gaussian_nll_loss": (
        lambda x, y, v, **k: F.gaussian_nll_loss(x, y, v, full=True, **k),
        (X, D, P),
        0.5 * (np.log(P) + (X - D) ** 2 / P) + 0.5 * np.log(2 * np.pi),
    ),
    "gaussian_nll_loss, one variance a row": (
        F.gaussian_nll_loss,
        (X, D, P[:, :1]),
        0.5 * (np.log(P[:, :1]) + (X - D) ** 2 / P[:, :1]),
    ),
    "hinge_loss": (lambda x, **k: F.hinge_loss(x, SIGN, **k), (X,), np.maximum(0, 1 - SIGN * X)),
    "soft_margin_loss": (lambda x, **k: F.soft_margin_loss(x, SIGN, **k), (X,), SOFTPLUS(-SIGN * X)),
    "hinge_embedding_loss": (
        lambda x, **k: F.hinge_embedding_loss(x, SIGN, **k),
        (X,),
        np.where(SIGN > 0, X, np.maximum(0, 1 - X)),
    ),
    "margin_ranking_loss": (
        lambda x, y, **k: F.margin_ranking_loss(x, y, SIGN, 0.3, **k),
        (X, P),
        np.maximum(0, 0.3 - SIGN * D),
    ),
    "cosine_embedding_loss": (
        lambda x, y, **k: F.cosine_embedding_loss(x, y, SIGN[:, 0], 0.1, **k),
        (X, P),
        np.where(SIGN[:, 0] > 0, 1 - COSINE, np.maximum(0, COSINE - 0.1)),
    ),
    "triplet_margin_loss": (
        F.triplet_margin_loss,
        (X, P, SIGN * 1.3),
        np.maximum(0, 1 + DISTANCE(X, P) - DISTANCE(X, SIGN * 1.3)),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_loss_is_its_formula(name: str) -> None:
    """Values agree with the formula for every reduction, for arrays and for tensors."""
    f, point, losses = FORMULAS[name]
    for reduction in ("mean", "sum", "none"):
        np.testing.assert_allclose(f(*point, reduction=reduction), reduced(losses, reduction), rtol=1e-11, atol=1e-13)
    assert isinstance(f(gt.tensor(point[0]), *point[1:]), gt.Tensor)


@pytest.mark.parametrize("name", FORMULAS)
def test_loss_differentiates(name: str) -> None:
    """Both modes agree with finite differences and with each other, twice over, and so does a mapped batch."""
    f, point, _ = FORMULAS[name]
    assert_differentiates(lambda *values: f(*values, reduction="none"), *point)


@pytest.mark.parametrize("name", FORMULAS)
def test_single_precision_stays(name: str) -> None:
    """Single precision stays in the loss and in every gradient."""
    f, point, losses = FORMULAS[name]
    single = [x.astype(np.float32) for x in point]
    value, pull_back = gt.vjp(f, *single)
    assert value.dtype == np.float32
    np.testing.assert_allclose(value, losses.mean(), rtol=1e-4)
    assert {g.dtype for g in pull_back(value)} == {np.dtype(np.float32)}


def test_single_precision_stays_in_cross_entropy() -> None:
    """So it does with weights in double precision, smoothing and ignored labels."""
    x = X.astype(np.float32)
    for arguments in ({}, {"weight": WEIGHT}, {"label_smoothing": 0.1, "weight": WEIGHT}, {"ignore_index": 1}):
        value, gradient = gt.value_and_grad(lambda x, a=arguments: F.cross_entropy(x, Y, **a))(x)
        assert value.dtype == gradient.dtype == np.float32


def test_similarity_and_distance_of_vectors() -> None:
    """Cosines and distances along an axis, with gradients that are finite at zero."""
    np.testing.assert_allclose(F.cosine_similarity(X, P), COSINE)
    np.testing.assert_allclose(F.pairwise_distance(X, P), DISTANCE(X, P))
    np.testing.assert_allclose(F.pairwise_distance(X, P, 1.0, keepdims=True)[:, 0], np.abs(D + 1e-6).sum(1))
    assert_differentiates(F.cosine_similarity, X, P)
    assert np.isfinite(gt.grad(lambda x: F.cosine_similarity(x, P).sum())(np.zeros_like(X))).all()


def test_divergence_of_a_batch() -> None:
    """reduction="batchmean" divides by the number of examples; a target of 0 adds nothing, whatever the input."""
    assert F.kl_div(X, P, "batchmean") == pytest.approx((P * (np.log(P) - X)).sum() / 5)
    assert F.kl_div(np.array([0.0, -np.inf]), [1.0, 0.0], "sum") == 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_binary_losses_at_the_ends(dtype: str) -> None:
    """Probabilities of 0 and 1, and logits of 1000, give finite values and gradients."""
    ends, targets = np.array([0.0, 1.0, 0.0, 1.0], dtype), np.array([0.0, 1.0, 1.0, 0.0], dtype)
    value, pull_back = gt.vjp(lambda p: F.binary_cross_entropy(p, targets, reduction="none"), ends)
    assert value.tolist() == [0, 0, 100, 100]
    assert np.isfinite(pull_back(np.ones(4, dtype))[0]).all()
    logits = np.array([-1000.0, 1000.0], dtype)
    value, pull_back = gt.vjp(lambda x: F.binary_cross_entropy_with_logits(x, targets[2:], reduction="none"), logits)
    assert value.tolist() == [1000, 1000]
    assert pull_back(np.ones(2, dtype))[0].tolist() == [-1, 1]


def test_l1_of_equal_numbers_has_no_slope() -> None:
    """Where input and target are equal the gradient of the absolute value is 0."""
    assert gt.grad(lambda x: F.l1_loss(x, np.ones(2)))(np.ones(2)).tolist() == [0, 0]


def test_targets_take_the_dtype_of_the_input() -> None:
    """Targets of integers, booleans or double precision are numbers like any other, and widen nothing."""
    x = np.array([0.5, -0.5], np.float32)
    assert F.mse_loss(x, [1, 0]).dtype == np.float32
    assert F.mse_loss(x, [1.0, 0.0]).dtype == np.float32
    assert F.cross_entropy(x, np.array([1.0, 0.0])).dtype == np.float32
    assert F.binary_cross_entropy_with_logits(x, np.array([True, False])).dtype == np.float32


COLUMN, FLAT = np.ones((4, 1)), np.ones(4)
LOGITS = np.ones((4, 3))
LABELS = np.array([0, 1, 2, 0])

REFUSED = {
    "column against row": (
        lambda: F.mse_loss(COLUMN, FLAT),
        gt.ShapeError,
        r"16 pairs of 4 and 4[\s\S]*mse_loss\(COLUMN\[..., 0\], FLAT\)",
    ),
    "row against column": (lambda: F.l1_loss(FLAT, COLUMN), gt.ShapeError, r"COLUMN\[..., 0\], or FLAT\[..., None\]"),
    "number": (lambda: F.huber_loss(FLAT, 1.0), gt.ShapeError, r"target has shape \(\)"),
    "row of one": (lambda: F.mse_loss(FLAT, FLAT[None]), gt.ShapeError, r"FLAT\[None\].reshape\(FLAT.shape\)"),
    "other lengths": (lambda: F.mse_loss(FLAT, np.ones(3)), gt.ShapeError, "do not broadcast"),
    "binary": (lambda: F.binary_cross_entropy_with_logits(COLUMN, FLAT), gt.ShapeError, "16 pairs"),
    "complex": (lambda: F.mse_loss(FLAT + 0j, FLAT), gt.DtypeError, "complex128"),
    "weight": (lambda: F.mse_loss(FLAT, FLAT, weight=COLUMN), gt.ShapeError, r"weight has shape \(4, 1\)"),
    "pos_weight": (
        lambda: F.binary_cross_entropy_with_logits(FLAT, FLAT, pos_weight=COLUMN),
        gt.ShapeError,
        "pos_weight",
    ),
    "reduction": (lambda: F.mse_loss(FLAT, FLAT, "average"), gt.OperandError, "reduction='average'"),
    "reduction of kl_div": (lambda: F.kl_div(FLAT, FLAT, "average"), gt.OperandError, "'batchmean'"),
    "delta": (lambda: F.huber_loss(FLAT, FLAT, delta=0.0), gt.OperandError, "delta=0.0"),
    "beta": (lambda: F.smooth_l1_loss(FLAT, FLAT, beta=-1.0), gt.OperandError, "beta=-1.0"),
    "no probabilities": (
        lambda: F.binary_cross_entropy(3 * FLAT, FLAT),
        gt.OperandError,
        "worst of them 3;.*[\\s\\S]*_with_logits",
    ),
    "no target": (lambda: F.binary_cross_entropy(FLAT, -FLAT), gt.OperandError, "target .* worst of them -1"),
    "variance": (lambda: F.gaussian_nll_loss(FLAT, FLAT, -FLAT), gt.OperandError, "negative number, -1"),
    "zeros and ones": (lambda: F.hinge_loss(FLAT, 0 * FLAT), gt.OperandError, "2 \\* target - 1"),
    "one a vector": (
        lambda: F.cosine_embedding_loss(LOGITS, LOGITS, np.ones((4, 1))),
        gt.ShapeError,
        r"one number for each vector, \(4,\)",
    ),
    "second input": (lambda: F.cosine_similarity(LOGITS, FLAT), gt.ShapeError, r"x2 has shape \(4,\), x1"),
    "labels in a column": (
        lambda: F.cross_entropy(LOGITS, LABELS[:, None]),
        gt.ShapeError,
        r"target of int64 labels has shape \(4, 1\)[\s\S]*LABELS\[:, None\]\[:, 0\]",
    ),
    "one-hot integers": (
        lambda: F.cross_entropy(LOGITS, np.eye(3, dtype=int)[LABELS]),
        gt.ShapeError,
        r"target.argmax\(1\)",
    ),
    "too few labels": (lambda: F.cross_entropy(LOGITS, LABELS[:3]), gt.ShapeError, r"shape \(4,\)"),
    "labels as numbers": (lambda: F.cross_entropy(LOGITS, FLAT), gt.ShapeError, r"FLAT.astype\(int\)"),
    "booleans": (lambda: F.cross_entropy(LOGITS, FLAT > 0), gt.OperandError, "dtype bool"),
    "label out of range": (
        lambda: F.cross_entropy(LOGITS, [0, 3, 9, -1]),
        gt.IndexingError,
        r"target\[2\] is 9, and 3 of 4 labels are out of range; there are 3 classes, so 0 to 2",
    ),
    "labels from 1": (lambda: F.cross_entropy(LOGITS, LABELS + 1), gt.IndexingError, "target - 1"),
    "not from 1": (lambda: F.cross_entropy(LOGITS, [0, 1, 2, 3]), gt.IndexingError, r"count from 0 to 2(?!;)"),
    "no axis": (lambda: F.cross_entropy(1.0, 0), gt.ShapeError, "single number"),
    "axis": (lambda: F.cross_entropy(LOGITS, LABELS, axis=2), gt.AxisError, "axis 2"),
    "class weight": (lambda: F.cross_entropy(LOGITS, LABELS, np.ones(4)), gt.ShapeError, "each of the 3 classes"),
    "smoothing": (lambda: F.cross_entropy(LOGITS, LABELS, label_smoothing=2), gt.OperandError, "label_smoothing=2"),
    "nll of floats": (lambda: F.nll_loss(LOGITS, FLAT), gt.OperandError, "integers are accepted"),
    "nll in a column": (lambda: F.nll_loss(LOGITS, LABELS[:, None]), gt.ShapeError, r"LABELS\[:, None\]\[:, 0\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_what_was_given(case: str) -> None:
    """What does not fit is refused with what was given, what is accepted and a fix; nothing is broadcast."""
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words) as refusal:
        call()
    assert "fix" in str(refusal.value)


def test_the_fixes_that_are_offered_work() -> None:
    """What the messages advise is accepted."""
    assert F.mse_loss(COLUMN[..., 0], FLAT) == F.mse_loss(COLUMN, FLAT[..., None]) == 0
    hot = np.eye(3, dtype=int)[LABELS]
    np.testing.assert_allclose(F.cross_entropy(X[:4], hot.argmax(1)), F.cross_entropy(X[:4], hot.astype(float)))
